"""The steps of a way as lines: a mark, the step, what was seen. Nothing behind the first failed step shows green."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from doctor.report.rows import Row
from doctor.report.rungs import NAMES
from doctor.report.spoken import spoken
from doctor.report.subjects import padded
from doctor.report.text import MARKS as ALL_MARKS
from doctor.report.text import PLAIN_MARKS as ALL_PLAIN_MARKS
from doctor.report.words import say

if TYPE_CHECKING:
    from collections.abc import Iterator

STATES = {"passed": "ok", "warned": "warning", "failed": "error", "not-tried": "unknown"}
_STYLES = {"passed": "ok", "warned": "warning", "failed": "error", "not-tried": "quiet"}
WIDTH = 10


def ladder_rows(ladders: Any, *, lang: str, unicode: bool) -> Iterator[Row]:
    """The lines of ladders given as plain data, already fit to be shown."""
    marks = ALL_MARKS if unicode else ALL_PLAIN_MARKS
    arrow = "→" if unicode else "->"
    for ladder in ladders if isinstance(ladders, list) else []:
        where = ladder["request_url"] or ladder["url"]
        name, source = spoken(ladder["name"], lang), spoken(ladder["url_source"], lang)
        yield Row((("title", f"{name} {arrow} {where}"), ("quiet", f"  ({source})")))
        for name, state, said in _steps(ladder, lang):
            mark = marks[STATES[state]]
            yield Row(((_STYLES[state], f"{mark} {padded(name, WIDTH)}"), (_tone(state), f" {said}")), 2, hangs=True)
        yield from _bases(ladder, lang)
        yield Row(())


def _steps(ladder: dict[str, Any], lang: str) -> Iterator[tuple[str, str, str]]:
    """(name, state, what was seen) of each step; those in a row that were not tried for one reason are one line."""

    def alike(rung: dict[str, str]) -> str:
        return f"- {rung['detail']}" if rung["state"] == "not-tried" else rung["name"]

    for _, group in groupby(ladder["rungs"], key=alike):
        rungs = list(group)
        state, said = rungs[0]["state"], spoken(rungs[0]["detail"], lang)
        if state != "not-tried" or (len(rungs) == 1 and said):
            yield NAMES[lang][rungs[0]["name"]], state, said
            continue
        names = ", " if lang == "en" else "、"
        words = names.join(NAMES[lang][rung["name"]] for rung in rungs)
        broken = ladder["failed"]
        because = said or (say("since", lang).format(rung=NAMES[lang][broken]) if isinstance(broken, str) else "")
        yield say("not_tried", lang), state, words + (say("because", lang).format(why=because) if because else "")


def _bases(ladder: dict[str, Any], lang: str) -> Iterator[Row]:
    """What to write as base URL for each kind of client, of an address that was given without a client."""
    for kind in ("openai", "anthropic"):
        base = ladder.get(f"{kind}_base")
        if isinstance(base, str):
            yield Row((("quiet", say(f"{kind}_base", lang)), ("command", base)), 2, copy=True)


def _tone(state: str) -> str:
    return "quiet" if state == "not-tried" else ""
