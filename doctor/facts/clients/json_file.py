"""Settings files that are JSON, strict or with comments and trailing commas (JSONC)."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from doctor.facts.clients.data_file import LIMIT, DataFile, Key, Parsed, read

if TYPE_CHECKING:
    from doctor.outside import Outside

# A string (with the colon that makes it a key), a bracket or a comma. The text is known to be JSON: no string is left
# half-way.
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\],]')
# What is left open runs to the end: no text makes these look twice at the same place.
_STRING = r'"(?:[^"\\\n]|\\.)*\\?"?'
_STRING_OR_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_STRING_OR_COMMA = re.compile(_STRING + r"|,(?=\s*[}\]])")
_NOT_NEWLINE = re.compile(r"[^\n]")


def read_json(outside: Outside, path: str, limit: int = LIMIT, *, comments: bool = False) -> DataFile:
    """A JSON file whose top is an object. `comments`: the client allows comments and trailing commas in it."""
    if comments:
        return read(outside, path, lambda text: parse_json(without_comments(text)), _commented_line, limit)
    return read(outside, path, parse_json, key_line, limit)


def parse_json(text: str) -> Parsed:
    """(data, problem) of a JSON text."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        return {}, f":{error.lineno}: not valid JSON ({error.msg})"
    except (ValueError, RecursionError) as error:
        return {}, f": not usable as JSON ({type(error).__name__})"
    if not isinstance(data, dict):
        return {}, ":1: the file is no JSON object {…}"
    return data, ""


def without_comments(text: str) -> str:
    """JSONC as JSON: blanks in place of comments and trailing commas, so that every line stays where it is."""

    def blank(found: re.Match[str]) -> str:
        return found.group() if found.group()[0] == '"' else _NOT_NEWLINE.sub(" ", found.group())

    return _STRING_OR_COMMA.sub(blank, _STRING_OR_COMMENT.sub(blank, text))


def key_line(text: str, keys: tuple[Key, ...]) -> int | None:
    """The line of the last key with this path of keys in a JSON text, the one a reader of JSON goes by."""
    path: list[Key] = []
    found = None
    for token in _TOKEN.finditer(text):
        symbol = token.group()
        if symbol == "{":
            path.append("")
        elif symbol == "[":
            path.append(0)
        elif symbol in "}]":
            path.pop()
        elif symbol == ",":
            if path and isinstance(path[-1], int):
                path[-1] += 1
        elif token[2] and path:
            path[-1] = _plain(token[1])
            if len(path) == len(keys) and tuple(path) == keys:
                found = token.start()
    return None if found is None else text.count("\n", 0, found) + 1


def _commented_line(text: str, keys: tuple[Key, ...]) -> int | None:
    return key_line(without_comments(text), keys)


def _plain(quoted: str) -> str:
    return str(json.loads(f'"{quoted}"', strict=False)) if "\\" in quoted else quoted
