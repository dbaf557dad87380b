"""Changing one value of a settings file so that all else stays byte for byte: JSON with comments, TOML, YAML, .env, shell.

A format is a module with `read(text) -> data`, `put(text, path, value) -> text` and `take(text, path) -> text`. They
raise FormatError for what they cannot change safely; `changed` holds the result against the data it should have.
"""

from __future__ import annotations

import copy
import posixpath
from typing import Any

Path = tuple[str, ...]
"""Keys from the top of a file; a place in a list is its number as text."""
PROFILE_NAMES = (".profile", ".bash_profile", ".bash_login", ".bashrc", ".zshenv", ".zprofile", ".zshrc")
ENDINGS = {
    ".json": "jsonc",
    ".jsonc": "jsonc",
    ".toml": "toml",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".env": "env",
    ".fish": "shell",
    ".ps1": "shell",
}


class FormatError(ValueError):
    """Why a file cannot be changed; one line that quotes nothing of the file."""


def format_of(file: str) -> str | None:
    """The module that changes files of this name, None where there is none."""
    name = posixpath.basename(file.replace("\\", "/"))
    if name in PROFILE_NAMES:
        return "shell"
    return next((module for ending, module in ENDINGS.items() if name.endswith(ending)), None)


def read(module: str, text: str) -> Any:
    """The data of a text. Raises FormatError."""
    return _module(module).read(text)


def changed(module: str, text: str, path: Path, value: Any, *, remove: bool = False) -> str:
    """The text with one value set or taken out. Raises FormatError unless exactly that has changed."""
    editor = _module(module)
    body = text.removeprefix("\ufeff")
    before = editor.read(body)
    after = editor.take(body, path) if remove else editor.put(body, path, value)
    if editor.read(after) != _expected(before, path, value, remove):
        raise FormatError("it cannot be changed without changing something else too")
    return text[: len(text) - len(body)] + str(after)


def lookup(data: Any, path: Path) -> Any:
    """The value under a path, None where there is none."""
    for key in path:
        if isinstance(data, dict):
            data = data.get(key)
        elif isinstance(data, list) and key.isdecimal() and int(key) < len(data):
            data = data[int(key)]
        else:
            return None
    return data


def _expected(data: Any, path: Path, value: Any, remove: bool) -> Any:
    whole = copy.deepcopy(data)
    place = whole
    for key in path[:-1]:
        if isinstance(place, dict):
            place = place.setdefault(key, {})
        elif isinstance(place, list) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        else:
            raise FormatError(f"{key} is not where it should be")
    last: Any = int(path[-1]) if isinstance(place, list) and path[-1].isdecimal() else path[-1]
    if not isinstance(place, dict) and not (isinstance(place, list) and isinstance(last, int) and last < len(place)):
        raise FormatError(f"{path[-1]} is not where it should be")
    if not remove:
        place[last] = value
    elif isinstance(place, list) or last in place:
        del place[last]
    return whole


def newline_of(text: str) -> str:
    """How the lines of a text end."""
    return "\r\n" if "\r\n" in text else "\n"


def nested(path: Path, value: Any) -> Any:
    """The value inside objects, one for each key of the path."""
    for key in reversed(path):
        value = {key: value}
    return value


def _module(name: str) -> Any:
    from doctor.fix.formats import env, jsonc, shell, toml, yaml

    return {"env": env, "jsonc": jsonc, "shell": shell, "toml": toml, "yaml": yaml}[name]
