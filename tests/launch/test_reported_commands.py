"""Command lines out of public reports, and deliberately wrong ones.

fixtures/launch/commands.tsv: build ("~" in front: known by the date only; "-": not known), what became of the command
(ok, refused, fork: options of another program), the command with its names neutralised.
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
REPORTED = [tuple(line.split("\t")) for line in (FOLDER / "commands.tsv").read_text().splitlines()]
WRONG = [tuple(line.split("\t")) for line in (FOLDER / "wrong.tsv").read_text().splitlines()]
TABLE = load_table(Outside())
ALL_AGES = (1900, 3000, 4300, 5500, 6200, 6500, 7400, 8000, 9000, 9700, 10434, 11434)
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


@pytest.mark.parametrize(("build", "verdict", "command"), REPORTED)
def test_reported(build, verdict, command):
    """A command that ran is accepted, one that was refused is refused. Without a build: some build takes it whole."""
    builds = ALL_AGES if build == "-" else (int(build.lstrip("~")),)
    problems = min((fatal(command, number) for number in builds), key=len)
    assert bool(problems) == (verdict != "ok"), problems
    if verdict == "fork":
        assert {problem.kind for problem in problems} <= {"unknown", "slip", "bad-value", "too-new"}


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
        done = subprocess.run(words, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=20, check=False)
        error = re.search("^error(?: while handling|:).*", done.stdout + done.stderr, re.MULTILINE)
        if error is None or meaning not in error[0]:
            differ.append((options, meaning, error and error[0]))
    assert differ == []
