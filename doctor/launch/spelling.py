"""How options are told from values, an option from a value in the same word, and which values are keys."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doctor.secrets import Vault

_SECRET_NAME = re.compile(r"(?:^|[-_])(?:api[-_]?key|apikey|auth[-_]?key|key|token|secret|password)$", re.IGNORECASE)

ALL_OF_THEM = ("$@", "$*", "%*", "@args")
"""The arguments of a script, handed on."""
JOINED = {
    "equals": "llama-server takes no --option=value: put a space between them",
    "joined": "option and value are one word here: they must be two (two items of a list, or no quotes around both)",
}
"""What is wrong with an option and its value in one word, by kind of problem."""


def is_option(text: str) -> bool:
    """Whether a word is meant as an option: it starts with a dash (of any kind) and is no negative number."""
    return text[:1] in ("-", "\u2013", "\u2014", "\u2212") and not re.fullmatch(r"[-\u2013\u2212][\d.,:eE+-]*", text)


def joined(text: str) -> tuple[str, str, str]:
    """(option, what joins, value) of an option and its value in one word; ("…", "", "") for an option alone."""
    found = re.search(r"=|\s+", text)
    return (text[: found.start()], found.group(0), text[found.end() :]) if found else (text, "", "")


def apart(text: str) -> list[str]:
    """The words of a text that holds several options and was given as one word; none for any other."""
    if not re.match(r"--?[A-Za-z][\w-]*\s", text) or len(text) > 20_000:
        return []
    try:
        parts = shlex.split(text)
    except ValueError:
        return []
    return parts if any(re.fullmatch(r"--?[A-Za-z][\w-]*", part) for part in parts[1:]) else []


def pairs(parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word with the one in front of it, "" for the first."""
    return zip(("", *parts), parts, strict=False)


def is_secret(name: str) -> bool:
    """Whether an option or a variable of this name holds a key."""
    return _SECRET_NAME.search(name.strip("-")) is not None


def hide(vault: Vault, value: str) -> str:
    """A key (or a comma list of keys) as tokens; a variable that a shell fills in stays as it is."""
    if re.fullmatch(r"\$\{?\w+\}?|%\w+%|<[^<>]*>|\$env:\w+", value):
        return value
    return ",".join(vault.put(part) for part in value.split(","))
