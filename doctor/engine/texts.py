"""Which of a few thousand texts stand in a line: with a scanner when the package for it is there, else by word pieces.

Both ways give the same answer; the scanner is many times faster on long lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.logs.scan import Sought, plain, scanner

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from doctor.logs.scan import Scanner

PIECE = 3
WORTH_IT = 200_000
"""Characters looked through before the scanner is built: a short paste is done sooner without it."""


class Texts:
    """A fixed set of texts to look for."""

    def __init__(self, texts: Iterable[str], *, scan: bool = True) -> None:
        self._texts = tuple(dict.fromkeys(texts))
        self._short = tuple(text for text in self._texts if len(text) < PIECE)
        self._pieces: dict[str, list[str]] | None = None
        self._scanner: Scanner | None = None
        self._wants_scanner = scan
        self._asked = 0

    def found_in(self, line: str) -> Collection[str]:
        """Those of the texts that stand in the line, in no order."""
        self._asked += len(line)
        if self._wants_scanner and self._asked > WORTH_IT:
            self._build()
        if self._scanner is not None:
            return [self._texts[number] for number in self._scanner.which(line.encode("utf-8", "replace"))]
        return self._by_pieces(line)

    def _build(self) -> None:
        """Makes the scanner. A system without the package does without."""
        self._wants_scanner = False
        if self._texts:
            self._scanner = scanner((Sought(plain(text)) for text in self._texts), once=True)

    def _by_pieces(self, line: str) -> list[str]:
        if self._pieces is None:
            self._pieces = _index(self._texts)
        here = {line[start : start + PIECE] for start in range(len(line) - PIECE + 1)}
        found = [text for piece in here & self._pieces.keys() for text in self._pieces[piece] if text in line]
        if not line.isascii():
            found += [text for text in self._short if text in line]
        return found


def _index(texts: tuple[str, ...]) -> dict[str, list[str]]:
    """Every text under the piece in its middle: beginnings and ends of texts are more often alike."""
    index: dict[str, list[str]] = {}
    for text in texts:
        if len(text) >= PIECE:
            start = (len(text) - PIECE) // 2
            index.setdefault(text[start : start + PIECE], []).append(text)
    return index
