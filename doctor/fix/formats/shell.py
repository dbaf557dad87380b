"""Profiles of shells: the line that sets a variable, as sh, fish, csh or PowerShell write it."""

from __future__ import annotations

import re
from typing import Any

from doctor.facts.clients.env_file import PROFILE_LINE, unquoted
from doctor.fix.formats import FormatError, Path
from doctor.fix.formats.env import appended, quoted, with_value

MOST = 2_000
"""Characters of a line that is looked at."""


def read(text: str) -> Any:
    """What the lines set, by name; the last one counts."""
    return {name: unquoted(value) for _, name, value in _set_lines(text)}


def put(text: str, path: Path, value: Any) -> str:
    """The text with a variable set, in its last line or in a new one at the end."""
    (name,) = path
    lines = text.splitlines(keepends=True)
    places = [at for at, found, _ in _set_lines(text) if found == name]
    if not places:
        return appended(text, _new_line(text, name, str(value)))
    line = lines[places[-1]]
    found = PROFILE_LINE.match(line)
    if found is None:
        raise FormatError("its line cannot be read")
    ending = line[len(line.rstrip("\r\n")) :]
    lines[places[-1]] = line[: found.start("value")] + with_value(found["value"], str(value)) + ending
    return "".join(lines)


def take(text: str, path: Path) -> str:
    """The text without the lines that set a variable. Raises FormatError where one of them does more."""
    lines = text.splitlines(keepends=True)
    for at, name, value in reversed(_set_lines(text)):
        if name == path[0]:
            with_value(value, "x")  # a line that does more is left alone
            del lines[at]
    return "".join(lines)


def _set_lines(text: str) -> list[tuple[int, str, str]]:
    found = []
    for at, line in enumerate(text.splitlines()):
        match = PROFILE_LINE.match(line) if len(line) < MOST else None
        if match is not None:
            found.append((at, match["sh"] or match["fish"] or match["ps"] or match["csh"], match["value"]))
    return found


def _new_line(text: str, name: str, value: str) -> str:
    """A line in the language of the others."""
    if re.search(r"^[ \t]*\$env:", text, re.MULTILINE | re.IGNORECASE):
        return f"$env:{name} = {quoted(value, chr(39))}"
    if re.search(r"^[ \t]*set[ \t]+-\w*x", text, re.MULTILINE):
        return f"set -gx {name} {quoted(value)}"
    return f"export {name}={quoted(value)}"
