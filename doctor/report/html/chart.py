"""Points and lines over two axes as SVG. Along x everything is in per cent, so letters keep their size at any width."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from doctor.report.html.markup import Markup, element, joined
from doctor.report.html.words import tell

if TYPE_CHECKING:
    from collections.abc import Iterator

HEIGHT = 190
_FEW = 120
"""Points up to which each has a dot; more would be a smear."""
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


class Point(NamedTuple):
    """A place in a chart, and what is said of it when one points at it."""

    x: float
    y: float
    words: str = ""


class Series(NamedTuple):
    """Points of one kind, in order of x. `style` is one or two; `joined`: a line connects them; `dots`: each is marked."""

    name: str
    style: str
    points: tuple[Point, ...]
    joined: bool = True
    dots: bool = True


class Axes(NamedTuple):
    """What a chart is called, what its axes count, and the highest y where that is given."""

    title: str
    x_words: str
    unit: str
    top: float | None = None
    whole: bool = False


def chart(axes: Axes, series: tuple[Series, ...], lang: str) -> Markup:
    """A figure with its caption, its axes and a key where there is more than one series; "" without points."""
    series = tuple(one for one in series if one.points)
    if not series:
        return Markup()
    every = [point for one in series for point in one.points]
    ys = [point.y for point in every]
    summary = tell(
        "summary", lang, title=axes.title, count=len(every), least=plain(min(ys)), most=plain(max(ys)), unit=axes.unit
    )
    first, last = min(point.x for point in every), max(point.x for point in every)
    if not axes.whole:
        first = 0.0
    last = last if last > first else first + 1
    top = axes.top or ticks(0, max(ys) * 1.05 or 1, 4)[-1]
    drawing = element(
        "svg",
        joined(_grid(axes, first, last, top)),
        *(joined(_drawn(one, first, last, top)) for one in series),
        width="100%",
        height=HEIGHT,
        role="img",
        aria_label=summary,
    )
    key = [element("li", element("span", class_=f"dot {one.style}"), one.name) for one in series if len(series) > 1]
    return element(
        "figure",
        element("figcaption", element("span", axes.title), element("span", axes.unit, class_="small")),
        element("ul", *key, class_="key") if key else None,
        element("div", drawing, class_="plot"),
    )


def _grid(axes: Axes, first: float, last: float, top: float) -> Iterator[Markup]:
    for value in ticks(0, top, 4):
        if value <= top:
            y = HEIGHT - HEIGHT * value / top
            yield element("line", x1="0%", x2="100%", y1=y, y2=y, class_="grid" if value else "axis")
            yield element("text", plain(value), x=-8, y=y + 4, text_anchor="end")
    marked = [value for value in ticks(first, last, 4, whole=axes.whole) if first <= value <= last]
    if not marked or 8 * (marked[0] - first) > last - first:
        marked.insert(0, first)  # round numbers begin late: the axis says where it begins
    for value in marked:
        x = f"{100 * (value - first) / (last - first):.2f}%"
        yield element("text", plain(value), x=x, y=HEIGHT + 18, text_anchor="middle")
    yield element("text", axes.x_words, x="100%", y=HEIGHT + 36, text_anchor="end")


def _drawn(one: Series, first: float, last: float, top: float) -> Iterator[Markup]:
    dotted = one.dots and (len(one.points) <= _FEW or not one.joined)
    places = [
        (f"{100 * (point.x - first) / (last - first):.2f}%", HEIGHT - HEIGHT * min(point.y, top) / top)
        for point in one.points
    ]
    if one.joined:
        style = f"path {one.style}" + (" faint" if dotted else "")
        for (x1, y1), (x2, y2) in pairwise(places):
            yield element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=style)
    for (x, y), point in zip(places, one.points, strict=True):
        if dotted:
            told = element("title", point.words) if point.words else None
            yield element("circle", told, cx=x, cy=y, r=3 if len(one.points) > 40 else 3.5, class_=f"mark {one.style}")


def ticks(low: float, high: float, about: int, *, whole: bool = False) -> list[float]:
    """Round numbers from below `low` to above `high`, some `about` of them."""
    span = (high - low) / about
    power = 10.0 ** math.floor(math.log10(span))
    step = next(power * each for each in _STEPS if power * each >= span * 0.999)
    step = max(1.0, math.ceil(step)) if whole else step
    start = math.floor(low / step)
    return [step * at for at in range(start, math.ceil(high / step - 1e-9) + 1)]


def plain(value: float) -> str:
    """A number of an axis: 0, 0.5, 20, 12k."""
    if abs(value) >= 10_000:
        return f"{value / 1000:.3g}k" if abs(value) < 1_000_000 else f"{value / 1_000_000:.3g}M"
    return f"{value:.4g}"
