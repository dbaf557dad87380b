"""What may stand between a client and its server: a relay that passes requests on and spoils one thing."""

import contextlib
import http.client
import http.server
import json
import re
import socket
import ssl
import threading
import time

LOADING = b'{"error":{"message":"Loading model","type":"unavailable_error","code":503}}'
PAGE = b"<!doctype html>\n<html><head><title>Example app</title></head><body>Hello</body></html>"
NOT_FOUND = b'{"error":{"message":"not found","type":"invalid_request_error"}}'
UNAUTHORISED = b'{"error":{"message":"no api key","type":"authentication_error"}}'
GAVE_UP = b"<html><head><title>504 Gateway Time-out</title></head><body><center>nginx</center></body></html>"
BROKEN = b'{"error":{"message":"upstream connect error","type":"api_error"}}'


class Relay(http.server.BaseHTTPRequestHandler):
    """Passes everything on to `port`; `spoil(handler, body)` returns True when it has answered itself.

    `head` are further headers, `change` makes something else of each piece of an answer, `last` comes behind it,
    `until` breaks it off.
    """

    protocol_version = "HTTP/1.1"
    port = 0
    spoil = staticmethod(lambda handler, body: False)
    change = staticmethod(lambda handler, block: block)
    until = staticmethod(lambda handler, sent: False)
    head = staticmethod(lambda handler: {})
    last = staticmethod(lambda handler: b"")

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.spoil(self, body):
            return
        upstream = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection", "accept-encoding")}
        try:
            upstream.request(self.command, self.path, body or None, headers)
            reply = upstream.getresponse()
        except OSError:
            self.answer(502, BROKEN)
            return
        self.send_response_only(reply.status)
        for name, value in reply.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection", "keep-alive"):
                self.send_header(name, value)
        for name, value in self.head(self).items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        sent = 0
        while block := reply.readline() if "event-stream" in reply.getheader("content-type", "") else reply.read(65536):
            if self.until(self, sent):
                break
            block = self.change(self, block)
            self.wfile.write(block)
            self.wfile.flush()
            sent += len(block)
        self.wfile.write(self.last(self))
        upstream.close()

    do_GET = do_POST = do_OPTIONS = do_HEAD = handle_one

    def answer(self, status, body, kind="application/json", **headers):
        self.send_response_only(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

    def handle(self):
        with contextlib.suppress(OSError):
            super().handle()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


@contextlib.contextmanager
def front(port, at=0, context=None, host="127.0.0.1", **ways):
    """A relay to `port` that listens at `at` (0: anywhere); `ways` replaces methods of Relay. Yields its port."""
    made = {name: staticmethod(way) for name, way in ways.items()}
    handler = type("Front", (Relay,), {"port": port, **made})
    server = Server((host, at), handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def is_answer(handler):
    """Whether it is a request that the model has to work for."""
    return handler.command == "POST" and not handler.path.partition("?")[0].endswith(("_tokens", "/tokenize"))


def is_real(handler, body):
    """The same, but not the empty request that only asks whether the path is there."""
    return is_answer(handler) and len(body) > 20


def loading_for(seconds):
    """A server that loads for this long, as llama-server says it."""
    end = time.monotonic() + seconds

    def spoil(handler, _):
        if time.monotonic() < end:
            handler.answer(503, LOADING, "application/json; charset=utf-8", Server="llama.cpp")
            return True
        return False

    return {"spoil": spoil}


def only_below(prefix):
    """A gateway that knows nothing outside of `prefix`."""

    def spoil(handler, _):
        if not handler.path.startswith(prefix):
            handler.answer(404, NOT_FOUND)
            return True
        return False

    return {"spoil": spoil}


def without(*endings):
    """A server that lacks these paths, as an older llama-server does."""

    def spoil(handler, _):
        if any(ending in handler.path for ending in endings):
            body = b'{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}'
            handler.answer(404, body, Server="llama.cpp")
            return True
        return False

    return {"spoil": spoil}


def key_only_in(header, key):
    """A gateway that looks for the key in one header."""

    def spoil(handler, _):
        value = handler.headers.get(header, "")
        if value.removeprefix("Bearer ") != key:
            handler.answer(401, UNAUTHORISED)
            return True
        return False

    return {"spoil": spoil}


def instead(status, body, kind="application/json", everything=False):
    """Something that answers this to every request for an answer (or to everything)."""

    def spoil(handler, sent):
        if everything or is_real(handler, sent):
            handler.answer(status, body, kind)
            return True
        return False

    return {"spoil": spoil}


def empty_choices():
    """A gateway whose answers and chunks have no choices in them."""
    whole = json.dumps({"id": "x", "object": "chat.completion", "model": "m", "choices": []}).encode()
    chunk = b'data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[]}\n\ndata: [DONE]\n\n'

    def spoil(handler, body):
        if is_real(handler, body):
            stream = b'"stream":true' in body.replace(b" ", b"")
            handler.answer(200, chunk if stream else whole, "text/event-stream" if stream else "application/json")
            return True
        return False

    return {"spoil": spoil}


def cut_streams():
    """A proxy that breaks streams off in the middle."""

    def until(handler, sent):
        return is_answer(handler) and sent > 300

    return {"until": until}


def redirecting(to):
    """An address that leads on to another one."""

    def spoil(handler, _):
        handler.answer(308, b"", "text/plain", Location=to + handler.path)
        return True

    return {"spoil": spoil}


def certificate(folder, run):
    """(context, path) of a certificate for 127.0.0.1 that nobody has signed."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-addext", "basicConstraints=critical,CA:FALSE"]
    run([*words.split(), *names, "-keyout", str(key), "-out", str(cert)])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context, cert


@contextlib.contextmanager
def mute(at):
    """Something that takes connections and says nothing."""
    listener = socket.create_server(("127.0.0.1", at), backlog=64)
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()


def slow(seconds):
    """A server that takes this long to read a prompt."""

    def spoil(handler, body):
        if is_real(handler, body):
            time.sleep(seconds)
        return False

    return {"spoil": spoil}


def error_in_stream():
    """A server that fails in the middle of an answer and says so there."""
    said = b'{"error":{"code":500,"message":"the answer was broken off","type":"server_error"}}'

    def change(handler, block):
        if is_answer(handler) and block.startswith(b"data:") and b"role" not in block and b"_start" not in block:
            return b"data: " + said + b"\n"
        return block

    return {"change": change}


def named_gzip():
    """A proxy that calls its answers packed and sends them as they are."""
    return {"head": lambda handler: {"Content-Encoding": "gzip"} if is_answer(handler) else {}}


SLOW = 2.0
"""Seconds that the answer of a slow model takes."""


def held_back():
    """A proxy that collects an answer and sends it when it is whole.

    The tiny model is ready at once: its answer is kept as long as a slow one's would take, and tells that one's speed.
    """

    def change(handler, block):
        handler.held = getattr(handler, "held", b"") + block
        return b""

    def last(handler):
        held = getattr(handler, "held", b"")
        if is_answer(handler) and held.count(b"data:") > 3:
            time.sleep(SLOW)
            told = b'"predicted_per_second":%.1f' % (held.count(b"data:") / SLOW)
            held = re.sub(rb'"predicted_per_second":[\d.]+', told, held)
        return held

    return {"change": change, "last": last}


def noting_cached(into):
    """A relay that takes down which share of each prompt came from the cache."""

    def change(handler, block):
        cached = re.search(rb'"cache_read_input_tokens":\s?(\d+)', block)
        read = re.search(rb'"input_tokens":\s?(\d+)', block)
        if cached and read and is_real(handler, block):
            into.append(int(cached[1]) / max(1, int(cached[1]) + int(read[1])))
        return block

    return {"change": change}


def without_cors():
    """A proxy that does not know the browser's question."""

    def spoil(handler, _):
        if handler.command == "OPTIONS":
            handler.answer(405, b"", "text/plain")
            return True
        return False

    return {"spoil": spoil}


def cors_without_headers():
    """A proxy that lets pages ask, but not with a key."""

    def spoil(handler, _):
        if handler.command == "OPTIONS":
            allowed = {"Access_Control_Allow_Origin": "*", "Access_Control_Allow_Headers": "content-type"}
            handler.answer(204, b"", "text/plain", **allowed)
            return True
        return False

    return {"spoil": spoil}
