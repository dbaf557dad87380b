"""The launch definitions people pass around for 27B models on one card: what is wrong is found with the right
replacement, what is right is left in peace, and the corrected command is taken by the real program."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from doctor.cli import main
from doctor.outside import Outside
from tests.binaries import llama_server

FOLDER = Path(__file__).parents[2] / "fixtures/launch/recipes"
EXPECTED = {
    "start-24gb.sh": (
        {"launch/open-to-network": [8]},
        [],
    ),
    "start-json.sh": (
        {"launch/config-file-option": [6]},
        [(6, "--config server.json", "")],
    ),
    "compose.yml": (
        # Published on every network card, and no key: the port and the --host it leads to.
        {"launch/no-mmap-gone": [26], "speed/cuda-graph-opt-hybrid": [10], "launch/open-to-network": [6, 21]},
        [(26, "--no-mmap", "--load-mode none")],
    ),
    "start-profiles.sh": (
        {"launch/spec-type-mtp": [23], "speed/prefill-small-batch": [13]},
        [(23, "--spec-type mtp", "--spec-type draft-mtp")],
    ),
}


def answer(capsys, name, build):
    words = ["check", "--launch", str(FOLDER / name), "--only", "launch,build", "--for-build", str(build), "--fix"]
    main([*words, "--format", "json"], Outside({"PATH": "", "HOME": "/nowhere"}))
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_wrong_is_found_at_its_line_and_nothing_else(capsys, name):
    rules, changes = EXPECTED[name]
    found = answer(capsys, name, 11434)
    assert {
        item["rule"]: [line["line"] for line in item["evidence"] if line["line"]] for item in found["findings"]
    } == rules
    (fixed,) = found["corrections"]
    assert [
        (int(change["place"].rpartition(":")[2]), change["words"], change["replacement"]) for change in fixed["changes"]
    ] == changes


def test_only_one_branch_stands_in_the_command(capsys):
    command = answer(capsys, "start-profiles.sh", 11434)["corrections"][0]["command"]
    assert command.endswith("--reasoning off -c 131072 --spec-type draft-mtp --spec-draft-n-max 2")


@pytest.mark.real
@pytest.mark.parametrize("name", ["start-24gb.sh", "compose.yml", "start-profiles.sh"])
def test_the_real_program_takes_the_corrected_command(capsys, tmp_path, name):
    found = answer(capsys, name, 10434)
    command = found["corrections"][0]["command"] or found["facts"]["launch"]["command"]
    words = shlex.split(command)
    program = next((at for at, word in enumerate(words) if word.endswith("llama-server")), -1)
    arguments = words[program + 1 :]
    done = subprocess.run(
        [llama_server(), *arguments],
        env={"PATH": "/usr/bin", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    # What stops it then is the model file that is not there; its last lines can be lost on so early an exit.
    assert not re.search("^error(?: while handling|:)", done.stdout + done.stderr, re.MULTILINE)
