"""A stream of bytes in blocks of whole lines, in bounded memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST_WHOLE = 1 << 20
"""Bytes of a line that are kept; of a longer one only its first and last ENDS."""
ENDS = 1 << 16


def blocks_of(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Blocks of whole lines, each without the newline of its last line. Together they are the text, newline by newline."""
    open_line = _OpenLine()
    for chunk in as_utf8(chunks):
        end = chunk.rfind(b"\n")
        if end < 0:
            open_line.add(chunk)
            continue
        if open_line:
            first = chunk.find(b"\n")
            yield open_line.close(chunk[:first])
            if first < end:
                yield chunk[first + 1 : end]
        else:
            yield chunk[:end]
        open_line.add(chunk[end + 1 :])
    if open_line:
        yield open_line.close(b"")


class _OpenLine:
    """The beginning of a line whose end has not come yet."""

    def __init__(self) -> None:
        self._head = b""
        self._parts: list[bytes] = []
        self._size = 0

    def __bool__(self) -> bool:
        return bool(self._head) or self._size > 0

    def add(self, piece: bytes) -> None:
        self._parts.append(piece)
        self._size += len(piece)
        if self._size > LONGEST_WHOLE:
            whole = b"".join(self._parts)
            self._head = self._head or whole[:ENDS]
            self._parts = [whole[-ENDS:]]
            self._size = ENDS

    def close(self, piece: bytes) -> bytes:
        """The line with its last piece; the next line begins."""
        whole = b"".join((*self._parts, piece))
        line = self._head + whole[-ENDS:] if self._head else whole
        self._head, self._parts, self._size = b"", [], 0
        return line


def as_utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The stream in UTF-8: UTF-16 (PowerShell's `>`) is told by its byte order mark or by its zero bytes."""
    import codecs

    source = iter(chunks)
    first = next(source, b"")
    decoder = None
    if first[:2] in (b"\xff\xfe", b"\xfe\xff"):
        decoder = codecs.getincrementaldecoder("utf-16")("replace")
    elif len(first) >= 4 and first[1::2][:200].count(0) > len(first[1::2][:200]) // 2:
        decoder = codecs.getincrementaldecoder("utf-16-le")("replace")
    elif first[:3] == b"\xef\xbb\xbf":
        first = first[3:]
    yield decoder.decode(first).encode("utf-8") if decoder else first
    for chunk in source:
        yield decoder.decode(chunk).encode("utf-8") if decoder else chunk


def by_line(block: bytes, finds: list[tuple[int, int]]) -> list[tuple[int, set[int]]]:
    """(where a line begins, what is found in it) for each line with finds."""
    lines: list[tuple[int, set[int]]] = []
    past = -1  # where the last of them ends
    for end, name in finds:
        if end > past:
            start = block.rfind(b"\n", max(past, 0), end) + 1
            past = block.find(b"\n", end)
            past = len(block) if past < 0 else past
            lines.append((start, set()))
        lines[-1][1].add(name)
    return lines


def line_at(block: bytes, start: int) -> bytes:
    """The line of a block that begins there."""
    end = block.find(b"\n", start)
    return block[start:] if end < 0 else block[start:end]
