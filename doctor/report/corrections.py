"""Corrected launch commands: what is changed in them and why, and the line to copy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.report.rows import Row
from doctor.report.spoken import spoken
from doctor.report.words import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.engine.finding import Correction


def hint_row(words: str, lang: str) -> Row:
    """How doctor makes the edit itself."""
    return Row((("quiet", say("fix_hint", lang)), ("command", f"doctor fix {words}")), 6, copy=True)


def correction_rows(correction: Correction, lang: str, file: str = "") -> Iterator[Row]:
    """The lines of one: what is wrong in it, and the command to copy."""
    if correction.together and correction.command is not None:
        name = f" {correction.name}" if correction.name else ""
        yield Row((("head", say("together", lang) + name),))
        yield Row((("command", correction.command),), 4, copy=True)
        if file:
            yield hint_row(f"--launch {file}", lang)
        return
    if all(not words for _, words, _, _ in correction.changes) and correction.changes:
        yield Row((("head", correction.name),))  # no command of a build: a line to type, with remarks
        yield from (Row((("quiet", spoken(why, lang)),), 2) for _, _, _, why in correction.changes)
        if correction.command is not None:
            yield Row((("command", correction.command),), 4, copy=True)
        return
    build = f"b{correction.build}" if correction.build else say("newest_build", lang)
    name = f" {correction.name}" if correction.name else ""
    yield Row((("head", say("fixed_for", lang).format(build=build) + name),))
    if not correction.changes:
        yield Row((("", say("nothing_to_fix", lang)),), 2)
    for place, words, right, why in correction.changes:
        new = say("by_hand", lang) if right is None else say("left_out", lang) if right == "" else right
        where = f"{place}: " if place else ""
        yield Row((("quiet", where), ("", f"{words} → {new}"), ("quiet", f"  ({spoken(why, lang)})")), 2)
    if correction.command is not None:
        yield Row((("command", correction.command),), 4, copy=True)
