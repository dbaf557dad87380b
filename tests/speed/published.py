"""The published measurements of fixtures/speed as reads and lanes, and the constants they give."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from doctor.engine.load import read_table, rules_folder
from doctor.memory.placement import CPU
from doctor.outside import Outside
from doctor.speed.expected import Lane, lane_of
from doctor.speed.reads import Part, Reads, reads
from tests.memory.oracle import cards, model, options
from tests.memory.planning import CARDS

FOLDER = Path(__file__).parents[2] / "fixtures" / "speed"
TABLE = read_table(Outside(), rules_folder(Outside()), "speed")


class Measured(NamedTuple):
    """A line of measurements.tsv."""

    card: str
    ram: str
    backend: str
    build: str
    model: str
    flags: str
    depth: int
    tok_s: float
    accepted: str
    use: str
    source: str
    note: str


def _lines(name: str) -> list[list[str]]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")][1:]


@functools.cache
def measured() -> tuple[Measured, ...]:
    rows = [Measured(*row) for row in _lines("measurements.tsv")]
    return tuple(row._replace(depth=int(row.depth), tok_s=float(row.tok_s)) for row in rows)


@functools.cache
def models() -> dict[str, list[str]]:
    return {row[0]: row for row in _lines("models.tsv")}


def of_fit() -> list[Measured]:
    """Two thirds of the lines that count."""
    return [row for at, row in enumerate(_counted()) if at % 3 != 2]


def held_out() -> list[Measured]:
    """The third that the constants never saw."""
    return [row for at, row in enumerate(_counted()) if at % 3 == 2]


def _counted() -> list[Measured]:
    return [row for row in measured() if row.use == "yes"]


@functools.cache
def reads_of(name: str, flags: str, with_card: bool) -> Reads:
    _, header, whole, output, blocks, kv, _ = models()[name]
    flags = flags.replace("-ub 1", "")
    asked = options(f"{flags} -c 65536" if "-c " not in flags else flags)
    devices = cards(1) if with_card else ()
    if not header:
        return _by_hand(float(whole), float(output), int(blocks), float(kv), asked, with_card)
    found = reads(model(header), asked, None, devices)
    assert isinstance(found, Reads), found
    if whole:
        factor = float(whole) / sum(part.weights for part in found.parts)
        found = replace(found, parts=tuple(replace(part, weights=part.weights * factor) for part in found.parts))
    return found


def _by_hand(whole, output, blocks, kv, asked, with_card):
    layers = blocks + 1 if with_card and not isinstance(asked.ngl, int) else min(asked.ngl or 0, blocks + 1)
    on_card = max(0, layers - 1)
    block = (whole - output) / blocks
    parts = []
    if layers:
        parts.append(Part("CUDA0", output + on_card * block, kv * on_card / blocks, blocks=on_card))
    if layers <= blocks:
        rest = blocks - on_card
        parts.append(Part(CPU, rest * block + (0 if layers else output), kv * rest / blocks, blocks=rest))
    return Reads(tuple(parts), asked.flash != "off", 0.0, 512)


def lanes_of(row: Measured) -> list[Lane]:
    found = []
    if row.card:
        (card,) = CARDS.find(row.card)
        found.append(lane_of("CUDA0", card))
    if row.ram:
        found.append(Lane(CPU, float(row.ram), float(row.ram), "", "RAM"))
    return found


def reads_for(row: Measured) -> Reads:
    return reads_of(row.model, row.flags, bool(row.card))
