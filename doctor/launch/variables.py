"""Reads LLAMA_ARG_* and its kin the way a given build does. A command line option wins over its variable."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.launch.record import LaunchOption, OptionProblem
from doctor.launch.spelling import hide, is_secret
from doctor.launch.table import BOOLEAN_VARIABLES_SINCE
from doctor.launch.values import check_value, is_filled_in, words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from doctor.launch.table import OptionTable, Variable
    from doctor.secrets import Vault

# Variables that change what llama-server and its libraries do; the others of a process are nobody's business.
_KEPT = re.compile(
    r"(?:LLAMA|MTMD|GGML|CUDA|HF|HIP|ROCR|HSA|NVIDIA|VK|ZES?|SYCL|ONEAPI|MUSA|CANN|OMP|GOMP|KMP)_\w+|HUGGING_FACE_HUB_TOKEN|LD_LIBRARY_PATH",
    re.ASCII,
)
_VARIABLES_LIMIT = 200
_TRUE = ("on", "enabled", "true", "1")
_TRUE_BEFORE = ("1", "true")
_FALSE = ("off", "disabled", "false", "0")


class VariableReading(NamedTuple):
    """What the variables say: options that were not on the command line too, and what is wrong with them."""

    options: tuple[LaunchOption, ...]
    problems: tuple[OptionProblem, ...]


def matters(name: str) -> bool:
    """Whether a variable of this name changes what llama-server and its libraries do."""
    return _KEPT.fullmatch(name) is not None


def kept(environment: Mapping[str, str], vault: Vault) -> dict[str, str]:
    """The variables that matter to the server, keys replaced by tokens."""
    found: dict[str, str] = {}
    for name, value in environment.items():
        if matters(name) and len(found) < _VARIABLES_LIMIT:
            found[name] = hide(vault, value) if is_secret(name) else value[:4096]
    return found


def read_variables(
    environment: Mapping[str, str],
    table: OptionTable,
    build: int,
    arguments: Sequence[LaunchOption],
    places: Mapping[str, tuple[str, int]] | None = None,
) -> VariableReading:
    """The options set by variables. `arguments` are those of the command line, which win.

    `places` says where a variable is set, (file, line).
    """
    given = {option.name: option for option in arguments}
    options: list[LaunchOption] = []
    problems: list[OptionProblem] = []
    for name, value in environment.items():
        variable = table.variable(name, build)
        file, line = (places or {}).get(name, ("", 0))
        if variable is None:
            problem = _unread(table, name, value, build)
        else:
            problem = _problem(table, variable, name, value, build)
            option = _option(table, variable, name, value, build)
            if option is not None and option.name not in given:
                options.append(replace(option, line=line, source=file))
            elif option is not None and problem is None:
                problem = _overruled(option, given[option.name])
        if problem is not None:
            problems.append(replace(problem, line=line, source=file))
    return VariableReading(tuple(options), tuple(problems))


def _overruled(option: LaunchOption, given: LaunchOption) -> OptionProblem | None:
    """The variable says something else than the option that wins over it."""
    if option.value == given.value or (given.value is None and option.negated == given.negated):
        return None
    name, value = option.spelling, "" if is_secret(option.spelling) else f"={option.value}"
    wins = words(given.spelling, None if is_secret(given.name) or given.value is None else str(given.value))
    return OptionProblem(f"{name}{value}"[:120], "overruled", f"{wins[:120]} on the command line wins", None, 0, False)


def _option(table: OptionTable, variable: Variable, name: str, value: str, build: int) -> LaunchOption | None:
    rule = table.value(variable.option, build)
    if rule is None or rule.takes:
        return LaunchOption(variable.option, name, value, 0, False)
    if variable.by_presence or value in (_TRUE if build >= BOOLEAN_VARIABLES_SINCE else _TRUE_BEFORE):
        return LaunchOption(variable.option, name, value, 0, variable.negated)
    if rule.kind == "bool" and build >= BOOLEAN_VARIABLES_SINCE and value in _FALSE:
        return LaunchOption(variable.option, name, value, 0, True)
    return None  # a switch whose variable is not true is left alone


def _problem(table: OptionTable, variable: Variable, name: str, value: str, build: int) -> OptionProblem | None:
    segment = table.at(variable.option, build)
    if segment is not None and segment.status == "removed":
        right = _successor(table, segment.successors, value, build)
        return OptionProblem(name, "removed", segment.message, right, 0, True)
    rule = table.value(variable.option, build)
    if rule is None or is_secret(name) or is_filled_in(value):
        return None
    if rule.takes == 0:
        wrong = rule.kind == "bool" and build >= BOOLEAN_VARIABLES_SINCE and not variable.by_presence
        if wrong and value not in (*_TRUE, *_FALSE):
            return OptionProblem(
                f"{name}={value[:120]}", "bad-value", f"is none of {', '.join((*_TRUE, *_FALSE))}", None, 0, True
            )
        return None
    fault = check_value(table, variable.option, rule, value, build)
    if fault is None:
        return None
    right = f"{name}={fault.right}" if fault.right is not None else None
    return OptionProblem(
        f"{name}={value[:120]}", fault.kind, f"{value[:120]} {fault.message}", right, 0, fault.kind == "bad-value"
    )


def _unread(table: OptionTable, name: str, value: str, build: int) -> OptionProblem | None:
    """A variable this build does not read although somebody set it for llama-server: it is passed over in silence."""
    life = table.variable_life(name)
    if not life and not name.startswith("LLAMA_ARG_"):
        return None
    if not life and build > table.newest:
        return None
    option = life[-1].option if life else _option_named(table, name, build)
    negated = bool(life) and life[-1].negated
    right = table.variable_of(option, build, negated=negated) if option else None
    words_now = f"{right}={value[:120]}" if right and not is_secret(name) else right
    if words_now is None and option is not None:
        spelling = f"--no-{option[2:]}" if negated else option
        words_now = _successor(table, table.successors(spelling), value, build)
        segment = table.at(spelling, build)
        if words_now is None and segment is not None and segment.status != "removed":
            words_now = words(spelling, value[:120] if segment.takes and not is_secret(name) else None)
    if life and life[0].first > build:
        return OptionProblem(
            name,
            "too-new",
            f"llama-server reads {name} from b{life[0].first}; before, it is ignored",
            words_now,
            0,
            False,
        )
    message = f"llama-server b{build} does not read {name}: it is ignored without a word"
    return OptionProblem(name, "ignored", message, words_now, 0, False)


def _successor(table: OptionTable, successors: list[str], value: str, build: int) -> str | None:
    """The variable for the option that took the place of another ("--load-mode mlock" -> LLAMA_ARG_LOAD_MODE=mlock)."""
    for successor in successors:
        spelling, _, fixed = successor.partition(" ")
        segment = table.at(spelling, build)
        name = table.variable_of(segment.option, build, negated=segment.negated) if segment else None
        if name is not None:
            return f"{name}={fixed or value[:120]}"
    return None


def _option_named(table: OptionTable, name: str, build: int) -> str | None:
    """The option whose long or short name a made-up variable carries: LLAMA_ARG_API_KEY, LLAMA_ARG_NGL."""
    bare = name.removeprefix("LLAMA_ARG_").lower().replace("_", "-")
    for spelling in (f"--{bare}", f"-{bare}"):
        segment = table.at(spelling, build)
        if segment is not None:
            return segment.option
    return None
