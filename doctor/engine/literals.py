"""What a regular expression cannot match without: the plain text that makes searching fast, and the shapes that make it slow."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    from re import _parser as _sre  # type: ignore[attr-defined]
else:  # pragma: no cover - 3.10 has it under its old name
    import sre_parse as _sre

MINIMUM = 3
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def literals_of(pattern: str) -> tuple[str, ...]:
    """Lower-case texts of which at least one must occur in any line the pattern matches; empty when there are none.

    Digits do not count towards the length of a text: lines are also searched with their digits taken out.
    """
    try:
        found = _best(_sre.parse(pattern))
    except Exception:
        return ()
    return tuple(sorted(found)) if found and _strength(found) >= MINIMUM else ()


def risky(pattern: str) -> str:
    """Why a pattern could take more than linear time on hostile text, or "" when it could not."""
    tree: Any = _sre.parse(pattern)
    if len(tree) and str(tree[0][0]) in _REPEATS and tree[0][1][1] > 20:
        return "begins with a long repeat: every place in a line would be tried"
    return _nested(tree, inside=False)


def _nested(tree: Any, *, inside: bool) -> str:
    unbounded = 0
    for op, argument in tree:
        name = str(op)
        if name in _REPEATS:
            low, high, body = argument
            many = high > 20 and low != high
            if many and inside:
                return "a repeat inside a repeat"
            unbounded += many
            trouble = _nested(body, inside=inside or high > 1)
        elif name == "SUBPATTERN":
            trouble = _nested(argument[3], inside=inside)
        elif name == "BRANCH":
            trouble = next((text for text in (_nested(branch, inside=inside) for branch in argument[1]) if text), "")
        else:
            trouble = ""
        if trouble:
            return trouble
    return "more than three open repeats in a row" if unbounded > 3 else ""


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
        elif name in _REPEATS and argument[0] >= 1:
            candidates.append(_best(argument[2]))
        elif name == "ATOMIC_GROUP":
            candidates.append(_best(argument))
    if run:
        candidates.append({run})
    candidates = [candidate for candidate in candidates if candidate]
    return max(candidates, key=_strength, default=set())
