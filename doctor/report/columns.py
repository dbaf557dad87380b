"""Text in columns of a terminal. A Chinese character takes two of them."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_NOT_FIRST = frozenset("，。；：、！？）」』”’%")
"""Marks that no line begins with."""


def columns(text: str) -> int:
    """Columns that a text takes."""
    return len(text) if text.isascii() else sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` columns, broken at blanks and beside Chinese characters."""
    lines, line = [], ""
    for piece in _pieces(text):
        if line and columns(line + piece.rstrip()) > width:
            lines.append(line.rstrip())
            line = ""
        line += piece
    return [*lines, line.rstrip()]


def _pieces(text: str) -> Iterator[str]:
    """What may not be broken: words with the blanks behind them, Chinese characters with the marks behind them."""
    piece = ""
    for character in text:
        if piece and character not in _NOT_FIRST and character != " " and _parts(piece[-1], character):
            yield piece
            piece = ""
        piece += character
    yield piece


def _parts(before: str, after: str) -> bool:
    """Whether a line may end between two characters, the latter of which is no blank."""
    return before == " " or columns(before) == 2 or columns(after) == 2


def table(rows: Sequence[tuple[str, str]], width: int, start: int) -> list[str]:
    """Two columns, the right one at column `start`; a left one that is too long has a line of its own."""
    lines = []
    for left, right in rows:
        parts = wrapped(right, max(width - start, 20)) if right else [""]
        head = f"  {left}"
        if columns(head) + 2 > start and right:
            lines.append(head)
        else:
            lines.append((head + " " * (start - columns(head)) + parts.pop(0)).rstrip())
        lines += [" " * start + part for part in parts]
    return lines


def column(lefts: Iterable[str], most: int) -> int:
    """Where the right column begins: behind the widest left one, at `most` at the latest."""
    return min(most, max((columns(left) for left in lefts), default=0) + 4)


def examples(rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Commands with their remarks beside them where the terminal is wide enough for all, else below them."""
    start = column((left for left, _ in rows), width)
    if all(start + columns(right) <= width for _, right in rows):
        return table(rows, width, start)
    return [
        line for left, right in rows for line in (f"  {left}", *(f"      {part}" for part in wrapped(right, width - 6)))
    ]
