"""Chinese answers hold no English sentences: every rule on its examples, and runs of every verb on good and bad set-ups.

Names of programs, options, commands and quoted lines are English by right: left out are `code`, quotations, commands to
copy, lines of a log with their place, and what a server said behind its HTTP status.
"""

import contextlib
import json
import re
from pathlib import Path

import pytest

from doctor.cli import main
from doctor.engine.check import with_facts
from doctor.engine.diagnose import advise, diagnose
from doctor.engine.load import read_rules, rules_folder
from doctor.engine.match import Matcher
from doctor.facts.pasted import paste_facts
from doctor.logs.paste import Paste
from doctor.outside import Outside
from doctor.report.fact_words import evidence_words
from doctor.report.spoken import spoken
from doctor.secrets import Vault
from tests.facts.ladder.serving import as_json, serving, vllm
from tests.gguf.headers import model_file

FIXTURES = Path(__file__).parents[2] / "fixtures"
QUOTED = re.compile(r"""`[^`]*`|"[^"]*"|“[^”]*”|「[^」]*」|‘[^’]*’|'[^']*'|HTTP \d+：.*""")
SENTENCE = re.compile(r"(?<![\w./<-])[A-Za-z][A-Za-z']+(?: [A-Za-z][A-Za-z'-]+){3,}")
NAMES = ("Visual Studio Build Tools",)
"""Names of four words."""


def english(text):
    """Runs of four English words that are no quotation."""
    return [words for words in SENTENCE.findall(QUOTED.sub("`", text)) if not words.startswith(NAMES)]


def test_english_is_seen():
    assert english("原因：the server does not say 没有") == ["the server does not say"]
    assert english("运行 `the server does not say`，“No such file or directory”") == []


OUTSIDE = Outside(environ={})
RULES = read_rules(OUTSIDE, rules_folder(OUTSIDE))
SUBJECTS = sorted({rule.id.partition("/")[0] for rule in RULES})


def findings(rule):
    """What a rule says without facts, and on each of its examples."""

    def say(text):
        return spoken(text, "zh")

    yield advise(rule, lang="zh", evidence=(), clean=say)
    for example in rule.examples:
        if example.match:
            paste = Paste([example.text.encode()])
            hits = Matcher([rule]).sift(paste)
            facts = with_facts(paste_facts(paste, OUTSIDE, Vault()), example.facts)
            yield from diagnose([rule], facts, hits, lang="zh", clean=say).findings


@pytest.mark.parametrize("subject", SUBJECTS)
def test_rules_speak_chinese(subject):
    found = []
    for rule in RULES:
        if rule.id.startswith(f"{subject}/"):
            for finding in findings(rule):
                texts = [finding.title, finding.why, finding.decide, *(advice.text for advice in finding.remedies)]
                texts += [evidence_words(item, "zh") for item in finding.evidence if item.line is None]
                found += [(rule.id, words) for text in texts for words in english(text)]
    assert found == []


def said(capsys, *argv):
    """Runs of English words in what a call prints, but for commands to copy and lines of a text with their place."""
    with contextlib.suppress(SystemExit):
        main([*argv, "--lang", "zh"])
    out = capsys.readouterr()
    assert "自身出错" not in out.out + out.err
    lines = [line for line in out.out.splitlines() if not re.match(r"\s+\S+:\d+: |\s{6,}\S|\s{4}[+@-]", line)]
    return [(" ".join(argv)[:80], words) for line in [*lines, out.err] for words in english(line)]


@pytest.mark.parametrize("name", sorted(path.name for path in (FIXTURES / "machines").glob("*.json")))
def test_check_of_saved_machines(capsys, name):
    assert said(capsys, "check", "--from", str(FIXTURES / "machines" / name), "-v") == []


BAD = (
    "-c 64K --mlock --fa --no-mmap stray --draft-max 8 -ctv q4_0 -fa off",
    "--spec-type mtp -c 131,072 --host 0.0.0.0 --rtr --reasoning-format foo -np 0 -ngl=99 -ot x",
)


@pytest.mark.parametrize("options", BAD)
def test_check_of_launch_commands(capsys, options):
    launch = ["--launch", f"llama-server -m /nope/x.gguf {options}"]
    assert said(capsys, "check", *launch, "--fix", "-v", "--only", "launch,server,client,connection") == []


def test_check_of_clients(capsys, clean_environment):
    (clean_environment / ".claude").mkdir()
    settings = {"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/v1", "ANTHROPIC_AUTH_TOKEN": "sk-local-test"}}
    (clean_environment / ".claude" / "settings.json").write_text(json.dumps(settings))
    (clean_environment / ".codex").mkdir()
    (clean_environment / ".codex" / "config.toml").write_text('model = "x"\nopenai_base_url = "http://127.0.0.1:9"\n')
    for verb in (["check", "-v"], ["verify"], ["verify", "--client", "codex"], ["fix", "--dry-run"], ["fix", "--undo"]):
        assert said(capsys, *verb) == []


@pytest.mark.parametrize("folder", ["good", "real"])
def test_logs(capsys, folder):
    found = []
    for path in sorted((FIXTURES / "logs" / folder).iterdir())[::4]:
        found += said(capsys, "log", str(path), "-v")
    assert found == []


@pytest.mark.parametrize("path", sorted((FIXTURES / "watch").glob("*.jsonl")), ids=lambda path: path.name)
def test_watch(capsys, path):
    assert said(capsys, "watch", "--from", str(path), "-v") == []


@pytest.mark.parametrize(
    "words",
    [
        "--gpu 3090",
        "--vram 4",
        "--gpu 3090,3090 --goal context --output compose",
        "--vram 24 --ctx 128k --slots 4 --output systemd",
        "--device cpu --ram 8",
        "--vram 2 --ram 2",
        "--gpu 3090 --launch -c_262144_-ngl_99",
        "--gpu 3090 --launch -c_8192_-ctv_q4_0_-fa_off",
        "--gpu 3090 --launch -c_131072_-np_8_--spec-type_draft-mtp_-ot_exps=CPU",
    ],
)
def test_plan(capsys, tmp_path, words):
    path = str(model_file(tmp_path, "llama-3.1-8b-q4_k_m"))
    argv = [
        f"llama-server -m {path} {word.replace('_-', ' -').replace('_', ' ')}" if word.startswith("-c_") else word
        for word in words.split()
    ]
    assert said(capsys, "plan", *([path] if "--launch" not in argv else []), *argv) == []


HEADS = {
    "html": b"<!DOCTYPE html><title>404 not found here</title>",
    "lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 123456\n",
    "empty": b"",
    "zip": b"PK\x03\x04xxxx",
    "zeros": bytes(100),
    "version": b"GGUF\x09\x00\x00\x00" + b"\x01" * 50,
}


@pytest.mark.parametrize("kind", HEADS)
def test_damaged_models(capsys, tmp_path, kind):
    path = tmp_path / "m.gguf"
    path.write_bytes(HEADS[kind])
    assert said(capsys, "check", "--model", str(path), "--only", "model", "-v") == []
    assert said(capsys, "plan", str(path), "--vram", "8") == []


def always(status, headers, body):
    return lambda method, path, asked, data: (status, headers, body)


SERVERS = {
    "sound": vllm(),
    "html": always(200, {"Content-Type": "text/html"}, b"<!doctype html><title>x</title>"),
    "key": lambda *_: as_json({"error": {"message": "Invalid API Key", "type": "authentication_error"}}, 401),
    "broken": lambda *_: as_json({"error": {"message": "boom"}}, 500),
    "redirect": always(302, {"Location": "https://example.org/login"}, b""),
    "no-reply": vllm(reply=as_json({"x": 1})),
    "no-stream": vllm(stream=as_json({"x": 1})),
}


@pytest.mark.parametrize("kind", SERVERS)
def test_servers(capsys, monkeypatch, kind):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with serving(SERVERS[kind]) as (url, _):
        found = said(capsys, "verify", url, "--deep")
        found += said(capsys, "verify", f"{url}/v1", "--origin", "http://x.example")
        for client in ("claude-code", "codex", "aider"):
            found += said(capsys, "verify", url, "--client", client, "--model", "nope")
        found += said(capsys, "check", "--server", url, "-v", "--only", "server,client,connection")
        found += said(capsys, "bench", url, "--seconds", "2")
    assert found == []


@pytest.mark.parametrize("url", ["http://nosuchhost.invalid:1", "http://127.0.0.1:9", "http://0.0.0.0:9", "ftp://x"])
def test_addresses_where_nothing_is(capsys, url):
    found = said(capsys, "verify", url) + said(capsys, "check", "--server", url, "--only", "server")
    assert found + said(capsys, "bench", url) == []


@pytest.mark.parametrize(
    "words",
    ["explain 第三轮变慢", "explain kv cache out of memory", "explain client/v1-missing-live -v", "rules list memory",
     "chekc", "check --modle x", "log", "log /nope", "check --key-env NOPE_X", "rules show a/b", "plan --vram x y.gguf"],
)  # fmt: skip
def test_questions_and_wrong_calls(capsys, words):
    assert said(capsys, *words.split()) == []
