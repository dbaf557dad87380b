"""A program's own --help beats the table."""

import os
import subprocess

import pytest

from doctor.launch.command import parse_command
from doctor.launch.fields import Origin, launch_record
from doctor.launch.help_text import read_help
from doctor.launch.table import load_table
from doctor.outside import Outside
from doctor.secrets import Vault
from tests.binaries import llama_server

TABLE = load_table(Outside())
HELP = "----- common params -----\n\n" + "".join(f"-o{n},  --option-{n} N      an option\n" for n in range(40))
HELP += "-c,    --ctx-size N     size\n--no-mmap               a switch of a fork\n--moe-cache-mib N       new\n"
HELP += "--draft-max N           the argument has been removed. use\n                        --spec-draft-n-max\n"


def problems(text, build=11434, listed=HELP):
    table = TABLE.of_program(read_help(listed), build)
    launch = launch_record(parse_command(f"llama-server {text}"), table, Vault(), build, Origin("option", "/home/me"))
    return [(problem.spelling, problem.kind, problem.replacement) for problem in launch.problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--moe-cache-mib 5", []),  # newer than the table
        ("--no-mmap", []),  # gone in the table, there in this program
        ("--option-3 x", []),
        ("--jinja", [("--jinja", "removed", None)]),  # in the table, not in this program
        ("--foo", [("--foo", "unknown", None)]),
        ("--ctx_size 64K", [("--ctx_size 64K", "misread", "--ctx_size 65536")]),
        ("--draft-max 3", [("--draft-max 3", "removed", None)]),
    ],
)
def test_the_program_decides(text, expected):
    assert problems(text) == expected


def test_a_text_that_is_no_help():
    assert read_help("error: invalid argument: --help\n") is None
    assert read_help("\n" * 1_000_000) is None


@pytest.mark.real
def test_table_and_real_help_agree(tmp_path):
    shown = subprocess.run(
        [llama_server(), "--help"],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    listed = read_help(shown)
    assert len(listed) == 405
    for name, option in listed.items():
        segment = TABLE.at(name, 10434)
        assert (segment.takes, segment.status == "removed") == (option.takes, bool(option.removed)), name
    assert set(TABLE.accepted(10434)) <= set(listed)
