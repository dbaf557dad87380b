"""Bytes of any origin as numbered lines of clean text, in bounded memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.logs.blocks import blocks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONGEST = 8192
"""Characters of a line that are looked at; of a longer line the first and last half of this."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")

BLANKS = 32
UNBROKEN = 100
"""Blanks, and other characters of one kind, that are kept of a longer run: no pattern has to walk over thousands."""
_BLANKS = re.compile(rf"\s{{{BLANKS + 1},}}")
_RUNS = re.compile(rf"(.)\1{{{UNBROKEN},}}")


class Line(NamedTuple):
    """One line: its number in the input (from 1), its text, and what it is: log, command, config, comment or any."""

    number: int
    text: str
    place: str = "any"


def lines_of(chunks: Iterable[bytes]) -> Iterator[Line]:
    """Numbered lines of a stream of bytes: decoded, without colours, of a progress line only what stays on screen."""
    number = 0
    for block in blocks_of(chunks):
        for raw in block.split(b"\n"):
            number += 1
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
        text = text[: LONGEST // 2] + "…" + text[-LONGEST // 2 :]
    if len(text) > UNBROKEN:
        text = _without_long_runs(text)
    return text.rstrip()


def _without_long_runs(text: str) -> str:
    # The two expressions are slow, and hardly a line needs them: a run that is too long fills one of these stretches.
    if True in map(str.isspace, [text[at : at + BLANKS // 2] for at in range(0, len(text), BLANKS // 2)]):
        text = _BLANKS.sub(" " * BLANKS, text)
    half = UNBROKEN // 2
    if any(text.startswith(text[at] * half, at) for at in range(0, len(text), half)):
        text = _RUNS.sub(lambda run: run[0][:UNBROKEN], text)
    return text
