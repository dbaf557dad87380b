"""HTTP, ports and names: no redirect is followed, every exchange ends in time."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from doctor.outside.world import OutsideError, World

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")

BODY_LIMIT = 4 << 20
MOST_PIECES = 20_000
"""Pieces of a stream that are kept: a body that comes byte by byte must not fill the memory."""


class HttpReply(NamedTuple):
    """An answer: status, headers with lower-case names, body cut at the limit, milliseconds until it was read."""

    status: int
    headers: dict[str, str]
    body: bytes
    truncated: bool
    milliseconds: float


class StreamReply(NamedTuple):
    """An answer read as it came: `pieces` are (milliseconds since the request, bytes), cut at the limit.

    `ended`: whole, cut (the connection broke off), timeout (no end in time) or limit (more than was wanted).
    """

    status: int
    headers: dict[str, str]
    pieces: tuple[tuple[float, bytes], ...]
    ended: str

    def body(self) -> bytes:
        """All that came."""
        return b"".join(piece for _, piece in self.pieces)


class Network(World):
    """Requests, connections, names."""

    def http(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout: float = 3.0,
        limit: int = BODY_LIMIT,
        proxy: str | None = None,
    ) -> HttpReply:
        """One request, straight to the address unless a `proxy` is named: no redirect, at most `limit` bytes of body.

        `timeout` is for the whole exchange. Raises OutsideError: refused, unreachable, timeout, tls, not-http, invalid,
        failed.
        """
        import httpx  # noqa: F401 - here, so that the time it takes does not count as the server's

        late = OutsideError("timeout", f"{url}: no whole answer within {timeout:g} s")
        clients: list[Any] = []
        return _within(
            timeout,
            late,
            lambda: self._exchange(method, url, headers or {}, body, timeout, limit, clients, proxy),
            lambda: _close(clients),
        )

    def _exchange(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,
        limit: int,
        clients: list[Any],
        proxy: str | None = None,
    ) -> HttpReply:
        started = time.monotonic()
        try:
            with self._request(method, url, headers, body, timeout, clients, proxy) as reply:
                data = bytearray()
                # Raw bytes: a compressed body that was not asked for is not unpacked, so it cannot grow.
                for chunk in reply.iter_raw(65536):
                    data += chunk[: limit + 1 - len(data)]
                    if len(data) > limit:
                        break
                    if time.monotonic() - started > timeout:
                        raise OutsideError("timeout", f"{url}: the answer did not end within {timeout:g} s")
                took = (time.monotonic() - started) * 1000
                names = {name.lower(): value for name, value in reply.headers.items()}
                return HttpReply(reply.status_code, names, bytes(data[:limit]), len(data) > limit, took)
        except OutsideError:
            raise
        except Exception as error:
            raise _http_error(url, error, timeout) from None

    def http_stream(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        timeout: float = 3.0,
        limit: int = BODY_LIMIT,
    ) -> StreamReply:
        """The same as `http`, but what had come before a time-out, a break or the limit is not lost.

        Raises OutsideError as `http` does when there was not even a status line.
        """
        import httpx  # noqa: F401 - here, so that the time it takes does not count as the server's

        started = time.monotonic()
        heads: list[tuple[int, dict[str, str]]] = []
        pieces: list[tuple[float, bytes]] = []
        clients: list[Any] = []

        def read() -> str:
            with self._request(method, url, headers or {}, body, timeout, clients) as reply:
                heads.append((reply.status_code, {name.lower(): value for name, value in reply.headers.items()}))
                size = 0
                for chunk in reply.iter_raw():
                    pieces.append(((time.monotonic() - started) * 1000, chunk[: limit - size]))
                    size += len(chunk)
                    if size > limit or len(pieces) >= MOST_PIECES:
                        return "limit"
                    if time.monotonic() - started > timeout:
                        return "timeout"
            return "whole"

        late = OutsideError("timeout", f"{url}: no answer within {timeout:g} s")
        try:
            ended = _within(timeout, late, read, lambda: _close(clients))
        except Exception as error:
            found = error if isinstance(error, OutsideError) else _http_error(url, error, timeout)
            if not heads:
                raise found from None
            ended = "timeout" if found.kind == "timeout" else "cut"
        status, names = heads[0]
        return StreamReply(status, names, tuple(pieces), ended)

    @contextmanager
    def _request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        timeout: float,
        clients: list[Any],
        proxy: str | None = None,
    ) -> Iterator[Any]:
        """The answer, not read yet. `clients` is where to find what has to be closed when it takes too long."""
        import httpx

        if (httpx.URL(url).port or 0) > 65535:  # the system would take it modulo 65536
            raise OutsideError("invalid", f"{url}: no such port")
        with (
            # Building a TLS context costs 0.1 s of CPU: only https pays for it.
            httpx.Client(
                trust_env=False, follow_redirects=False, timeout=timeout, verify=url.startswith("https:"), proxy=proxy
            ) as client,
            _noted(client, clients),
            client.stream(method, url, headers={"Accept-Encoding": "identity", **headers}, content=body) as reply,
        ):
            yield reply

    def port_open(self, host: str, port: int, timeout: float = 1.0) -> bool:
        """Whether something accepts a TCP connection there."""
        import socket

        def connect() -> bool:
            if not 0 < port < 65536:  # the system would take it modulo 65536
                return False
            try:
                with socket.create_connection((host, port), timeout):
                    return True
            except (OSError, ValueError, OverflowError):
                return False

        try:
            return _within(timeout, OutsideError("timeout", f"{host}: no connection within {timeout:g} s"), connect)
        except OutsideError:
            return False

    def resolve(self, host: str, timeout: float = 2.0) -> tuple[str, ...]:
        """The addresses of a host name, in the order the system would try them; empty when it has none."""
        import socket

        try:
            late = OutsideError("timeout", f"{host}: no address within {timeout:g} s")
            found = _within(timeout, late, lambda: socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError, OutsideError):
            return ()
        return tuple(dict.fromkeys(str(entry[4][0]) for entry in found))


@contextmanager
def _noted(client: Any, clients: list[Any]) -> Iterator[None]:
    clients.append(client)
    yield


def _close(clients: list[Any]) -> None:
    """Close what a thread that is left behind still reads from: endless headers would keep it busy for ever."""
    with suppress(Exception):
        for client in clients:
            client.close()


def _within(seconds: float, late: OutsideError, function: Callable[[], T], stop: Callable[[], None] | None = None) -> T:
    """What `function` returns or raises, or `late` when that takes longer.

    Name look-ups and headers that drip in byte by byte know no limit of their own; the thread that waits for them is
    left behind, after `stop` has taken away what it waits for.
    """
    import threading

    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(seconds + 0.1)
    if errors:
        raise errors[0]
    if not results:
        if stop is not None:
            stop()
        raise late
    return results[0]


def _http_error(url: str, error: Exception, timeout: float) -> OutsideError:
    import ssl

    import httpx

    causes: list[Any] = [error]
    while causes[-1] is not None and len(causes) < 8:
        causes.append(causes[-1].__cause__ or causes[-1].__context__)
    words = " ".join(str(cause) for cause in causes if cause is not None)
    if any(isinstance(cause, ssl.SSLError) for cause in causes) or "SSL" in words:
        return OutsideError("tls", f"{url}: {error}")
    if isinstance(error, httpx.TimeoutException):
        return OutsideError("timeout", f"{url}: no answer within {timeout:g} s")
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes) or "refused" in words:
        return OutsideError("refused", f"{url}: connection refused")
    if isinstance(error, httpx.ConnectError):
        return OutsideError("unreachable", f"{url}: {error}")
    if isinstance(error, (httpx.ReadError, httpx.WriteError)):
        return OutsideError("not-http", f"{url}: the connection was cut before there was an HTTP answer ({error})")
    if isinstance(error, (httpx.RemoteProtocolError, httpx.DecodingError)):
        return OutsideError("not-http", f"{url}: the answer is not valid HTTP ({error})")
    unusable = (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, ValueError, TypeError)
    if isinstance(error, unusable):
        return OutsideError("invalid", f"{url}: {error}")
    return OutsideError("failed", f"{url}: {error or type(error).__name__}")
