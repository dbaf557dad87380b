"""Texts with values: what is not known is left out, never made up."""

import pytest

from doctor.engine.conditions import ConditionError, Evaluator
from doctor.engine.templates import fill, pieces_of
from doctor.facts.record import Unknown

ROOTS = Evaluator({"n": 4096, "u": Unknown("not looked"), "gone": None, "half": 0.5, "on": True, "many": ("a", "b")})


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("plain", "plain"),
        ("{n} tokens", "4096 tokens"),
        ("{u} tokens", None),
        ("{gone} tokens", None),
        ("a[[ of {n}]].", "a of 4096."),
        ("a[[ of {u}]].", "a."),
        ("a[[ of {u}]][[ and {n}]]", "a and 4096"),
        ("{n / 3}", "1365.3"),
        ("{half} {on} {many}", "0.5 on a, b"),
        ('{{"key": {n}}}', '{"key": 4096}'),
        ("env[0] stays", "env[0] stays"),
        ("two  spaces stay {n}", "two  spaces stay 4096"),
    ],
)
def test_fill(template, expected):
    assert fill(template, ROOTS) == expected


def test_bad_expression_is_refused():
    with pytest.raises(ConditionError):
        pieces_of("{__import__('os')}")
