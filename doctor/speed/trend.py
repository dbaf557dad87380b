"""How a row of speeds changes: evenly with depth, at once, only at first, or not at all. Statistics of few and noisy points."""

from __future__ import annotations

from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FEWEST = 3
"""Requests from which on a change can be told."""
MOST_PAIRS = 120
"""Points of which every pair gives a slope; of more, evenly spread ones are taken."""
SPAN = 1_000
"""Tokens of context between the shallowest and the deepest request for a slope to mean anything."""
CHANGE = 1.25
"""What counts as slower: noise between runs of the same thing reaches some 10 to 20 %."""
JUMP = 1.5
"""What counts as slower at once."""
AT_ONCE = 0.6
"""What part of the whole rise lies between two requests where it comes at once."""
STEEP = 2.5
"""So many times what reading the cache costs at most, and something else is at work."""


class Point(NamedTuple):
    """A request: tokens of context in its middle, milliseconds a token (a step, when drafting)."""

    depth: float
    ms: float


class Trend(NamedTuple):
    """`kind` as in Timeline.pattern but for steep. `at` is the first point after a step. `slope` in ms per token of context."""

    kind: str
    slope: float | None
    at: int | None = None
    before: float | None = None
    after: float | None = None


def slope_of(points: Sequence[Point]) -> float | None:
    """The median of the slopes of all pairs (Theil and Sen): single wild points do not move it. None without a span."""
    if len(points) > MOST_PAIRS:
        points = [points[round(at * (len(points) - 1) / (MOST_PAIRS - 1))] for at in range(MOST_PAIRS)]
    depths = [point.depth for point in points]
    if len(points) < FEWEST or max(depths) - min(depths) < SPAN:
        return None
    slopes = [
        (second.ms - first.ms) / (second.depth - first.depth)
        for first, second in combinations(points, 2)
        if abs(second.depth - first.depth) >= SPAN / 10
    ]
    return median(slopes) if slopes else None


def trend(points: Sequence[Point]) -> Trend | None:
    """What the row shows; None with too few points."""
    if len(points) < FEWEST:
        return None
    times = [point.ms for point in points]
    slope = slope_of(points)
    rest = times[1:]
    if times[0] >= JUMP * median(rest) and max(rest) <= JUMP * min(rest):
        return Trend("slow-first", slope, before=times[0], after=median(rest))
    step = _step(points, slope)
    if step is not None:
        return step
    if max(times) <= CHANGE * min(times):
        return Trend("steady", slope)
    if slope is not None:
        line = _line(points, slope)
        off = sum(abs(point.ms - line(point.depth)) for point in points)
        flat = sum(abs(time - median(times)) for time in times)
        if off < 0.6 * flat:
            deepest = max(points, key=lambda point: point.depth)
            shallowest = min(points, key=lambda point: point.depth)
            grown = line(deepest.depth) / max(line(shallowest.depth), 1e-9)
            if slope > 0 and grown >= CHANGE:
                return Trend("decay", slope)
            if slope > 0 or grown > 1 / CHANGE:
                return Trend("steady", slope)
    ends = max(1, len(times) // 3)
    if median(times[:ends]) > CHANGE * median(times[-ends:]):
        return Trend("rising", slope)
    return Trend("mixed", slope)


def _line(points: Sequence[Point], slope: float) -> Callable[[float], float]:
    base = median(point.ms - slope * point.depth for point in points)
    return lambda depth: base + slope * depth


def _step(points: Sequence[Point], slope: float | None) -> Trend | None:
    """The best split in two even halves, where it explains the row better than depth does."""
    times = [point.ms for point in points]
    best: tuple[float, int] | None = None
    for at in range(1, len(times)):
        off = _spread(points[:at]) + _spread(points[at:])
        if best is None or off < best[0]:
            best = (off, at)
    assert best is not None
    off, at = best
    before, after = median(times[:at]), median(times[at:])
    if after < JUMP * before or min(times[at:]) < CHANGE * max(times[:at]):
        return None
    if times[at] - times[at - 1] < AT_ONCE * (after - before):  # most of the way in between: an even rise
        return None
    if slope is not None:
        line = _line(points, slope)
        if sum(abs(point.ms - line(point.depth)) for point in points) <= 1.5 * off:
            return None
    return Trend("step", slope, at, before, after)


def _spread(points: Sequence[Point]) -> float:
    """How far a part lies from one speed, or from one line where depth spans enough of it."""
    slope = slope_of(points)
    middle = median(point.ms for point in points)
    flat = sum(abs(point.ms - middle) for point in points)
    if slope is None or slope < 0:
        return flat
    line = _line(points, slope)
    return min(flat, sum(abs(point.ms - line(point.depth)) for point in points))
