"""Finds a few thousand texts in a block of bytes in one pass, where the package hyperscan is installed.

Everything has a second way that does without and finds the same, slower.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

DIGIT = "\0"
"""Stands for any digit in a text to look for."""
HIGH = rb"\x80-\xff"
"""Bytes of characters outside ASCII, for a class of an expression."""
BLANK = rb"[\t\x0b\x0c\r\x1c-\x1f " + HIGH + rb"]"
"""Any blank within a line, and more: all that is not ASCII."""
_ALIKE = ("\u0130", "\u0131", "\u017f", "\u212a")
_SHORTEST = 2


class Sought(NamedTuple):
    """A regular expression over bytes, made of characters, classes and repeats; `any_case`: A to Z and a to z are one."""

    expression: bytes
    any_case: bool = False


ALIKE = tuple(Sought(character.encode()) for character in _ALIKE)
"""Letters outside ASCII that count as i, s or k where case does not count."""


def sought(text: str, *, any_case: bool = True) -> Sought | None:
    """What stands in the bytes of every line that holds a text, whatever its case; None when no two bytes are sure.

    Left out is what may be written otherwise: letters with case outside ASCII, what a broken byte is shown as, and what
    stands where a long line was cut.
    """
    unsure = "".join(c if c.isascii() or (c.lower() == c.upper() and c not in "\ufffd…") else "\n" for c in text)
    piece = max(unsure.split("\n"), key=len)
    if len(piece) < _SHORTEST:
        return None
    # A digit outside ASCII has up to four bytes; at the ends of a text it does not matter how many more there are.
    body = piece.strip(DIGIT)
    before, after = piece.split(body, 1) if body else (piece, "")
    parts = [_digits(len(part), 4) if part[:1] == DIGIT else plain(part) for part in re.split(f"({DIGIT}+)", body)]
    return Sought(_digits(len(before)) + b"".join(parts) + _digits(len(after)), any_case)


def _digits(count: int, most_bytes: int = 1) -> bytes:
    return b"[0-9%s]{%d,%d}" % (HIGH, count, most_bytes * count) if count else b""


def plain(text: str) -> bytes:
    """An expression for a text as it stands."""
    return b"".join(b"\\x%02x" % byte for byte in text.encode())


class Scanner:
    """A set of expressions, ready to be looked for."""

    def __init__(self, database: Any) -> None:
        self._database = database

    def which(self, block: bytes) -> set[int]:
        """The numbers of the expressions that are found."""
        found: set[int] = set()
        self._database.scan(block, match_event_handler=lambda number, *_: found.add(number))
        return found

    def finds(self, block: bytes) -> list[tuple[int, int]]:
        """(where it ends, number of the expression) of each find, in order."""
        found: list[tuple[int, int]] = []
        self._database.scan(block, match_event_handler=lambda number, _, end, *__: found.append((end, number)))
        return sorted(found)


def scanner(wanted: Iterable[Sought], *, once: bool) -> Scanner | None:
    """A scanner for expressions, which are numbered from 0; None where the package is missing or cannot be used.

    `once`: each expression is found at most once in a block.
    """
    try:
        import hyperscan
    except ImportError:
        return None
    expressions = list(wanted)
    flags = hyperscan.HS_FLAG_MULTILINE | (hyperscan.HS_FLAG_SINGLEMATCH if once else 0)
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    try:
        database.compile(
            expressions=[each.expression for each in expressions],
            ids=list(range(len(expressions))),
            elements=len(expressions),
            flags=[flags | (hyperscan.HS_FLAG_CASELESS if each.any_case else 0) for each in expressions],
        )
    except hyperscan.error:
        return None
    return Scanner(database)
