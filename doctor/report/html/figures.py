"""Pictures of numbers: memory on each device, and speed over the requests of a log and over the depth of its context.

Every number is also there as text, with its exact value in `<data value>`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.report.bars import GIB, PARTS
from doctor.report.html.chart import Axes, Point, Series, chart
from doctor.report.html.markup import Markup, element, number
from doctor.report.html.words import tell
from doctor.report.plan_words import tell as tell_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doctor.report.bars import Bar

LEAST_TOKENS = 8
"""Requests with fewer tokens say nothing of a speed."""
_STYLES = {"state": "state-part"}


def memory_bar(bar: Bar, lang: str) -> Markup:
    """What lies on a device, as a stacked bar under its name and over the numbers."""
    over = bar.room is not None and bar.total > bar.room
    told = element("span", _total(bar, lang), class_="error state" if over else "small")
    scale = max(bar.room or 0, bar.total, 1)
    pieces, keys, done = [], [], 0
    for name, _, _, _ in PARTS:
        size = bar.parts.get(name, 0)
        if not size:
            continue
        style = _STYLES.get(name, name)
        words = tell_part(name, lang)
        # A hair of the ground between the parts: they are told apart without colours too.
        width = max(1000 * size / scale - 2, 0.5)
        pieces.append(
            element(
                "rect",
                element("title", f"{words} {_gib(size)} GiB"),
                x=1000 * done / scale,
                y=0,
                width=width,
                height=10,
                class_=f"part {style}",
            )
        )
        keys.append(element("li", element("span", class_=f"dot {style}"), f"{words} ", number(size, _gib(size))))
        done += size
    drawing = element(
        "svg",
        *pieces,
        class_="bar",
        viewBox="0 0 1000 10",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"{bar.device}: " + _total(bar, lang),
    )
    return element(
        "figure",
        element("figcaption", element("span", bar.device), told),
        drawing if bar.room is not None else None,  # nothing to hold it against
        element("ul", *keys, class_="key"),
    )


def _total(bar: Bar, lang: str) -> str:
    need = _gib(bar.total)
    if bar.room is None:
        return tell("need", lang, need=need)
    room = _gib(bar.room)
    if bar.total > bar.room:
        return tell("over", lang, need=need, room=room, over=_gib(bar.total - bar.room))
    return tell("of", lang, need=need, room=room)


def _gib(size: int) -> str:
    return f"{size / GIB:.2f}" if size >= GIB // 10 else f"{size / GIB:.3f}"


class Turn(NamedTuple):
    """A request of a log. Speeds in tokens per second; what is not known is None. `depth`: tokens in the context."""

    number: int
    line: int | None
    prompt_tokens: float | None
    prompt_speed: float | None
    decoded_tokens: float | None
    decode_speed: float | None
    depth: float | None


def turns_of(facts: Any) -> tuple[Turn, ...]:
    """The requests of a report's facts (plain data): those of its timeline, which knows depths, else those of its log."""
    timings = None
    for subject, name in (("timeline", "turns"), ("log", "timings")):
        record = facts.get(subject) if isinstance(facts, dict) else None
        timings = timings or (record.get(name) if isinstance(record, dict) else None)
    found = []
    for place, entry in enumerate(timings if isinstance(timings, list) else [], 1):
        if isinstance(entry, dict):
            line = value_of(entry.get("line"))
            found.append(
                Turn(
                    place,
                    int(line) if line else None,
                    value_of(entry.get("prompt_tokens")),
                    value_of(entry.get("prompt_per_second")),
                    value_of(entry.get("decoded_tokens")),
                    value_of(entry.get("decoded_per_second")),
                    value_of(entry.get("depth")) or None,
                )
            )
    return tuple(found)


def value_of(value: Any) -> float | None:
    """A number that can be drawn."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e12
    return value if good else None


def speed_charts(turns: tuple[Turn, ...], lang: str) -> Iterator[Markup]:
    """Generation and prompt processing over the requests, and generation over the depth where that is known."""
    unit = tell("per_second", lang)
    kinds = (
        ("decode_by_turn", "axis_request", [(t, t.number, t.decode_speed, t.decoded_tokens) for t in turns]),
        ("decode_by_depth", "axis_depth", [(t, t.depth, t.decode_speed, t.decoded_tokens) for t in turns]),
        ("prompt_by_turn", "axis_request", [(t, t.number, t.prompt_speed, t.prompt_tokens) for t in turns]),
    )
    for key, axis, rows in kinds:
        points = tuple(
            Point(x, speed, _told(turn, speed, unit, lang))
            for turn, x, speed, tokens in rows
            if x is not None and speed is not None and (tokens or 0) >= LEAST_TOKENS
        )
        whole = axis == "axis_request"
        if len(points) > 1:
            style = "two" if key.startswith("prompt") else "one"
            points = tuple(sorted(points, key=lambda point: point.x))
            axes = Axes(tell(key, lang), tell(axis, lang), unit, whole=whole)
            yield chart(axes, (Series(axes.title, style, points, dots=True),), lang)


def _told(turn: Turn, speed: float, unit: str, lang: str) -> str:
    line = f", {tell('line', lang)} {turn.line}" if turn.line else ""
    return f"{tell('request', lang)} {turn.number}: {speed:g} {unit}{line}"


def speed_table(turns: tuple[Turn, ...], lang: str) -> Markup:
    """The same as numbers, a row a request."""
    depth = any(turn.depth is not None for turn in turns)
    heads = [
        tell("request", lang),
        *([tell("depth", lang)] if depth else []),
        tell("prompt_tokens", lang),
        tell("tokens_s", lang),
        tell("decoded_tokens", lang),
        tell("tokens_s", lang),
        tell("line", lang),
    ]
    rows = [
        element(
            "tr",
            element("td", str(turn.number)),
            *_cells(
                [
                    *([turn.depth] if depth else []),
                    turn.prompt_tokens,
                    turn.prompt_speed,
                    turn.decoded_tokens,
                    turn.decode_speed,
                    turn.line,
                ]
            ),
        )
        for turn in turns
    ]
    head = element("thead", element("tr", *(element("th", each, scope="col") for each in heads)))
    table = element("table", head, element("tbody", *rows))
    return element("div", table, class_="scroll", tabindex=0, role="region", aria_label=tell("numbers", lang))


def _cells(values: Iterable[float | None]) -> Iterator[Markup]:
    for value in values:
        yield element("td", "–" if value is None else number(value, f"{value:g}" if value < 1e5 else str(value)))
