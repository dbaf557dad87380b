"""The command line itself: help, options before and after the verb, and what is said of a wrong call."""

import argparse
import re

import pytest

from doctor.arguments import parse, parser_of
from doctor.arguments.overview import VERBS
from doctor.arguments.shared import CLIENT_IDS
from doctor.report.columns import columns, wrapped

NEEDS = {"log": ["x.log"], "explain": ["words"], "completion": ["bash"]}


def call(capsys, *words, environ=()):
    """(options or exit status, standard output, standard error) of a call."""
    try:
        result = parse(list(words), dict(environ))
    except SystemExit as end:
        result = end.code
    out = capsys.readouterr()
    return result, out.out, out.err


@pytest.mark.parametrize("verb", VERBS)
def test_options_of_every_verb_stand_before_or_after_it(capsys, verb):
    common = ["--lang", "zh", "--fail-on=never", "-v", "--no-color", "--format", "text"]
    needs = NEEDS.get(verb, [])
    before, _, _ = call(capsys, *common, verb, *needs)
    after, _, _ = call(capsys, verb, *needs, *common)
    assert vars(before) == vars(after)
    assert (before.verb, before.lang, before.fail_on, before.verbose, before.no_color) == (
        verb,
        "zh",
        "never",
        True,
        True,
    )


def test_what_stands_behind_the_verb_wins_and_nothing_said_is_the_default(capsys):
    assert call(capsys, "--lang", "zh", "check", "--lang", "en")[0].lang == "en"
    options = call(capsys, "check")[0]
    assert (options.format, options.lang, options.fail_on, options.verbose) == ("text", None, "error", False)


@pytest.mark.parametrize("verb", ["check", "verify", "fix", "bench", "watch"])
def test_the_key_has_the_same_name_in_every_verb(capsys, verb):
    assert call(capsys, verb, "--key-env", "MINE")[0].key_env == "MINE"
    assert call(capsys, verb, "--key", "MINE")[0].key_env == "MINE", "the name it had before"
    assert call(capsys, verb, "--key-file", "k")[0].key_file == "k"
    help_text = call(capsys, verb, "--help")[1]
    assert "--key-env" in help_text and "--key-file" in help_text and "--key " not in help_text


def test_a_build_has_the_same_name_in_every_verb(capsys):
    for verb in ("check", "plan"):
        assert call(capsys, verb, "--for-build", "b10434")[0].for_build == 10434
    assert call(capsys, "plan", "--build", "10434")[0].for_build == 10434, "the name it had before"


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_help_is_examples_first_then_options_then_exit_statuses_within_the_terminal(
    capsys, monkeypatch, verb, lang, width
):
    monkeypatch.setenv("COLUMNS", str(width))
    status, out, err = call(capsys, verb, "--help", "--lang", lang)
    assert status == 0 and err == ""
    parser = parser_of(verb, lang)
    places = [out.index(f"doctor {verb}"), out.index(f"  {parser.page.examples[0][0]}"), out.index("--format")]
    places.append(out.index("\n  0  "))
    assert places == sorted(places)
    long = [line for line in out.splitlines() if columns(line) > width]
    assert all(any(command in line for command, _ in parser.page.examples) for line in long), (
        "only a command is not broken"
    )


@pytest.mark.parametrize("verb", VERBS)
def test_the_examples_of_help_are_understood(capsys, verb):
    import shlex

    for command, _ in parser_of(verb, "en").page.examples:
        words = shlex.split(command.partition("| ")[2] or command)
        if words[0] == "doctor":
            words = words[1:].copy()
            assert call(capsys, *words[: words.index(">") if ">" in words else None])[0].verb == verb, command


@pytest.mark.parametrize(
    ("words", "verb"), [(["help", "check"], "check"), (["check", "--help"], "check"), (["--help", "check"], "check")]
)
def test_help_about_a_verb(capsys, words, verb):
    status, out, _ = call(capsys, *words)
    assert status == 0 and out == parser_of(verb, "en").format_help()


@pytest.mark.parametrize("words", [["help"], ["--help"], ["-h"]])
def test_help_lists_every_verb(capsys, words):
    status, out, _ = call(capsys, *words)
    assert status == 0 and all(f"\n  {verb} " in out for verb in VERBS)


def test_no_word_at_all_says_where_to_begin(capsys):
    status, out, err = call(capsys)
    assert status == 0 and err == "" and len(out.splitlines()) < 20
    assert {"doctor check", "doctor explain", "doctor log"} <= {" ".join(line.split()[:2]) for line in out.splitlines()}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("chekc", "did you mean doctor check?"),
        ("expain x", "did you mean doctor explain?"),
        ("server.log", "did you mean doctor log server.log?"),
        ("qwen.gguf", "did you mean doctor plan qwen.gguf?"),
        ("http://127.0.0.1:8080", "did you mean doctor verify http://127.0.0.1:8080?"),
        ("frobnicate", "verbs are check, verify"),
        ("check --modle x", "did you mean --model?"),
        ("check --api-key x", "did you mean --key-env?"),
        ("check --vram 24", "doctor plan has it"),
        ("check qwen.gguf", "did you mean --model qwen.gguf?"),
        ("check http://127.0.0.1:8080", "did you mean --server http://127.0.0.1:8080?"),
        ("check start.sh", "did you mean --launch start.sh?"),
        ("check x y", "'x' is one word too many"),
        ("explain it hangs --chekc", "did you mean --check?"),
        ("--model x check", "--model stands behind the verb: doctor check --model …"),
        ("check --format xml", "choose from text, json, markdown, sarif"),
        ("check --format jsn", "did you mean json?"),
        ("check --lang", "--lang wants a value"),
        ("log", "FILE is missing"),
        ("plan --gpu 3090 --vram 24 x.gguf", "--vram and --gpu cannot be used together"),
        ("verify --timeout soon", "'soon' is no time"),
        ("watch --interval 0.1", "from 0.2 to 60 seconds"),
        ("check --for-build new", "no build number such as b10434"),
        ("check --s x", "--s could be each of"),
        ("help nothing", "no verb 'nothing'"),
    ],
)
def test_a_wrong_call_is_one_line_that_says_what_was_meant(capsys, words, said):
    status, out, err = call(capsys, *words.split())
    assert status == 2 and out == "" and len(err.splitlines()) == 1
    assert err.startswith("doctor") and said in err and "--help`" in err


def test_options_of_another_program_are_words_of_a_question(capsys):
    options = call(capsys, "explain", "why", "does", "--flash-attn", "fail")[0]
    assert sorted(options.words) == ["--flash-attn", "does", "fail", "why"]


def test_clients_are_those_that_are_known():
    from importlib import import_module

    from doctor.facts.clients import CLIENTS
    from doctor.facts.clients.assemble import Kind

    modules = [import_module(f"doctor.facts.clients.{name}") for name in CLIENTS]
    kinds = {value.id for module in modules for value in vars(module).values() if isinstance(value, Kind)}
    assert kinds - {"cline-vscode"} <= set(CLIENT_IDS)
    assert len(CLIENT_IDS) == len(CLIENTS)


def test_chinese_is_wrapped_by_the_columns_it_takes():
    words = "查看这台机器、模型文件、启动命令、正在运行的服务和客户端的设置。" * 3
    lines = wrapped(words, 40)
    assert "".join(lines) == words and max(map(columns, lines)) <= 42
    assert not any(line[0] in "，。、" for line in lines)
    assert wrapped("a word and another", 9) == ["a word", "and", "another"]


def shown_in_help(verb):
    parser = parser_of(verb, "en")
    yield parser.page.says
    yield from (says for _, says in (*parser.page.examples, *parser.page.exits))
    for group in parser._action_groups:
        helps = [action.help for action in group._group_actions if action.help != argparse.SUPPRESS]
        yield from (group.title, *helps) if helps else ()


def test_all_help_is_there_in_chinese():
    from doctor.arguments.overview import _START, overview, start
    from doctor.report.chinese.help import HELP

    wanted = {words for verb in ("", *VERBS) for words in shown_in_help(verb)}
    wanted |= {words for verb in VERBS.values() for words in verb} | {words for _, words in _START}
    assert wanted - set(HELP) == set(), "missing in doctor/report/chinese/help.py"
    for page in (overview("zh"), start("zh")):
        assert not re.search("begin with|every verb|exit status|examples", page)


def test_the_examples_of_the_readme_are_understood(capsys):
    import shlex
    from pathlib import Path

    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    block = text.partition("## What it does")[2].partition("```sh\n")[2].partition("```")[0]
    commands = [line.partition(" #")[0].rpartition("| ")[2].strip() for line in block.splitlines()]
    commands = [command for command in commands if command.startswith("doctor")]
    assert len(commands) > 12
    for command in commands:
        words = shlex.split(command)[1:]
        assert call(capsys, *words)[0].verb == words[0], command
