r"""Repeats in a regular expression that meet and can take the same characters, such as `\s*,?\s*` or `\d+\.?\d*`.

Where such a pair fails to match, every way to share the characters out between the two is tried: for two open repeats that
is the square of their number, for three the cube.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_SAMPLE = frozenset([chr(code) for code in range(128)] + ["é", "ſ", "中", "٣", "\u3000", "…"])
"""Characters that stand for all: sets of characters are compared by which of these they hold."""
_NONE: frozenset[str] = frozenset()
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_NOT_DIGIT": r"\D",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
    "CATEGORY_NOT_WORD": r"\W",
}


class _Repeat(NamedTuple):
    """What one round of a repeat can begin and end with."""

    first: frozenset[str]
    last: frozenset[str]


class _Part(NamedTuple):
    """A piece of a pattern: what it can begin and end with, whether it can be empty, and the repeats at its two ends."""

    first: frozenset[str] = _NONE
    last: frozenset[str] = _NONE
    empty: bool = True
    opening: tuple[_Repeat, ...] = ()
    closing: tuple[_Repeat, ...] = ()
    meets: bool = False


def meeting_repeats(tree: Any) -> bool:
    """Whether two repeats of a parsed pattern can stand side by side and share out the same characters in several ways."""
    return _sequence(tree).meets


def _sequence(tree: Any) -> _Part:
    whole = _Part()
    for op, argument in tree:
        whole = _joined(whole, _part(str(op), argument))
    return whole


def _joined(left: _Part, right: _Part) -> _Part:
    return _Part(
        first=left.first | right.first if left.empty else left.first,
        last=right.last | left.last if right.empty else right.last,
        empty=left.empty and right.empty,
        opening=left.opening + right.opening if left.empty else left.opening,
        closing=right.closing + left.closing if right.empty else right.closing,
        meets=left.meets or right.meets or _overlap(left.closing, right.opening),
    )


def _overlap(before: tuple[_Repeat, ...], after: tuple[_Repeat, ...]) -> bool:
    return any(one.first & other.first and one.last & other.last for one in before for other in after)


def _part(name: str, argument: Any) -> _Part:
    if name in REPEATS:
        return _repeated(*argument)
    if name == "SUBPATTERN":
        return _sequence(argument[3])
    if name == "ATOMIC_GROUP":
        return _sequence(argument)
    if name == "BRANCH":
        return _either([_sequence(branch) for branch in argument[1]])
    if name in ("ASSERT", "ASSERT_NOT"):
        return _Part(meets=_sequence(argument[1]).meets)
    characters = _characters(name, argument)
    return _Part() if characters is None else _Part(characters, characters, empty=False)


def _repeated(low: int, high: int, body: Any) -> _Part:
    once = _sequence(body)
    part = once._replace(empty=once.empty or low == 0)
    if high == 1:
        return part
    own = (_Repeat(once.first, once.last),) if low != high else ()
    again = _overlap(once.closing, once.opening)
    return part._replace(
        opening=own + once.opening, closing=own + once.closing, meets=once.meets or (again and len(body) > 1)
    )


def _either(parts: list[_Part]) -> _Part:
    return _Part(
        first=_NONE.union(*(part.first for part in parts)),
        last=_NONE.union(*(part.last for part in parts)),
        empty=any(part.empty for part in parts),
        opening=tuple(repeat for part in parts for repeat in part.opening),
        closing=tuple(repeat for part in parts for repeat in part.closing),
        meets=any(part.meets for part in parts),
    )


def _characters(name: str, argument: Any) -> frozenset[str] | None:
    """The sample characters that one character of a pattern can be; None for what takes no character (`^`, `\\b`)."""
    if name == "LITERAL":
        return _cases(chr(argument))
    if name == "NOT_LITERAL":
        return _SAMPLE - {chr(argument)}
    if name == "ANY":
        return _SAMPLE - {"\n"}
    if name != "IN":
        return None
    found: frozenset[str] = _NONE
    negate = False
    for kind, value in argument:
        if str(kind) == "NEGATE":
            negate = True
        elif str(kind) == "LITERAL":
            found |= _cases(chr(value))
        elif str(kind) == "RANGE":
            found |= _NONE.union(*(_cases(each) for each in _SAMPLE if value[0] <= ord(each) <= value[1]))
        else:
            found |= _category(str(value))
    return _SAMPLE - found if negate else found


def _cases(character: str) -> frozenset[str]:
    return frozenset((character, character.lower(), character.upper()))


@lru_cache(maxsize=16)
def _category(name: str) -> frozenset[str]:
    pattern = re.compile(_CATEGORIES.get(name, "(?s:.)"))
    return frozenset(each for each in _SAMPLE if pattern.match(each))
