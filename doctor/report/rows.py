"""A line of output, whatever form it will take."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from doctor.report.bars import Bar


class Row(NamedTuple):
    """A line of output: pieces of (style, text), the indent, and whether it is to be copied and so never wrapped.

    `bar` is the bar that the line says in words, for a form that draws it. `hangs`: the first piece is a label, and what
    is wrapped goes on behind it.
    """

    pieces: tuple[tuple[str, str], ...]
    indent: int = 0
    copy: bool = False
    bar: Bar | None = None
    hangs: bool = False
