"""Programs that fail without a word: what their silence says to `doctor log`, and that `verify --client` names the cause.

The first test has what the programs printed in 25 seconds (recorded, see fixtures/clients); the second runs them again
where they are installed (see test_programs.py).
"""

import json
from typing import NamedTuple

import pytest

from doctor.cli import main
from tests.real.conftest import free_port
from tests.real.matrix import fronts, servers
from tests.real.matrix.clients import CLIENTS, program, sound
from tests.real.matrix.faults.registry import at_port
from tests.real.matrix.run import only_loopback, run, run_words

pytestmark = [pytest.mark.real, pytest.mark.matrix]
WALK = "doctor verify --client"
CONTINUE = """name: Local
version: 1.0.0
schema: v1
models:
  - name: local
    provider: openai
    model: local-model
    apiBase: http://127.0.0.1:{port}/v1
    apiKey: none
    roles: [chat, edit]
"""


class Silent(NamedTuple):
    """A program, what is broken, what it then prints, and the cause that `verify --client` has to name."""

    client: str
    fault: str
    printed: str
    cause: str


REFUSED, EMPTY = "server-not-running-or-wrong-port", "error-body-without-choices"
SILENT = (
    Silent("opencode", "refused", "\n> build · local-model\n\n", REFUSED),
    Silent("opencode", "empty choices", "\n> build · local-model\n\n", EMPTY),
    Silent("qwen-code", "refused", "", REFUSED),
    Silent("cline", "refused", "", REFUSED),
    Silent("continue", "empty choices", "", EMPTY),
    Silent(
        "codex",
        "refused",
        "ERROR: Reconnecting... waiting for network\nERROR: Reconnecting... waiting for network\n",
        REFUSED,
    ),
    Silent(
        "claude-code",
        "refused",
        '[claude-code:unrecognized_model] {"model":"local-model","query_source":"sdk"}\n',
        REFUSED,
    ),
)
named = pytest.mark.parametrize(
    "silent", SILENT, ids=[f"{each.client}-{each.fault.replace(' ', '-')}" for each in SILENT]
)


def doctor(capsys, *argv):
    capsys.readouterr()
    main([*argv, "--lang", "en"])
    return capsys.readouterr().out


def assert_led_on(silent, path, capsys):
    """`doctor log` names the cause, or how it is found; it does not name another."""
    found = json.loads(doctor(capsys, "log", path, "--format", "json"))["findings"]
    first = next((finding for finding in found if finding["severity"] != "note"), None)
    if first is None or first["status"] != "seen":
        assert WALK in doctor(capsys, "log", path)
    assert first is None or first["status"] != "seen" or first["cause"] == silent.cause


@named
def test_the_silence_is_led_to_the_ladder_or_named(silent, tmp_path, capsys):
    (tmp_path / "said").write_text(silent.printed, encoding="utf-8")
    assert_led_on(silent, str(tmp_path / "said"), capsys)


@named
def test_the_program_is_silent_and_the_ladder_names_the_cause(silent, home, pool, capsys, tmp_path, monkeypatch):
    if not only_loopback():
        pytest.skip("clients are only run where nothing but loopback can be reached: see test_programs.py")
    command = pool.get(*servers.SOUND)
    empty = fronts.front(command.port, **fronts.empty_choices())
    with empty as front:
        port = front if silent.fault == "empty choices" else free_port()
        said, env = _continue(home, port) if silent.client == "continue" else _another(silent, home, command, port)
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        (tmp_path / "said").write_text(said, encoding="utf-8")
        assert_led_on(silent, str(tmp_path / "said"), capsys)
        deep = ["--deep", "--timeout", "15"] if silent.fault == "empty choices" else []
        answer = json.loads(doctor(capsys, "verify", "--client", silent.client, *deep, "--format", "json"))
    assert answer["findings"][0]["cause"] == silent.cause


def _another(silent, home, command, port):
    setup = sound(silent.client, home, command)
    if not CLIENTS[silent.client].command():
        pytest.skip(f"{silent.client} is not installed")
    setup.point(at_port(setup, port))
    if silent.client == "claude-code":
        setup.put("CLAUDE_CODE_MAX_RETRIES", "10")  # its own number: it tries for more than a minute
    setup.write()
    ran = run(setup, 20)
    assert not ran.works, ran.said
    return ran.said, setup.env


def _continue(home, port):
    found = program("cn")
    if not found:
        pytest.skip("Continue's cn is not installed")
    (home / ".continue").mkdir()
    (home / ".continue" / "config.yaml").write_text(CONTINUE.format(port=port), encoding="utf-8")
    words = [found, "--config", str(home / ".continue" / "config.yaml"), "-p", "Reply with the single word PONG"]
    ran = run_words(words, home, {"CONTINUE_TELEMETRY_ENABLED": "0"}, 40)
    assert (ran.status, ran.out.strip()) == (0, "")
    return ran.out + ran.err, {}
