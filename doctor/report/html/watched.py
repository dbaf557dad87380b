"""Pictures of what `doctor watch` saw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.report.html.chart import Axes, Point, Series, chart
from doctor.report.html.figures import value_of
from doctor.report.html.markup import Markup, element
from doctor.report.html.words import tell

if TYPE_CHECKING:
    from collections.abc import Iterator


def watch_charts(watch: Any, lang: str) -> Iterator[Markup]:
    """Charts over the seconds of a watch, from its plain data; nothing where there was none."""
    series = watch.get("series") if isinstance(watch, dict) else None
    if not isinstance(series, list) or len(series) < 2:
        return
    charts = []
    for title, unit, top, lines in _KINDS:
        drawn = tuple(
            Series(tell(name, lang), style, _points(series, field, scale), dots=False)
            for name, style, field, scale in lines
        )
        axes = Axes(tell(title, lang), tell("axis_seconds", lang), tell(unit, lang), top)
        charts.append(chart(axes, drawn, lang))
    if any(charts):
        yield element("h2", tell("watched", lang))
        yield from (each for each in charts if each)


_KINDS: tuple[tuple[str, str, float | None, tuple[tuple[str, str, str, float], ...]], ...] = (
    ("decode", "per_second", None, (("decode", "one", "decode_per_second", 1),)),
    (
        "use",
        "percent",
        100.0,
        (("sm", "one", "sm_percent", 1), ("memory_use", "two", "memory_percent", 1)),
    ),
    (
        "processor",
        "cores",
        None,
        (("server_cores", "one", "server_cores", 1), ("others_cores", "two", "others_cores", 1)),
    ),
    ("power", "watts", None, (("power", "one", "power_watts", 1),)),
    ("ram", "gib", None, (("ram", "one", "ram_available_bytes", 1 << 30),)),
)
"""Title, unit, highest value, and of each line its name, style, field of a point, and what that is divided by."""


def _points(series: list[Any], field: str, scale: float) -> tuple[Point, ...]:
    found = []
    for entry in series:
        at, value = value_of(entry.get("at_seconds")), value_of(entry.get(field))
        if at is not None and value is not None:
            found.append(Point(at, value / scale))
    return tuple(found)
