"""One walk over a pasted text: lines for the matcher, and on the way its commands, its settings and its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.logs.facts import LogReader
from doctor.logs.lines import Line, lines_of
from doctor.logs.sections import Command, CommandReader, placed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doctor.facts.log import Log

MOST_COMMANDS = 50
HEAD = 64 << 10
"""Characters kept of the beginning of a text."""


class Paste:
    """Reads a text once. Iterate over it to the end; then `log`, `commands` and `count` are there."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self._log = LogReader()
        self._commands = CommandReader(MOST_COMMANDS)
        self._head: list[str] = []
        self._room = HEAD
        self.count = 0

    def __iter__(self) -> Iterator[Line]:
        for line in placed(lines_of(self._chunks)):
            self.count += 1
            self._log.take(line)
            self._commands.take(line)
            if self._room > 0:
                self._head.append(line.text)
                self._room -= len(line.text) + 1
            yield line

    @property
    def head(self) -> str:
        """The first lines as they stand: a settings file is read as a whole, and is short."""
        return "\n".join(self._head)

    @property
    def log(self) -> Log:
        """What the lines say in numbers."""
        return self._log.result()

    @property
    def commands(self) -> tuple[Command, ...]:
        """The command lines, each whole, in order."""
        return self._commands.result()
