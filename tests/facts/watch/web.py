"""A server on a loopback port whose answers a test changes while it runs."""

import contextlib
import http.server
import json
import threading


class Web:
    """`pages` is path -> (status, body) or a body; what is not there is 404. `asked` are the paths, `keys` what was sent."""

    def __init__(self, port=0):
        self.pages, self.asked, self.keys = {}, [], []
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                web.asked.append(self.path)
                web.keys.append(self.headers.get("Authorization"))
                status, body = web.pages.get(self.path, (404, "{}"))
                data = (body if isinstance(body, str) else json.dumps(body)).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(data)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def slot(number, *, busy=False, task=None, decoded=None, cached=0, processed=0, new=True):
    """A slot as /slots tells it; `new`: as builds of 2026 do."""
    if not busy:
        return {"id": number, "n_ctx": 4096, "is_processing": False}
    counters = {"n_decoded": decoded, "n_remain": -1, "has_next_token": True}
    more = {"n_prompt_tokens_cache": cached, "n_prompt_tokens_processed": processed} if new else {}
    token = [counters] if new else counters
    return {"id": number, "n_ctx": 4096, "is_processing": True, "id_task": task, "next_token": token, **more}


def metrics(**values):
    """A body of /metrics."""
    return "".join(
        f"# HELP llamacpp:{name} x\n# TYPE llamacpp:{name} counter\nllamacpp:{name} {value}\n"
        for name, value in values.items()
    )
