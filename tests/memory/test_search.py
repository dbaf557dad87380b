"""The search finds what trying every number would find, in a handful of looks."""

from hypothesis import given
from hypothesis import strategies as st

from doctor.memory.options import Options
from doctor.memory.rooms import Outcome
from doctor.memory.search import Rates, largest


class Scale:
    """Needs that grow by straight lines which get steeper, as memory does."""

    def __init__(self, room, lines):
        self.room, self.lines, self.looks = room, lines, 0

    def weigh(self, number):
        self.looks += 1
        need = max(base + rate * number for base, rate in self.lines)
        return Outcome(Options(ctx=number), object(), "", self.room - need, 1 << 62)


LINES = st.lists(st.tuples(st.integers(0, 50_000), st.integers(0, 400)), min_size=1, max_size=4)


@given(st.integers(0, 400_000), LINES, st.integers(1, 3), st.integers(0, 300), st.floats(0.01, 1000))
def test_upwards(room, lines, step, steps, guess):
    scale = Scale(room, lines)
    high = 5 + step * steps
    found = largest(5, high, step, scale.weigh, lambda _: Rates(guess))
    looks = scale.looks
    best = [number for number in range(5, high + 1, step) if scale.weigh(number).fits]
    if not best:
        assert found is None
        return
    assert (found.number, found.top) == (best[-1], best[-1] == high)
    assert looks <= 40


@given(st.integers(0, 200_000), LINES, st.integers(0, 100), st.floats(0.01, 1000))
def test_downwards_from_what_does_not_fit(room, lines, high, guess):
    scale = Scale(room, lines)
    above = scale.weigh(high + 1)
    if above.fits:
        return
    found = largest(0, high, 1, scale.weigh, lambda _: Rates(guess), above)
    best = [number for number in range(high + 1) if scale.weigh(number).fits]
    assert (found.number if found else None) == (best[-1] if best else None)


def test_few_looks_where_the_guess_is_good():
    scale = Scale(1 << 30, [(1 << 28, 4096), (1 << 29, 4000)])
    found = largest(4096, 262144, 256, scale.weigh, lambda _: Rates(4000, 4000))
    assert found.number == 131072 // 256 * 256 or found.outcome.spare < 4096 * 256
    assert scale.looks <= 5
