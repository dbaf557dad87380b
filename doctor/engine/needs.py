"""What a line must hold before a pattern is tried on it: the plain texts of a regular expression, as and/or.

Lines are told apart by their shape: every digit is a 0. Most shapes of a log can be put aside for good by asking their
text for these plain texts; a pattern is compiled and tried only on what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.engine.literals import REPEATS, parse_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGIT = "\0"
"""Stands for any digit in a text of a need."""
_TO_SHAPE = str.maketrans("123456789" + DIGIT, "0" * 10)
_DIGIT_RANGE = (ord("0"), ord("9"))


class Need(NamedTuple):
    """A text the shape of a line must hold, all of several needs (`every`), or any one of them.

    `exact`: what the line itself must hold besides, because the text has certain digits in it; "" when nothing.
    """

    text: str
    exact: str
    every: bool
    parts: tuple[Need, ...]


ANYTHING = Need("", "", True, ())
"""What every line fulfils."""


def shape_of(text: str) -> str:
    """A text with every digit as 0."""
    return text.translate(_TO_SHAPE)


def need_of(pattern: str) -> Need:
    """What a lower-case line must hold for the pattern to match it."""
    try:
        return _all_of(parse_pattern(pattern))
    except Exception:
        return ANYTHING


def left_to_ask(need: Need, shape: str) -> tuple[str, ...] | None:
    """None when no line of this lower-case shape can match; else the texts one of which the line itself must hold.

    An empty answer asks for nothing more: the shape alone fulfils the need.
    """
    if need.text:
        return None if need.text not in shape else (need.exact,) if need.exact else ()
    answers = []
    for part in need.parts:
        answer = left_to_ask(part, shape)
        if need.every and answer is None:
            return None
        if not need.every and answer == ():
            return ()
        if answer:
            answers.append(answer)
    if need.every:
        return min(answers, key=len, default=())
    return tuple(text for answer in answers for text in answer) or None


def _all_of(tree: Any) -> Need:
    parts: list[Need] = []
    run = ""
    for name, argument in _flat(tree):
        more, repeated = _run(name, argument)
        run += more
        if more and not repeated:
            continue
        parts.append(_text(run))
        # The last of a repeated text stands right before what follows.
        run = more
        if name == "BRANCH":
            branches = tuple(_all_of(branch) for branch in argument[1])
            parts.append(ANYTHING if ANYTHING in branches else Need("", "", False, branches))
        elif (name in REPEATS and argument[0] >= 1 and not more) or name == "ATOMIC_GROUP":
            parts.append(_all_of(argument[2] if name in REPEATS else argument))
    parts.append(_text(run))
    # A single letter rules hardly any line out.
    parts = [part for part in dict.fromkeys(parts) if len(part.text) > 1 or part.parts]
    return parts[0] if len(parts) == 1 else Need("", "", True, tuple(parts))


def _text(text: str) -> Need:
    exact = [piece for piece in text.split(DIGIT) if any("0" <= character <= "9" for character in piece)]
    return Need(shape_of(text), max(exact, key=len, default=""), True, ())


def _flat(tree: Any) -> Iterator[tuple[str, Any]]:
    """The pieces of a pattern one after the other, those in groups too."""
    for op, argument in tree:
        if str(op) == "SUBPATTERN":
            yield from _flat(argument[3])
        else:
            yield str(op), argument


def _run(name: str, argument: Any) -> tuple[str, bool]:
    """(what a piece of a pattern adds to the text before it, whether there may be more of the same)."""
    if name == "LITERAL":
        return chr(argument).lower(), False
    if name == "IN" and _only_digits(argument):
        return DIGIT, False
    if name in REPEATS and len(argument[2]) == 1 and 1 <= argument[0] <= 20:
        more, repeated = _run(str(argument[2][0][0]), argument[2][0][1])
        return more * argument[0], repeated or argument[0] != argument[1]
    return "", True


def _only_digits(items: Any) -> bool:
    for kind, value in items:
        low, high = value if str(kind) == "RANGE" else (value, value)
        if str(kind) not in ("RANGE", "LITERAL") and str(value) != "CATEGORY_DIGIT":
            return False
        if str(kind) in ("RANGE", "LITERAL") and not (_DIGIT_RANGE[0] <= low and high <= _DIGIT_RANGE[1]):
            return False
    return True
