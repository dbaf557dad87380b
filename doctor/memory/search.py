"""Finds the largest number that still fits: tokens of context, layers on the cards, experts on the cards.

What is weighed costs milliseconds, so a straight line through what is known says where to look next. More of anything
never needs less, and need grows by straight lines that get steeper, so a few looks are enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.memory.rooms import Outcome

CTX_STEP = 256
"""llama.cpp rounds a context up to a multiple of this."""
MOST_LOOKS = 40


class Found(NamedTuple):
    """The largest number that fits, with what it needs; `next` is the first that does not, None at the upper end."""

    number: int
    outcome: Outcome
    next: Outcome | None


def largest(
    low: int, high: int, step: int, weigh: Callable[[int], Outcome], rate: Callable[[Outcome], float] | None = None
) -> Found | None:
    """The largest of low, low + step, … high that fits; None when `low` does not.

    `rate` guesses how many bytes one more costs, from what the lowest needs; it only saves looks.
    """
    below = weigh(low)
    if not below.fits:
        return None
    high = low + (high - low) // step * step
    at, above_at = low, high
    above: Outcome | None = None
    if rate is not None and (cost := rate(below)) > 0:
        guess = low + int(_room(below) / cost) // step * step
        if guess < high:
            at, below, above_at, above = _look(weigh, guess, at, below, above_at, above)
    if above is None:
        above = weigh(high)
        if above.fits:
            return Found(high, above, None)
    assert above is not None
    for look in range(MOST_LOOKS):
        if above_at - at <= step:
            break
        middle = at + (above_at - at) // (2 * step) * step
        drop = _room(below) - _room(above)
        if look % 4 < 3 and 0 < drop < 1 << 60:
            # On the line between both; from its end on one step further, to close in from above too.
            middle = at + int((above_at - at) * _room(below) / drop) // step * step
            if middle <= at:
                middle = at + step
            middle = min(middle, above_at - step)
        at, below, above_at, nearer = _look(weigh, middle, at, below, above_at, above)
        above = nearer or above
    return Found(at, below, above)


def _look(
    weigh: Callable[[int], Outcome], number: int, at: int, below: Outcome, above_at: int, above: Outcome | None
) -> tuple[int, Outcome, int, Outcome | None]:
    found = weigh(number)
    if found.fits:
        return number, found, above_at, above
    return at, below, number, found


def _room(outcome: Outcome) -> int:
    return min(outcome.spare, outcome.host_spare)
