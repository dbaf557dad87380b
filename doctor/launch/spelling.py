"""How options are told from values, and an option from a value in the same word."""

from __future__ import annotations

import re

ALL_OF_THEM = ("$@", "$*", "%*", "@args")
"""The arguments of a script, handed on."""


def is_option(text: str) -> bool:
    """Whether a word is meant as an option: it starts with a dash (of any kind) and is no negative number."""
    return text[:1] in ("-", "\u2013", "\u2014", "\u2212") and not re.fullmatch(r"[-\u2013\u2212][\d.,:eE+-]*", text)


def joined(text: str) -> tuple[str, str, str]:
    """(option, what joins, value) of an option and its value in one word; ("…", "", "") for an option alone."""
    found = re.search(r"=|\s+", text)
    return (text[: found.start()], found.group(0), text[found.end() :]) if found else (text, "", "")
