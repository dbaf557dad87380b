"""A log that grows: the requests its new lines tell of. It may be cut off, renamed and begun anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.logs.facts import TIMING_MARK, LogReader
from doctor.logs.lines import Line, clean
from doctor.logs.turns import SLOT_MARK, TurnReader
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.facts.log import Timing
    from doctor.facts.timeline.record import Turn
    from doctor.outside import Outside

PIECE = 1 << 20
"""Bytes read at a time; what is further behind than some of these is left out."""
_LONGEST = 1 << 16
_TRACE = 64
"""Bytes before the place reached: when they are no longer there, it is another file."""


class News(NamedTuple):
    """What a log told of since the look before. `state`: ok, rotated, or why it cannot be read: missing, denied, ….

    `timings` are those of requests that were printed, `turns` the same requests where the log tells of their slots.
    """

    state: str
    timings: tuple[Timing, ...] = ()
    turns: tuple[Turn, ...] = ()


class LogWatch:
    """The log at `path`, from its end on."""

    def __init__(self, outside: Outside, path: str) -> None:
        self._outside = outside
        self._path = path
        self._place: int | None = None
        self._trace = b""
        self._rest = b""
        self._reader = LogReader()
        self._turns = TurnReader()
        self._number = 0

    def sample(self) -> News:
        """What is new."""
        try:
            size = self._outside.stat(self._path).size
            with self._outside.open(self._path) as stream:
                rotated = self._begin(stream, size)
                assert self._place is not None
                if size - self._place > 8 * PIECE:
                    self._place, self._rest = size - PIECE, b""
                stream.seek(self._place)
                data = stream.read(PIECE) or b""
                self._place += len(data)
                self._trace = (self._trace + data)[-_TRACE:]
        except OutsideError as error:
            if error.kind == "missing":
                self._place, self._trace, self._rest = 0, b"", b""
            return News(error.kind)
        except OSError:
            return News("failed")
        self._take(data)
        found, self._reader.timings = tuple(self._reader.timings), []
        return News("rotated" if rotated else "ok", found, self._turns.ended())

    def _begin(self, stream: object, size: int) -> bool:
        """Find the place to read from; whether the file is another one than before."""
        if self._place is None:
            self._place = size
            self._trace = self._before(stream)
            return False
        if size >= self._place and self._before(stream) == self._trace:
            return False
        self._place, self._trace, self._rest = 0, b"", b""
        return True

    def _before(self, stream: object) -> bytes:
        assert self._place is not None
        start = max(0, self._place - (len(self._trace) or _TRACE))
        stream.seek(start)  # type: ignore[attr-defined]
        return bytes(stream.read(self._place - start))  # type: ignore[attr-defined]

    def _take(self, data: bytes) -> None:
        *whole, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-_LONGEST:]
        for raw in whole:
            self._number += 1
            timing = TIMING_MARK.encode() in raw
            if (timing or SLOT_MARK.encode() in raw) and len(raw) < _LONGEST:
                line = Line(self._number, clean(raw))
                self._turns.take(line)
                if timing:
                    self._reader.take(line)
