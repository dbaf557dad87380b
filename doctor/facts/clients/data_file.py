"""A settings file of a client: its data, the line every key stands on, and one line on what is wrong.

The formats (JSON with or without comments, TOML, YAML, .env) are read in `json_file`, `toml_file`, `yaml_file` and
`env_file`. None of them ever raises, and no problem quotes the file: it may hold keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

Key = str | int
"""A key of an object, or a place in a list (from 0)."""
LIMIT = 1 << 20
"""Bytes of a settings file. Those of clients have a few kB."""


class DataFile(NamedTuple):
    """A settings file as far as it could be read. `data` is {} when there is none, `problem` "" when nothing is wrong.

    `find_line(text, keys)` finds the line of a key in this format.
    """

    path: str
    found: bool
    data: dict[str, Any]
    problem: str
    text: str
    find_line: Callable[[str, tuple[Key, ...]], int | None]

    def line(self, *keys: Key) -> int | None:
        """The line (from 1) on which this key stands, None where it cannot be told."""
        return self.find_line(self.text, keys)

    def get(self, *keys: Key) -> Any:
        """The value under a path of keys, None where there is none."""
        value: Any = self.data
        for key in keys:
            if isinstance(value, dict) and isinstance(key, str):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
                value = value[key]
            else:
                return None
        return value

    def items(self, *keys: Key) -> list[tuple[Key, dict[str, Any]]]:
        """The objects under a path that is an object or a list of them, each with its key or its place."""
        value = self.get(*keys)
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [(key, item) for key, item in pairs if isinstance(item, dict)]


Parsed = tuple[dict[str, Any], str]
"""What a parser of one format answers: (data, "") or ({}, what is wrong, beginning with ":LINE: " or ": ")."""


def read(
    outside: Outside,
    path: str,
    parse: Callable[[str], Parsed],
    find_line: Callable[[str, tuple[Key, ...]], int | None],
    limit: int = LIMIT,
) -> DataFile:
    """A file read with the parser of its format. Never raises."""
    try:
        text = outside.read_text(path, limit)
    except OutsideError as error:
        missing = error.kind == "missing"
        return DataFile(path, not missing, {}, "" if missing else str(error), "", find_line)
    data, problem = parse(text)
    if problem:
        return DataFile(path, True, {}, f"{path}{problem}", "", find_line)
    return DataFile(path, True, data, "", text, find_line)
