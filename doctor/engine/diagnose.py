"""Facts and hits go in, findings come out: which rules are true, which follow from others, and in what order to tell them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.engine.conditions import Evaluator, parse, truth
from doctor.engine.edits import edits_of, launch_of
from doctor.engine.finding import Advice, Evidence, Finding, NotChecked, every
from doctor.engine.fired import Fired, by_facts, by_symptom
from doctor.engine.fold import fold
from doctor.engine.rules import SEVERITIES
from doctor.engine.templates import fill, fill_known
from doctor.facts.record import known

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from doctor.engine.match import Hits
    from doctor.engine.rules import Rule
    from doctor.facts.facts import Facts

MOST_OTHERS = 3


class Diagnosis(NamedTuple):
    """Findings in the order they should be read, and the rules that could not be decided (path of the fact, reason)."""

    findings: tuple[Finding, ...]
    undecided: tuple[NotChecked, ...]


def diagnose(
    rules: Collection[Rule],
    facts: Facts,
    hits: Mapping[str, Hits] | None = None,
    *,
    lang: str = "en",
    source: str = "input",
    clean: Callable[[str], str] = str,
) -> Diagnosis:
    """Every rule that is true of these facts and hits.

    `source` names the text the hits come from; `clean` is what values pass before they stand in a rule's texts.
    """
    roots = {name: getattr(facts, name) for name in facts.__dataclass_fields__}
    fired: list[Fired] = []
    undecided: dict[str, str] = {}
    for rule in rules:
        found = by_symptom(rule, hits or {}, roots, facts, source)
        fired += [found] if found else by_facts(rule, roots, undecided, source)
    if any(item.rule.severity != "note" for item in fired):
        fired = [item for item in fired if not item.rule.fallback]
    findings = _told_once(_finding(item, roots, lang, clean) for item in sorted(fired, key=_rank))
    folded = fold(findings, {item.rule.id: item.rule for item in fired})
    others = differential(folded, rules, lang=lang, facts=facts, clean=clean)
    return Diagnosis(
        (*folded, *others),
        tuple(NotChecked(path, reason) for path, reason in sorted(undecided.items())),
    )


def _told_once(findings: Iterable[Finding]) -> list[Finding]:
    """Without repeats: what several clients meet at one server is one fault, told of the first of them."""
    seen: dict[Any, Finding] = {}
    for finding in findings:
        seen.setdefault((finding.rule, finding.title, finding.why, finding.remedies), finding)
    return list(seen.values())


def differential(
    findings: tuple[Finding, ...],
    rules: Collection[Rule],
    *,
    lang: str,
    facts: Facts | None = None,
    clean: Callable[[str], str] = str,
) -> tuple[Finding, ...]:
    """What else could look like these findings, by what their rules say: no more than a few, each cause once."""
    by_id = {rule.id: rule for rule in rules}
    told = {finding.cause for finding in every(findings)}
    others: list[Finding] = []
    for finding in findings:
        for name in by_id[finding.rule].differential if finding.severity != "note" else ():
            rule = by_id.get(name)  # one that is wrong was left out at loading
            if rule is None or rule.cause in told or len(others) >= MOST_OTHERS:
                continue
            other = advise(rule, lang=lang, evidence=finding.evidence[:1], facts=facts, clean=clean)
            if other.remedies:  # a rule that needs facts to advise has nothing to say here
                told.add(rule.cause)
                severity = max(rule.severity, finding.severity, key=SEVERITIES.index)
                others.append(other._replace(instead_of=finding.rule, severity=severity))
    return tuple(others)


def advise(
    rule: Rule,
    *,
    lang: str,
    evidence: tuple[Evidence, ...],
    facts: Facts | None = None,
    clean: Callable[[str], str] = str,
) -> Finding:
    """The finding of a rule that words have pointed to. Without `facts` every fact in its texts is unknown."""
    roots = {name: getattr(facts, name) for name in facts.__dataclass_fields__} if facts else {}
    return _finding(Fired(rule, "likely", evidence, {}), roots, lang, clean)


def _rank(fired: Fired) -> tuple[int, int, int, int, str]:
    line = next((item.line for item in fired.evidence if item.line is not None), 0)
    rule = fired.rule
    return SEVERITIES.index(rule.severity), fired.status != "seen", -rule.priority, line, rule.id


def _finding(fired: Fired, roots: dict[str, Any], lang: str, clean: Callable[[str], str]) -> Finding:
    rule = fired.rule
    evaluator = Evaluator({**roots, "match": fired.match}, clean, _with_client(fired.local(), roots))
    remedies = []
    for remedy in rule.remedies:
        if remedy.condition and truth(evaluator.evaluate(parse(remedy.condition))) is False:
            continue
        text = fill(remedy.text.get(lang), evaluator)
        command = fill(remedy.command, evaluator) if remedy.command else ""
        if text is not None and command is not None:
            edits = edits_of(remedy, evaluator, roots.get("clients"))
            remedies.append(Advice(text, command, remedy.price, edits, launch_of(remedy, evaluator)))
    return Finding(
        rule=rule.id,
        cause=rule.cause,
        severity=rule.severity,
        status=fired.status,
        title=fill_known(rule.title.get(lang), evaluator),
        why=fill_known(rule.why.get(lang), evaluator),
        evidence=fired.evidence,
        remedies=tuple(remedies),
        explains=(),
        references=rule.references,
        decide=fill_known(rule.decide.get(lang), evaluator),
        subjects=fired.subjects,
        about=fired.about(),
    )


def _with_client(local: dict[str, tuple[str, Any]], roots: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """The same; the client whose ladder it is has a name too."""
    name = getattr(local.get("ladder", ("", None))[1], "name", None)
    for place, client in enumerate(known(roots.get("clients")) or ()):
        if name is not None and "client" not in local and client.name == name:
            return {**local, "client": (f"clients[{place}]", client)}
    return local
