"""Words become findings: the causes that fit a question, or the lines of a text that no rule knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.engine.diagnose import advise, differential
from doctor.engine.finding import Evidence, Finding
from doctor.engine.fired import MOST_EVIDENCE
from doctor.engine.search import search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from doctor.engine.load import Knowledge
    from doctor.facts.facts import Facts

MOST = 5
MOST_GUESSES = 3
CLOSE = 0.45
"""A cause whose score is below this share of the best is not mentioned."""
ALONE = 0.44
"""When the second score is below this share of the best, the first cause is told alone."""
SEEN_BONUS = {"error": 1.0, "warning": 0.5, "note": 0.1}
"""What it adds to a score that the cause is seen on this machine; 1 is about a perfect fit of words."""
FLOOR = 0.7
"""A best score below this fits nothing."""
WEAK = 0.95
"""A best score below this may be chance, a word or two that also stand in a rule: a guess, and called so."""
GUESS_FLOOR = 0.75
"""The same for lines of a program: of the reports at hand three of five guesses just above it are right."""


class Seen(NamedTuple):
    """What is known of this machine: its facts, and by rule the findings that are true here."""

    facts: Facts
    findings: dict[str, Finding]
    clean: Callable[[str], str]


def fitting(
    words: str, knowledge: Knowledge, lang: str, seen: Seen | None = None, *, floor: float = FLOOR, complaint: str = ""
) -> tuple[Finding, ...]:
    """The causes that fit the words: one finding a cause, best first. What is seen on this machine decides.

    `complaint`: what the words are known to complain of.
    """
    by_id = {rule.id: rule for rule in knowledge.rules}
    scores = dict(search(knowledge.words, words, complaint))
    for rule_id, bonus in _pasted(words, knowledge).items():
        scores[rule_id] = scores.get(rule_id, 0.0) + bonus
    for rule_id, finding in seen.findings.items() if seen else ():
        # Another rule of the same cause may have the words; this one has the evidence.
        fit = max((score for other, score in scores.items() if by_id[other].cause == finding.cause), default=0.0)
        if fit:
            scores[rule_id] = fit + SEEN_BONUS[finding.severity]
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    if not ranked or ranked[0][1] < floor:
        return ()
    findings: list[Finding] = []
    causes: set[str] = set()
    for rule_id, score in ranked:
        if len(findings) >= MOST or score < CLOSE * ranked[0][1]:
            break
        rule = by_id[rule_id]
        if rule.cause in causes:
            continue
        causes.add(rule.cause)
        if seen and rule_id in seen.findings:
            finding = seen.findings[rule_id]
        else:
            evidence = (Evidence(words, "words", None),)
            finding = advise(rule, lang=lang, evidence=evidence, **_known_facts(seen))
        if finding.remedies:  # a rule that needs facts to advise has nothing to say to words
            findings.append(finding)
        if len(findings) == 1 and len(ranked) > 1 and ranked[1][1] < ALONE * score:
            break
    others = differential(tuple(findings[:1]), knowledge.rules, lang=lang, **_known_facts(seen))
    findings += [other for other in others if other.cause not in causes]
    if ranked[0][1] < WEAK:
        findings = [one if one.status == "seen" else one._replace(status="guess") for one in findings]
    return tuple(findings[:MOST])


def _known_facts(seen: Seen | None) -> dict[str, Any]:
    """What advice may speak of: the facts of this machine, when it was looked at."""
    return {"facts": seen.facts, "clean": seen.clean} if seen else {}


def _pasted(words: str, knowledge: Knowledge) -> dict[str, float]:
    """Rules whose log patterns match the words themselves: a pasted piece of a message names its cause."""
    from doctor.engine.match import Matcher, folded
    from doctor.logs.lines import Line, clean

    line = Line(1, clean(words[:4000].encode("utf-8", "replace")))
    text = folded(line.text)
    rules = [
        rule for rule in knowledge.rules
        if any(literal in text for symptom in rule.symptoms for literal in symptom.literals)
    ]  # fmt: skip
    if not rules:
        return {}
    hits = Matcher(rules).scan([line])
    found = {}
    for rule in rules:
        if any(
            symptom.pattern in hits
            and all(other in hits for other in symptom.also)
            and not any(other in hits for other in symptom.unless)
            for symptom in rule.symptoms
        ):
            found[rule.id] = 0.5 + rule.priority / 200
    return found


def concerned(complaint: str, knowledge: Knowledge) -> frozenset[str]:
    """The ids of the rules that a complaint of this name can have to do with."""
    _, rules = knowledge.words["complaints"].get(complaint, ((), ()))
    return frozenset(knowledge.words["ids"][at] for at in rules)


def nearest(
    lines: Iterable[tuple[int, str]], knowledge: Knowledge, lang: str, source: str, complaint: str = ""
) -> tuple[Finding, ...]:
    """The causes nearest to lines that speak of trouble and that no rule knows: guesses, and called so."""
    evidence = tuple(Evidence(text, source, number) for number, text in lines)[:MOST_EVIDENCE]
    if not evidence:
        return ()
    words = "\n".join(text for _, text in lines)
    found = fitting(words, knowledge, lang, floor=GUESS_FLOOR, complaint=complaint)
    return tuple(
        finding._replace(status="guess", severity="warning", evidence=evidence, instead_of="")
        for finding in found[:MOST_GUESSES]
    )
