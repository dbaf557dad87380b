"""What real runs of llama-server printed gets the right first cause, alone and with the command in front.

`expected.tsv` names for each log the cause of the first error or warning, "none" when the run is healthy (notes do not
count). The logs are raw output of builds b10434 and b11434; simcuda and vulkan ones ran on stand-in devices.
"""

from functools import cache
from pathlib import Path

import pytest

from doctor.commands.log import read
from doctor.engine.load import load
from doctor.outside import Outside
from doctor.secrets import Vault

FOLDER = Path(__file__).parents[2] / "fixtures" / "logs" / "real"
ROWS = [line.split("\t") for line in (FOLDER / "expected.tsv").read_text().splitlines()[1:]]


@cache
def knowledge():
    return load(Outside(environ={}))


def first_cause(text):
    _, found, _ = read([text], knowledge(), Outside(environ={}), Vault(), lang="en", source="input")
    return next((finding.cause for finding in found.findings if finding.severity != "note"), "none")


def test_the_table_names_every_log():
    assert {row[0] for row in ROWS} == {path.name for path in FOLDER.iterdir()} - {"expected.tsv"}


@pytest.mark.parametrize(("log", "alone", "with_command", "command"), ROWS, ids=[row[0] for row in ROWS])
def test_first_cause(log, alone, with_command, command):
    text = (FOLDER / log).read_bytes()
    assert first_cause(text) == alone
    if command and (alone == "none" or alone != with_command):  # elsewhere the command adds nothing to the first cause
        assert first_cause(f"$ {command}\n".encode() + text) == with_command
