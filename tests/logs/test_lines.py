"""Bytes of any origin become numbered lines of clean text, in bounded memory."""

import tracemalloc

import pytest

from doctor.logs.lines import BLANKS, LONGEST, UNBROKEN, lines_of


def texts(*chunks):
    return [line.text for line in lines_of(chunks)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"one\ntwo", ["one", "two"]),
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"\xef\xbb\xbfone\n", ["one"]),
        ("一\n二\n".encode(), ["一", "二"]),
        ("one\ntwo\n".encode("utf-16"), ["one", "two"]),
        ("one\ntwo\n".encode("utf-16-le"), ["one", "two"]),
        (b"\x1b[34m0.00.1\x1b[0m \x1b[31mE\x1b[0m boom\n", ["0.00.1 E boom"]),
        (b"\x1b]0;title\x07text\n", ["text"]),
        (b" 10 %\r 50 %\r100 % done\n", ["100 % done"]),
        (b"bad \xff\xfe byte\n", ["bad \ufffd\ufffd byte"]),
        (b"a\n\n\nb\n", ["a", "", "", "b"]),
    ],
)
def test_text(data, expected):
    assert texts(data) == expected
    assert texts(*(data[i : i + 1] for i in range(len(data)))) == expected or data[:2] in (
        b"\xff\xfe",
        b"o\x00",
        b"\xef\xbb",
    )


def test_numbers_count_from_one():
    assert [line.number for line in lines_of([b"a\nb\nc"])] == [1, 2, 3]


def test_long_line_keeps_both_ends_and_memory_flat():
    def chunks():
        yield b"start "
        for _ in range(64):
            yield b"x" * (1 << 20)
        yield b" end\nnext\n"

    tracemalloc.start()
    found = texts(*[]) or [line.text for line in lines_of(chunks())]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[0].startswith("start x") and found[0].endswith("x end") and found[1] == "next"
    assert len(found[0]) <= LONGEST + 3
    assert peak < 16 << 20


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("]" + " " * 8000 + "x killed", "]" + " " * BLANKS + "x killed"),
        ("]" + " \t" * 4000 + "x killed", "]" + " " * BLANKS + "x killed"),
        ("=" * 5000 + "x", "=" * UNBROKEN + "x"),
        ("a" + " " * 60 + "b", "a" + " " * 60 + "b"),
        ("ab" * 500, "ab" * 500),
    ],
)
def test_long_runs_are_cut(line, expected):
    """Patterns such as `\\s*x?\\s*` take cubic time on thousands of blanks: hours for one line."""
    assert texts(line.encode()) == [expected]
