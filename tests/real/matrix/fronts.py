"""What may stand between a client and its server: a relay that passes requests on and spoils one thing."""

import contextlib
import http.client
import http.server
import json
import socket
import ssl
import threading
import time

LOADING = b'{"error":{"message":"Loading model","type":"unavailable_error","code":503}}'
PAGE = b"<!doctype html>\n<html><head><title>Example app</title></head><body>Hello</body></html>"
NOT_FOUND = b'{"error":{"message":"not found","type":"invalid_request_error"}}'
UNAUTHORISED = b'{"error":{"message":"no api key","type":"authentication_error"}}'
BROKEN = b'{"error":{"message":"upstream connect error","type":"api_error"}}'


class Relay(http.server.BaseHTTPRequestHandler):
    """Passes everything on to `port`; `spoil(handler, body)` returns True when it has answered itself."""

    protocol_version = "HTTP/1.1"
    port = 0
    spoil = staticmethod(lambda handler, body: False)
    change = staticmethod(lambda handler, block: block)
    until = staticmethod(lambda handler, sent: False)

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
