"""A budget as a stacked bar per device on a terminal, as a line of numbers anywhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.report.plan_words import tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from doctor.report.rows import Row

GIB = 1 << 30
WIDTH = 44
PARTS = (
    ("weights", ("weights", "draft-weights", "mmproj"), "█", "#"),
    ("kv", ("kv", "draft-kv"), "▓", "="),
    ("state", ("recurrent", "draft-recurrent"), "▒", "%"),
    ("compute", ("compute", "draft-compute", "mmproj-compute", "output"), "░", "+"),
    ("overhead", ("overhead",), "·", ":"),
)
"""Parts of a bar: name (also of its style), the kinds of rows in it, its mark, and one in ASCII."""


class Bar(NamedTuple):
    """What lies on a device. Bytes: `parts` by name, `room` is what it offers (None where not known)."""

    device: str
    parts: Mapping[str, int]
    room: int | None

    @property
    def total(self) -> int:
        return sum(self.parts.values())


def bars_of(
    rows: Iterable[tuple[str, str, int, bool]], rooms: Mapping[str, int | None], host: int | None
) -> tuple[Bar, ...]:
    """Bars of a budget's rows (device, kind, bytes, optional): one a card, one for the host with all its buffers."""
    found: dict[str, dict[str, int]] = {name: {} for name in rooms}
    for device, kind, size, optional in rows:
        if optional:
            continue
        part = next((name for name, kinds, _, _ in PARTS if kind in kinds), "compute")
        parts = found.setdefault(device if device in rooms else "RAM", {})
        parts[part] = parts.get(part, 0) + size
    return tuple(Bar(name, parts, rooms.get(name) if name in rooms else host) for name, parts in found.items() if parts)


def bar_rows(bars: Iterable[Bar], lang: str, *, drawn: bool, unicode: bool) -> Iterator[Row]:
    """The bars as lines. `drawn`: on a terminal."""
    from doctor.report.rows import Row

    for bar in bars:
        over = bar.room is not None and bar.total > bar.room
        of = "" if bar.room is None else f" {tell('of', lang)} {bar.room / GIB:.2f}"
        numbers = ", ".join(
            f"{tell(name, lang)} {_size(bar.parts[name])}" for name, _, _, _ in PARTS if bar.parts.get(name)
        )
        text = f" {bar.total / GIB:.2f}{of} GiB"
        if not drawn or bar.room is None:
            yield Row((("", f"{bar.device:<8}{text}: {numbers}"),), 4, bar=bar)
            continue
        yield Row((("", f"{bar.device:<8} "), *_drawn(bar, unicode), ("error" if over else "", text)), 4)
        yield Row((("", "         "), *_legend(bar, lang, unicode)), 4)


def _drawn(bar: Bar, unicode: bool) -> Iterator[tuple[str, str]]:
    """The pieces of a bar: exactly WIDTH marks, or a little over when more is needed than there is."""
    scale = max(bar.room or 0, bar.total, 1)
    filled, done = 0, 0
    for name, _, mark, plain in PARTS:
        done += bar.parts.get(name, 0)
        upto = round(WIDTH * done / scale)
        if upto > filled:
            yield name, (mark if unicode else plain) * (upto - filled)
            filled = upto
    yield "quiet", ("─" if unicode else "-") * (WIDTH - filled)


def _legend(bar: Bar, lang: str, unicode: bool) -> Iterator[tuple[str, str]]:
    for name, _, mark, plain in PARTS:
        if bar.parts.get(name):
            yield name, f"{mark if unicode else plain} "
            yield "quiet", f"{tell(name, lang)} {_size(bar.parts[name])}  "


def _size(size: int) -> str:
    return f"{size / GIB:.2f}" if size >= GIB // 10 else f"{size / GIB:.3f}"
