""".env files: the line of a variable, its quotes and the remark behind it."""

from __future__ import annotations

import re
from typing import Any

from doctor.facts.clients.env_file import parse_env
from doctor.fix.formats import FormatError, Path, newline_of

_ASSIGNED = re.compile(r"(?P<head>\s*(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*=[ \t]*)(?P<value>.*)")
_SIMPLE = re.compile(r"(?P<value>\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s\"']*)(?P<rest>[ \t]*(?:\s#.*)?)")
_SAFE = re.compile(r"[\w./:@%+,=~-]*", re.ASCII)


def read(text: str) -> Any:
    """What the lines set, by name."""
    return parse_env(text)[0]


def put(text: str, path: Path, value: Any) -> str:
    """The text with a variable set, in its last line or in a new one at the end."""
    (name,) = path
    lines = text.splitlines(keepends=True)
    places = [at for at, line in enumerate(lines) if (found := _ASSIGNED.match(line)) and found["name"] == name]
    if not places:
        return appended(text, f"{name}={quoted(str(value))}")
    at = places[-1]
    found = _ASSIGNED.match(lines[at])
    assert found is not None
    lines[at] = lines[at][: found.start("value")] + with_value(found["value"], str(value)) + _ending(lines[at])
    return "".join(lines)


def take(text: str, path: Path) -> str:
    """The text without the lines that set a variable."""
    lines = text.splitlines(keepends=True)
    kept = [line for line in lines if not ((found := _ASSIGNED.match(line)) and found["name"] == path[0])]
    return "".join(kept)


def appended(text: str, line: str) -> str:
    """The text with one more line."""
    newline = newline_of(text)
    return text + ("" if not text or text.endswith("\n") else newline) + line + newline


def with_value(written: str, value: str) -> str:
    """What stands behind the `=` with another value, in the same quotes, the remark kept. Raises FormatError."""
    found = _SIMPLE.fullmatch(written.rstrip("\r\n"))
    if found is None:
        raise FormatError("its line holds more than a plain value")
    mark = found["value"][:1] if found["value"][:1] in ("'", '"') else ""
    return quoted(value, mark) + found["rest"]


def quoted(value: str, mark: str = "") -> str:
    """A value in the quotes it had, or in single ones where it needs some."""
    if "\n" in value or "\r" in value:
        raise FormatError("a value with a line break is not written")
    mark = mark or ("" if _SAFE.fullmatch(value) else "'")
    if mark and (mark in value or (mark == '"' and re.search(r"[\\$`]", value))):
        mark = "'" if "'" not in value else ""
        if not mark:
            raise FormatError("a value with both kinds of quotes is not written")
    return f"{mark}{value}{mark}"


def _ending(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]
