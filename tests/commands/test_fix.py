"""`doctor fix`: what it asks, what it refuses, what it says; the cures themselves are in tests/fix."""

import json
import os
import stat

import pytest

from doctor.cli import main
from doctor.outside import OutsideError
from tests.facts.clients.homes import Home
from tests.facts.ladder.serving import serving
from tests.fix.test_cures import llama

BASE = "http://127.0.0.1:9"
WRONG = {"env": {"ANTHROPIC_BASE_URL": f"{BASE}/v1", "ANTHROPIC_AUTH_TOKEN": "sk-local-test"}}
SETTINGS, STATE = "home/.claude/settings.json", "home/.claude.json"
RULE = "client/v1-in-claude-base-live"


class World(Home):
    """A home with somebody in front of it, or nobody (`answer` None)."""

    answer = None

    def is_asking(self):
        return self.answer is not None

    def ask(self, question):
        self.question = question
        return self.answer


@pytest.fixture
def world(tmp_path):
    return World(tmp_path, {SETTINGS: WRONG, STATE: {"hasCompletedOnboarding": True}})


def base_url(world):
    return json.loads((world.root / SETTINGS).read_text())["env"]["ANTHROPIC_BASE_URL"]


def run(world, capsys, *words):
    status = main(["fix", "--client", "claude-code", *words] if words[:1] != ("--undo",) else ["fix", *words], world)
    return status, capsys.readouterr().out


def test_a_client_that_asks_another_machine_is_asked_about_when_it_or_the_rule_is_named(tmp_path, capsys):
    away = {"env": {"ANTHROPIC_BASE_URL": "http://llama.invalid:9", "ANTHROPIC_AUTH_TOKEN": "sk-local-test"}}
    world = World(tmp_path, {SETTINGS: away, STATE: {"hasCompletedOnboarding": True}})
    world.resolve = lambda host, timeout=2.0: ()
    world.port_open = lambda host, port, timeout=1.0: (host, port) == ("127.0.0.1", 9)
    for words in (["--client", "claude-code"], ["--rule", "client/server-name-unknown"]):
        main(["fix", *words, "--dry-run"], world)
        assert '+    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9"' in capsys.readouterr().out
    main(["fix", "--dry-run"], world)
    assert "ANTHROPIC_BASE_URL" not in capsys.readouterr().out


def test_without_a_terminal_nothing_is_written(world, capsys):
    status, out = run(world, capsys)
    assert status == 2 and "--yes" in out and '+    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",' in out
    assert base_url(world) == f"{BASE}/v1" and not os.path.exists(world.root / "home/.local")


@pytest.mark.parametrize(
    ("answer", "written"), [("y", True), ("YES", True), ("是", True), ("", False), ("n", False), ("x", False)]
)
def test_it_asks(world, capsys, answer, written):
    world.answer = answer
    status, out = run(world, capsys)
    assert (base_url(world) == BASE) is written and status == (0 if written else 2)
    assert out.count("The edit") == 1 and "[y/N]" in world.question


def test_dry_run(world, capsys):
    status, out = run(world, capsys, "--dry-run", "--yes")
    assert status == 0 and "--dry-run" in out and base_url(world) == f"{BASE}/v1"


def test_json_never_asks(world, capsys):
    world.answer = "y"
    status, out = run(world, capsys, "--format", "json")
    told = json.loads(out)
    assert status == 2 and told["state"] == "not-asked" and told["finding"]["rule"] == RULE
    assert base_url(world) == f"{BASE}/v1"


def test_yes_then_undo_then_undo(world, capsys):
    status, out = run(world, capsys, "--yes")
    assert status == 0 and "cured" in out and base_url(world) == BASE and "sk-local-test" not in out
    status, out = run(world, capsys, "--undo")
    assert status == 0 and base_url(world) == f"{BASE}/v1" and "Taken back" in out
    status, out = run(world, capsys, "--undo", "--lang", "zh")
    assert status == 2 and "没有可以撤销的修改" in out


def test_undo_after_a_change_says_what_to_do(world, capsys):
    run(world, capsys, "--yes")
    (world.root / SETTINGS).write_text("{}")
    status, out = run(world, capsys, "--undo")
    assert status == 2 and "Compare the two" in out and "/edits/" in out and (world.root / SETTINGS).read_text() == "{}"


def test_chinese(world, capsys):
    status, out = run(world, capsys, "--yes", "--lang", "zh")
    assert status == 0 and "已写入，并重新检查：问题已解决" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--rule", "client/nonsense"), "no rule 'client/nonsense'"),
        (("--key-env", "NOT_THERE"), "no variable of that name is set"),
    ],
)
def test_wrong_usage(world, capsys, words, complaint):
    assert main(["fix", *words], world) == 2
    assert complaint in capsys.readouterr().err


def test_a_client_that_is_not_here(world, capsys):
    assert main(["fix", "--client", "codex"], world) == 2
    assert "claude-code" in capsys.readouterr().err


def test_what_no_edit_cures_is_told(tmp_path, capsys):
    world = World(tmp_path, {SETTINGS: "{ broken", STATE: {"hasCompletedOnboarding": True}})
    status, out = run(world, capsys, "--yes")
    assert status == 1 and "config-file-broken-live" in out and (tmp_path / SETTINGS).read_text() == "{ broken"


@pytest.mark.parametrize("why", ["read-only", "broken later", "not utf-8"])
def test_a_file_that_cannot_be_changed(world, capsys, monkeypatch, why):
    path = world.root / SETTINGS
    content = path.read_bytes()
    if why == "read-only":
        path.chmod(0o400)
    else:
        read = World.read_bytes
        other = b"{ broken" if why == "broken later" else b"\xff\xfe{\x00}\x00"
        path_text = str(path)

        def changed(self, name, limit=1 << 20):
            caller_is_fix = limit == 4 << 20
            return other if name == path_text and caller_is_fix else read(self, name, limit)

        monkeypatch.setattr(World, "read_bytes", changed)
    status, out = run(world, capsys, "--yes")
    assert status == 2 and path.read_bytes() == content
    assert ("read-only" in out) if why == "read-only" else ("by hand" in out)


def test_a_huge_file_is_left_alone(world, capsys):
    path = world.root / STATE
    path.write_text(json.dumps({"hasCompletedOnboarding": False, "history": "x" * (5 << 20)}))
    status, out = run(world, capsys, "--yes", "--rule", "client/onboarding-live")
    assert status == 2 and "larger than" in out


def test_a_change_between_question_and_answer_is_seen(world, capsys):
    class Slow(World):
        def ask(self, question):
            (self.root / SETTINGS).write_text('{"env": {}}')
            return "y"

    slow = Slow(world.root)
    slow.answer = "y"
    status, out = run(slow, capsys)
    assert status == 2 and "another program" in out and (world.root / SETTINGS).read_text() == '{"env": {}}'


def test_mode_and_link_stay(world, capsys, tmp_path):
    real = tmp_path / "dotfiles.json"
    (world.root / SETTINGS).rename(real)
    (world.root / SETTINGS).symlink_to(real)
    real.chmod(0o600)
    status, _ = run(world, capsys, "--yes")
    assert status == 0 and (world.root / SETTINGS).is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o600
    assert base_url(world) == BASE


def test_a_state_folder_that_cannot_be_made_stops_it(world, capsys, monkeypatch):
    def refuse(self, path):
        raise OutsideError("denied", f"{path}: no permission")

    monkeypatch.setattr(World, "make_folder", refuse)
    status, out = run(world, capsys, "--yes")
    assert status == 2 and "no permission" in out and base_url(world) == f"{BASE}/v1"


CLAUDE = {"ANTHROPIC_AUTH_TOKEN": "sk-local-test", "CLAUDE_CODE_ATTRIBUTION_HEADER": "0"}


def claude_at(tmp_path, url):
    world = World(tmp_path, {SETTINGS: {"env": {"ANTHROPIC_BASE_URL": url, **CLAUDE}}})
    world.port_open = lambda host, port, timeout=1.0: super(Home, world).port_open(host, port, timeout)
    return world


def test_what_comes_first_is_told_first_also_where_no_edit_cures_it(tmp_path, capsys):
    small = {"default_generation_settings": {"n_ctx": 4096, "params": {}}}
    with serving(llama(props=small)) as (url, _):
        world = claude_at(tmp_path, url)
        status, out = run(world, capsys, "--dry-run")
    assert status == 0 and "context/slot-too-small-for-agent" in out.splitlines()[0] and "no edit" in out
    assert "CLAUDE_CODE_MAX_CONTEXT_TOKENS" not in out and "hasCompletedOnboarding" in out


def test_what_comes_first_and_wants_the_key_says_how(tmp_path, capsys):
    with serving(llama(key="sk-local-test-2")) as (url, _):
        world = claude_at(tmp_path, url)
        _, out = run(world, capsys, "--yes")
        first, hint = out.splitlines()[:2]
        rule = first.rpartition("(")[2].rstrip(")")
        main(["check", "--only", "clients,server,connection"], world)
        assert f"doctor fix --rule {rule} --key-env NAME\n" in capsys.readouterr().out
        assert rule.startswith("client/key-") and f"doctor fix --rule {rule} --key-env NAME" in hint
        assert out.count(rule) == 2 and (world.root / STATE).exists()  # not told a second time as still wrong
        world.environ["MINE"] = "sk-local-test-2"
        assert run(world, capsys, "--rule", rule, "--key-env", "MINE", "--yes")[0] == 0


def test_where_nothing_was_looked_at_nothing_is_said_to_be_in_order(tmp_path, capsys):
    assert main(["fix"], World(tmp_path, {})) == 0
    out = capsys.readouterr().out
    assert "Nothing was looked at" in out and "✓" not in out
    assert main(["fix", "--lang", "zh"], World(tmp_path, {})) == 0
    assert "没有可以检查的" in capsys.readouterr().out
