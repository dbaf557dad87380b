"""Lines made for a terminal as HTML: the rungs of a climb, a plan. A line that stands for a bar becomes a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.report.html.figures import memory_bar
from doctor.report.html.markup import Markup, code, element, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doctor.report.rows import Row

_CLASSES = {"title": "t", "head": "h", "command": "mono"}


def html_rows(rows: Iterable[Row], lang: str) -> Iterator[Markup]:
    """The lines in one block; nothing where there are none."""
    made: list[Markup] = []
    copied: list[str] = []
    for row in rows:
        if row.copy:
            copied.append("".join(text for _, text in row.pieces))
            continue
        made += _command(copied)
        copied = []
        made.append(memory_bar(row.bar, lang) if row.bar is not None else _line(row))
    made += _command(copied)
    while made and made[-1] == _GAP:
        made.pop()
    if made:
        yield element("div", *made, class_="rows")


_GAP = element("div", class_="gap")


def _command(lines: list[str]) -> list[Markup]:
    return [element("pre", code("\n".join(lines)))] if lines else []


def _line(row: Row) -> Markup:
    if not row.pieces:
        return _GAP
    style = f"margin-left:{row.indent / 2:g}em" if row.indent else None
    padded = row.pieces[0][1] != row.pieces[0][1].rstrip()
    if padded and len(row.pieces) == 2 and row.indent:  # two columns, filled up with spaces
        return element("div", *(_piece(kind, text.strip()) for kind, text in row.pieces), class_="cells", style=style)
    if len(row.pieces) == 1:
        kind, text = row.pieces[0]
        return element("div", words(text), class_=_CLASSES.get(kind, kind) or None, style=style)
    pieces = [_piece(kind, text) if kind or "  " in text.strip() else words(text) for kind, text in row.pieces]
    return element("div", *pieces, style=style)


def _piece(kind: str, text: str) -> Markup:
    """A piece in its style; one that is aligned with spaces in letters of one width."""
    classes = [_CLASSES.get(kind, kind), "mono" if "  " in text.strip() else ""]
    return element("span", words(text), class_=" ".join(filter(None, classes)) or None)
