"""Texts of rules with numbers of this machine in them.

`{expression}` is replaced by its value. `[[ … {expression} … ]]` is left out when a value in it is not known.
`{{` and `}}` stand for braces.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.engine.conditions import parse
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    import ast

    from doctor.engine.conditions import Evaluator

_SENTENCE = re.compile(r"[^.;。；！!？?]*(?:[.;。；！!？?]+(?=\s|[^\x00-\x7f]|$)|$)\s*")
_VALUE = re.compile(r"\{[^{}]+\}")
LONGEST_LIST = 8
"""Items of a list that are shown."""
_PIECES = re.compile(r"\{\{|\}\}|\[\[|\]\]|\{([^{}]+)\}|[^{}\[\]]+|.", re.DOTALL)


class Piece(NamedTuple):
    """A piece of a text: plain words, or an expression. `optional` numbers the [[ ]] it stands in, 0 outside."""

    text: str
    expression: ast.expr | None
    optional: int


@lru_cache(maxsize=4096)
def pieces_of(template: str) -> tuple[Piece, ...]:
    """The pieces of a template. Raises ConditionError for an expression outside the language."""
    pieces = []
    optional = 0
    sections = 0
    for match in _PIECES.finditer(template):
        word = match.group(0)
        if word == "[[":
            sections += 1
            optional = sections
        elif word == "]]":
            optional = 0
        elif match.group(1):
            pieces.append(Piece(word, parse(match.group(1)), optional))
        else:
            pieces.append(Piece({"{{": "{", "}}": "}"}.get(word, word), None, optional))
    return tuple(pieces)


def fill(template: str, evaluator: Evaluator) -> str | None:
    """The text with its values, or None when a value outside [[ ]] is absent or unknown."""
    sections: dict[int, str | None] = {}
    order: list[int] = []
    for piece in pieces_of(template):
        if piece.optional == 0:
            order.append(len(order) + 1_000_000)
            key = order[-1]
        else:
            key = piece.optional
            if key not in sections:
                order.append(key)
        words: str | None = piece.text
        if piece.expression is not None:
            words = _shown(evaluator.evaluate(piece.expression))
            words = None if words is None else evaluator.clean(words)
        before = sections.get(key, "")
        sections[key] = None if words is None or before is None else before + words
    if any(sections[key] is None for key in order if key >= 1_000_000):
        return None
    text = "".join(sections[key] or "" for key in order).strip()
    dropped = any(sections[key] is None for key in order)
    return re.sub(r"[ \t]{2,}", " ", text) if dropped else text


def fill_known(template: str, evaluator: Evaluator) -> str:
    """A text as far as its values are known: sentences with others are left out, in a lone one they show as "…"."""
    filled = fill(template, evaluator)
    if filled is not None:
        return filled
    parts = [fill(sentence, evaluator) for sentence in _SENTENCE.findall(_without_optional(template)) if sentence]
    known_parts = [part for part in parts if part]
    return " ".join(known_parts) if known_parts else _VALUE.sub("…", _without_optional(template)).strip()


def _without_optional(template: str) -> str:
    return re.sub(r"\[\[.*?\]\]", "", template)


def _shown(value: Any) -> str | None:
    if value is None or isinstance(value, Unknown):
        return None
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:.1f}".rstrip("0").rstrip(".")
    if isinstance(value, (tuple, list)):
        words = [shown for shown in map(_shown, value[:LONGEST_LIST]) if shown]
        return ", ".join(words) + (f", … ({len(value)})" if len(value) > LONGEST_LIST else "")
    return str(value)
