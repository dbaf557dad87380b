"""A web page that asks a model server, shown in a real browser: `python page.py BROWSER QUESTION` prints what the page got.

The address, the key and the model come from PAGE_BASE_URL, PAGE_KEY and PAGE_MODEL.
"""

import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading

PAGE = """<!doctype html><meta charset="utf-8"><title>page</title><script>
const tell = text => fetch("/told", {method: "POST", body: text});
fetch(%s + "/chat/completions", {
  method: "POST",
  headers: {"Content-Type": "application/json", "Authorization": "Bearer " + %s},
  body: JSON.stringify({model: %s, messages: [{role: "user", content: %s}]}),
}).then(reply => reply.json()).then(data => tell(data.choices[0].message.content)).catch(error => tell(String(error)));
</script>"""
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-proxy-server",
]
SECONDS = 20


def main():
    told, done = [], threading.Event()
    values = (os.environ["PAGE_BASE_URL"].rstrip("/"), os.environ["PAGE_KEY"], os.environ["PAGE_MODEL"], sys.argv[2])

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.answer((PAGE % tuple(map(json.dumps, values))).encode() if self.path == "/" else b"")

        def do_POST(self):
            told.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.answer(b"")
            done.set()

        def answer(self, body):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        words = [sys.argv[1], *FLAGS, f"--user-data-dir={profile}", f"http://localhost:{server.server_port}/"]
        browser = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        done.wait(SECONDS)
        browser.terminate()
        said = browser.communicate()[1].decode("utf-8", "replace")
    if not told:
        raise SystemExit(f"the page told nothing\n{said[-2000:]}")
    print(told[0])


main()
