"""A small real server whose every answer is a function: for what no llama.cpp server would ever say."""

import contextlib
import http.server
import json
import selectors
import socket
import threading

JSON = {"Content-Type": "application/json"}
SSE = {"Content-Type": "text/event-stream"}


def as_json(data, status=200, **headers):
    return status, {**JSON, **headers}, json.dumps(data).encode()


def listening(answer, asked, family="127.0.0.1", wrap=None):
    """A server that listens and does not serve yet. What it is asked is noted in `asked`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def handle_any(self):
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size) or b"null") if size else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked.append((self.command, self.path, headers, body))
            status, out, data = answer(self.command, self.path, headers, body)
            if status:
                self.send_response_only(status)
                for name, value in out.items():
                    self.send_header(name, value)
                self.send_header("Connection", "close")
                self.end_headers()
            with contextlib.suppress(OSError):
                for piece in [data] if isinstance(data, bytes) else data:
                    self.wfile.write(piece)
                    self.wfile.flush()
            self.close_connection = True

        do_GET = do_POST = do_OPTIONS = handle_any

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_):
            pass

    if family == "::1":
        Server.address_family = socket.AF_INET6
    server = Server((family, 0), Handler)
    if wrap is not None:
        server.socket = wrap(server.socket)
    return server


@contextlib.contextmanager
def serving(answer, family="127.0.0.1", wrap=None):
    """`answer(method, path, headers, body)` -> (status, headers, bytes or an iterable of bytes). Yields (url, requests).

    Status 0: the bytes are all there is of an answer, status line and headers too. `wrap` is given the listening socket (TLS).
    """
    asked = []
    server = listening(answer, asked, family, wrap)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    host = f"[{family}]" if ":" in family else family
    try:
        yield f"http://{host}:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def serving_all(answers):
    """Many servers, one thread that waits for all of them: name -> answer as of `serving`. Yields name -> url."""
    servers = {name: listening(answer, []) for name, answer in answers.items()}
    done = threading.Event()

    def wait():
        with selectors.DefaultSelector() as selector:
            for server in servers.values():
                selector.register(server, selectors.EVENT_READ)
            while not done.is_set():
                for key, _ in selector.select(0.2):
                    key.fileobj.handle_request()

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    try:
        yield {name: f"http://127.0.0.1:{server.server_address[1]}" for name, server in servers.items()}
    finally:
        done.set()
        thread.join()
        for server in servers.values():
            server.server_close()


REPLY = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}]}
CHUNK = 'data: {"choices":[{"index":0,"delta":{"content":"hi "}}]}\n\n'
END = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def vllm(**special):
    """The answers of something like vLLM; `special` replaces those to `empty`, `reply`, `stream` or `tools`."""

    def answer(method, path, headers, body):
        if path.startswith("/v1/models"):
            return as_json({"object": "list", "data": [{"id": "qwen3", "owned_by": "vllm"}]})
        if not path.startswith("/v1/chat/completions") or method != "POST":
            return as_json({"detail": "Not Found"}, 404)
        if not body:
            step = "empty"
        else:
            step = "stream" if body.get("stream") else "tools" if body.get("tools") else "reply"
        if step in special:
            found = special[step]
            return found(headers) if callable(found) else found
        if step == "empty":
            return as_json({"error": {"message": "field required", "code": 400}}, 400)
        if step == "stream":
            return 200, SSE, (CHUNK * 5 + END).encode()
        if step == "tools":
            call = {"id": "a", "type": "function", "function": {"name": "report_status", "arguments": '{"ok": true}'}}
            return as_json({"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}]})
        return as_json(REPLY)

    return answer
