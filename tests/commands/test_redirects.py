"""A server that sends doctor elsewhere: another port, another name of this machine, or from https to http. The key stays.

Every command that asks a server, against real servers; the one that is pointed at must never see the key, in whatever
place of a request.
"""

import contextlib
import json
import ssl
import subprocess

import httpx
import pytest

from doctor.cli import main
from tests.facts.ladder.serving import JSON, as_json, serving, vllm

KEY = "sk-local-test-4711"
VERBS = {
    "check": ["check", "--server", "{url}", "--key", "MY_KEY", "--only", "server,clients,ladders"],
    "verify": ["verify", "{url}/v1", "--key-env", "MY_KEY"],
    "verify --deep": ["verify", "{url}/v1", "--deep", "--key-env", "MY_KEY", "--timeout", "2"],
    "verify --client": ["verify", "--client", "claude-code", "--deep", "--timeout", "2"],
    "bench": ["bench", "{url}", "--seconds", "5", "--key-env", "MY_KEY"],
    "watch": ["watch", "--server", "{url}", "--for", "1", "--interval", "0.3", "--key", "MY_KEY"],
    "plan": ["plan", "{url}/owner/repo/resolve/main/m.gguf", "--vram", "24", "--ram", "64"],
    "plan repo": ["plan", "owner/repo:Q4_K_M", "--vram", "24", "--ram", "64"],
    "fix": ["fix", "--client", "claude-code", "--yes"],
}


def of_llama(method, path, headers, body):
    """The answers of a llama-server that wants a key, as far as it is asked before it sends anybody away."""
    keyed = KEY in headers.get("authorization", "") + headers.get("x-api-key", "")
    if path == "/health":
        return as_json({"status": "ok"}, Server="llama.cpp")
    if path.startswith("/v1/models"):
        return as_json({"data": [{"id": "qwen3", "owned_by": "llamacpp"}]}, Server="llama.cpp")
    return as_json(
        {"error": {"message": "Invalid API Key", "type": "authentication_error", "code": 401}}, 400 if keyed else 401
    )


WHAT = {
    "everything": lambda *request: None,
    "what wants the key": lambda *request: None if _keyed(request) else of_llama(*request),
    "posts": lambda *request: None if request[0] == "POST" else of_llama(*request),
    "the model's work": lambda *request: None if request[3] and request[3].get("max_tokens") else vllm()(*request),
}


def _keyed(request):
    return any(KEY in value for value in request[2].values())


def sending(what, status, place):
    """The answers of a server that sends what `what` names to `place` with `status`."""

    def answer(method, path, headers, body):
        found = WHAT[what](method, path, headers, body)
        return found or (status, {**JSON, "Location": f"{place[0]}{path}"}, b"")

    return answer


def settings(home, url):
    (home / ".claude").mkdir(exist_ok=True)
    env = {"ANTHROPIC_BASE_URL": f"{url}/v1", "ANTHROPIC_AUTH_TOKEN": KEY, "ANTHROPIC_MODEL": "qwen3"}
    (home / ".claude" / "settings.json").write_text(json.dumps({"env": env}))
    (home / ".claude.json").write_text('{"hasCompletedOnboarding": true}')


def run(verb, url, home, monkeypatch, capsys):
    """Run a command; what it says must not hold the key either."""
    settings(home, url)
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("HF_TOKEN", KEY)
    monkeypatch.setenv("HF_ENDPOINT", url)
    main([word.replace("{url}", url) for word in VERBS[verb]])
    said = capsys.readouterr()
    assert KEY not in said.out + said.err and "crashed" not in said.out


def assert_clean(asked):
    for method, path, headers, body in asked:
        assert KEY not in path and KEY not in json.dumps(body) and not _keyed((method, path, headers, body)), (
            method,
            path,
        )


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("what", "status"), [("everything", 307), ("what wants the key", 302), ("posts", 308), ("the model's work", 307)]
)
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_another_port_or_name_never_sees_the_key(verb, what, status, name, clean_environment, monkeypatch, capsys):
    place = [""]
    with serving(vllm()) as (other, asked_there), serving(sending(what, status, place)) as (url, asked):
        place[0] = other.replace("127.0.0.1", name)
        run(verb, url, clean_environment, monkeypatch, capsys)
    assert asked, "the server itself was asked"
    assert_clean(asked_there)
    if not verb.startswith("plan"):  # a file may be fetched from where its hub sends us, an API is asked nowhere else
        assert asked_there == []


def test_the_key_does_go_to_the_server_itself(clean_environment, monkeypatch, capsys):
    """So that the tests above cannot pass because no key is sent at all."""
    for verb in VERBS:
        with serving(of_llama) as (url, asked):
            run(verb, url, clean_environment, monkeypatch, capsys)
        assert any(_keyed(request) for request in asked), verb


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
        "-keyout",
        "key.pem",
        "-out",
        "cert.pem",
    ]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("openssl is not here to make a certificate")
    return folder


@contextlib.contextmanager
def over_tls(answer, certificate):
    """The same server with TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with serving(answer, wrap=lambda socket: context.wrap_socket(socket, server_side=True)) as (url, asked):
        yield url.replace("http://", "https://"), asked


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("what", ["everything", "what wants the key"])
def test_the_key_does_not_go_from_https_to_http(verb, what, certificate, clean_environment, monkeypatch, capsys):
    real = httpx.Client
    monkeypatch.setattr(
        httpx, "Client", lambda **options: real(**{**options, "verify": False})
    )  # ours is signed by nobody
    place = [""]
    with serving(vllm()) as (other, asked_there), over_tls(sending(what, 302, place), certificate) as (url, asked):
        place[0] = other
        run(verb, url, clean_environment, monkeypatch, capsys)
    assert asked and asked[0][0] in ("GET", "POST")
    assert_clean(asked_there)


@pytest.mark.parametrize("verb", VERBS)
def test_without_a_certificate_that_is_trusted_nothing_is_sent_at_all(
    verb, certificate, clean_environment, monkeypatch, capsys
):
    with over_tls(of_llama, certificate) as (url, asked):
        run(verb, url, clean_environment, monkeypatch, capsys)
    assert asked == []
