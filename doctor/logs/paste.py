"""One walk over a pasted text: lines for the matcher, and on the way its commands, its settings and its numbers.

Most lines of a long log are never looked at one by one: lines are told apart by their shape (digits as 0), and what could
be in a line of a shape is found out once.
"""

from __future__ import annotations

from collections import deque
from itertools import compress
from typing import TYPE_CHECKING, Any

from doctor.logs.blocks import blocks_of, by_line, line_at
from doctor.logs.facts import MOST_LATE, TIMING_MARK, LogReader
from doctor.logs.lines import LONGEST, Line, clean, lines_of
from doctor.logs.look import LONGEST_SHAPE, NOTHING, UNCLEAR, Look, Looks, holds
from doctor.logs.scan import ALIKE, scanner, sought
from doctor.logs.sections import COMMAND_MARKS, Command, CommandReader, is_output, may_be_command, placed, placed_after
from doctor.logs.tail import Tail
from doctor.logs.turns import MOST_LINES, SLOT_MARK, read_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from doctor.facts.log import Log
    from doctor.facts.timeline.record import Turn
    from doctor.logs.scan import Scanner

    _Wanted = Callable[[str, "Iterable[Any] | None"], Sequence[Any]]

MOST_COMMANDS = 50
HEAD = 64 << 10
"""Characters kept of the beginning of a text."""
SCAN_FROM = 8 << 20
"""Bytes looked at by shape before a scanner is made: by then most of what every log has is no longer looked for."""
SAMPLE = 64 << 10
"""Bytes of a text by which the rarest words are chosen."""
FEW_FINDS = 500
"""Bytes for each line with finds: where there are more such lines, telling all apart by shape is faster."""
PATIENCE = 5_000
"""Lines looked at until a new scanner is made: one for less, and with the words that are rare in this text."""
_DIGITS_TO_0 = bytes.maketrans(b"123456789", b"0" * 9)
_SHAPE = str.maketrans("123456789", "0" * 9)
_TAIL = 24
"""Lines kept of the end of a text, among which the last one that a program printed is looked for."""


class Paste:
    """Reads a text once. Iterate over it (or `sift` it) to the end; then `log`, `commands` and `count` are there."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = chunks
        self._log = LogReader()
        self._commands = CommandReader(MOST_COMMANDS)
        self._head: list[str] = []
        self._room = HEAD
        self._before = Line(0, "")
        self._tail: deque[Line] = deque(maxlen=_TAIL)
        self._looks = Looks(self._look)
        self._clean_looks = Looks(lambda shape: self._judge(shape.decode()))
        self._wanted: _Wanted = lambda shape, among: ()
        self._rare: Callable[[str], Mapping[str, Sequence[Any]]] | None = None
        self._stands_for: tuple[Sequence[Any], ...] = ()
        self._late = Tail(TIMING_MARK, MOST_LATE)
        self._slots = Tail(SLOT_MARK, MOST_LINES)
        self._scanner: Scanner | None = None
        self._last = b""
        self._found: deque[bytes] = deque(maxlen=30)
        self._seen = self._looked_at = 0
        self._patience = PATIENCE
        self.count = 0

    def __iter__(self) -> Iterator[Line]:
        """Every line, each looked at: slow, and the measure for `sift`."""
        for line in placed(lines_of(self._chunks)):
            self.count += 1
            self._log.take(line)
            text = line.text.encode("utf-8", "replace")
            self._late.add(line.number, text)
            self._slots.add(line.number, text)
            self._commands.take(line)
            self._keep_head(line.text)
            self._tail.append(line)
            yield line

    def sift(
        self, wanted: _Wanted, rare: Callable[[str], Mapping[str, Sequence[Any]]] | None = None
    ) -> Iterator[tuple[Line, Sequence[Any]]]:
        """The lines with what `wanted` says could be in them, where it says anything.

        `wanted` is asked once for a shape of lines, unless `forget` is called. It must answer for a line with any digits:
        with things that have `texts`, of which the line must hold one (lower case, with their digits), or none at all.

        `rare` gives texts, rare ones in a text like the one it is given, each with what it stands for: a line for which
        `wanted` would say anything holds one that stands for it. With it, and where hyperscan is installed, most of a long
        text is only scanned for these; `wanted` is then asked about lines that hold some, and told what they stand for.
        """
        self._wanted = wanted
        self._rare = rare
        for block in blocks_of(self._chunks):
            yield from self._sift(block)

    def forget(self) -> None:
        """Ask again about every shape: something is no longer looked for."""
        self._looks.clear()
        self._clean_looks.clear()

    def _sift(self, block: bytes) -> Iterator[tuple[Line, Sequence[Any]]]:
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n").removesuffix(b"\r")
        first = self.count + 1
        self._late.add(first, block)
        self._slots.add(first, block)
        self._seen += len(block)
        sample, self._last = max(self._last, block, key=len), block
        if self._looked_at > self._patience or (self._seen > SCAN_FROM and self._scanner is None):
            self._make_scanner(sample)
        clear = self._room <= 0 and b"\x1b" not in block and b"\r" not in block
        found = by_line(block, self._scanner.finds(block)) if clear and self._scanner is not None else None
        if found is not None and len(found) < len(block) // FEW_FINDS + 10:
            yield from self._by_finds(first, block, found)
        else:
            yield from self._by_shapes(first, block)
        self._keep_tail(block)

    def _make_scanner(self, sample: bytes) -> None:
        """Scan for what is looked for now, by words that are rare in the sample and in the lines found of late."""
        self._patience *= 2
        self._looked_at = 0
        if self._rare is None:
            return
        sample = b"\n".join((*self._found, sample[:SAMPLE]))
        rare = self._rare(sample.decode("utf-8", "replace"))
        texts = [sought(text) for text in rare]
        if all(texts):
            self._stands_for = tuple(rare.values())
            self._scanner = scanner((*filter(None, texts), *ALIKE, *self._log.sought(), *COMMAND_MARKS), once=False)
        if self._scanner is None:
            self._rare = None

    def _by_shapes(self, first: int, block: bytes) -> Iterator[tuple[Line, Sequence[Any]]]:
        looks = list(map(self._looks.__getitem__, block.translate(_DIGITS_TO_0).split(b"\n")))
        self.count += len(looks)
        picked = list(compress(range(len(looks)), looks))
        if not picked and self._room <= 0 and self._before.place != "command":
            return
        lines = block.split(b"\n")
        for raw in lines if self._room > 0 else ():
            if self._room <= 0:
                break
            self._keep_head(clean(raw))
        next_line = 0
        for index in (*picked, len(lines)):
            # A line after a line of a command is looked at, whatever it is: the command may go on.
            while self._before.place == "command" and next_line < min(index + 1, len(lines)):
                yield from self._read(first + next_line, lines[next_line], looks[next_line] or NOTHING)
                next_line += 1
            if next_line <= index < len(lines):
                look = looks[index]
                if look and not (look.texts and not holds(lines[index], look.texts)):
                    yield from self._read(first + index, lines[index], look)
                    next_line = index + 1

    def _by_finds(
        self, first: int, block: bytes, found: list[tuple[int, set[int]]]
    ) -> Iterator[tuple[Line, Sequence[Any]]]:
        number, start = first, 0  # of the first line that has not been passed
        past = len(block) + 1
        for line, names in (*found, (past, set())):
            # A line after a line of a command is looked at, whatever it is: the command may go on.
            while self._before.place == "command" and start < min(line + 1, past):
                raw = line_at(block, start)
                yield from self._read(number, raw, self._looks[raw.translate(_DIGITS_TO_0)] or NOTHING)
                number, start = number + 1, start + len(raw) + 1
            if not start <= line < past:
                continue
            raw = line_at(block, line)
            number += block.count(b"\n", start, line)
            self._looked_at += 1
            self._found.append(raw[:LONGEST])
            if len(raw) <= LONGEST_SHAPE or max(names) >= len(self._stands_for):
                look = self._looks[raw.translate(_DIGITS_TO_0)]
                if look and not (look.texts and not holds(raw, look.texts)):
                    yield from self._read(number, raw, look)
            else:
                # No numbers and no command: there is only what its finds stand for.
                text = clean(raw)
                wanted = self._wanted(
                    text.translate(_SHAPE), {each for name in names for each in self._stands_for[name]}
                )
                if wanted:
                    yield placed_after(self._before, Line(number, text)), wanted
            number, start = number + 1, line + len(raw) + 1
        self.count = number - 1 + (block.count(b"\n", start) + 1 if start < past else 0)

    def _read(self, number: int, raw: bytes, look: Look) -> Iterator[tuple[Line, Sequence[Any]]]:
        text = clean(raw)
        if look is UNCLEAR:
            look = self._clean_looks[text.encode().translate(_DIGITS_TO_0)] or NOTHING
        line = placed_after(self._before, Line(number, text))
        self._before = line
        self._commands.take(line)
        if look.numbers:
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
            return UNCLEAR
        if "\x1b" in text or "\r" in text or len(text) > LONGEST:
            return UNCLEAR
        return self._judge(text)

    def _judge(self, text: str) -> Look | None:
        wanted = self._wanted(text, None)
        numbers = self._log.wants(text)
        if numbers or may_be_command(text):
            return Look(wanted, numbers)
        if not wanted:
            return None
        narrow = text.isascii() and all(each.texts for each in wanted)
        return Look(wanted, False, tuple({word.encode() for each in wanted for word in each.texts}) if narrow else ())

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
                self._tail.append(Line(place, clean(raw)))

    @property
    def last(self) -> Line | None:
        """The last line that a program printed: not blank, no command, no prompt, no remark."""
        last = None
        before = Line(0, "")
        for line in self._tail:
            before = placed_after(before, line)
            last = before if is_output(before) else last
        return last

    @property
    def head(self) -> str:
        """The first lines as they stand: a settings file is read as a whole, and is short."""
        return "\n".join(self._head)

    @property
    def log(self) -> Log:
        """What the lines say in numbers."""
        return self._log.result(self.count, self._late.lines())

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The requests whose timings the text holds."""
        lines = {line.number: line for line in (*self._late.lines(), *self._slots.lines())}
        return read_turns(lines[number] for number in sorted(lines))

    @property
    def commands(self) -> tuple[Command, ...]:
        """The command lines, each whole, in order."""
        return self._commands.result()
