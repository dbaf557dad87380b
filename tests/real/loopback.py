"""Things that listen on a port and are no llama.cpp server: each one small, real and ended with its `with` block."""

import contextlib
import http.server
import socket
import threading
import time


@contextlib.contextmanager
def answering(pages):
    """An HTTP server that answers GETs from a table path -> (status, headers, body); anything else is 404."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, headers, body = pages.get(self.path) or pages.get("*") or (404, {}, b"404 page not found")
            self.send_response_only(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def talking(speak, wrap=None):
    """A TCP server that calls `speak(connection, over)` for every connection; `over` is set when the block ends."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)
    over = threading.Event()

    def serve():
        while not over.is_set():
            with contextlib.suppress(OSError):
                connection = listener.accept()[0]
                threading.Thread(target=one, args=(connection,), daemon=True).start()

    def one(connection):
        with contextlib.suppress(OSError):
            stream = wrap(connection) if wrap else connection
            speak(stream, over)
            stream.close()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        listener.close()


def silence(_, over):
    """Take the connection and never answer."""
    over.wait(20)


def garbage(connection, _):
    """Answer with something that is no HTTP."""
    connection.sendall(b"220 mail.example.org ESMTP ready\r\n\x00\x01\x02\r\n")


def hang_up(_, __):
    """Close at once."""


def drip(first):
    """One byte every tenth of a second, without end, after `first`."""

    def speak(connection, over):
        connection.recv(65536)
        connection.sendall(first)
        while not over.is_set():
            connection.sendall(b"x")
            time.sleep(0.1)

    return speak


def flood(connection, over):
    """A body that never ends, as fast as it goes."""
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nServer: llama.cpp\r\nContent-Type: application/json\r\n\r\n")
    block = b'{"status":"ok"} ' * 4096
    while not over.is_set():
        connection.sendall(block)
