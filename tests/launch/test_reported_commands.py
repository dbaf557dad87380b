"""Command lines out of public reports, and deliberately wrong ones.

fixtures/launch/commands.tsv: build ("~" in front: known by the date only; "-": not known), what became of the command
(ok, refused, fork: options of another program), the command with its names neutralised ("⏎" is a line break), and the
public thread, document or article it is from ("-": not kept).
fixtures/launch/wrong.tsv: what llama-server b10434 prints in meaning, and the options it is given.
"""

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from doctor.launch.command import parse_command
from doctor.launch.fields import Origin, launch_record
from doctor.launch.table import load_table
from doctor.outside import Outside
from doctor.secrets import Vault
from tests.binaries import llama_server

FOLDER = Path(__file__).parents[2] / "fixtures/launch"
REPORTED = [
    tuple(line.replace("⏎", "\n").split("\t")) for line in (FOLDER / "commands.tsv").read_text("utf-8").split("\n")[:-1]
]
WRONG = [tuple(line.split("\t")) for line in (FOLDER / "wrong.tsv").read_text().splitlines()]
TABLE = load_table(Outside())
ALL_AGES = (1900, 3000, 4300, 5500, 6200, 6500, 7400, 8000, 9000, 9700, 10434, 11434)
ELSEWHERE = re.compile("failed to open file|invalid device: (?!(?i:CPU|RPC))|not a directory|unknown buffer type")
FRONT = "llama-server -m missing.gguf --host 127.0.0.1 --port 18119"
MEANING = {
    "invalid argument": ("unknown", "slip", "removed", "renamed", "too-new", "stray-word", "equals", "joined"),
    "has been removed": ("removed",),
    "expected value": ("missing-value",),
    "error while handling argument": ("bad-value", "missing-value"),
}


def fatal(command, build):
    launch = launch_record(parse_command(command), TABLE, Vault(), build, Origin("paste", "/home/me"))
    return [problem for problem in launch.problems if problem.fatal]


def test_there_are_three_hundred_of_every_age():
    assert len({(build, command) for build, _, command, _ in REPORTED}) >= 300
    ages = {int(build.lstrip("~")) // 1000 for build, *_ in REPORTED if build != "-"}
    assert ages >= set(range(1, 12))
    assert sum(verdict == "refused" for _, verdict, *_ in REPORTED) >= 60


@pytest.mark.parametrize(("build", "verdict", "command", "source"), REPORTED)
def test_reported(build, verdict, command, source):
    """A command that ran is accepted, one that was refused is refused. Without a build: some build takes it whole."""
    builds = ALL_AGES if build == "-" else (int(build.lstrip("~")),)
    problems = min((fatal(command, number) for number in builds), key=len)
    assert bool(problems) == (verdict != "ok"), (source, problems)
    if verdict == "fork":
        assert {problem.kind for problem in problems} & {"unknown", "slip", "bad-value", "too-new"}


def said(argv, environ, folder):
    """What the real program complains of. Its last lines are written by a thread that its end can overtake: then again."""
    for _ in range(5):
        done = subprocess.run(argv, env=environ, cwd=folder, capture_output=True, text=True, timeout=20, check=False)
        error = re.search("^error(?: while handling|:).*", done.stdout + done.stderr, re.MULTILINE)
        if error is not None or done.returncode == 0:
            break
    return error


@pytest.mark.real
def test_the_real_program_says_the_same_of_them(tmp_path):
    """What b10434 makes of every reported command, whatever build it was for. --help ends it before anything is loaded."""
    compared, differ = 0, []
    for _, _, command, _ in REPORTED:
        parsed = parse_command(command)
        words = [word.text for word in parsed.arguments]
        if any(word.open for word in parsed.arguments) or "--cache-list" in words:
            continue
        own = {name: value for name, value in parsed.variables.items() if name.startswith(("LLAMA_ARG_", "MTMD_"))}
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **own}
        argv = [llama_server(), *words, "--help"]
        error = said(argv, environ, tmp_path)
        if error is not None and ELSEWHERE.search(error[0]):
            continue  # a file, a folder or a card that is not there stopped it first
        compared += 1
        problems = fatal(command, 10434)
        if bool(problems) != (error is not None):
            differ.append((command, error and error[0], problems))
    assert differ == []
    assert compared > 250


@pytest.mark.parametrize(("meaning", "options"), WRONG)
def test_wrong_ones_are_refused_with_the_right_meaning(meaning, options):
    (first, *_) = fatal(f"{FRONT} {options}", 10434)
    assert first.kind in MEANING[meaning]


@pytest.mark.real
def test_the_real_program_refuses_them_too(tmp_path):
    assert len(WRONG) >= 100
    differ = []
    for meaning, options in WRONG:
        words = [llama_server(), *shlex.split(f"{FRONT} {options}")[1:]]
        environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        error = said(words, environ, tmp_path)
        if error is None or meaning not in error[0]:
            differ.append((options, meaning, error and error[0]))
    assert differ == []
