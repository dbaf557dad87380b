"""Settings files that are TOML (Codex)."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

from doctor.facts.clients.data_file import DataFile, Key, Parsed, read

if TYPE_CHECKING:
    from doctor.outside import Outside

LIMIT = 256 << 10
_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_DOTTED = rf"{_PART}(?:\s*\.\s*{_PART})*"
TABLE_LINE = re.compile(rf"\s*\[\s*({_DOTTED})\s*\]")
PAIR_LINE = re.compile(rf"\s*({_DOTTED})\s*=")
_NAME = re.compile(_PART)
_AT_LINE = re.compile(r"\bline (\d{1,7})\b")
_DEEP = re.compile(
    r"(?<![\w-])(?:[\w-]+\s*\.\s*){32}", re.ASCII
)  # the parser takes quadratic time for a key of many parts
LONG_TEXT = re.compile("\"\"\"|'''")


def read_toml(outside: Outside, path: str, limit: int = LIMIT) -> DataFile:
    """A TOML file."""
    return read(outside, path, parse_toml, toml_line, limit)


def parse_toml(text: str) -> Parsed:
    """(data, problem) of a TOML text."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:  # pragma: no cover
        import tomli as tomllib
    if _DEEP.search(text):
        return {}, ": not usable as TOML (a key of more than 30 parts)"
    try:
        return tomllib.loads(text), ""
    except tomllib.TOMLDecodeError as error:
        place = _AT_LINE.search(str(error))
        return {}, f":{place[1] if place else text.count(chr(10)) + 1}: not valid TOML"
    except (ValueError, RecursionError) as error:
        return {}, f": not usable as TOML ({type(error).__name__})"


def toml_line(text: str, keys: tuple[Key, ...]) -> int | None:
    """The line of a key: of its own `name = …`, else of the nearest pair or table that holds it."""
    best: tuple[int, int] | None = None
    table: list[str] = []
    inside = False  # a text of several lines
    for number, line in enumerate(text.splitlines(), 1):
        marks = len(LONG_TEXT.findall(line))
        if inside:
            inside = marks % 2 == 0
            continue
        inside = marks % 2 == 1
        if found := TABLE_LINE.match(line):
            table = parts_of(found[1])
            path = table
        elif found := PAIR_LINE.match(line):
            path = table + parts_of(found[1])
        else:
            continue
        if path == list(keys[: len(path)]) and (best is None or len(path) > best[0]):
            best = len(path), number
    return best[1] if best else None


def parts_of(dotted: str) -> list[str]:
    """The keys of a dotted key."""
    return [_bare(part) for part in _NAME.findall(dotted)]


def _bare(part: str) -> str:
    if part[0] == "'":
        return part[1:-1]
    if part[0] == '"':
        try:
            return str(json.loads(part))
        except ValueError:
            return part[1:-1]
    return part
