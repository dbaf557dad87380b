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
def measured(name: str = "measurements.tsv") -> tuple[Measured, ...]:
    rows = [Measured(*row) for row in _lines(name)]
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
def reads_of(name: str, flags: str, count: int) -> Reads:
    _, header, whole, output, blocks, kv, _ = models()[name]
    flags = flags.replace("-ub 1", "")
    asked = options(f"{flags} -c 65536" if "-c " not in flags else flags)
    devices = cards(count)
    if not header:
        return _by_hand(float(whole), float(output), int(blocks), float(kv), asked, count)
    found = reads(model(header), asked, None, devices)
    assert isinstance(found, Reads), found
    if whole:
        factor = float(whole) / sum(part.weights for part in found.parts)
        found = replace(found, parts=tuple(replace(part, weights=part.weights * factor) for part in found.parts))
    return found


def _by_hand(whole, output, blocks, kv, asked, count):
    layers = blocks + 1 if count and not isinstance(asked.ngl, int) else min(asked.ngl or 0, blocks + 1)
    on_card = min(layers, blocks)
    block = (whole - output) / blocks
    parts = [
        Part(f"CUDA{at}", on_card / count * block, kv * on_card / count / blocks, blocks=on_card // count)
        for at in range(count if on_card else 0)
    ]
    rest = blocks - on_card
    if rest or not count:
        parts.append(Part(CPU, rest * block, kv * rest / blocks, blocks=rest))
    # The output layer is the last of the layers: on the last card when all are on cards.
    at = -1 if layers <= blocks or not parts else max(0, count - 1)
    parts[at] = replace(parts[at], weights=parts[at].weights + output)
    return Reads(tuple(parts), asked.flash != "off", 0.0, 512)


def lanes_of(row: Measured) -> list[Lane]:
    found = []
    count, name = _cards(row)
    if count:
        card = next(iter(CARDS.find(name)), None)  # one that the table lacks has no speed, but what drafting brings
        found += [lane_of(f"CUDA{at}", card) for at in range(count) if card is not None]
    usual = TABLE["ram"]
    low, high = (float(row.ram),) * 2 if row.ram else (float(usual["low"]), float(usual["high"]))
    return [*found, Lane(CPU, low, high, "", "RAM")]


def _cards(row: Measured) -> tuple[int, str]:
    """How many cards of which name: `2x RTX 3090`."""
    count, times, name = row.card.partition("x ")
    if times and count.isdigit():
        return int(count), name
    return int(bool(row.card)), row.card


def reads_for(row: Measured) -> Reads:
    return reads_of(row.model, row.flags, _cards(row)[0])
