"""Published measurements lie in the predicted ranges: those the constants come from, and those kept out."""

import math
import statistics

import pytest

from doctor.memory.placement import CPU
from doctor.speed.expected import Lane, decode, draft_factor
from doctor.speed.reads import Part, Reads
from tests.speed.fit import TUNED, fitted
from tests.speed.published import TABLE, held_out, lanes_of, measured, of_fit, reads_for

WIDEST = 2.0
UNSEEN = ("heldout.tsv", "heldout2.tsv")
"""Collected after the constants were fitted. Generation lay in its range in 27 of the 29 lines of the first when it was first
run, what drafting brings in 5 of 9; the second was run once after that was mended: 18 of 19, and 8 of 9."""


def predicted(row):
    return decode(reads_for(row), lanes_of(row), TABLE, row.depth)


def test_there_are_enough_of_them_each_with_its_source():
    rows = measured()
    assert len(rows) >= 60 and len([row for row in rows if row.use == "yes"]) >= 60
    assert len({row.source for row in rows}) >= 20
    assert all(row.source.startswith(("https://", "field report ")) for row in rows)
    assert all(row.note for row in rows if row.use == "aside")


@pytest.mark.parametrize("rows", [of_fit, held_out])
def test_nine_of_ten_lie_in_their_range(rows):
    outside = [row for row in rows() if not predicted(row).low <= row.tok_s <= predicted(row).high]
    assert len(outside) <= 0.1 * len(rows()), outside


def test_a_range_says_something():
    for row in measured():
        found = predicted(row)
        if row.use == "yes" and row.card:
            assert found.high / found.low <= WIDEST, row


def test_the_table_is_what_the_fit_gives():
    again = fitted()
    for kind, names in TUNED.items():
        for name in set(names) - {"crossing_us", "ceiling_6.0"}:  # too few measurements: set by hand
            now, then = TABLE["decode"][kind][name], again["decode"][kind][name]
            assert math.isclose(now, then, rel_tol=0.1, abs_tol=5), (kind, name, now, then)


def drafted(row):
    """(range, what it was) of a line that says in its note what the same card does without drafting; else None."""
    before = row.note.split(" ")[0]
    if row.use != "draft" or not before.replace(".", "").isdigit() or "n-max" not in row.flags:
        return None
    depth = int(row.flags.split("--spec-draft-n-max ")[1].split(" ")[0])
    accepted = float(row.accepted) if row.accepted else None
    return draft_factor(accepted, depth, TABLE, reads_for(row), lanes_of(row)), row.tok_s / float(before)


def test_what_drafting_brings_lies_in_its_range():
    """Against the same card without drafting, as the notes of the measurements give it."""
    for row in measured():
        found = drafted(row)
        if found is not None:
            factor, was = found
            assert factor.low <= was <= factor.high, row


@pytest.mark.parametrize("name", UNSEEN)
def test_nine_of_ten_that_were_never_fitted_lie_in_their_range(name):
    rows = measured(name)
    assert all(row.source.startswith("https://") for row in rows)
    ranges = [predicted(row) for row in rows if row.use == "yes"]
    was = [row.tok_s for row in rows if row.use == "yes"]
    assert sum(one.low <= speed <= one.high for one, speed in zip(ranges, was, strict=True)) >= 0.9 * len(was)
    assert statistics.median(one.high / one.low for one in ranges) <= 1.75
    gains = [found for row in rows if (found := drafted(row)) is not None]
    assert sum(factor.low <= gain <= factor.high for factor, gain in gains) >= len(gains) - 1 and len(gains) >= 9


def test_the_unseen_are_others_than_the_fitted():
    fitted_on = {(row.card, row.model, row.flags, row.depth, row.tok_s) for row in measured()}
    rows = [row for name in UNSEEN for row in measured(name)]
    assert len(rows) >= 60 and len({row.source for row in rows}) >= 18
    assert len({row.card for row in rows}) >= 20 and len({row.model for row in rows}) >= 20
    assert not [row for row in rows if (row.card, row.model, row.flags, row.depth, row.tok_s) in fitted_on]


@pytest.mark.parametrize(
    ("more", "less"),
    [
        (("8.6", False, 0.0), ("8.6", True, 0.0)),  # each drafted token of a mixture reads experts of its own
        (("8.6", True, 0.0), ("8.6", True, 0.9)),  # and from RAM
        (("12.0", False, 0.0), ("8.6", False, 0.0)),  # more arithmetic for each byte
    ],
)
def test_what_makes_drafting_pay_less(more, less):
    def factor(capability, sparse, on_host):
        parts = (Part("CUDA0", 1 - on_host, sparse=int(sparse), blocks=1), Part(CPU, on_host))
        lanes = (Lane("CUDA0", 900.0, 900.0, capability, "x"), Lane(CPU, 50.0, 50.0, "", "RAM"))
        return draft_factor(0.7, 3, TABLE, Reads(parts, True, 0.0, 512), lanes)

    assert factor(*more).low > factor(*less).low and factor(*more).high >= factor(*less).high


def test_a_power_limit_and_a_disk_show_as_below_the_range():
    """What was set aside was so for a cause that is not the memory: it must not look normal."""
    below = [row for row in measured() if row.use == "aside" and row.tok_s < predicted(row).low]
    assert {"power limit of 200 W", "laptop of 115 W"} <= {row.note for row in below}
    assert any("from disk" in row.note for row in below)
