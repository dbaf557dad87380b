"""A second opinion on memory: what llama.cpp's own llama-fit-params says about the same model and options."""

from __future__ import annotations

import ntpath
import posixpath
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from doctor.facts.record import Fact, Unknown

if TYPE_CHECKING:
    from doctor.facts.launch.record import Launch, LaunchOption
    from doctor.outside import Outside

PROGRAM = "llama-fit-params"
FIRST_BUILD = 7407
"""--fit and this program came together."""
PRINT_SINCE = 8865
"""-fitp prints a short table. What -v logs comes first here: every build has it, it names every kind of buffer and the
reason of a refusal; its first table is of the options as given, whatever is tried afterwards to make them fit."""
SECONDS = 60.0
OUTPUT = 4 << 20
"""-v prints some 300 KB: every key and every tensor."""
MIB = 1 << 20
SMALLEST = 64 * MIB
"""Smaller differences are not worth a word: numbers are printed in whole MiB, and buffers have their odds and ends."""
NO_REASON = "it gives no reason"
HOST = "Host"
COLUMNS = ("model", "context", "compute")

KEPT = frozenset({
    "--ctx-size", "--batch-size", "--ubatch-size", "--n-gpu-layers", "--flash-attn", "--cache-type-k", "--cache-type-v",
    "--swa-full", "--kv-offload", "--repack", "--no-host", "--override-tensor", "--cpu-moe", "--n-cpu-moe",
    "--n-cpu-ffn", "--split-mode", "--tensor-split", "--main-gpu", "--device", "--op-offload", "--override-kv",
    "--rope-scaling", "--rope-scale", "--rope-freq-base", "--rope-freq-scale", "--yarn-orig-ctx",
})  # fmt: skip
"""Options that change the numbers and that the program takes (common/arg.cpp: those of every llama.cpp program)."""
LEFT_OUT = frozenset({
    "--kv-unified", "--spec-type", "--spec-draft-model", "--mmproj", "--lora", "--lora-scaled", "--control-vector",
    "--rpc", "--embedding", "--rerank",
})  # fmt: skip
"""Options that change the numbers of a server and are not asked about: the program lacks or ignores them; --rpc would
make it call other machines."""
_SEVERAL = frozenset({"--override-tensor", "--override-kv"})
_NOT_COMPARED = Unknown("not compared with our own numbers")


@dataclass(frozen=True)
class FitDevice:
    """A row of the program's table, in bytes of whole MiB: a card, "Host", "CPU_REPACK"."""

    name: str
    model_bytes: int
    context_bytes: int
    compute_bytes: int


@dataclass(frozen=True)
class FitParams:
    """What llama-fit-params said, and how far that is from our own numbers.

    `command` is what was run, shell-quoted. `slots` sequences were asked for, each with a cache of its own (the program
    knows no unified one). `left_out` are options of the launch that it was not told about and that change memory.
    `repack_counted`: the table has the weights that a CPU build stores anew (the short table forgets them).
    The `worst_` facts are of the device whose total differs most, in per cent of the larger one, once the logits
    that only this program reserves are taken off; absent when no total differs by more than 64 MiB.
    """

    path: str
    command: str
    slots: int
    devices: tuple[FitDevice, ...]
    repack_counted: bool
    left_out: tuple[str, ...]
    worst_device: Fact[str] = _NOT_COMPARED
    worst_ours_bytes: Fact[int] = _NOT_COMPARED
    worst_theirs_bytes: Fact[int] = _NOT_COMPARED
    worst_percent: Fact[float] = _NOT_COMPARED


def collect(
    outside: Outside,
    server: str | None,
    number: int | None,
    model: str,
    options: Sequence[LaunchOption] = (),
    *,
    slots: int = 1,
    named: bool = False,
    launch: Launch | None = None,
) -> FitParams | Unknown:
    """Run the llama-fit-params that belongs to the llama-server at `server` (`Build.path`) and read its table.

    `number` is its build, `model` a file on this machine, `options` those of the launch (`Launch.options`), `named`
    whether the user named the program himself (`Build.source` is option): only then is one in the current folder run.
    `launch` gives the variables that choose devices. Nothing is loaded: the program reads the header and asks drivers.
    """
    if number is not None and number < FIRST_BUILD:
        return Unknown(f"{PROGRAM} came with b{FIRST_BUILD}, this build is b{number}")
    program = find_program(outside, server, named)
    if isinstance(program, Unknown):
        return program
    words, left_out = words_for(options)
    words = ["--model", outside.real_path(model), "--parallel", str(slots), *words]
    found = _ask(outside, program, [*words, "-v"], launch)
    if isinstance(found, Unknown) and (number is None or number >= PRINT_SINCE):
        short = _ask(outside, program, [*words, "-fitp", "on"], launch)
        found = found if isinstance(short, Unknown) and not found.reason.endswith(NO_REASON) else short
    return found if isinstance(found, Unknown) else replace(found, slots=slots, left_out=left_out)


def find_program(outside: Outside, server: str | None, named: bool = False) -> str | Unknown:
    """The program beside llama-server or on PATH, if it may be run."""
    from doctor.outside import OutsideError

    name = f"{PROGRAM}.exe" if outside.platform == "win32" else PROGRAM
    places = []
    for path in (server, outside.real_path(server)) if server else ():
        system = ntpath if "\\" in path else posixpath
        places.append(system.join(system.dirname(path), name))
    program = next((place for place in places if outside.exists(place)), None) or outside.which(PROGRAM)
    if program is None:
        return Unknown(f"there is no {PROGRAM} beside llama-server or on PATH")
    program = outside.real_path(program)
    here = outside.real_path(outside.folder())
    if not named and _is_below(program, here):
        return Unknown(f"{program} lies in the current folder and is run only when named: --binary {program}")
    try:
        owner = outside.owner(program)
    except OutsideError as error:
        return Unknown(str(error))
    if owner is not None and owner not in (0, *outside.user_ids()):
        return Unknown(f"{program} belongs to another user, so it is not run")
    return program


def _is_below(path: str, folder: str) -> bool:
    """Whether the file lies in the folder or where a build below it puts programs."""
    system = ntpath if "\\" in path else posixpath
    found = system.dirname(path)
    places = [folder] + [
        system.join(folder, *parts) for parts in (("bin",), ("build", "bin"), ("build", "bin", "Release"))
    ]
    return system.normcase(found) in {system.normcase(place) for place in places}


def words_for(options: Sequence[LaunchOption]) -> tuple[list[str], tuple[str, ...]]:
    """The words of a launch that the program is given, and the names of those it should know about but does not."""
    words: dict[str, list[str]] = {}
    left_out: list[str] = []
    from_command: set[str] = set()
    for option in options:
        if option.name in LEFT_OUT:
            left_out.append(option.name)
        if option.name not in KEPT:
            continue
        value = option.value
        by_command = option.spelling.startswith("-")
        if isinstance(value, Unknown) or (option.negated and not by_command):
            left_out.append(option.name)
            continue
        if not by_command and option.name in from_command:
            continue  # a variable does not count where the command line says it too
        if by_command:
            from_command.add(option.name)
        said = [option.spelling if by_command else option.name] + ([value] if value is not None else [])
        words[option.name] = [*words.get(option.name, ()), *said] if option.name in _SEVERAL else said
    return [word for said in words.values() for word in said], tuple(dict.fromkeys(left_out))


def _ask(outside: Outside, program: str, words: list[str], launch: Launch | None) -> FitParams | Unknown:
    """Run it and read what it printed."""
    from doctor.facts.budget.fit_params_output import complaint, read_table
    from doctor.facts.build.record import device_environment
    from doctor.outside import OutsideError

    environ = {**device_environment(outside, launch), "GGML_NO_BACKTRACE": "1"}  # else a crash starts a debugger
    try:
        answer = outside.run([program, *words], timeout=SECONDS, limit=OUTPUT, environ=environ)
    except OutsideError as error:
        return Unknown(str(error))
    text = f"{answer.stdout}\n{answer.stderr}"
    # With -ngl given it ends with an error after the table: there is nothing left to fit.
    rows, long_table = read_table(text)
    if rows:
        devices = tuple(FitDevice(name, *(size * MIB for size in sizes)) for name, *sizes in rows)
        return FitParams(program, shlex.join([PROGRAM, *words]), 1, devices, long_table, ())
    ended = f"signal {-answer.status}" if answer.status < 0 else f"status {answer.status}"
    return Unknown(f"{PROGRAM} ended with {ended} and printed no table of memory: {complaint(text) or NO_REASON}")


def compared(said: FitParams, ours: Mapping[str, Mapping[str, int]], logits_bytes: int) -> FitParams:
    """The record with its differences from our own numbers for the same question.

    `ours` is bytes by device and model, context, compute (`Budget.breakdown()`), for `said.slots` sequences without a
    unified cache and without what `said.left_out` names. `logits_bytes` is 4 * n_ubatch * vocabulary: the program
    reserves logits for a whole batch where the server needs those of one token a slot, so its compute column is up to
    that much higher (b11434: 27B at -c 4096 529 MiB instead of 146; nothing where another buffer is larger anyway).
    """
    theirs, mine = by_device(said, ours, logits_bytes)
    worst: tuple[float, str, int, int] | None = None
    for name in dict.fromkeys((*theirs, *mine)):
        total, own_total = theirs.get(name, 0), mine.get(name, 0)
        if abs(total - own_total) <= SMALLEST:
            continue
        percent = round(100 * abs(total - own_total) / max(total, own_total), 1)
        if worst is None or percent > worst[0]:
            worst = (percent, name, own_total, total)
    return replace(
        said,
        worst_percent=worst[0] if worst else None,
        worst_device=worst[1] if worst else None,
        worst_ours_bytes=worst[2] if worst else None,
        worst_theirs_bytes=worst[3] if worst else None,
    )


def by_device(
    said: FitParams, ours: Mapping[str, Mapping[str, int]], logits_bytes: int
) -> tuple[dict[str, int], dict[str, int]]:
    """(its bytes by device, ours) that can be compared: without the logits that only the program reserves."""
    theirs = _folded({device.name: _columns(device) for device in said.devices})
    mine = _folded(ours)
    if not said.repack_counted and "CPU_REPACK" in ours:
        for table in (theirs, mine):  # the one number that cannot be compared
            table.get(HOST, {})["model"] = 0
    for name, columns in theirs.items():
        own = mine.get(name, {}).get("compute", 0)
        if columns["compute"] > own:
            columns["compute"] = max(own, columns["compute"] - logits_bytes)
    return _totals(theirs), _totals(mine)


def _totals(table: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {name: sum(columns.values()) for name, columns in table.items()}


def _columns(device: FitDevice) -> dict[str, int]:
    return {"model": device.model_bytes, "context": device.context_bytes, "compute": device.compute_bytes}


def _folded(table: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """All host memory as one place: pinned, plain and repacked differ by machine and not in what is needed."""
    found: dict[str, dict[str, int]] = {}
    for name, columns in table.items():
        host = name in ("CPU", "CPU_REPACK") or name.endswith("_Host")
        place = found.setdefault(HOST if host else name, dict.fromkeys(COLUMNS, 0))
        for column in COLUMNS:
            place[column] += columns.get(column, 0)
    return found
