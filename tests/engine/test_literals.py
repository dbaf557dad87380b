"""Mandatory texts of patterns: a line that lacks them never matches; risky shapes are refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.engine.literals import literals_of, risky


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"failed to allocate buffer", ("failed to allocate buffer",)),
        (r"(?:KV|compute) buffer size\s*=\s*\d+", (" buffer size",)),
        (r"unknown (?:pre-tokenizer|model architecture)", ("model architecture", "pre-tokenizer")),
        (r"cudaMalloc failed|hipMalloc failed", ("malloc failed",)),
        (r"显存不足", ("显存不足",)),
        (r"\d+ tokens?", (" token",)),
        (r"a?b?c?", ()),
        (r".*", ()),
        (r"\d{3}", ()),
        (r"(?:abc)?|\d", ()),
    ],
)
def test_literals(pattern, expected):
    found = literals_of(pattern)
    assert found == expected or (
        expected == ("malloc failed",) and set(found) == {"cudamalloc failed", "hipmalloc failed"}
    )


@pytest.mark.parametrize(
    "pattern", [r"(a+)+$ text", r"(\w+\s?)* text", r".*foo bar", r"a.*b.*c.*d.*e text", r"((ab)*)* text"]
)
def test_risky(pattern):
    assert risky(pattern)


@pytest.mark.parametrize("pattern", [r"foo.{0,80}bar", r"size\s*=\s*\d+\.\d+ MiB", r"error: (?:a|b) \w+ text"])
def test_not_risky(pattern):
    assert not risky(pattern)


@given(st.text(alphabet="abcDEF 12.(|)?+*[]\\sd", max_size=20), st.text(alphabet="abcdefABCDEF 12.", max_size=40))
def test_a_match_always_holds_a_literal(pattern, line):
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except re.error:
        return
    literals = literals_of(pattern)
    if literals and compiled.search(line):
        assert any(literal in line.lower() for literal in literals)


@pytest.mark.parametrize(
    "pattern",
    [
        r"foo\s*,?\s*bar",
        r"foo\s{0,4}x?\s{0,4}bar",
        r"size \d+\.?\d* MiB",
        r"foo (?:a|\s*)\s+bar",
        r"foo[\w ]{0,20}(?:\(x\))?(?:y| {1,3})bar",
        r"foo\s*\b\s*bar",
        r"foo\S{0,20}.{0,40}bar",
        r"foo(?:\s*x?\s*){0,3}bar",
        r"foo(?:ab){0,9}(?:ab){0,9}bar",
        r"foo[a-f]{1,9}[A-F]{1,9}bar",
        r"foo(?=\s*;?\s*bar)",
    ],
)
def test_repeats_that_share_characters_are_refused(pattern):
    assert "meet" in risky(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        r"foo[\s,]{0,8}bar",
        r"foo(?:,\s*)?bar",
        r"size \d+(?:\.\d+)? MiB",
        r"foo\s*=\s*bar",
        r"foo(?:\S+\s+){0,3}-{1,2}bar",
        r"foo (?:\d+\s+){0,3}\d+ bar",
        r"foo\d{1,4}[a-z]{1,4}\s{0,4}bar",
        r"foo.{0,40}x.{0,40}bar",
        r"foo\s?\s?\s*bar",
    ],
)
def test_repeats_that_share_nothing_are_not(pattern):
    assert not risky(pattern)
