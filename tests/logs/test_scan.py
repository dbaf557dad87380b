"""What the bytes of a line must hold for a text to stand in it."""

import re

import pytest

from doctor.logs.scan import DIGIT, Sought, scanner, sought


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("cuda error", "CUDA Error: out of memory", True),
        ("cuda error", "CUDA errors", True),
        ("cuda error", "CUDA  error", False),
        ("显存不足", "显存不足", True),
        (f"task {DIGIT}{DIGIT} |", "task 7 |", False),
        (f"task {DIGIT}{DIGIT} |", "task 77 |", True),
        (f"{DIGIT}{DIGIT} | task", "id 123 | task", True),
        (f"{DIGIT}{DIGIT} | task", "id ٣٣ | task", True),
        ("fehler: größe Ä", "FEHLER: GRÖSSE", True),  # what has case outside ASCII is left out
        ("a.b", "axb", False),
    ],
)
def test_sought(text, line, found):
    wanted = sought(text)
    assert bool(re.search(wanted.expression, line.encode(), re.IGNORECASE)) is found
    scan = scanner([wanted], once=False)
    if scan is not None:
        assert bool(scan.finds(line.encode())) is found


def test_a_text_that_may_be_written_otherwise_is_not_sought():
    assert sought("Äé") is None and sought("x") is None


def test_finds_in_order():
    pytest.importorskip("hyperscan")
    scan = scanner([Sought(b"b"), Sought(b"ab", True)], once=False)
    assert scan.finds(b"AB b") == [(2, 1), (4, 0)]
    assert scan.which(b"b b") == {0}
    assert scanner([Sought(b"(")], once=False) is None
