"""`doctor verify` as a command: what it prints, what it refuses, how it ends."""

import json
import re

import pytest

from doctor.cli import main
from doctor.report.spoken import spoken
from tests.facts.clients.homes import Home
from tests.facts.ladder.serving import as_json, serving, vllm
from tests.real.conftest import free_port

KEY = "sk-local-test-4711"


def run(capsys, *argv):
    status = main(["verify", *argv])
    return status, capsys.readouterr()


def settings(home, **env):
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude" / "settings.json").write_text(json.dumps({"env": env}))
    (home / ".claude.json").write_text('{"hasCompletedOnboarding": true}')


def test_one_line_a_rung_then_the_finding(capsys):
    url = f"http://127.0.0.1:{free_port()}"
    status, out = run(capsys, url)
    lines = out.out.splitlines()
    assert status == 1 and out.err == ""
    assert lines[0].startswith(f"an OpenAI client → {url}/v1/chat/completions")
    assert [line.split()[0] for line in lines[1:5]] == ["✓", "✓", "✗", "–"]
    assert lines[4].split(None, 3)[3].startswith("HTTP, program, ready, key,") and lines[4].endswith("(port failed)")
    assert lines[5] == "" and "Do this first" in out.out and out.out.count("✓") == 2


def test_a_bare_address_is_told_apart_from_the_base_url_of_a_client(capsys):
    with serving(vllm()) as (url, _):
        status, out = run(capsys, url)
        assert status == 0 and "OpenAI client gets HTTP 404" in out.out
        assert "client/v1-assumed" in out.out and f"write {url}/v1 as the base URL" in out.out
        assert f"base URL for OpenAI-type clients (Codex, OpenCode):  {url}/v1" in out.out
        status, out = run(capsys, f"{url}/v1")
        assert "v1-assumed" not in out.out and f"OpenCode):  {url}/v1" in out.out
        _, out = run(capsys, url, "--format", "json")
    ladder = json.loads(out.out)["facts"]["ladders"][0]
    assert (ladder["openai_base"], ladder.get("anthropic_base"), ladder["base_works"]) == (f"{url}/v1", None, False)


@pytest.mark.parametrize(
    ("client", "ending", "reason"),
    [
        ("openai-sdk", "", "v1-missing"),
        ("openai-sdk", "/v1", None),
        ("aider", "", "v1-missing"),
        ("opencode", "/v1", None),
        ("claude-code", "", "wire-missing"),
    ],
)
def test_a_client_that_is_not_set_up_here_is_stood_in_for(capsys, client, ending, reason):
    with serving(vllm()) as (url, _):
        status, out = run(capsys, f"{url}{ending}", "--client", client, "--format", "json")
    ladder = json.loads(out.out)["facts"]["ladders"][0]
    assert (ladder["client"], ladder.get("reason"), status) == (client, reason, 1 if reason else 0)
    assert "openai_base" not in ladder


def test_all_is_said_in_chinese(capsys):
    with serving(vllm()) as (url, _):
        status, out = run(capsys, f"{url}/v1", "--deep", "--lang", "zh")
    assert status == 0
    for line in out.out.splitlines()[1:17]:
        words = re.findall(r"[a-z]{4,}(?: [a-z]+)+", line.partition(" ")[2])
        assert words == [], line


def test_plain_marks_where_the_terminal_knows_no_others(capsys, monkeypatch):
    from doctor.report.ladder import ladder_rows
    from doctor.report.text import plain

    with serving(vllm()) as (url, _):
        _, out = run(capsys, url, "--format", "json")
    ladders = json.loads(out.out)["facts"]["ladders"]
    assert plain(ladder_rows(ladders, lang="en", unicode=False)).isascii()


@pytest.mark.parametrize(
    "argv",
    [
        ("ftp://127.0.0.1",),
        ("http://",),
        ("http://127.0.0.1:99999",),
        ("--client", "no-such-client"),
        ("http://127.0.0.1:8080", "--key-env", "NOT_SET"),
        ("http://127.0.0.1:8080", "--timeout", "0"),
        ("http://127.0.0.1:8080", "--timeout", "nan"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(capsys, argv):
    try:
        status = main(["verify", *argv])
    except SystemExit as end:
        status = end.code
    out = capsys.readouterr()
    assert status == 2 and out.out == "" and "Traceback" not in out.err
    assert len([line for line in out.err.splitlines() if line.startswith("doctor")]) == 1


def test_a_client_that_talks_to_its_maker_is_left_alone(capsys, clean_environment):
    settings(clean_environment, ANTHROPIC_AUTH_TOKEN=KEY)
    status, out = run(capsys, "--client", "claude-code")
    assert status == 2 and "nothing sets its base URL" in out.err and KEY not in out.err


def test_no_server_and_no_client(capsys):
    status, out = run(capsys)
    assert status == 1 and "127.0.0.1:8080" in out.out


def test_fail_on_never(capsys):
    assert run(capsys, f"http://127.0.0.1:{free_port()}", "--fail-on", "never")[0] == 0


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_key_the_server_repeats_is_shown_nowhere(capsys, monkeypatch, form):
    monkeypatch.setenv("MY_KEY", KEY)
    with serving(vllm(empty=as_json({"error": {"message": f"unknown key {KEY}"}}, 401))) as (url, _):
        status, out = run(capsys, url, "--key-env", "MY_KEY", "--format", form)
    assert status == 1 and KEY not in out.out + out.err and "<key-1>" in out.out


def test_a_key_from_elsewhere_is_not_sent_to_another_machine_unasked(clean_environment):
    """Base URL from the project's file, key from the shell: what a hostile repository would want."""
    from doctor.facts.clients import collect_all
    from doctor.facts.ladder.target import of_client
    from doctor.outside import Outside
    from doctor.secrets import Vault

    settings(clean_environment, ANTHROPIC_BASE_URL="http://192.0.2.1:8080")
    vault = Vault()
    (client,) = collect_all(
        Outside({"HOME": str(clean_environment), "ANTHROPIC_AUTH_TOKEN": KEY, "PATH": ""}, "linux"), vault
    )
    unasked = of_client(client, vault, model=None, key=None, named=False)
    assert unasked.keys == () and "not sent to another machine" in unasked.unknown_key
    assert of_client(client, vault, model=None, key=None, named=True).keys[0].value == f"Bearer {KEY}"


def test_the_client_at_another_address(capsys, clean_environment):
    settings(clean_environment, ANTHROPIC_BASE_URL=f"http://127.0.0.1:{free_port()}", ANTHROPIC_AUTH_TOKEN=KEY)
    with serving(vllm()) as (url, asked):
        _, out = run(capsys, url, "--client", "claude-code", "--format", "json")
    ladder = json.loads(out.out)["facts"]["ladders"][0]
    assert ladder["request_url"] == f"{url}/v1/messages?beta=true"
    assert (ladder["failed"], ladder["reason"]) == ("path", "wire-missing") and asked


def test_what_has_no_translation_is_shown_as_it_is():
    assert spoken("something new", "zh") == "something new"


def test_a_client_whose_settings_cannot_be_read_is_not_said_to_have_none(capsys, tmp_path):
    world = Home(
        tmp_path, {"home/.claude/settings.json": '{\n // mine\n"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}}'}
    )
    for lang, words in (("en", "settings.json:2: not valid JSON"), ("zh", "settings.json:2：不是合法的 JSON")):
        assert main(["verify", "--client", "claude-code", "--lang", lang], world) == 2
        assert words in capsys.readouterr().err
