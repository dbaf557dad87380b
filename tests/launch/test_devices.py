"""Devices of other machines: known only once --rpc was read, and from b4492 or so."""

import pytest

from doctor.launch.command import parse_command
from doctor.launch.fields import Origin, launch_record
from doctor.launch.table import load_table
from doctor.launch.words import Word
from doctor.outside import Outside
from doctor.secrets import Vault

TABLE = load_table(Outside())


def problems(command, build, config=()):
    origin = Origin("paste", "/home/me", config=config)
    launch = launch_record(parse_command(command), TABLE, Vault(), build, origin)
    return [(problem.spelling, problem.message) for problem in launch.problems if problem.fatal]


@pytest.mark.parametrize(
    ("build", "command", "spelling", "why"),
    [
        (10434, "llama-server -dev RPC0 --rpc h:1", "-dev RPC0", "put --rpc in front"),
        (10434, "llama-server --device CUDA0,RPC0", "--device CUDA0,RPC0", "put --rpc in front"),
        (10434, "LLAMA_ARG_DEVICE=RPC0 llama-server --rpc h:1", "LLAMA_ARG_DEVICE=RPC0", "set LLAMA_ARG_RPC too"),
        (10711, "MTMD_BACKEND_DEVICE=RPC0 llama-server --rpc h:1", "MTMD_BACKEND_DEVICE=RPC0", "give --mmproj-device"),
        (4230, "llama-server --rpc h:1 -devd RPC[h:1]", "-devd RPC[h:1]", "b4230 does not know devices of --rpc"),
    ],
)
def test_named_too_early(build, command, spelling, why):
    ((written, message),) = problems(command, build)
    assert written == spelling
    assert message.startswith("invalid device; ")
    assert why in message


@pytest.mark.parametrize(
    ("build", "command"),
    [
        (10434, "llama-server --rpc h:1 -dev RPC0,CUDA0"),
        (10434, "LLAMA_ARG_RPC=h:1 llama-server -dev RPC0"),
        (10434, "LLAMA_ARG_RPC=h:1 LLAMA_ARG_DEVICE=RPC0 llama-server"),
        (10423, "MTMD_BACKEND_DEVICE=RPC0 llama-server --rpc h:1"),  # the projector's own code read it then
        (5000, "llama-server --rpc h:1 -devd RPC[h:1]"),
        (10434, "llama-server -dev CUDA7"),  # nobody knows here what cards there are
        (10434, "llama-server -dev $DEVICE"),
    ],
)
def test_nothing_to_say(build, command):
    assert problems(command, build) == []


def test_a_config_file_is_read_first():
    file = "/etc/llama.cpp/config.ini"
    config = (Word("--rpc", 1, False, file), Word("h:1", 1, False, file))
    assert problems("llama-server -dev RPC0", 10434, config) == []
