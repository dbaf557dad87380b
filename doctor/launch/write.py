"""Writes a launch command for a build: only options that this build knows, spelt as it spells them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.launch.quoting import split_command
from doctor.memory.rooms import Abilities

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from doctor.facts.launch.record import Launch
    from doctor.launch.table import OptionTable
    from doctor.memory.options import Options

FLASH_TAKES_VALUE = 6325
KV_TYPES = ("f16", "q8_0", "q4_0")
"""Cache types with a flash attention kernel in every default CUDA build (K and V of the same type)."""


class Change(NamedTuple):
    """An option by its canonical name: a value, True for a switch, None to leave it out."""

    name: str
    value: str | bool | None


def abilities(table: OptionTable, build: int) -> Abilities:
    """What this build can be told."""
    flash = bool(table.spellings_of("--flash-attn", build, negated=False))
    value = table.value("--spec-type", build)
    quantised = flash and bool(table.spellings_of("--cache-type-k", build, negated=False))
    return Abilities(
        build=build,
        flash=flash,
        kv_types=KV_TYPES if quantised else ("f16",),
        experts_on_host=_knows(table, "--n-cpu-moe", build),
        mtp=value is not None and "draft-mtp" in value.allowed,
        prompt_cache=_knows(table, "--cache-ram", build),
        checkpoints=_knows(table, "--ctx-checkpoints", build),
        mmproj_offload=bool(table.spellings_of("--mmproj-offload", build, negated=True)),
    )


def _knows(table: OptionTable, option: str, build: int) -> bool:
    return bool(table.spellings_of(option, build, negated=False))


def changes_of(options: Options, before: Options, build: int) -> tuple[Change, ...]:
    """The options of a plan as changes to a command that has those of `before`."""
    flash: str | bool | None = None
    if options.flash in ("on", "off"):
        # The switch of older builds is off unless it is given.
        flash = options.flash if build >= FLASH_TAKES_VALUE else options.flash == "on" or None
    moe = options.cpu_moe if options.cpu_moe else None
    mtp = "draft-mtp" in options.spec_types
    wanted = [
        Change("--ctx-size", _text(options.ctx)),
        Change("--parallel", _text(options.parallel)),
        Change("--n-gpu-layers", _text(options.ngl)),
        Change("--n-cpu-moe", _text(moe)),
        Change("--cpu-moe", None),
        Change("--n-cpu-ffn", None),
        Change("--override-tensor", None),
        Change("--flash-attn", flash),
        Change("--cache-type-k", None if options.type_k == "f16" else options.type_k),
        Change("--cache-type-v", None if options.type_v == "f16" else options.type_v),
        Change("--spec-type", ",".join(options.spec_types) or None),
        Change("--spec-draft-n-max", _text(options.draft_n_max)),
        Change("--swa-full", True if options.swa_full else None),
        Change("--kv-offload", options.kv_offload),
    ]
    if mtp:
        wanted += [Change("--spec-draft-type-k", None), Change("--spec-draft-type-v", None)]
    if options.unified != before.unified:
        wanted.append(Change("--kv-unified", options.unified))
    if options.ubatch != before.ubatch:
        wanted.append(Change("--ubatch-size", _text(options.ubatch)))
    if options.cache_ram_mib != before.cache_ram_mib:
        wanted.append(Change("--cache-ram", _text(options.cache_ram_mib)))
    if options.checkpoints != before.checkpoints:
        wanted.append(Change("--ctx-checkpoints", _text(options.checkpoints)))
    if options.mmproj_offload != before.mmproj_offload:
        wanted.append(Change("--mmproj-offload", options.mmproj_offload))
    return tuple(wanted)


_ON_BY_DEFAULT = frozenset({"--kv-offload", "--mmproj-offload"})
"""Switches that need no word to be on."""


def words_of(changes: Iterable[Change], table: OptionTable, build: int) -> tuple[str, ...]:
    """The words of options as the build takes them. An option that it does not know is left out."""
    words: list[str] = []
    for change in changes:
        if change.value is None or (change.value is True and change.name in _ON_BY_DEFAULT):
            continue
        spellings = table.spellings_of(change.name, build, negated=change.value is False)
        if spellings:
            words += [spellings[0]] if isinstance(change.value, bool) else [spellings[0], change.value]
    return tuple(words)


def without(launch: Launch, names: Iterable[str]) -> tuple[str, ...]:
    """The words of a launch command, the program and all in front of it included, without these options."""
    from doctor.engine.functions import FUNCTIONS

    command = FUNCTIONS["without_option"](launch, *names)
    return tuple(split_command(command)) if isinstance(command, str) else ()


def fresh(model: str, more: Sequence[str] = ()) -> tuple[str, ...]:
    """A command for a model where the user has none yet."""
    return ("llama-server", "--model", model, *more)


def _text(value: int | str | None) -> str | None:
    return None if value is None else str(value)
