"""Finds the rules' patterns in lines of text, reading each line once.

A line is searched with regular expressions only when it contains a text that the pattern cannot match without. Verdicts
are remembered by the line with its digits taken out: a server log repeats few shapes of lines very often.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doctor.engine.rules import Rule
    from doctor.logs.lines import Line

KEEP = 8
"""Hits kept for one pattern; the rest are only counted."""
_DIGITS = str.maketrans("", "", "0123456789")
_CACHE_LINES = 20_000
_CACHE_LENGTH = 400


class Hit(NamedTuple):
    """A line that matched, with the named groups of the pattern (numbers as numbers)."""

    line: Line
    groups: dict[str, Any]


class Hits(NamedTuple):
    """The first hits of a pattern, and how many there were."""

    first: tuple[Hit, ...]
    total: int


class Matcher:
    """Every pattern of a set of rules, ready to be looked for."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        patterns = {}
        for rule in rules:
            for symptom in rule.symptoms:
                patterns[symptom.pattern] = symptom.literals
                patterns.update(zip((*symptom.also, *symptom.unless), symptom.guard_literals, strict=True))
        by_literal: dict[str, list[str]] = {}
        for pattern, literals in patterns.items():
            for literal in literals:
                by_literal.setdefault(literal.translate(_DIGITS), []).append(pattern)
        self._by_literal = by_literal
        self._compiled: dict[str, re.Pattern[str]] = {}

    def scan(self, lines: Iterable[Line]) -> dict[str, Hits]:
        """Pattern -> its hits, for the patterns that matched any line."""
        found: dict[str, list[Hit]] = {}
        counts: dict[str, int] = {}
        for line, pattern, match in self._matches(lines):
            counts[pattern] = counts.get(pattern, 0) + 1
            kept = found.setdefault(pattern, [])
            if len(kept) < KEEP:
                kept.append(Hit(line, {name: _number(value) for name, value in match.groupdict().items()}))
        return {pattern: Hits(tuple(hits), counts[pattern]) for pattern, hits in found.items()}

    def _matches(self, lines: Iterable[Line]) -> Iterator[tuple[Line, str, re.Match[str]]]:
        cache: dict[str, tuple[str, ...]] = {}
        for line in lines:
            shape = line.text.translate(_DIGITS)
            candidates = cache.get(shape)
            if candidates is None:
                lowered = shape.lower()
                candidates = tuple(
                    dict.fromkeys(
                        pattern
                        for literal, patterns in self._by_literal.items()
                        if literal in lowered
                        for pattern in patterns
                    )
                )
                if len(shape) <= _CACHE_LENGTH and len(cache) < _CACHE_LINES:
                    cache[shape] = candidates
            for pattern in candidates:
                match = self._regex(pattern).search(line.text)
                if match:
                    yield line, pattern, match

    def _regex(self, pattern: str) -> re.Pattern[str]:
        compiled = self._compiled.get(pattern)
        if compiled is None:
            compiled = self._compiled[pattern] = re.compile(pattern, re.IGNORECASE)
        return compiled


def _number(text: str | None) -> Any:
    """A captured number as a number, any other text as it stands."""
    if text is None:
        return None
    for kind in (int, float):
        try:
            return kind(text) if len(text) < 40 else text
        except ValueError:
            continue
    return text
