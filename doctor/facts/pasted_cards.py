"""Cards out of a pasted text: the table of `nvidia-smi --query-gpu=… --format=csv`, and the links of `nvidia-smi -q`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from doctor.facts.gpu.record import Gpu, GpuDevice
from doctor.facts.record import Fact, Unknown, not_collected

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_CARDS = 64
_UNKNOWN = "the text does not say it"
_MIB = 1 << 20
# Column of nvidia-smi (without its unit) -> field of GpuDevice, and what one of its unit is there.
_COLUMNS = {
    "memory.total": ("memory_total_bytes", _MIB),
    "memory.used": ("memory_used_bytes", _MIB),
    "memory.free": ("memory_free_bytes", _MIB),
    "power.draw": ("power_watts", 0.0),
    "power.limit": ("power_limit_watts", 0.0),
    "power.default_limit": ("power_limit_default_watts", 0.0),
    "temperature.gpu": ("temperature_c", 1),
    "clocks.sm": ("clock_sm_mhz", 1),
    "clocks.current.sm": ("clock_sm_mhz", 1),
    "clocks.max.sm": ("clock_sm_max_mhz", 1),
    "clocks.mem": ("clock_memory_mhz", 1),
    "clocks.current.memory": ("clock_memory_mhz", 1),
    "clocks.max.memory": ("clock_memory_max_mhz", 1),
    "utilization.gpu": ("utilization_percent", 1),
    "pcie.link.gen.current": ("pcie_generation", 1),
    "pcie.link.gen.max": ("pcie_generation_max", 1),
    "pcie.link.width.current": ("pcie_width", 1),
    "pcie.link.width.max": ("pcie_width_max", 1),
}
_HEADER = re.compile(r"^\s*\w[\w.]{0,40}(?: \[[^\]]{1,8}\])?(?:, ?\w[\w.]{0,40}(?: \[[^\]]{1,8}\])?){1,30}\s*$")
_NUMBER = re.compile(r"\s*(\d{1,9}(?:\.\d{1,4})?)\b")
_LINK = re.compile(r"^\s*(Max|Current)\s{1,40}: (\d{1,2})x\s*$")


def cards_of(text: str) -> Fact[Gpu]:
    """The cards that a text shows by number; unknown where it shows none."""
    cards = list(_of_table(text)) or list(_of_links(text))
    if not cards:
        return Unknown("only a text was given")
    nothing = not_collected(Gpu, _UNKNOWN)
    return replace(nothing, devices=tuple(cards[:MOST_CARDS]))


def _card(index: int, **known: Any) -> GpuDevice:
    return replace(not_collected(GpuDevice, _UNKNOWN), index=index, **known)


def _of_table(text: str) -> Iterator[GpuDevice]:
    columns: list[str] = []
    count = 0
    for line in text.splitlines():
        words = [word.strip() for word in line.split(",")]
        if _HEADER.match(line) and any(word.split(" [")[0] in _COLUMNS for word in words):
            columns = [word.split(" [")[0] for word in words]
            continue
        if not columns or len(words) != len(columns):
            columns = columns if not line.strip() else []
            continue
        known = dict(_values(columns, words))
        if set(known) - {"name"}:
            index = dict(zip(columns, words, strict=True)).get("index", "")
            yield _card(int(index) if index.isdigit() and len(index) < 4 else count, **known)
            count += 1


def _values(columns: list[str], words: list[str]) -> Iterator[tuple[str, Any]]:
    for column, word in zip(columns, words, strict=True):
        if column == "name" and word:
            yield "name", word[:80]
        field, unit = _COLUMNS.get(column, ("", 1))
        found = _NUMBER.match(word)
        if field and found:
            yield field, float(found[1]) if isinstance(unit, float) else int(float(found[1])) * unit


def _of_links(text: str) -> Iterator[GpuDevice]:
    """`Link Width` with `Max : 16x` and `Current : 4x` below it, once a card."""
    most: int | None = None
    count = 0
    for line in text.splitlines():
        found = _LINK.match(line)
        if found and found[1] == "Max":
            most = int(found[2])
        elif found and most is not None:
            yield _card(count, pcie_width=int(found[2]), pcie_width_max=most)
            most, count = None, count + 1
