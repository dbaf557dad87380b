"""One walk over a pasted text: lines for the matcher, and on the way its commands, its settings and its numbers.

Most lines of a long log are never looked at one by one: lines are told apart by their shape (digits as 0), and what could
be in a line of a shape is found out once.
"""

from __future__ import annotations

from collections import deque
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.logs.blocks import blocks_of
from doctor.logs.facts import LogReader
from doctor.logs.lines import LONGEST, Line, clean, lines_of
from doctor.logs.sections import Command, CommandReader, is_output, may_be_command, placed, placed_after

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from doctor.facts.log import Log

MOST_COMMANDS = 50
HEAD = 64 << 10
"""Characters kept of the beginning of a text."""
_DIGITS_TO_0 = bytes.maketrans(b"123456789", b"0" * 9)
_MOST_SHAPES = 30_000
_LONGEST_SHAPE = 600
_TAIL = 24
"""Lines kept of the end of a text, among which the last one that a program printed is looked for."""


class Look(NamedTuple):
    """What could be in the lines of a shape: what `sift` was asked to look for, and numbers.

    `texts`: such a line is of interest only when it holds one of these (lower case); empty when any line is.
    """

    wanted: Sequence[Any]
    numbers: bool
    texts: tuple[bytes, ...] = ()


_NOTHING = Look((), False)
# Nothing but timings, of which the first ones are read already.
_LATE = Look((), False)
# Escapes, redrawn lines, broken bytes and very long lines: what the line says is not what its bytes are.
_UNCLEAR = Look((), False)


class _Looks(dict[bytes, "Look | None"]):
    """Shape -> what to look for in its lines; None when they need not be looked at."""

    def __init__(self, find: Callable[[bytes], Look | None]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, shape: bytes) -> Look | None:
        look = self._find(shape)
        if len(shape) <= _LONGEST_SHAPE and len(self) < _MOST_SHAPES:
            self[shape] = look
        return look


class Paste:
    """Reads a text once. Iterate over it (or `sift` it) to the end; then `log`, `commands` and `count` are there."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self._log = LogReader()
        self._commands = CommandReader(MOST_COMMANDS)
        self._head: list[str] = []
        self._room = HEAD
        self._before = Line(0, "")
        self._tail: deque[tuple[int, bytes]] = deque(maxlen=_TAIL)
        self._looks = _Looks(self._look)
        self._clean_looks = _Looks(lambda shape: self._judge(shape.decode()))
        self._wanted: Callable[[str], Sequence[Any]] = lambda shape: ()
        self.count = 0

    def __iter__(self) -> Iterator[Line]:
        """Every line, each looked at: slow, and the measure for `sift`."""
        for line in placed(lines_of(self._chunks)):
            self.count += 1
            self._log.take(line)
            self._commands.take(line)
            self._keep_head(line.text)
            self._tail.append((self.count, line.text.encode()))
            yield line

    def sift(self, wanted: Callable[[str], Sequence[Any]]) -> Iterator[tuple[Line, Sequence[Any]]]:
        """The lines with what `wanted` says could be in them, where it says anything.

        `wanted` is asked once for a shape of lines, unless `forget` is called. It must answer for a line with any digits:
        with things that have `texts`, of which the line must hold one (lower case, with their digits), or none at all.
        """
        self._wanted = wanted
        for block in blocks_of(self._chunks):
            yield from self._sift(block)

    def forget(self) -> None:
        """Ask again about every shape: something is no longer looked for."""
        self._looks.clear()
        self._clean_looks.clear()

    def _sift(self, block: bytes) -> Iterator[tuple[Line, Sequence[Any]]]:
        shapes = block.translate(_DIGITS_TO_0).split(b"\n")
        looks = list(map(self._looks.__getitem__, shapes))
        first = self.count + 1
        self.count += len(shapes)
        self._keep_tail(block)
        picked = list(compress(range(len(looks)), looks))
        if not picked and self._room <= 0 and self._before.place != "command":
            return
        lines = block.split(b"\n")
        for raw in lines if self._room > 0 else ():
            if self._room <= 0:
                break
            self._keep_head(clean(raw))
        picked.append(len(lines))
        next_line = 0
        late = self._log.late
        for index in picked:
            # A line after a line of a command is looked at, whatever it is: the command may go on.
            while self._before.place == "command" and next_line < index:
                yield from self._read(first + next_line, lines[next_line], looks[next_line] or _NOTHING)
                next_line += 1
            if index == len(lines):
                break
            look = looks[index]
            if self._before.place != "command":
                if look is _LATE:
                    late.append((first + index, lines[index]))
                    continue
                if look and look.texts and not _holds(lines[index], look.texts):
                    continue
            if look is not None:
                yield from self._read(first + index, lines[index], look)
            next_line = index + 1

    def _read(self, number: int, raw: bytes, look: Look) -> Iterator[tuple[Line, Sequence[Any]]]:
        text = clean(raw)
        if look is _UNCLEAR:
            look = self._clean_looks[text.encode().translate(_DIGITS_TO_0)] or _NOTHING
        line = placed_after(self._before, Line(number, text))
        self._before = line
        self._commands.take(line)
        if look is _LATE:
            self._log.late.append((number, text))
        elif look.numbers:
            before = self._log.settled
            self._log.take(line)
            if self._log.settled != before:
                self.forget()
        if look.wanted:
            yield line, look.wanted

    def _look(self, shape: bytes) -> Look | None:
        try:
            text = shape.decode().rstrip()
        except UnicodeDecodeError:
            return _UNCLEAR
        if "\x1b" in text or "\r" in text or len(text) > LONGEST:
            return _UNCLEAR
        return self._judge(text)

    def _judge(self, text: str) -> Look | None:
        wanted = self._wanted(text)
        numbers = self._log.wants(text)
        late = self._log.wants_late(text)
        if numbers or may_be_command(text):
            return Look(wanted, numbers or late)
        if not wanted:
            return _LATE if late else None
        narrow = text.isascii() and not late and all(each.texts for each in wanted)
        return Look(wanted, late, tuple({word.encode() for each in wanted for word in each.texts}) if narrow else ())

    def _keep_head(self, text: str) -> None:
        if self._room > 0:
            self._head.append(text)
            self._room -= len(text) + 1

    def _keep_tail(self, block: bytes) -> None:
        """The last lines of a block that ends at line `count`; blank ones do not crowd out the others."""
        end = block.rstrip()
        number = self.count - block.count(b"\n", len(end))
        lines = end.rsplit(b"\n", _TAIL)[-_TAIL:]
        for place, raw in enumerate(lines, number - len(lines) + 1):
            if raw.strip():
                self._tail.append((place, raw[-LONGEST:]))

    @property
    def last(self) -> Line | None:
        """The last line that a program printed: not blank, no command, no prompt, no remark."""
        last = None
        before = Line(0, "")
        for number, raw in self._tail:
            before = placed_after(before, Line(number, clean(raw)))
            last = before if is_output(before) else last
        return last

    @property
    def head(self) -> str:
        """The first lines as they stand: a settings file is read as a whole, and is short."""
        return "\n".join(self._head)

    @property
    def log(self) -> Log:
        """What the lines say in numbers."""
        return self._log.result(self.count)

    @property
    def commands(self) -> tuple[Command, ...]:
        """The command lines, each whole, in order."""
        return self._commands.result()


def _holds(raw: bytes, texts: tuple[bytes, ...]) -> bool:
    lowered = raw.lower()
    return any(text in lowered for text in texts)
