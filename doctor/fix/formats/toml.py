"""TOML, line by line: what is changed is a value that fills the rest of its line, all else stays as it is."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from doctor.facts.clients.toml_file import LONG_TEXT, PAIR_LINE, TABLE_LINE, parse_toml, parts_of
from doctor.fix.formats import FormatError, Path, newline_of

_VALUE = re.compile(r"""[ \t]*(?P<value>"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s#\[\]{}"',]+)(?P<rest>[ \t]*(?:#.*)?)""")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class _Line(NamedTuple):
    """A line that is a table's head or a pair: its number from 0, its whole path; `value` is where a pair's value begins
    when it fills the rest of the line, None for a table and for a value of several lines."""

    number: int
    path: Path
    is_table: bool
    value: int | None


def read(text: str) -> Any:
    """The data. Raises FormatError."""
    data, problem = parse_toml(text)
    if problem:
        raise FormatError("it is not valid TOML")
    return data


def put(text: str, path: Path, value: Any) -> str:
    """The text with a value set: where it stands, else behind the last pair of its table, else in a new table."""
    lines = text.splitlines(keepends=True)
    found = list(_lines(lines))
    here = [line for line in found if line.path == path and not line.is_table]
    if here:
        return _replaced(lines, here[-1], value)
    pair = f"{_key(path[-1])} = {_written(value)}{newline_of(text)}"
    heads = [line for line in found if line.is_table and line.path == path[:-1]]
    if len(path) > 1 and not heads:
        head = f"[{'.'.join(map(_key, path[:-1]))}]{newline_of(text)}"
        gap = newline_of(text) if text and not text.endswith("\n") else ""
        return text + gap + (newline_of(text) if text.strip() else "") + head + pair
    first = heads[0].number + 1 if heads else 0
    end = next((line.number for line in found if line.is_table and line.number >= first), len(lines))
    pairs = [line.number for line in found if first <= line.number < end and line.value is not None]
    at = pairs[-1] + 1 if pairs else first
    if at and not lines[at - 1].endswith("\n"):
        lines[at - 1] += newline_of(text)
    return "".join((*lines[:at], pair, *lines[at:]))


def take(text: str, path: Path) -> str:
    """The text without the line of a pair."""
    lines = text.splitlines(keepends=True)
    here = [line for line in _lines(lines) if line.path == path and not line.is_table]
    if here and here[-1].value is None:
        raise FormatError("its value has several lines")
    return "".join(lines[: here[-1].number] + lines[here[-1].number + 1 :]) if here else text


def _lines(lines: list[str]) -> list[_Line]:
    found: list[_Line] = []
    table: Path = ()
    inside = False  # a text of several lines
    for number, line in enumerate(lines):
        marks = len(LONG_TEXT.findall(line))
        if inside:
            inside = marks % 2 == 0
            continue
        inside = marks % 2 == 1
        if head := TABLE_LINE.match(line):
            table = tuple(parts_of(head[1]))
            found.append(_Line(number, table, True, None))
        elif pair := PAIR_LINE.match(line):
            whole = _VALUE.fullmatch(line.rstrip("\r\n"), pair.end())
            place = whole.start("value") if whole and not inside else None
            found.append(_Line(number, (*table, *parts_of(pair[1])), False, place))
    return found


def _replaced(lines: list[str], line: _Line, value: Any) -> str:
    if line.value is None:
        raise FormatError("its value does not stand on one line")
    text = lines[line.number]
    old = _VALUE.match(text, line.value)
    assert old is not None
    changed = text[: line.value] + _written(value) + text[old.end("value") :]
    return "".join((*lines[: line.number], changed, *lines[line.number + 1 :]))


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _written(value: Any) -> str:
    if isinstance(value, dict):
        raise FormatError("only single values are written into TOML")
    return json.dumps(value, ensure_ascii=False)
