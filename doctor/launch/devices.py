"""Devices of other machines (RPC0, RPC[host:port]) that are named before the program has heard of those machines.

A device is looked up when its name is read. Variables are read before all options, --rpc among them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.facts.launch.record import OptionProblem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.facts.launch.record import LaunchOption

RPC_DEVICES_SINCE = (
    4492  # the day of llama.cpp PR 11262: --rpc makes the devices known at once; no option could name them before
)
_DEVICES = ("--device", "--spec-draft-device", "--mmproj-device")
_REMOTE = re.compile(r"(?:^|,)RPC[\d\[]", re.IGNORECASE)


def unknown_devices(options: Sequence[LaunchOption], build: int) -> list[OptionProblem]:
    """Names of remote devices that the build refuses where they stand. `options`: arguments in order, then variables."""
    arguments = [option for option in options if option.spelling.startswith("-") and not _of_config(option)]
    others = [option for option in options if option not in arguments]
    heard = any(option.name == "--rpc" for option in others)
    problems = [_problem(option, build) for option in others if not heard and not _of_config(option)]
    for option in arguments:
        heard = heard or option.name == "--rpc"
        if not heard or build < RPC_DEVICES_SINCE:
            problems.append(_problem(option, build))
    return [problem for problem in problems if problem is not None]


def _of_config(option: LaunchOption) -> bool:
    return option.source.endswith("config.ini")


def _problem(option: LaunchOption, build: int) -> OptionProblem | None:
    value = option.value
    if option.name not in _DEVICES or not isinstance(value, str) or not _REMOTE.search(value):
        return None
    variable = not option.spelling.startswith("-")
    if build < RPC_DEVICES_SINCE:
        why = f"b{build} does not know devices of --rpc by name"
    elif variable:
        why = f"variables are read before --rpc: give {option.name} behind --rpc, or set LLAMA_ARG_RPC too"
    else:
        why = "the devices of --rpc are known behind --rpc only: put --rpc in front"
    written = f"{option.spelling}{'=' if variable else ' '}{value[:120]}"
    return OptionProblem(written, "bad-value", f"invalid device; {why}", None, option.line, True, option.source)
