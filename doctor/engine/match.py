"""Finds the rules' patterns in lines of text, reading each line once.

A line is searched with a regular expression only when it holds the texts that the expression cannot match without. That is
asked once for all lines of a shape (a line with its digits as 0): a server log repeats few shapes very often.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.engine.literals import MINIMUM
from doctor.engine.needs import Need, left_to_ask, need_of, rarest, shape_of
from doctor.engine.texts import Texts
from doctor.logs.scan import DIGIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from doctor.engine.rules import Rule
    from doctor.logs.lines import Line
    from doctor.logs.paste import Paste

KEEP = 8
"""Hits kept for one pattern; further ones are not looked for."""
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
_OTHER_DIGIT = re.compile(r"[^\D0-9]")
_ALIKE = str.maketrans({"\u0130": "i", "\u0131": "i", "\u017f": "s"})


class Hit(NamedTuple):
    """A line that matched, with the named groups of the pattern (numbers as numbers)."""

    line: Line
    groups: dict[str, Any]


class Hits(NamedTuple):
    """The first hits of a pattern, and the one on the last line that a program printed, when that is asked for."""

    first: tuple[Hit, ...]
    last: Hit | None = None


class Trial(NamedTuple):
    """A pattern worth trying on lines of a shape. Such a line must hold one of `texts`, when there are any."""

    pattern: str
    texts: tuple[str, ...]


class Matcher:
    """Every pattern of a set of rules, ready to be looked for.

    `needs` are the needs of patterns worked out before; those of other patterns are worked out when they are met.
    """

    def __init__(self, rules: Iterable[Rule], needs: Mapping[str, Need] | None = None, *, scan: bool = True) -> None:
        self._literals: dict[str, tuple[str, ...]] = {}
        self._last: set[str] = set()
        for rule in rules:
            for symptom in rule.symptoms:
                if symptom.last:
                    self._last.add(symptom.pattern)
                self._literals[symptom.pattern] = symptom.literals
                self._literals.update(zip((*symptom.also, *symptom.unless), symptom.guard_literals, strict=True))
        self._by_text: dict[str, list[str]] = {}
        for pattern, literals in self._literals.items():
            for literal in literals:
                self._by_text.setdefault(shape_of(literal), []).append(pattern)
        self._texts = Texts(self._by_text, scan=scan)
        self._needs = dict(needs or {})
        self._compiled: dict[str, re.Pattern[str]] = {}
        self._scan = scan

    def scan(self, lines: Iterable[Line]) -> dict[str, Hits]:
        """Pattern -> its hits, for the patterns that matched any line."""
        hits = _Collected()
        last = None
        for line in lines:
            self._try(line, self._trials(shape_of(line.text), hits.full), hits)
            if self._last and _is_output(line):
                last = line
        return self._with_last(hits.result(), last)

    def sift(self, paste: Paste) -> dict[str, Hits]:
        """The same for a paste, of which only the lines are looked at that could matter."""
        hits = _Collected()
        rare = (lambda sample: self._rare(sample, hits.full)) if self._scan else None
        for line, trials in paste.sift(lambda shape, among: self._trials(shape, hits.full, among), rare):
            if self._try(line, trials, hits):
                paste.forget()
        return self._with_last(hits.result(), paste.last)

    def _with_last(self, found: dict[str, Hits], line: Line | None) -> dict[str, Hits]:
        """The hits, where a rule asks for it with the one on the last line."""
        for pattern in sorted(self._last & found.keys()) if line is not None else ():
            match = self._regex(pattern).search(line.text) if line is not None else None
            if match and line is not None:
                found[pattern] = Hits(found[pattern].first, Hit(line, _groups(match)))
        return found

    def _trials(self, shape: str, full: set[str], among: Iterable[str] | None = None) -> tuple[Trial, ...]:
        """What to try (`among` some patterns) on lines of a shape (their digits as 0)."""
        lowered = folded(shape)
        if among is None:
            among = (pattern for text in self._texts.found_in(lowered) for pattern in self._by_text[text])
        trials = []
        for pattern in sorted(set(among) - full):
            texts = left_to_ask(self._need(pattern), lowered)
            if texts is not None:
                trials.append(Trial(pattern, texts))
        return tuple(trials)

    def _rare(self, sample: str, full: set[str]) -> dict[str, list[str]]:
        """Texts, each with the patterns that match only lines with one of theirs; where there is a choice, what is rare in
        the sample.
        """
        lowered = folded(sample)
        shape = shape_of(lowered)
        counted: dict[str, int] = {}

        def count(text: str) -> int:
            if len(text.strip()) < MINIMUM:
                return len(sample)
            if text not in counted:
                counted[text] = shape.count(shape_of(text)) if DIGIT in text else lowered.count(text)
            return counted[text]

        common = set(self._texts.found_in(shape))
        found: dict[str, list[str]] = {}
        for pattern, literals in self._literals.items():
            if pattern in full:
                continue
            if any(shape_of(literal) in common for literal in literals):
                literals = rarest(self._need(pattern), count)[1] or literals
            for literal in literals:
                found.setdefault(literal, []).append(pattern)
        return found

    def _try(self, line: Line, trials: Iterable[Trial], hits: _Collected) -> bool:
        """Tries patterns on a line; whether one of them has all the hits it may have."""
        filled = False
        lowered = ""
        for pattern, texts in trials:
            if texts:
                lowered = lowered or folded(line.text)
                if not any(text in lowered for text in texts):
                    continue
            match = self._regex(pattern).search(line.text)
            if match:
                filled |= hits.add(pattern, line, match)
        return filled

    def _need(self, pattern: str) -> Need:
        need = self._needs.get(pattern)
        if need is None:
            need = self._needs[pattern] = need_of(pattern)
        return need

    def _regex(self, pattern: str) -> re.Pattern[str]:
        compiled = self._compiled.get(pattern)
        if compiled is None:
            compiled = self._compiled[pattern] = re.compile(pattern, re.IGNORECASE)
        return compiled


class _Collected:
    """The first hits of each pattern, and the patterns that need no more of them."""

    def __init__(self) -> None:
        self._found: dict[str, list[Hit]] = {}
        self.full: set[str] = set()

    def add(self, pattern: str, line: Line, match: re.Match[str]) -> bool:
        """Keep a hit; whether it was the last one wanted."""
        kept = self._found.setdefault(pattern, [])
        if len(kept) >= KEEP:
            return False
        kept.append(Hit(line, _groups(match)))
        if len(kept) == KEEP:
            self.full.add(pattern)
        return len(kept) == KEEP

    def result(self) -> dict[str, Hits]:
        """Pattern -> its hits."""
        return {pattern: Hits(tuple(hits)) for pattern, hits in self._found.items()}


def _is_output(line: Line) -> bool:
    from doctor.logs.sections import is_output  # many expressions to compile: only for who needs it

    return is_output(line)


def _groups(match: re.Match[str]) -> dict[str, Any]:
    return {name: _number(value) for name, value in match.groupdict().items()}


def folded(text: str) -> str:
    """A text as `re.IGNORECASE` sees it: lower case, letters that count as i or s, and as `\\d` sees it: all digits."""
    if text.isascii():
        return text.lower()
    return _OTHER_DIGIT.sub("0", text.translate(_ALIKE).lower())


def _number(text: str | None) -> Any:
    """A captured number as a number, any other text as it stands."""
    if text is None:
        return None
    if len(text) < 40 and _NUMBER.fullmatch(text):
        return float(text) if "." in text else int(text)
    return text
