"""What a regular expression cannot match without: the plain text that makes searching fast, and the shapes that make it slow."""

from __future__ import annotations

import sys
from typing import Any

from doctor.engine.overlaps import meeting_repeats

if sys.version_info >= (3, 11):
    from re import _parser as _sre  # type: ignore[attr-defined]
else:  # pragma: no cover - 3.10 has it under its old name
    import sre_parse as _sre

MINIMUM = 3
_WIDE = ("CATEGORY_WORD", "CATEGORY_NOT_SPACE", "CATEGORY_NOT_DIGIT", "CATEGORY_NOT_WORD")
REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def parse_pattern(pattern: str) -> Any:
    """The parsed form of a regular expression, as the standard library has it."""
    return _sre.parse(pattern)


def literals_of(pattern: str) -> tuple[str, ...]:
    """Lower-case texts of which at least one must occur in any line the pattern matches; empty when there are none.

    Digits do not count towards the length of a text: lines are told apart by their shape, in which all digits are alike.
    """
    try:
        found = _best(parse_pattern(pattern))
    except Exception:
        return ()
    return tuple(sorted(found)) if found and _strength(found) >= MINIMUM else ()


def risky(pattern: str) -> str:
    """Why a pattern could take far more than linear time on hostile text, or "" when it could not.

    Repeats of narrow things (spaces, digits) are fine; repeats of nearly anything (`.`, `\\w`, `[^x]`) multiply, and so do
    repeats of the same thing with nothing between them that must be there (`\\s*,?\\s*`).
    """
    tree: Any = parse_pattern(pattern)
    if len(tree) and str(tree[0][0]) in REPEATS and tree[0][1][1] > 20:
        return "begins with a long repeat: every place in a line would be tried"
    trouble, wide, endless = _repeats(tree, inside=False)
    if trouble:
        return trouble
    if meeting_repeats(tree):
        return "two repeats meet that can take the same characters, such as \\s*,?\\s* (use one: [\\s,]{0,4}, or (?:,\\s*)?)"
    if endless > 1:
        return "more than one open repeat of nearly anything (use .{0,80})"
    return "more than three repeats of nearly anything" if wide > 3 else ""


def _repeats(tree: Any, *, inside: bool) -> tuple[str, int, int]:
    """(what is wrong, wide repeats, those of them without an end) of a parsed pattern, the worst branch counting."""
    wide = endless = 0
    for op, argument in tree:
        name = str(op)
        branches: list[Any] = []
        if name in REPEATS:
            low, high, body = argument
            many = high > 20 and low != high
            if many and inside:
                return "a repeat inside a repeat", 0, 0
            if many and _is_wide(body):
                wide += 1
                endless += high > 1000
            inside_body = _repeats(body, inside=inside or (many and high > 1))
            branches = [inside_body]
        elif name == "SUBPATTERN":
            branches = [_repeats(argument[3], inside=inside)]
        elif name == "BRANCH":
            branches = [_repeats(branch, inside=inside) for branch in argument[1]]
        for trouble, _, _ in branches:
            if trouble:
                return trouble, 0, 0
        wide += max((found[1] for found in branches), default=0)
        endless += max((found[2] for found in branches), default=0)
    return "", wide, endless


def _is_wide(body: Any) -> bool:
    """Whether a repeated part matches nearly any character."""
    if len(body) != 1:
        return True
    op, argument = body[0]
    name = str(op)
    if name in ("ANY", "NOT_LITERAL"):
        return True
    if name == "IN":
        return any(str(kind) == "NEGATE" or str(value) in _WIDE for kind, value in argument)
    return False


def _strength(literals: set[str]) -> int:
    return min(sum(not character.isdigit() for character in text) * (1 + (ord(text[0]) > 0x2E7F)) for text in literals)


def _best(tree: Any) -> set[str]:
    candidates: list[set[str]] = []
    run = ""
    for op, argument in tree:
        name = str(op)
        if name == "LITERAL":
            run += chr(argument).lower()
            continue
        if run:
            candidates.append({run})
            run = ""
        if name == "SUBPATTERN":
            candidates.append(_best(argument[3]))
        elif name == "BRANCH":
            branches = [_best(branch) for branch in argument[1]]
            if all(branches):
                candidates.append(set().union(*branches))
        elif name in REPEATS and argument[0] >= 1:
            candidates.append(_best(argument[2]))
        elif name == "ATOMIC_GROUP":
            candidates.append(_best(argument))
    if run:
        candidates.append({run})
    candidates = [candidate for candidate in candidates if candidate]
    return max(candidates, key=_strength, default=set())
