"""Facts and hits go in, findings come out: which rules are true, which follow from others, and in what order to tell them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.engine.conditions import Evaluator, parse, truth
from doctor.engine.finding import Advice, Evidence, Finding, NotChecked
from doctor.engine.rules import SEVERITIES, in_builds
from doctor.engine.templates import fill, fill_known
from doctor.facts.record import Unknown, known

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from doctor.engine.match import Hit, Hits
    from doctor.engine.rules import Rule, Symptom
    from doctor.facts.facts import Facts

MOST_EVIDENCE = 5
MOST_OTHERS = 3


class Diagnosis(NamedTuple):
    """Findings in the order they should be read, and the rules that could not be decided (path of the fact, reason)."""

    findings: tuple[Finding, ...]
    undecided: tuple[NotChecked, ...]


class _Fired(NamedTuple):
    rule: Rule
    status: str
    evidence: tuple[Evidence, ...]
    match: dict[str, Any]
    subjects: tuple[str, ...] = ()


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
    fired = []
    undecided: dict[str, str] = {}
    for rule in rules:
        found = _by_symptom(rule, hits or {}, roots, facts, source) or _by_fact(rule, roots, undecided, source)
        if found:
            fired.append(found)
    if any(item.rule.severity != "note" for item in fired):
        fired = [item for item in fired if not item.rule.fallback]
    findings = [_finding(item, roots, lang, clean) for item in sorted(fired, key=_rank)]
    folded = _fold(findings, {item.rule.id: item.rule for item in fired})
    others = differential(folded, rules, lang=lang, facts=facts, clean=clean)
    return Diagnosis(
        (*folded, *others),
        tuple(NotChecked(path, reason) for path, reason in sorted(undecided.items())),
    )


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
    told = {finding.cause for finding in _all(findings)}
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


def _all(findings: tuple[Finding, ...]) -> Iterator[Finding]:
    for finding in findings:
        yield finding
        yield from _all(finding.explains)


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
    return _finding(_Fired(rule, "likely", evidence, {}), roots, lang, clean)


def _by_symptom(
    rule: Rule, hits: Mapping[str, Hits], roots: dict[str, Any], facts: Facts, source: str
) -> _Fired | None:
    build = known(facts.build)
    number = known(build.number) if build else None
    best: list[tuple[Symptom, tuple[Hit, ...]]] = []
    for symptom in rule.symptoms:
        if symptom.pattern not in hits or not in_builds(symptom.builds, number):
            continue
        if any(other not in hits for other in symptom.also) or any(other in hits for other in symptom.unless):
            continue
        here = tuple(hit for hit in _hits_of(symptom, hits) if symptom.place in ("any", hit.line.place))
        if not here:
            continue
        if symptom.condition:
            evaluator = Evaluator({**roots, "match": here[0].groups})
            if truth(evaluator.evaluate(parse(symptom.condition))) is False:
                continue
        best.append((symptom, here))
    if not best:
        return None
    lines = sorted({(hit.line.number, hit.line.text) for _, here in best for hit in here})[:MOST_EVIDENCE]
    match: dict[str, Any] = {}
    for _, here in reversed(best):
        match.update({name: value for name, value in here[0].groups.items() if value is not None})
    status = "likely" if all(symptom.likely for symptom, _ in best) else "seen"
    return _Fired(rule, status, tuple(Evidence(text, source, number) for number, text in lines), match)


def _hits_of(symptom: Symptom, hits: Mapping[str, Hits]) -> tuple[Hit, ...]:
    found = hits[symptom.pattern]
    if not symptom.last:
        return found.first
    return () if found.last is None else (found.last,)


def _by_fact(rule: Rule, roots: dict[str, Any], undecided: dict[str, str], source: str) -> _Fired | None:
    for when in rule.when:
        evaluator = Evaluator({**roots, "match": {}})
        result = truth(evaluator.evaluate(parse(when.expr)))
        if result is True:
            subjects = tuple(
                dict.fromkeys(_subject(path) for path, value in evaluator.reads.items() if value is not None)
            )
            return _Fired(rule, "likely" if when.likely else "seen", _facts_read(evaluator, source), {}, subjects)
        if isinstance(result, Unknown):
            for path, value in evaluator.reads.items():
                if isinstance(value, Unknown):
                    undecided[path] = value.reason
    return None


def _facts_read(evaluator: Evaluator, source: str) -> tuple[Evidence, ...]:
    """The facts a condition rests on. A record that knows how to show itself (`shown`) speaks for its fields, with its
    place: the settings file and line, not the path of a fact."""
    shown: dict[Evidence, None] = {}
    for path, value in evaluator.reads.items():
        if isinstance(value, Unknown) or hasattr(value, "__dataclass_fields__"):
            continue
        if isinstance(value, (tuple, list)) and any(hasattr(item, "__dataclass_fields__") for item in value):
            continue
        owner: Any = evaluator.owners.get(path)
        subject = _subject(path)
        if hasattr(owner, "shown"):
            line = known(getattr(owner, "line", None))
            shown[Evidence(owner.shown(), str(getattr(owner, "source", subject if line is None else source)), line)] = (
                None
            )
            continue
        words = "absent" if value is None else ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else value
        words = "none" if words == "" else words
        shown[Evidence(f"{path} = {words}", subject, None)] = None
    return tuple(shown)[:MOST_EVIDENCE]


def _subject(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]


def _rank(fired: _Fired) -> tuple[int, int, int, int, str]:
    line = next((item.line for item in fired.evidence if item.line is not None), 0)
    rule = fired.rule
    return SEVERITIES.index(rule.severity), fired.status != "seen", -rule.priority, line, rule.id


def _finding(fired: _Fired, roots: dict[str, Any], lang: str, clean: Callable[[str], str]) -> Finding:
    rule = fired.rule
    evaluator = Evaluator({**roots, "match": fired.match}, clean)
    remedies = []
    for remedy in rule.remedies:
        if remedy.condition and truth(evaluator.evaluate(parse(remedy.condition))) is False:
            continue
        text = fill(remedy.text.get(lang), evaluator)
        command = fill(remedy.command, evaluator) if remedy.command else ""
        if text is not None and command is not None:
            remedies.append(Advice(text, command, remedy.price))
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
    )


def _explains(rule: Rule, other: Rule) -> bool:
    for name in rule.explains:
        if name.startswith("cause:"):
            if other.cause == name[6:]:
                return True
        elif fnmatchcase(other.id, name):
            return True
    return False


def _fold(findings: list[Finding], rules: dict[str, Rule]) -> tuple[Finding, ...]:
    """Consequences under their causes: the first finding (in order) that explains another takes it in."""
    parent: dict[str, str] = {}
    for finding in findings:
        for other in findings:
            if other.rule == finding.rule or other.rule in parent:
                continue
            if _explains(rules[finding.rule], rules[other.rule]) and not _above(finding.rule, other.rule, parent):
                parent[other.rule] = finding.rule
    by_id = {finding.rule: finding for finding in findings}
    children: dict[str, list[str]] = {}
    for child, root in parent.items():
        children.setdefault(root, []).append(child)

    def build(rule_id: str) -> Finding:
        inside = tuple(build(child) for child in children.get(rule_id, ()))
        own = by_id[rule_id]
        severity = min((own.severity, *(item.severity for item in inside)), key=SEVERITIES.index)
        return own._replace(explains=inside, severity=severity)

    roots = [build(finding.rule) for finding in findings if finding.rule not in parent]
    order = {finding.rule: number for number, finding in enumerate(findings)}
    roots.sort(
        key=lambda root: (
            SEVERITIES.index(root.severity),
            order[root.rule] if not root.explains else _first(root, order),
        )
    )
    return tuple(roots)


def _first(finding: Finding, order: dict[str, int]) -> int:
    """The best place of a finding or of anything it explains: a cause is told where its worst consequence would be."""
    return min([order[finding.rule], *(_first(child, order) for child in finding.explains)])


def _above(rule_id: str, maybe_root: str, parent: dict[str, str]) -> bool:
    """Whether `maybe_root` is already above `rule_id`, so that folding it under would make a ring."""
    while rule_id in parent:
        rule_id = parent[rule_id]
        if rule_id == maybe_root:
            return True
    return rule_id == maybe_root
