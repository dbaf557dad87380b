"""What we say of a command line is what llama-server b10434 does with it.

fixtures/launch/b10434.tsv: verdict and command. Arguments are read before the model is opened, so a start that fails on
the missing model file has accepted them. `elsewhere`: the words are right, and the start fails on what they point to (a
file, a device, a template's name).
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

BUILD = 10434
LINES = (Path(__file__).parents[2] / "fixtures/launch/b10434.tsv").read_text().splitlines()
CASES = [tuple(line.split("\t")) for line in LINES]
ELSEWHERE = re.compile(
    "failed to open file|invalid device: (?!(?i:CPU|RPC))|not a directory|unknown buffer type|chat template is not"
)


@pytest.fixture(scope="module")
def table():
    return load_table(Outside())


def fatal_problems(table, command):
    launch = launch_record(parse_command(command), table, Vault(), BUILD, Origin("paste", "/home/me"))
    return [problem for problem in launch.problems if problem.fatal]


@pytest.mark.parametrize(("verdict", "command"), CASES)
def test_verdict_of_the_linter(table, verdict, command):
    assert bool(fatal_problems(table, command)) == (verdict == "refused")


def run_real(folder, command):
    words = shlex.split(command)
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environ[name] = value
    done = subprocess.run(
        [llama_server(), *words[1:]], env=environ, cwd=folder, capture_output=True, text=True, timeout=20, check=False
    )
    return done.stdout + done.stderr


@pytest.mark.real
def test_verdict_of_the_real_binary(tmp_path):
    differ = []
    for verdict, command in CASES:
        error = re.search("^error(?: while handling|:).*", run_real(tmp_path, command), re.MULTILINE)
        if error is None:
            real = "accepted"
        elif ELSEWHERE.search(error[0]):
            real = "elsewhere"
        else:
            real = "refused"
        if real != verdict:
            differ.append((command, verdict, real))
    assert differ == []
    assert {verdict for verdict, _ in CASES} == {"accepted", "refused", "elsewhere"}


@pytest.mark.real
def test_every_option_of_its_help_is_accepted(table, tmp_path):
    printed = run_real(tmp_path, "llama-server --help")
    spellings = set()
    for line in printed.splitlines():
        if line.startswith("-") and not line.startswith("---"):
            names = re.split(r"\s{2,}(?![-\s])", line)[0]
            spellings.update(re.findall(r"(?<![\w<\[])--?[A-Za-z][\w.-]*", names))
    refused = {name for name in spellings if (found := table.at(name, BUILD)) is None or found.status == "removed"}
    assert len(spellings) > 380
    assert {name for name in refused if table.at(name, BUILD) is None} == set()
    assert "--draft-max" in refused and "the argument has been removed" in printed
