"""The speed that this model, launch command and card allow: computed from bytes and bandwidths, as ranges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from doctor.facts.record import Fact, Unknown, known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doctor.memory.rooms import Room, Wish
    from doctor.outside import Outside
    from doctor.speed.expected import Lane, Range
    from doctor.speed.reads import Reads


@dataclass(frozen=True)
class Speed:
    """Tokens a second to expect of one request: where published measurements of such cards lie, never a promise.

    `decode_*`: generation with an empty context and without drafting; `deep_*`: with `deep_tokens` in the context (what a
    slot holds). `prefill_*`: reading a prompt of some thousand tokens; unknown where layers lie in RAM. `draft_*`: what
    drafting multiplies generation by, absent when the command does not draft. `bytes_per_token` is what a token reads
    at the start, `ram_share` the part of the weights (0 to 1) it reads from RAM, `ram_gb_per_second_*` the RAM's speed
    where that counts (`ram_measured`: here and now). `kv_ms_per_1000`: milliseconds that each 1000 tokens of context add
    to a token at most. `basis` says in one phrase what is read from where.
    """

    decode_low: Fact[float]
    decode_middle: Fact[float]
    decode_high: Fact[float]
    deep_tokens: Fact[int]
    deep_low: Fact[float]
    deep_high: Fact[float]
    prefill_low: Fact[float]
    prefill_high: Fact[float]
    draft_low: Fact[float]
    draft_high: Fact[float]
    bytes_per_token: Fact[int]
    ram_share: Fact[float]
    ram_gb_per_second_low: Fact[float]
    ram_gb_per_second_high: Fact[float]
    ram_measured: Fact[bool]
    kv_ms_per_1000: Fact[float]
    basis: Fact[str]


def of_wish(
    outside: Outside, wish: Wish, rooms: tuple[Room, ...], *, measure_ram: bool, drafting: int = 0
) -> Fact[Speed]:
    """The speed of a wish on these cards. `measure_ram`: this very machine's RAM is measured where weights lie in it.

    Unknown with the reason where a card's bandwidth is not known or llama-server would refuse the command.
    """
    from doctor.engine.load import read_table, rules_folder
    from doctor.facts.budget.record import card_table
    from doctor.memory.result import Refusal
    from doctor.speed.expected import lane_of
    from doctor.speed.reads import reads

    found = reads(wish.model, wish.options, wish.abilities.build, tuple(room.device for room in wish.rooms or rooms))
    if isinstance(found, Refusal):
        return Unknown(found.message)
    cards = card_table(outside)
    lanes = []
    for room in rooms:
        card = cards.of_memory(room.name) if room.name else None
        if card is None and any(part.device == room.device.name for part in found.parts):
            return Unknown(f"the memory bandwidth of {room.name or room.device.name} is not known")
        if card is not None:
            lanes.append(lane_of(room.device.name, card))
    table = read_table(outside, rules_folder(outside), "speed")
    ram, measured = _ram(outside, table, measure=measure_ram and found.on_host() > 0)
    return record(found, (*lanes, ram), table, depth=_slot(wish), measured=measured, drafting=drafting)


def record(
    found: Reads, lanes: tuple[Lane, ...], table: Mapping[str, Any], *, depth: int, measured: bool, drafting: int
) -> Fact[Speed]:
    """The record of what is read over these lanes; the last of them is the RAM."""
    from doctor.speed.expected import decode, draft_factor, kv_seconds, prefill

    start, deep = decode(found, lanes, table), decode(found, lanes, table, depth)
    if start is None or deep is None:
        return Unknown("the bandwidth of a device is not known")
    reading, slope = prefill(found, lanes, table), kv_seconds(found, lanes, table)
    factor = draft_factor(None, drafting, table, found, lanes) if drafting else None
    share, ram = found.on_host(), lanes[-1]
    no_ram = Unknown("no weights lie in RAM")
    return Speed(
        decode_low=_round(start.low),
        decode_middle=_round(start.middle),
        decode_high=_round(start.high),
        deep_tokens=depth,
        deep_low=_round(deep.low),
        deep_high=_round(deep.high),
        prefill_low=_low(reading),
        prefill_high=_round(reading.high) if reading else Unknown("no range is known for such a placement"),
        draft_low=round(factor.low, 2) if factor else None,
        draft_high=round(factor.high, 2) if factor else None,
        bytes_per_token=int(start.bytes),
        ram_share=round(share, 3),
        ram_gb_per_second_low=round(ram.low, 1) if share else no_ram,
        ram_gb_per_second_high=round(ram.high, 1) if share else no_ram,
        ram_measured=measured if share else no_ram,
        kv_ms_per_1000=round(slope * 1e6, 3)
        if slope is not None
        else Unknown("the bandwidth of a device is not known"),
        basis=start.basis,
    )


def _low(reading: Range | None) -> Fact[float]:
    return _round(reading.low) if reading else Unknown("no range is known for such a placement")


def _round(value: float) -> float:
    """To three figures: more would say that it is known."""
    return float(f"{value:.3g}")


def _slot(wish: Wish) -> int:
    """Tokens a slot holds."""
    asked = wish.options.ctx or wish.trained
    return max(
        1, asked // (wish.options.parallel or 1) if wish.options.parallel and wish.options.parallel > 0 else asked
    )


MEASURED_SLACK = 1.5
"""What other work on the machine, and comparing instead of multiplying, may hide of the memory's speed."""


def _ram(outside: Outside, table: Mapping[str, Any], *, measure: bool) -> tuple[Lane, bool]:
    """The host's memory, and whether it was measured; else it is all that is usual."""
    from doctor.memory.placement import CPU
    from doctor.outside import OutsideError
    from doctor.speed.expected import Lane

    if measure:
        try:
            rate = outside.memory_rate() / 1e9
            return Lane(CPU, rate, MEASURED_SLACK * rate, "", "RAM"), True
        except OutsideError:
            pass
    return Lane(CPU, float(table["ram"]["low"]), float(table["ram"]["high"]), "", "RAM"), False


def drafting_of(wish: Wish) -> int:
    """Tokens drafted at once, 0 when the command does not draft."""
    kinds = set(wish.options.spec_types) - {"none"}
    if not kinds and not wish.options.draft_model:
        return 0
    return wish.options.draft_n_max or 3


def middle_of(speed: Fact[Speed]) -> float | None:
    """The best guess of generation at the start, None where there is none."""
    found = known(speed)
    return known(found.decode_middle) if found is not None else None
