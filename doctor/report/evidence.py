"""What a finding rests on, as lines for people: a line that is there many times once, and no line told twice."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from doctor.report.fact_words import evidence_words, telling
from doctor.report.rows import Row
from doctor.report.words import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.engine.finding import Evidence, Finding

MOST_ALIKE = 2
"""Lines in a row that differ in numbers alone and are all shown; of more, the first is."""


def evidence_rows(evidence: tuple[Evidence, ...], lang: str, *, short: bool, verbose: bool) -> Iterator[Row]:
    """The lines of a finding's evidence. `short`: all are of one text that the user named, and its folder tells nothing."""
    shown = telling(evidence)
    if shown:
        yield Row((("head", say("evidence", lang)),), 2)
    for _, group in groupby(shown, key=_shape):
        items = list(group)
        kept = items if verbose or len(items) <= MOST_ALIKE else items[:1]
        for item in kept:
            where = f"{_place(item, short)}: " if item.line is not None else ""
            yield Row((("quiet", where), ("", evidence_words(item, lang))), 4)
        if len(kept) < len(items):
            words = say("more_alike", lang).format(count=len(items) - 1, line=items[-1].line)
            yield Row((("quiet", words),), 4)


def consequence_rows(finding: Finding, lang: str, *, short: bool, verbose: bool) -> Iterator[Row]:
    """What follows from a finding; lines that it rests on itself are not told again."""
    if finding.explains:
        yield Row((("head", say("follows", lang)),), 2)
    told = {(item.source, item.line, item.text) for item in finding.evidence}
    for child in finding.explains:
        yield Row((("", child.title), ("quiet", f"  ({child.rule})")), 4)
        new = [item for item in telling(child.evidence) if (item.source, item.line, item.text) not in told]
        for item in new[: 3 if verbose else 1]:
            words = evidence_words(item, lang)
            yield Row((("quiet", f"{_place(item, short)}: {words}" if item.line else words),), 6)
            told.add((item.source, item.line, item.text))


def _shape(item: Evidence) -> tuple[bool, str]:
    """What lines have in common that differ in numbers alone; a fact is like no other."""
    return (item.line is not None, re.sub(r"\d+", "0", item.text) if item.line is not None else item.text)


def _place(item: Evidence, short: bool) -> str:
    source = re.split(r"[/\\]", item.source)[-1] if short else item.source
    return f"{source}:{item.line}"
