"""Settings files of clients that are JSON: the data, the line every key stands on, and one line on what is wrong."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

# A string (with the colon that makes it a key) or a bracket. The text is known to be JSON: no string is left half-way.
_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]')


class JsonFile(NamedTuple):
    """A JSON file as far as it could be read. `data` is {} when there is none, `problem` "" when nothing is wrong."""

    path: str
    found: bool
    data: dict[str, Any]
    problem: str
    text: str

    def line(self, *keys: str) -> int | None:
        """The line (from 1) on which this key stands, None where it cannot be told."""
        return key_line(self.text, keys)


def read_json(outside: Outside, path: str, limit: int = 4 << 20) -> JsonFile:
    """A JSON file whose top is an object. Never raises."""
    try:
        text = outside.read_text(path, limit)
    except OutsideError as error:
        missing = error.kind == "missing"
        return JsonFile(path, not missing, {}, "" if missing else str(error), "")
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        return JsonFile(path, True, {}, f"{path}:{error.lineno}: not valid JSON ({error.msg})", "")
    except (ValueError, RecursionError) as error:
        return JsonFile(path, True, {}, f"{path}: not usable as JSON ({type(error).__name__})", "")
    if not isinstance(data, dict):
        return JsonFile(path, True, {}, f"{path}:1: the file is no JSON object {{…}}", "")
    return JsonFile(path, True, data, "", text)


def key_line(text: str, keys: tuple[str, ...]) -> int | None:
    """The line of the last key with this path of keys in a JSON text, the one a reader of JSON goes by."""
    path: list[str] = []
    found = None
    for token in _TOKEN.finditer(text):
        symbol = token.group()
        if symbol in "{[":
            path.append("")
        elif symbol in "}]":
            path.pop()
        elif token[2] and path:
            path[-1] = _plain(token[1])
            if len(path) == len(keys) and tuple(path) == keys:
                found = token.start()
    return None if found is None else text.count("\n", 0, found) + 1


def _plain(quoted: str) -> str:
    return str(json.loads(f'"{quoted}"', strict=False)) if "\\" in quoted else quoted
