"""A line that lacks what a pattern needs never matches it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.engine.match import folded
from doctor.engine.needs import left_to_ask, need_of, rarest, shape_of
from doctor.logs.scan import DIGIT


def asked(pattern, line):
    """What is left to ask of lines of this line's shape."""
    return left_to_ask(need_of(pattern), folded(shape_of(line)))


@pytest.mark.parametrize(
    ("pattern", "line", "expected"),
    [
        ("failed to load", "failed to load", ()),
        ("failed to load", "failed to open", None),
        ("timed? ?out", "time of day", None),
        ("timed? ?out", "timed out", ()),
        ("refused|timed? ?out", "total time = 12 ms", None),
        ("truncated = 1", "truncated = 0", ("truncated = 1",)),
        ("truncated = 1", "truncated =  0", None),
        (r"n = \d{1,3}, truncated = 1", "n = 5, truncated = 0", (", truncated = 1",)),
        (r"ms /\s+(?P<n>\d{5,7}) tokens", "27839.94 ms /   724 tokens", None),
        (r"ms /\s+(?P<n>\d{5,7}) tokens", "27.94 ms /   123456 tokens", ()),
        (r"127\.0\.0\.1|localhost", "0.36.675.919 I srv", None),
        (r"127\.0\.0\.1|localhost", "to 127.0.0.2", ("127.0.0.1",)),
        (r"a+b", "aab", ()),
        (r"(?:ab)+c", "ab", ()),
        (r"x*", "anything", ()),
    ],
)
def test_left_to_ask(pattern, line, expected):
    assert asked(pattern, line) == expected


@given(
    st.text(alphabet="abcDEF 129.(|)?+*{},[]-\\sd", max_size=24),
    st.text(alphabet="abcdefABCDEF 1290.٣ſıİK", max_size=40),
)
def test_a_match_always_fulfils_the_need(pattern, line):
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except (re.error, OverflowError):
        return
    if compiled.search(line):
        texts = asked(pattern, line)
        assert texts is not None
        assert not texts or any(text in folded(line) for text in texts)


@pytest.mark.parametrize(
    ("pattern", "sample", "texts"),
    [
        (r"tokens .{0,9} expected", "tokens tokens", {" expected"}),
        (r"stop: n_\w{4,8} = \d{1,3}, truncated = 1", "stop: n_past = 7, truncated = 0", {", truncated = 1"}),
        (r"eval time =\s+[\d.]+ ms /\s+\d{5,7} tokens", "eval time = 1 ms / 99 tokens", {DIGIT * 5 + " tokens"}),
        (r"(?:empty|no) choices", "choices", {"empty choices", "no choices"}),
        (r"a|b", "", set()),
    ],
)
def test_rarest(pattern, sample, texts):
    def count(text):
        return len(re.findall(re.escape(text).replace(re.escape(DIGIT), r"\d"), sample))

    assert set(rarest(need_of(pattern), count)[1]) == texts
