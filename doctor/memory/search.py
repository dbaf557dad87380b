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
MOST_LOOKS = 60
_ENDLESS = 1 << 60


class Found(NamedTuple):
    """The largest number that fits, with what it needs. `top`: it is the upper end, more would fit."""

    number: int
    outcome: Outcome
    top: bool


class Rates(NamedTuple):
    """Bytes that one more costs on the fullest card: `guess` says where to look, `sure` is never too much (0: not known)."""

    guess: float
    sure: float = 0.0


def largest(
    low: int,
    high: int,
    step: int,
    weigh: Callable[[int], Outcome],
    rates: Callable[[Outcome], Rates],
    above: Outcome | None = None,
) -> Found | None:
    """The largest of low, low + step, … high that fits; None when `low` does not.

    `above` is what the number after `high` needs, where that is known not to fit: the search then starts from there.
    """
    high = low + (high - low) // step * step
    search = _Search(low, high, step, weigh, rates)
    return search.down(above) if above is not None and _room(above) > -_ENDLESS else search.up()


class _Search:
    def __init__(
        self, low: int, high: int, step: int, weigh: Callable[[int], Outcome], rates: Callable[[Outcome], Rates]
    ) -> None:
        self._low, self._high, self._step = low, high, step
        self._weigh, self._rates = weigh, rates

    def up(self) -> Found | None:
        """From the lowest upwards."""
        at, below = self._low, self._weigh(self._low)
        if not below.fits:
            return None
        rate = max(self._rates(below).guess, 1e-9)
        for look in range(MOST_LOOKS):
            if at >= self._high:
                break
            if at > self._low and self._is_last(below):
                return Found(at, below, False)
            number = min(self._high, at + max(self._step, self._round(_room(below) / rate)))
            number = self._high if look > 3 else number  # the guesses are poor: close in from the end too
            found = self._weigh(number)
            if not found.fits:
                return self._between(at, below, number, found)
            rate = max(rate, (_room(below) - _room(found)) / (number - at))
            at, below = number, found
        return Found(at, below, True)

    def down(self, above: Outcome) -> Found | None:
        """From just above the highest downwards."""
        at = self._high + self._step
        while at > self._low:
            rate = max(self._rates(above).guess, 1e-9)
            lower = at - max(self._step, -self._round(_room(above) / rate))
            number = max(self._low, lower)
            found = self._weigh(number)
            if found.fits:
                return self._between(number, found, at, above)
            at, above = number, found
        return None

    def _between(self, at: int, below: Outcome, above_at: int, above: Outcome) -> Found:
        """Close in from both sides."""
        for look in range(MOST_LOOKS):
            if above_at - at <= self._step or self._is_last(below):
                break
            middle = at + (above_at - at) // (2 * self._step) * self._step
            drop = _room(below) - _room(above)
            if look % 4 < 3 and 0 < drop < _ENDLESS:
                line = at + self._round((above_at - at) * _room(below) / drop)
                middle = min(max(line, at + self._step), above_at - self._step)
            found = self._weigh(middle)
            if found.fits:
                at, below = middle, found
            else:
                above_at, above = middle, found
        return Found(at, below, above_at > self._high)

    def _is_last(self, below: Outcome) -> bool:
        """Whether even the cheapest step more cannot fit."""
        return _room(below) < self._rates(below).sure * self._step

    def _round(self, number: float) -> int:
        """Down to whole steps; -3.2 steps are four down."""
        return int(number // self._step) * self._step


def _room(outcome: Outcome) -> int:
    return min(outcome.spare, outcome.host_spare)
