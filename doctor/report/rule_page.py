"""The page of one rule for people: what it is, why, what to do; how it is recognised stands last."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.report.rows import Row
from doctor.report.text import MARKS, PLAIN_MARKS, advice_rows
from doctor.report.words import colon, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.engine.finding import Finding

MOST_EXAMPLES = 3
MOST_LINES = 4
"""Of an example: a whole log says less than its first lines."""


class Signs(NamedTuple):
    """How a rule is recognised: texts that show it, regular expressions, conditions on facts; (id, title) of its doubles."""

    examples: tuple[str, ...]
    patterns: tuple[str, ...]
    conditions: tuple[str, ...]
    mistaken_for: tuple[tuple[str, str], ...]


def rule_rows(finding: Finding, signs: Signs, lang: str, *, verbose: bool, unicode: bool) -> Iterator[Row]:
    """The lines of the page."""
    mark = (MARKS if unicode else PLAIN_MARKS)[finding.severity]
    label = f"{mark} {say(finding.severity, lang)}{colon(lang)}"
    yield Row(((finding.severity, label), ("title", finding.title), ("quiet", f"  ({finding.rule})")))
    if finding.why:
        yield from _part("why", lang, Row((("", finding.why),), 4))
    for number, advice in enumerate(finding.remedies):
        if number < 2:
            yield Row((("head", say("or" if number else "do_first", lang)),), 2)
        yield from advice_rows(advice, lang)
    if finding.decide:
        yield from _part("to_decide", lang, Row((("", finding.decide),), 4))
    if signs.mistaken_for:
        yield Row((("head", say("instead", lang)),), 2)
        for rule_id, title in signs.mistaken_for:
            yield Row((("", title), ("quiet", f"  ({rule_id})")), 4)
    if signs.examples:
        yield Row((("head", say("looks_like", lang)),), 2)
        for example in signs.examples[:MOST_EXAMPLES]:
            for line in example.splitlines()[:MOST_LINES]:
                yield Row((("quiet", line),), 4, copy=True)
    if finding.references:
        yield Row((("head", say("more", lang)),), 2)
        for link in finding.references:
            yield Row((("quiet", link),), 4, copy=True)
    yield from _matching(signs, lang, finding.rule, verbose=verbose)


def _part(title: str, lang: str, row: Row) -> Iterator[Row]:
    yield Row((("head", say(title, lang)),), 2)
    yield row


def _matching(signs: Signs, lang: str, rule_id: str, *, verbose: bool) -> Iterator[Row]:
    """The patterns and conditions, for those who want to see them."""
    count = len(signs.patterns) + len(signs.conditions)
    if not count:
        return
    if not verbose:
        yield Row((("quiet", say("signs", lang).format(count=count, rule=rule_id)),), 2)
        return
    yield Row((("head", say("recognised", lang)),), 2)
    for sign in (*(f"/{pattern}/" for pattern in signs.patterns), *signs.conditions):
        yield Row((("quiet", sign),), 4, copy=True)
