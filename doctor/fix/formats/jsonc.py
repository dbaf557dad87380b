"""JSON, with comments and trailing commas or without: only the value itself is written anew."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from doctor.facts.clients.json_file import parse_json, without_comments
from doctor.fix.formats import FormatError, Path, nested, newline_of

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/|[{}\[\]:,]|[^\s{}\[\]:,"/]+', re.DOTALL)
_REST_OF_LINE = re.compile(r"(?:[ \t]|/\*[^\r\n]*?\*/)*(?://[^\r\n]*)?")
_BLANK = re.compile(r"[ \t]*")


class _Member(NamedTuple):
    """A value in an object or a list: where it starts (with its key), where the value lies, its comma if it has one."""

    name: str
    start: int
    value: int
    end: int
    comma: int | None


class _Block(NamedTuple):
    """An object or a list: its brackets and what is in it. `inside` is the end of the last thing in it, comments too."""

    start: int
    end: int
    members: list[_Member]
    inside: int


def read(text: str) -> Any:
    """The data. Raises FormatError."""
    data, problem = parse_json(without_comments(text))
    if problem:
        raise FormatError(f"it is not valid JSON{problem if problem.startswith(':1') else ''}")
    return data


def put(text: str, path: Path, value: Any) -> str:
    """The text with a value set; what is missing on the way is made."""
    at = _first(text)
    for depth, key in enumerate(path):
        block = _block(text, at)
        member = _named(block, key)
        if member is None:
            if text[at] != "{":
                raise FormatError(f"{key} is no place in this list")
            return _add(text, block, key, nested(path[depth + 1 :], value))
        if depth == len(path) - 1:
            return text[: member.value] + _dump(text, value, _indent(text, member.start)) + text[member.end :]
        at = member.value
        if text[at] not in "{[":
            raise FormatError(f"{key} is no object")
    return text


def take(text: str, path: Path) -> str:
    """The text without a value, its key and its comma."""
    at = _first(text)
    for depth, key in enumerate(path):
        block = _block(text, at)
        member = _named(block, key)
        if member is None:
            return text
        if depth == len(path) - 1:
            shorter = _cut(text, block, block.members.index(member))
            again = text[at] == "{" and sum(other.name == key for other in block.members) > 1
            return take(shorter, path) if again else shorter
        at = member.value
        if text[at] not in "{[":
            return text
    return text


def _first(text: str) -> int:
    """Where the object begins."""
    for token in _TOKEN.finditer(text):
        if not token.group().startswith(("//", "/*")):
            if token.group() == "{":
                return token.start()
            break
    raise FormatError("it is no JSON object")


def _block(text: str, at: int) -> _Block:
    """The object or list whose bracket stands at `at`."""
    members: list[_Member] = []
    depth, number = 0, 0
    start = value = -1
    name, inside, end = "", at + 1, at + 1
    for token in _TOKEN.finditer(text, at):
        symbol = token.group()
        closes = symbol in "}]"
        if symbol in "{[" or closes:
            depth += -1 if closes else 1
            if depth == 0:
                if value >= 0:
                    members.append(_Member(name, start, value, end, None))
                return _Block(at, token.start(), members, inside)
        if depth == 1 and token.start() > at and not symbol.startswith(("//", "/*")):
            if symbol == ",":
                members.append(_Member(name, start, value, end, token.start()))
                start = value = -1
                number += 1
            elif symbol == ":":
                name, value = json.loads(text[start:end], strict=False), -1
            elif start < 0:
                start, name, value = token.start(), str(number), token.start()
            elif value < 0:
                value = token.start()
        elif depth == 2 and symbol in "{[":
            start = token.start() if start < 0 else start
            name = str(number) if start == token.start() else name
            value = token.start() if value < 0 else value
        inside = token.end() if token.start() > at else inside
        end = token.end() if not symbol.startswith(("//", "/*")) and symbol != "," else end
    raise FormatError("a bracket is not closed")


def _named(block: _Block, key: str) -> _Member | None:
    """The last member of that name: the one a reader of JSON goes by."""
    return next((member for member in reversed(block.members) if member.name == key), None)


def _add(text: str, block: _Block, key: str, value: Any) -> str:
    """The text with one more member at the end of an object."""
    newline = newline_of(text)
    last = block.members[-1] if block.members else None
    if last is not None:
        many_lines = _alone(text, last.start)
    else:
        many_lines = "\n" in text[block.start : block.end] or _opens_a_line(text, block.start)
    indent = _indent(text, last.start if last else block.start) + ("" if last else _unit(text))
    entry = f"{json.dumps(key, ensure_ascii=False)}: {_dump(text, value, indent, many_lines)}"
    if last is None:
        if not many_lines:
            return f"{text[: block.inside]}{entry}{text[block.inside :]}"
        rest = text[block.inside : block.end]
        close = "" if "\n" in rest else newline + _indent(text, block.start)
        return text[: block.inside] + newline + indent + entry + close + text[block.inside :]
    here = last.end if last.comma is None else last.comma + 1
    trailing = "" if last.comma is None else ","
    if not many_lines:
        return text[: last.end] + ("," + " " + entry if not trailing else f", {entry}") + text[last.end :]
    rest_of_line = _REST_OF_LINE.match(text, here, block.end)
    line_end = rest_of_line.end() if rest_of_line else here
    stop = len(text[:line_end].rstrip(" \t")) if line_end == block.end else line_end
    head = text[: last.end] + ("," if not trailing else "") + text[last.end : max(stop, here)]
    return head + newline + indent + entry + trailing + text[max(stop, here) :]


def _cut(text: str, block: _Block, place: int) -> str:
    """The text without one member."""
    member = block.members[place]
    before = block.members[place - 1] if place else None
    end = member.end if member.comma is None else member.comma + 1
    rest = _REST_OF_LINE.match(text, end)
    line_end = rest.end() if rest else end
    if _alone(text, member.start) and text[line_end : line_end + 1] in ("\r", "\n"):
        start = text.rfind("\n", 0, member.start) + 1
        stop = text.index("\n", line_end) + 1
    elif member.comma is not None:
        blank = _BLANK.match(text, end)
        start, stop = member.start, blank.end() if blank else end
    else:
        start, stop = (before.comma if before and before.comma is not None else member.start), member.end
    if member.comma is None and before is not None and before.comma is not None and start > before.comma:
        return text[: before.comma] + text[before.comma + 1 : start] + text[stop:]
    return text[:start] + text[stop:]


def _alone(text: str, at: int) -> bool:
    """Whether only blanks stand before this place in its line."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return "\n" in text[:at] and not line.strip()


def _opens_a_line(text: str, at: int) -> bool:
    """Whether the bracket at this place is the first thing of its line, but for the key it belongs to."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return "\n" in text and re.fullmatch(r"\s*(?:\"(?:[^\"\\]|\\.)*\"\s*:\s*)?", line) is not None


def _indent(text: str, at: int) -> str:
    """The blanks at the start of the line of a place."""
    blank = _BLANK.match(text, text.rfind("\n", 0, at) + 1)
    return blank.group() if blank and blank.end() <= at else ""


def _unit(text: str) -> str:
    """One step of indentation, as the first indented line has it."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _dump(text: str, value: Any, indent: str, many_lines: bool = True) -> str:
    if not isinstance(value, dict) or not value or not many_lines:
        return json.dumps(value, ensure_ascii=False)
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return (newline_of(text) + indent).join(lines)
