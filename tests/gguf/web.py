"""A web server on this machine that gives out models as a hub, a CDN or a stranger would, and remembers what it was asked."""

from __future__ import annotations

import contextlib
import dataclasses
import http.server
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any


@dataclasses.dataclass
class Asked:
    """A request that came in, and the bytes of body that were sent for it."""

    path: str
    headers: dict[str, str]
    sent: int = 0


class File:
    """`start` and then zeros up to `size` bytes. `ranges`: whether parts of it are given out."""

    def __init__(self, start: bytes, size: int | None = None, *, ranges: bool = True, **headers: str) -> None:
        self.start = start
        self.size = len(start) if size is None else size
        self.ranges = ranges
        self.headers = headers

    def part(self, first: int, last: int) -> bytes:
        piece = self.start[first : last + 1]
        return piece + bytes(last + 1 - first - len(piece))


class Web:
    """`pages`: path without query -> File, (status, headers, body), or a function that gets the handler."""

    def __init__(self) -> None:
        self.pages: dict[str, Any] = {}
        self.asked: list[Asked] = []
        self.url = ""

    @property
    def sent(self) -> int:
        return sum(entry.sent for entry in self.asked)


def _answer(handler: Any, web: Web) -> None:
    page = web.pages.get(handler.path.partition("?")[0], (404, {}, b"Entry not found"))
    asked = Asked(handler.path, {name.lower(): value for name, value in handler.headers.items()})
    web.asked.append(asked)
    if isinstance(page, File):
        _give(handler, page, asked)
    elif isinstance(page, tuple):
        status, headers, body = page
        handler.send_response_only(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        asked.sent = len(body)
        handler.wfile.write(body)
    elif callable(page):
        page(handler)


def _give(handler: Any, file: File, asked: Asked) -> None:
    found = re.fullmatch(r"bytes=(\d+)-(\d+)", handler.headers.get("Range", ""))
    if file.ranges and found:
        first, last = int(found[1]), min(int(found[2]), file.size - 1)
        if first >= file.size:
            handler.send_response_only(416)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response_only(206)
        handler.send_header("Content-Range", f"bytes {first}-{last}/{file.size}")
    else:
        first, last = 0, file.size - 1
        handler.send_response_only(200)
    handler.send_header("Content-Length", str(last - first + 1))
    for name, value in file.headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    with contextlib.suppress(OSError):
        for place in range(first, last + 1, 65536):
            piece = file.part(place, min(last, place + 65535))
            asked.sent += len(piece)
            handler.wfile.write(piece)


@contextlib.contextmanager
def serving() -> Iterator[Web]:
    """A server for the length of the block."""
    web = Web()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            _answer(self, web)
            self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    web.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()


def raw(answer: bytes, then: Callable[[Any], None] | None = None) -> Callable[[Any], None]:
    """A page that sends these very bytes, and goes on as `then` says."""

    def speak(handler: Any) -> None:
        with contextlib.suppress(OSError):
            handler.wfile.write(answer)
            handler.wfile.flush()
            if then is not None:
                then(handler)

    return speak
