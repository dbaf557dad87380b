"""What a llama-server says of its own options: `--help` read into spellings. It has the last word over every table."""

from __future__ import annotations

import re
from typing import NamedTuple

_ROW = re.compile(r"(-{1,2}[A-Za-z][\w.-]*(?:,\s+-{1,2}[A-Za-z][\w.-]*)*)(?: ([^\s].*?))?(?:\s{2,}(.*))?")
_OLD_ROW = re.compile(
    r"\s{1,4}(-{1,2}[A-Za-z][\w.-]*(?:,\s+-{1,2}[A-Za-z][\w.-]*)*)(?: ([A-Z<\[{][^\s]*))?(?:\s+(.*))?"
)
_VARIABLE = re.compile(r"\(env: ([A-Z0-9_]+)\)")
HELP_LIMIT = 400_000
ROWS_LIMIT = 8000
MEANT_AS_HELP = 40
"""Fewer options than this are no help of a server."""


class HelpOption(NamedTuple):
    """An option as the program lists it. `takes` is how many words follow, `removed` the words it is refused with."""

    names: tuple[str, ...]
    takes: int
    removed: str = ""


def read_help(text: str) -> dict[str, HelpOption] | None:
    """Spelling -> option; None when the text is not the help of a llama-server."""
    found: dict[str, HelpOption] = {}
    last: HelpOption | None = None
    for row in text[:HELP_LIMIT].splitlines()[:ROWS_LIMIT]:
        match = _ROW.fullmatch(row) or _OLD_ROW.fullmatch(row)
        if match is None:
            if last is not None and last.removed and row.startswith(" ") and "(env:" not in row:
                _put(found, last := last._replace(removed=f"{last.removed} {row.strip()}"))
            continue
        names = tuple(re.findall(r"-{1,2}[A-Za-z][\w.-]*", match[1]))
        hint, words = match[2] or "", match[3] or ""
        removed = words.strip() if "has been removed" in words else ""
        last = HelpOption(names, _takes(hint), removed)
        _put(found, last)
    return found if len(found) >= MEANT_AS_HELP else None


def _put(found: dict[str, HelpOption], option: HelpOption) -> None:
    for name in option.names:
        found[name] = option


def _takes(hint: str) -> int:
    """How many words an option takes, from what stands after its names: "N", "FNAME SCALE", "<0|1>", nothing."""
    if not hint:
        return 0
    return 2 if re.fullmatch(r"[A-Z_]+ [A-Z_]+", hint) and "=" not in hint else 1
