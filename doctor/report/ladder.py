"""The rungs of a climb as lines: a mark, the rung, what was seen. Nothing above the first failed rung shows green."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from doctor.report.rungs import DETAILS, NAMES
from doctor.report.text import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

_STYLES = {"passed": "ok", "warned": "warning", "failed": "error", "not-tried": "quiet"}
_MARKS = {"passed": "✓", "warned": "!", "failed": "✗", "not-tried": "–"}
_PLAIN_MARKS = {"passed": "+", "warned": "!", "failed": "x", "not-tried": "-"}
WIDTH = 10


def ladder_rows(ladders: Any, *, lang: str, unicode: bool) -> Iterator[Row]:
    """The lines of ladders given as plain data, already fit to be shown."""
    marks = _MARKS if unicode else _PLAIN_MARKS
    arrow = "→" if unicode else "->"
    for ladder in ladders if isinstance(ladders, list) else []:
        where = ladder["request_url"] or ladder["url"]
        yield Row((("title", f"{ladder['name']} {arrow} {where}"), ("quiet", f"  ({ladder['url_source']})")))
        for rung in ladder["rungs"]:
            style = _STYLES[rung["state"]]
            name = NAMES[lang][rung["name"]]
            said = detail(rung["detail"], lang)
            if not said and rung["state"] == "not-tried":
                said = NAMES[lang]["not-tried"]
            yield Row(((style, f"{marks[rung['state']]} {_padded(name)}"), (_tone(rung["state"]), f" {said}")), 2)
        yield Row(())


def _tone(state: str) -> str:
    return "quiet" if state == "not-tried" else ""


def _padded(name: str) -> str:
    """The name filled up to one width; a Chinese character takes two columns."""
    taken = sum(2 if ord(letter) > 0x2E7F else 1 for letter in name)
    return name + " " * max(0, WIDTH - taken)


def detail(text: str, lang: str) -> str:
    """What a rung says, in the language of the answer. What has no entry is shown as it is."""
    if lang == "zh":
        for pattern, words in DETAILS:
            found = re.fullmatch(pattern, text, re.DOTALL)
            if found:
                return found.expand(words)
    return text
