"""Walking forward through the start of a file in bounded steps: the only place that reads header bytes."""

from __future__ import annotations

import struct
from itertools import repeat
from operator import length_hint
from typing import IO

CHUNK = 1 << 20
MAX_READ = 256 << 20
"""Bytes read from one file before we give up. The largest header seen (262,144 tokens, 514,906 merges) has 16 MB."""
MAX_STRINGS = 8_000_000
"""Strings stepped over in one file before we give up: about a second. The largest vocabulary seen has 777,000."""
MAX_KEPT_STRING = 1 << 20
"""Longer texts are stepped over, not kept. The longest chat templates have some 20 KB."""


class HeaderError(Exception):
    """The header cannot be read on. The message is one line for a user."""


class CutOff(HeaderError):
    """The header announces more than the file holds: it is cut off, or the announcement is damaged."""


class Cursor:
    """A place in a binary stream that only moves forward. Every method raises HeaderError, nothing else."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        """`size` is the file's size in bytes, as looked up before."""
        self.size = size
        self.wanted = 0
        """Where the read that found the stream at its end would have ended; 0 while none has."""
        self.strings_left = 0
        """Strings of the array stepped over last that were still to come when the stream ended."""
        self._stream = stream
        self._buffer = b""
        self._index = 0
        self._start = 0
        self._read = 0
        self._strings = 0
        self.byte_order("<")

    def byte_order(self, order: str) -> None:
        """Read numbers as little ("<") or big (">") endian from here on."""
        self._u32 = struct.Struct(f"{order}I")
        self._u64 = struct.Struct(f"{order}Q")
        self._order = order

    @property
    def offset(self) -> int:
        """Bytes from the start of the file."""
        return self._start + self._index

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        self._need(count)
        found = self._buffer[self._index : self._index + count]
        self._index += count
        return found

    def skip(self, count: int) -> None:
        """Step over `count` bytes without reading those that are not read yet."""
        self._go(self._index + count)

    def unpack(self, layout: struct.Struct) -> tuple[int | float | bool, ...]:
        """The next numbers."""
        self._need(layout.size)
        found = layout.unpack_from(self._buffer, self._index)
        self._index += layout.size
        return found

    def layout(self, codes: str) -> struct.Struct:
        """A struct of these codes in the file's byte order."""
        return struct.Struct(self._order + codes)

    def u32(self) -> int:
        """The next 32-bit number."""
        self._need(4)
        (found,) = self._u32.unpack_from(self._buffer, self._index)
        self._index += 4
        return int(found)

    def u64(self) -> int:
        """The next 64-bit number."""
        self._need(8)
        (found,) = self._u64.unpack_from(self._buffer, self._index)
        self._index += 8
        return int(found)

    def string(self, limit: int = MAX_KEPT_STRING) -> str | None:
        """The next string; None when it is longer than `limit` and was stepped over. Bad UTF-8 becomes U+FFFD."""
        length = self.u64()
        if length > self.size - self.offset:
            raise CutOff(f"a text of {length} bytes at byte {self.offset - 8} reaches beyond the end of the file")
        if length > limit:
            self.skip(length)
            return None
        return self.take(length).decode("utf-8", "replace")

    def skip_strings(self, count: int) -> None:
        """Step over `count` strings: the hot loop, about 0.1 s for a million."""
        self._strings += count
        if self._strings > MAX_STRINGS:
            raise HeaderError(f"more than {MAX_STRINGS} strings are announced at byte {self.offset}")
        length_at = self._u64.unpack_from
        left = count
        while left:
            self.strings_left = left
            self._need(8)
            buffer, index = self._buffer, self._index
            steps = repeat(None, left)
            try:
                # Nothing but additions in here: a step past the buffer shows up as an error of the next unpack.
                for _ in steps:
                    index += length_at(buffer, index)[0] + 8
                left = 0
            except (struct.error, OverflowError):
                left = length_hint(steps) + 1
            self._go(index)
        self.strings_left = 0

    def _need(self, count: int) -> None:
        """Have `count` bytes in the buffer."""
        if len(self._buffer) - self._index >= count:
            return
        rest = self._buffer[self._index :]
        self._start += self._index
        self._index = 0
        wanted = max(CHUNK, count - len(rest))
        self._read += wanted
        if self._read > MAX_READ:
            raise HeaderError(f"it is larger than {MAX_READ >> 20} MiB")
        try:
            self._buffer = rest + self._stream.read(wanted)
        except (OSError, ValueError, MemoryError) as error:
            raise HeaderError(f"reading failed at byte {self.offset} ({error})") from None
        if len(self._buffer) < count:
            self.wanted = self._start + count
            raise CutOff(f"the file ends inside it, at byte {self._start + len(self._buffer)}")

    def _go(self, index: int) -> None:
        """Move to a place given as an index into the buffer, which may lie behind its end."""
        if index <= len(self._buffer):
            self._index = index
            return
        target = self._start + index
        if target > self.size:
            raise CutOff(f"what follows byte {self.offset} reaches beyond the end of the file")
        try:
            self._stream.seek(target)
        except (OSError, ValueError) as error:
            raise HeaderError(f"reading failed at byte {target} ({error})") from None
        self._buffer = b""
        self._start = target
        self._index = 0
