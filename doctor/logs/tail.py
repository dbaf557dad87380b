"""The last lines of a long text that hold a mark, looked for only at the end: most lines with it are never looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.logs.lines import Line, clean

if TYPE_CHECKING:
    from collections.abc import Iterator

HELD = 16 << 20
"""Bytes of blocks that are kept before the lines are taken out of them."""
LONGEST = 1_000
"""Characters; a longer line is left out."""


class Tail:
    """Takes blocks of lines one by one; `lines` are the last `most` with the mark in them."""

    def __init__(self, mark: str, most: int) -> None:
        self._mark = mark
        self._most = most
        self._blocks: list[tuple[int, bytes]] = []
        self._held = 0
        self._before: list[tuple[int, bytes]] = []

    def add(self, first: int, block: bytes) -> None:
        """Take a block; `first` is the number of its first line."""
        self._blocks.append((first, block))
        self._held += len(block)
        if self._held > HELD:
            self._before = self._last()
            self._blocks, self._held = [], 0

    def lines(self) -> list[Line]:
        """The lines, in order."""
        return [Line(number, clean(raw)) for number, raw in self._last()]

    def _last(self) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []
        for first, block in reversed(self._blocks):
            found = [*self._marked(first, block), *found]
            if len(found) >= self._most:
                break
        return (self._before + found)[-self._most :]

    def _marked(self, first: int, block: bytes) -> Iterator[tuple[int, bytes]]:
        mark = self._mark.encode()
        if b"\x1b" in block or b"\r" in block:  # any line may say something else than its bytes
            for number, raw in enumerate(block.split(b"\n"), first):
                if (mark in raw or b"\x1b" in raw or b"\r" in raw) and self._fits(clean(raw)):
                    yield number, raw
            return
        number, passed = first, 0
        at = block.find(mark)
        while at >= 0:
            start = block.rfind(b"\n", 0, at) + 1
            end = block.find(b"\n", at)
            end = len(block) if end < 0 else end
            number += block.count(b"\n", passed, start)
            passed = start
            raw = block[start:end]
            if len(raw) < LONGEST or self._fits(clean(raw)):
                yield number, raw
            at = block.find(mark, end)

    def _fits(self, text: str) -> bool:
        return self._mark in text and len(text) < LONGEST
