"""Bytes of any origin as numbered lines of clean text, in bounded memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST = 8192
"""Characters of a line that are looked at; of a longer line the first and last half of this."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")


class Line(NamedTuple):
    """One line: its number in the input (from 1), its text, and what it is: log, command, config, comment or any."""

    number: int
    text: str
    place: str = "any"


def lines_of(chunks: Iterable[bytes]) -> Iterator[Line]:
    """Numbered lines of a stream of bytes: decoded, without colours, of a progress line only what stays on screen."""
    for number, raw in enumerate(_split(_as_utf8(chunks)), 1):
        yield Line(number, clean(raw))


def clean(raw: bytes) -> str:
    """A line as a terminal would show it: escape sequences gone, the last non-empty part of a line redrawn with `\\r`."""
    text = raw.decode("utf-8", "replace")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        parts = [part for part in text.split("\r") if part.strip()]
        text = parts[-1] if parts else ""
    if len(text) > LONGEST:
        text = text[: LONGEST // 2] + " … " + text[-LONGEST // 2 :]
    return text.rstrip()


def _as_utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
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


def _split(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines of a stream. Of a line longer than 1 MiB the middle is dropped, so memory stays flat."""
    head = b""
    tail = b""
    for chunk in chunks:
        pieces = (tail + chunk if not head else chunk).split(b"\n")
        if head:
            if len(pieces) == 1:
                tail = (tail + chunk)[-(1 << 16) :]
                continue
            yield head + (tail + pieces[0])[-(1 << 16) :]
            head, pieces = b"", pieces[1:]
        tail = pieces.pop()
        yield from pieces
        if len(tail) > 1 << 20:
            head, tail = tail[: 1 << 16], tail[-(1 << 16) :]
    if head or tail:
        yield head + tail
