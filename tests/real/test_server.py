"""The server collector against real servers, and against real sockets that misbehave."""

import json
import re
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from doctor.facts.record import Unknown
from doctor.facts.server import session as server_session
from doctor.facts.server.record import collect
from doctor.outside import Outside
from doctor.secrets import Vault
from tests.models import STRICT_TEMPLATE
from tests.real import loopback
from tests.real.conftest import KEY, free_port

pytestmark = pytest.mark.real
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "server"
EVERYTHING = 5.0
"""Seconds: no answer, however bad, may hold the collector up for longer."""


@pytest.fixture
def impatient(monkeypatch):
    """A fourth of the patience, for the tests that use all of it up."""
    monkeypatch.setattr(server_session, "REQUEST_SECONDS", 0.5)


def ask(url, key=None):
    vault = Vault()
    started = time.monotonic()
    server = collect(Outside(), vault, url=url, url_source="option", key_token=vault.put(key) if key else None)
    assert time.monotonic() - started < EVERYTHING
    return server


# --- the real server -------------------------------------------------------------------------------------------------


def test_healthy_with_two_slots(start_server):
    with start_server(n_ctx=1024, n_parallel=2, model_alias=["local-model"], endpoint_metrics=True) as running:
        server = ask(running.url)
    assert (server.state, server.kind, server.key_required) == ("ok", "llama.cpp", False)
    assert (server.n_ctx, server.slots, server.slots_busy) == (512, 2, 0)
    assert server.model_ids == ("local-model",)
    assert server.model_path.endswith("tiny.gguf")
    assert server.metrics is True


def test_slots_that_share_one_cache_have_the_whole_context(start_server):
    with start_server(n_ctx=1024, n_parallel=2, kv_unified=True) as running:
        assert (ask(running.url).n_ctx, ask(running.url).slots) == (1024, 2)


def test_the_url_may_be_written_in_many_ways(start_server, impatient):
    with start_server() as running:
        for url in (f"127.0.0.1:{running.port}", f"{running.url}/v1", f"{running.url}/v1/chat/completions/"):
            assert (ask(url).state, ask(url).url) == ("ok", running.url)
        misnamed = ask(f"https://127.0.0.1:{running.port}/v1")
    assert (misnamed.state, misnamed.port_open) == ("tls", True)
    assert misnamed.detail.endswith(f"this port speaks http, not https: the URL is {running.url}")


def test_no_key_wrong_key_right_key(start_server):
    with start_server(api_keys=[KEY, "sk-local-test-2"]) as running:
        without, wrong, right = ask(running.url), ask(running.url, "sk-local-test-x"), ask(running.url, KEY)
        second = ask(running.url, "sk-local-test-2")
        unsendable = ask(running.url, "sk-local-test\n“")
    assert (without.state, without.key_required, without.key_accepted) == ("unauthorised", True, None)
    assert (wrong.state, wrong.key_accepted) == ("unauthorised", False)
    assert (right.state, right.key_accepted, right.n_ctx) == ("ok", True, 512)
    assert second.key_accepted is True
    assert (unsendable.state, isinstance(unsendable.key_accepted, Unknown)) == ("unauthorised", True)


def test_a_prefix_and_a_key(start_server):
    with start_server(api_prefix="/llm", api_keys=[KEY]) as running:
        assert running.url.endswith("/llm")
        assert ask(f"{running.url}/v1", KEY).state == "ok"
        bare = running.url.removesuffix("/llm")
        keyless, keyed = ask(bare), ask(bare, KEY)
    assert keyless.state == "unauthorised"
    assert (keyed.state, keyed.kind, keyed.key_accepted) == ("wrong-path", "llama.cpp", True)


def test_while_the_model_loads(start_server, slow_model):
    with start_server(model_path=slow_model, until=503, api_keys=[KEY]) as running:
        server = ask(running.url, "sk-local-test-x")
    assert (server.state, server.kind) == ("loading", "llama.cpp")
    assert isinstance(server.key_accepted, Unknown)


def test_a_strict_template(start_server):
    with start_server(chat_template=STRICT_TEMPLATE) as running:
        server = ask(running.url)
        late_system = [{"role": "user", "content": "a"}, {"role": "system", "content": "b"}]
        status, body = post(running.url, {"messages": late_system, "max_tokens": 2})
    assert server.strict_system_message is True
    assert status in (400, 500) and "System message must be at the beginning" in body


def test_the_words_when_the_context_is_exceeded(start_server):
    with start_server(n_ctx=1024, n_parallel=2) as running:
        status, body = post(running.url, {"messages": [{"role": "user", "content": "word " * 2000}], "max_tokens": 4})
        n_ctx = ask(running.url).n_ctx
    kept = json.loads((FIXTURES / "context-exceeded.json").read_text(encoding="utf-8"))["answers"][0]
    error, recorded = json.loads(body)["error"], json.loads(kept["body"])["error"]
    # The number of tokens belongs to the model; the words and fields belong to the server.
    assert (status, error.keys(), error["type"]) == (kept["status"], recorded.keys(), recorded["type"])
    assert re.sub(r"\d+", "N", error["message"]) == re.sub(r"\d+", "N", recorded["message"])
    assert error["n_ctx"] == n_ctx


def post(url, body):
    request = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_the_binary_gives_its_models_to_anybody(start_llama_server):
    with start_llama_server("-c", "2048", "-np", "2", "--api-key", KEY) as running:
        without, right = ask(running.url), ask(running.url, KEY)
    assert (without.state, without.n_ctx, without.key_required) == ("unauthorised", 1024, True)
    assert (right.state, right.slots, right.build_info) == ("ok", 2, "b1-7e4c0a9")


def test_a_router(start_llama_server, model):
    with start_llama_server("--models-dir", str(model.parent), with_model=False) as running:
        server = ask(running.url)
    assert (server.state, server.kind, server.model_ids) == ("ok", "llama.cpp-router", ("tiny",))


def test_it_takes_well_under_half_a_second(start_server):
    import httpx  # noqa: F401 - the time of the import is not the server's

    with start_server(api_keys=[KEY]) as running:
        ask(running.url, KEY)
        started = time.perf_counter()
        server = ask(running.url, KEY)
        took = time.perf_counter() - started
    assert len(server.probes) == 7
    assert took < 0.4


# --- nothing, or something else, on the port -------------------------------------------------------------------------


def test_the_wrong_port():
    server = ask(f"http://127.0.0.1:{free_port()}")
    assert (server.state, server.port_open) == ("refused", False)


def test_a_name_that_does_not_exist():
    server = ask("http://no-such-host.invalid:8080")
    assert server.state in ("unreachable", "timeout")
    assert server.port_open is not True


def test_a_web_page():
    with loopback.answering({"*": (200, {"Content-Type": "text/html"}, b"<html>hello</html>")}) as url:
        assert ask(url).state == "html"


def test_a_plain_file_server():
    with loopback.answering({}) as url:
        server = ask(url)
    assert (server.state, server.kind) == ("not-llama.cpp", "unknown")


@pytest.mark.parametrize(
    ("pages", "kind"),
    [
        ({"/api/version": (200, {"Content-Type": "application/json"}, b'{"version":"0.12.3"}')}, "ollama"),
        ({"*": (200, {}, b'{"error":"Unexpected endpoint or method. (GET /health)"}')}, "lm-studio"),
    ],
)
def test_ollama_and_lm_studio(pages, kind):
    with loopback.answering(pages) as url:
        server = ask(url, KEY)
    assert (server.state, server.kind) == ("not-llama.cpp", kind)


def test_broken_json():
    with loopback.answering({"*": (200, {"Server": "llama.cpp"}, b'{"status":"ok",\xff')}) as url:
        server = ask(url)
    assert server.kind == "llama.cpp"
    assert isinstance(server.n_ctx, Unknown)


def test_garbage_instead_of_http():
    with loopback.talking(loopback.garbage) as url:
        server = ask(url)
    assert (server.state, server.port_open) == ("not-http", True)


def test_a_connection_that_is_closed_at_once():
    with loopback.talking(loopback.hang_up) as url:
        assert ask(url).state == "not-http"


def test_silence(impatient):
    with loopback.talking(loopback.silence) as url:
        server = ask(url)
    assert (server.state, server.port_open) == ("timeout", True)
    assert "does not answer" in server.detail


@pytest.mark.parametrize(
    "first",
    [b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"],
    ids=["headers", "body"],
)
def test_an_answer_that_drips(first, impatient):
    with loopback.talking(loopback.drip(first)) as url:
        server = ask(url)
    assert (server.state, server.port_open) == ("timeout", True)


def test_a_body_without_end():
    with loopback.talking(loopback.flood) as url:
        server = ask(url)
    assert server.kind == "llama.cpp"
    assert isinstance(server.n_ctx, Unknown)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    words = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=localhost"
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    try:
        subprocess.run([*words.split(), *files], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("the openssl program is needed to make a certificate")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def test_a_certificate_nobody_vouches_for(certificate):
    with loopback.talking(loopback.silence, lambda stream: certificate.wrap_socket(stream, server_side=True)) as url:
        server = ask(url.replace("http:", "https:"))
        plain = ask(url)
    assert (server.state, server.port_open) == ("tls", True)
    assert "certificate" in server.detail.lower()
    assert plain.state == "tls"
    assert "speaks https, not http" in plain.detail


def test_collecting_leaves_no_proxy_in_the_way(start_server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with start_server() as running:
        assert ask(running.url).state == "ok"
