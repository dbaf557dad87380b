"""Servers that mean no good, as answers for `tests.facts.ladder.serving`: each behaviour, and at which requests it is shown."""

import gzip
import itertools
import json
import time
from urllib.parse import urlsplit

from tests.facts.ladder.serving import JSON, SSE, as_json
from tests.gguf.test_remote import vocabulary

LLAMA = {"Server": "llama.cpp"}
LONG = 90.0
"""Seconds that a server which says nothing more keeps a connection open: longer than anybody waits."""
NASTY = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eabc\u2066\x00\x08\x7f"
"""Clears the screen, names the window, turns the direction of what follows, deletes."""
HEADER = vocabulary(20_000, 30_000)
"""Too long for one request."""
FILE_BYTES = 19 << 30


# --- a sound llama-server, and a sound hub -----------------------------------------------------------------------


def slot(number, **more):
    return {"id": number, "n_ctx": 65536, "is_processing": False, **more}


def completion(body):
    """A streamed answer of llama-server's own API: 24 tokens that take their time."""
    for _ in range(12):
        yield b'data: {"content":"a b","stop":false}\n\n'
        time.sleep(0.004)
    timings = {
        "prompt_n": 200,
        "cache_n": 0,
        "predicted_n": 24,
        "prompt_per_second": 900.0,
        "predicted_per_second": 300.0,
    }
    yield f"data: {json.dumps({'content': '', 'stop': True, 'timings': timings})}\n\n".encode()


def sound(method, path, headers, body):
    """What a llama-server says; and a hub, whose one model has the header of a real one."""
    path = urlsplit(path).path
    if method == "OPTIONS":
        allowed = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"}
        return 200, {**LLAMA, **allowed}, b""
    if "/resolve/" in path:
        return ranged(headers)
    if path.startswith("/api/models/"):
        return as_json([{"type": "file", "path": "m-Q4_K_M.gguf", "size": FILE_BYTES}])
    if method == "POST" and path == "/completion":
        return 200, {**SSE, **LLAMA}, completion(body)
    if method == "POST" and path in ("/v1/chat/completions", "/v1/messages"):
        return as_json({"error": {"message": "'messages' is required", "code": 400}}, 400, **LLAMA)
    if method == "POST" and path.endswith("count_tokens"):
        return as_json({"input_tokens": 20 + 40 * ("tools" in (body or {}))}, **LLAMA)
    if method == "POST" and path.endswith("input_tokens"):
        return as_json({"input_tokens": 20 + 40 * ("tools" in (body or {}))}, **LLAMA)
    pages = {
        "/health": {"status": "ok"},
        "/v1/models": {
            "object": "list",
            "data": [{"id": "qwen3", "owned_by": "llamacpp", "meta": {"n_ctx_train": 65536}}],
        },
        "/props": {
            "default_generation_settings": {"n_ctx": 65536},
            "total_slots": 2,
            "chat_template": "{{ messages }}",
            "build_info": "b11434-abcdef0",
            "model_path": "/models/qwen3.gguf",
        },
        "/slots": [slot(0), slot(1)],
    }
    if path == "/metrics":
        text = "llamacpp:prompt_tokens_total 5\nllamacpp:requests_processing 0\nllamacpp:requests_deferred 0\n"
        return 200, {**LLAMA, "Content-Type": "text/plain"}, text.encode()
    if method == "GET" and path in pages:
        return as_json(pages[path], **LLAMA)
    return as_json({"error": {"message": "File Not Found", "code": 404}}, 404, **LLAMA)


def ranged(headers):
    """The part of the model's header that is asked for."""
    first, _, last = headers.get("range", "bytes=0-").partition("=")[2].partition("-")
    begin, end = int(first), min(int(last or FILE_BYTES - 1), FILE_BYTES - 1)
    data = HEADER[begin : end + 1].ljust(end + 1 - begin, b"\0")
    return 206, {"Content-Range": f"bytes {begin}-{end}/{FILE_BYTES}", "Content-Length": str(len(data))}, data


# --- what is wrong ------------------------------------------------------------------------------------------------


def raw(*pieces):
    """An answer that is written as it stands."""
    return 0, {}, itertools.chain.from_iterable([piece] if isinstance(piece, bytes) else piece for piece in pieces)


def silence():
    deadline = time.monotonic() + LONG
    while time.monotonic() < deadline:
        time.sleep(1.0)
        yield b""


def drip(byte=b" "):
    for _ in range(int(LONG)):
        yield byte
        time.sleep(1.0)


def slowly(piece):
    """The same thing for ever, without taking the processor from everybody else."""
    while True:
        yield piece
        time.sleep(0.02)


def head(kind="application/json", **headers):
    lines = [f"HTTP/1.1 200 OK\r\nServer: llama.cpp\r\nContent-Type: {kind}\r\n"]
    lines += [f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()]
    return "".join([*lines, "Connection: close\r\n\r\n"]).encode("latin-1")


def fitting(path, method):
    """The content type somebody expects there."""
    return "text/event-stream" if method == "POST" else "text/plain" if path == "/metrics" else "application/json"


HUGE = "9" * 4000
NUMBERS = (
    '{"status": NaN, "data": [{"id": 1e400, "owned_by": -1, "meta": {"n_ctx_train": -1, "n_ctx": 1e999}}, 7, null, {"id": "'
    'qwen3"}], "default_generation_settings": {"n_ctx": HUGE}, "total_slots": -Infinity, "chat_template": 7, "build_info": '
    '[1], "modalities": "vision", "is_sleeping": 1e308, "id": {"a": 1}, "choices": [{"delta": {"content": 3.5}}, -1], "usage"'
    ': {"prompt_tokens": -5, "completion_tokens": 1e300, "prompt_tokens_details": {"cached_tokens": "x"}}, "timings": '
    '{"prompt_n": -1, "cache_n": NaN, "predicted_n": HUGE, "prompt_per_second": -3, "predicted_per_second": 1e-320, '
    '"draft_n": "many", "draft_n_accepted": Infinity}, "content": {"x": 1}, "input_tokens": "none"}'
).replace("HUGE", HUGE)
SLOTS = json.dumps(
    [{"id": [], "n_ctx": -1, "is_processing": "yes", "id_task": {}, "next_token": [[]], "n_decoded": HUGE}]
)
BAD_METRICS = (
    "llamacpp:prompt_tokens_total NaN\nllamacpp:requests_processing inf\nllamacpp:requests_deferred 1e300\n"
    "llamacpp:tokens_predicted_total -5\nllamacpp:tokens_predicted_seconds_total 1e-320\nllamacpp:prompt_seconds_total 1.2.3\n"
)


def numbers(method, path):
    if method == "POST":
        event = f"data: {NUMBERS}\n\n".encode()
        return 200, {**SSE, **LLAMA}, event * 3 + b"data: [DONE]\n\n"
    return 200, {**JSON, **LLAMA}, {"/slots": SLOTS, "/metrics": BAD_METRICS}.get(path, NUMBERS).encode()


def no_events(method, path):
    data = b"data: {bad\n\nevent: x\ndata\n\n: no\n\ndata: \xff\xfe\n\n"
    return 200, {"Content-Type": fitting(path, "POST"), **LLAMA}, data


def loop(method, path):
    return 307, {**JSON, "Location": path, "Content-Length": "0"}, b""


def escapes(method, path):
    """Text of a screen's language in every header, name and message."""
    words = NASTY + "x"
    model = {"id": f"{words}qwen3", "owned_by": f"llamacpp{words}", "aliases": [words], "meta": {"n_ctx_train": words}}
    data = {
        "error": {"message": f"refused {words}", "type": words, "code": words},
        "data": [model],
        "model_path": f"/models/{words}.gguf",
        "build_info": f"b11434-{words}",
        "default_generation_settings": {"n_ctx": 4096},
        "chat_template": words,
        "total_slots": 1,
        "path": words,
    }
    text = json.dumps(data, ensure_ascii=False)
    status = (
        b"HTTP/1.1 400 \x1b[31mred\r\n" if method == "POST" or "/resolve/" in path else b"HTTP/1.1 200 \x1b[31mOK\r\n"
    )
    nasty = NASTY.replace("\x00", "").encode("utf-8")
    lines = [b"Server: llama.cpp" + nasty, b"X-Error-Message: " + nasty, b"Location: http://" + nasty]
    lines += [b"Content-Type: application/json", b"Connection: close"]
    return raw(status + b"\r\n".join(lines) + b"\r\n\r\n" + text.encode())


ZEROS = gzip.compress(bytes(64 << 20))
BODY = b'{"data": "' + b"x" * 65526

LARGE = (1 << 40) - 1


def large(method, path):
    """Numbers that could be, and are not."""
    settings = {"n_ctx": LARGE}
    timings = {"prompt_n": LARGE, "cache_n": LARGE, "predicted_n": LARGE, "draft_n": LARGE, "draft_n_accepted": 1}
    timings |= {"prompt_per_second": 9.9e8, "predicted_per_second": 0.011}
    data = {
        "status": "ok",
        "data": [{"id": "qwen3", "owned_by": "llamacpp", "meta": {"n_ctx_train": LARGE, "n_ctx": LARGE}}],
        "default_generation_settings": settings,
        "total_slots": LARGE,
        "build_info": f"b{'9' * 9}-abcdef0",
        "content": "x",
        "timings": timings,
        "input_tokens": LARGE,
    }
    if method == "POST":
        return 200, {**SSE, **LLAMA}, f"data: {json.dumps(data)}\n\n".encode() * 2
    busy = slot(0, is_processing=True, id_task=LARGE, n_decoded=LARGE, n_prompt_tokens=LARGE)
    figures = "".join(
        f"llamacpp:{name} 9e14\n" for name in ("tokens_predicted_total", "requests_processing", "requests_deferred")
    )
    if path == "/metrics":
        return 200, {**LLAMA, "Content-Type": "text/plain"}, figures.encode()
    return as_json([busy] if path == "/slots" else data, **LLAMA)


BEHAVIOURS = {
    "says nothing": lambda method, path: raw(silence()),
    "hangs after the headers": lambda method, path: raw(head(fitting(path, method), Content_Length=100), silence()),
    "drips a byte a second": lambda method, path: raw(head(fitting(path, method)), drip()),
    "drips its headers": lambda method, path: raw(b"HTTP/1.1 200 OK\r\nX-Long: ", drip(b"x")),
    "endless body": lambda method, path: (200, {**JSON, **LLAMA}, itertools.repeat(BODY)),
    "endless headers": lambda method, path: raw(b"HTTP/1.1 200 OK\r\n", slowly(b"X-More: and more\r\n" * 1024)),
    "a body of 1 GB": lambda method, path: raw(
        head(fitting(path, method), Content_Length=1 << 30), itertools.repeat(bytes(65536), 1 << 14)
    ),
    "a byte a chunk": lambda method, path: raw(
        head(fitting(path, method), Transfer_Encoding="chunked"), itertools.repeat(b"1\r\n \r\n" * 4096)
    ),
    "a gzip bomb": lambda method, path: (200, {**JSON, **LLAMA, "Content-Encoding": "gzip"}, ZEROS),
    "says br, and is not": lambda method, path: (200, {**JSON, **LLAMA, "Content-Encoding": "br"}, b'{"status": "ok"}'),
    "broken UTF-8": lambda method, path: (
        200,
        {**JSON, **LLAMA},
        b'{"status": "\xff\xfe\xc0\x80", "data": [{"id": "\xed"}]}',
    ),
    "broken JSON": lambda method, path: (200, {**JSON, **LLAMA}, b'{"data": [{"id": "qwen3"'),
    "too deep JSON": lambda method, path: (200, {**JSON, **LLAMA}, b"[" * 200_000),
    "mad numbers": numbers,
    "large numbers": large,
    "broken events": no_events,
    "a line without end": lambda method, path: (200, {**SSE, **LLAMA}, itertools.repeat(b"data: " + b"x" * 65530)),
    "empty events": lambda method, path: (200, {**SSE, **LLAMA}, [b"data: {}\n\n" * 400_000, b"data: [DONE]\n\n"]),
    "status 999": lambda method, path: raw(b"HTTP/1.1 999 Whatever\r\nConnection: close\r\n\r\n{}"),
    "no status line": lambda method, path: raw(b"\x1b[31mHTTP/9.9 \x00\xff beg your pardon?\r\n\r\n"),
    "a redirect to itself": loop,
    "endless hints": lambda method, path: raw(slowly(b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n" * 8)),
    "escapes": escapes,
    "100,000 slots": lambda method, path: as_json([slot(number) for number in range(100_000)], **LLAMA),
    "endless figures": lambda method, path: (
        200,
        {**LLAMA, "Content-Type": "text/plain"},
        itertools.repeat(b"llamacpp:requests_processing 1e300\n" * 2000),
    ),
}
ONLY = {
    "100,000 slots": ("counters",),
    "endless figures": ("counters",),
    "hangs after the headers": ("all", "counters", "posts"),
    "drips its headers": ("all", "posts"),
    "endless hints": ("all", "posts", "file"),
    "a byte a chunk": ("all", "posts"),
    "a line without end": ("all", "posts"),
    "too deep JSON": ("all", "counters", "posts", "after /health"),
}
"""Behaviours that mean something at some requests only, or are like another one at the rest."""
SLOW = {
    "says nothing", "hangs after the headers", "drips a byte a second", "drips its headers", "endless hints", "a byte a chunk",
}  # fmt: skip
"""Those that take as long as somebody waits."""


def _first_part(method, path, headers):
    return headers.get("range", "").startswith("bytes=0-")


PLACES = {
    "all": lambda method, path, headers: True,
    "after /health": lambda method, path, headers: path != "/health",
    "counters": lambda method, path, headers: path in ("/slots", "/metrics"),
    "posts": lambda method, path, headers: method == "POST",
    "preflight": lambda method, path, headers: method == "OPTIONS",
    "file": lambda method, path, headers: "/resolve/" in path and not _first_part(method, path, headers),
}
"""Which requests are answered that way; all others are answered soundly."""
AFTER = "after the edit"
"""A place of its own: once a client's own path was asked for, all is answered that way. Before, its address is wrong."""


def shown(behaviour, place):
    """The answers of a server that behaves so at these requests."""
    seen = []

    def answer(method, path, headers, body):
        clean = urlsplit(path).path
        if place == AFTER:
            hostile = bool(seen)
            seen.extend([clean] if (method, clean) == ("POST", "/v1/messages") else [])
        else:
            hostile = PLACES[place](method, clean, headers)
        if hostile:
            return BEHAVIOURS[behaviour](method, clean)
        return sound(method, path, headers, body)

    return answer
