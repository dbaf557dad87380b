"""Commands out of public reports, and deliberately wrong ones, each in a launch file: what can be put right is, the linter
finds nothing more, and llama-server b10434 itself takes the arguments."""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from doctor.launch.command import parse_command
from doctor.launch.other_servers import OTHER_SERVERS
from tests.binaries import llama_server
from tests.fix.launching import put_right, wrong
from tests.fix.wrapped import FORMS, presets

FOLDER = Path(__file__).parents[2] / "fixtures/launch"
REPORTED = [
    line.split("\t")[2].replace("⏎", "\n") for line in (FOLDER / "commands.tsv").read_text("utf-8").splitlines()
]
WRONG = [f"llama-server -m m.gguf {line.split(chr(9))[1]}" for line in (FOLDER / "wrong.tsv").read_text().splitlines()]
CLEAR = ("an option of ", "llama-server takes ", "llama-server never had ")
"""Why a change is not made that nobody but the user can make."""
ELSEWHERE = re.compile("failed to open file|invalid device|not a directory|unknown buffer type|chat template is not")


def words_of(command):
    """The words of a command with llama-server in front; None for one that is filled in later, or starts no server."""
    found = parse_command(command)
    if found is None or found.program in (None, *OTHER_SERVERS) or any(word.open for word in found.arguments):
        return None
    words = [word.text for word in found.arguments]
    if not words or "--cache-list" in words:
        return None
    return ["llama-server", *words] if all(word and "\n" not in word for word in words) else None


CASES = [words for command in (*REPORTED, *WRONG) if (words := words_of(command)) is not None]
LINE_FORMS = [form for form in FORMS if form is not presets]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_put_right_as_far_as_it_is_clear(tmp_path, number):
    """The kinds of file in turn: every one of them has some twenty of these commands."""
    form = LINE_FORMS[number % len(LINE_FORMS)]
    name, text = form(CASES[number])
    fixed = put_right(tmp_path, name, text)
    unclear = [reason for reason in fixed.reasons() if not reason.startswith(CLEAR)]
    known = [problem for problem in wrong(fixed.launches[0]) if problem.replacement is not None]
    json = any(word.startswith("{") for word in CASES[number])  # in words of some kinds of file it wants a hand
    assert json or (unclear == [] and known == [])
    if form is LINE_FORMS[0] and fixed.texts:
        assert shlex.split(fixed.texts[name].partition("\n")[2])[1:] == fixed.words[0]


def test_there_is_something_to_put_right():
    assert len(CASES) > 230 and len({words[1] for words in CASES}) > 10


@pytest.mark.real
def test_the_real_program_takes_what_was_put_right(tmp_path):
    refused, tried = [], 0
    for words in CASES:
        name, text = FORMS[1](words)
        fixed = put_right(tmp_path, name, text)
        if not fixed.texts or any(problem.fatal for problem in wrong(fixed.launches[0])):
            continue
        arguments = [word.text for word in parse_command(fixed.texts[name].partition("# mine\n")[2]).arguments]
        if not {"-m", "--model"} & set(arguments) or {"-hf", "-hfr", "--hf-repo", "-mu"} & set(arguments):
            continue  # what stops it then must be the model file that is not there
        tried += 1
        done = subprocess.run(
            [llama_server(), *arguments, "--port", "18121"],
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        error = re.search("^error(?: while handling|:).*", done.stdout + done.stderr, re.MULTILINE)
        if error is not None and not ELSEWHERE.search(error[0]):
            refused.append((arguments, error[0]))
    assert refused == [] and tried > 90
