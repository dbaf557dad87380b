"""Facts and hits go in, findings come out: which rules are true, which follow from others, and in what order to tell them."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.engine.conditions import Evaluator, parse, truth
from doctor.engine.edits import edits_of
from doctor.engine.finding import Advice, Evidence, Finding, NotChecked, every
from doctor.engine.rules import EACH, SEVERITIES, in_builds
from doctor.engine.templates import fill, fill_known
from doctor.facts.record import Unknown, known

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from doctor.engine.match import Hit, Hits
    from doctor.engine.rules import Rule, Symptom, When
    from doctor.facts.facts import Facts

MOST_EVIDENCE = 5
MOST_OTHERS = 3


class Diagnosis(NamedTuple):
    """Findings in the order they should be read, and the rules that could not be decided (path of the fact, reason)."""

    findings: tuple[Finding, ...]
    undecided: tuple[NotChecked, ...]


class _Item(NamedTuple):
    """One item of a list of facts: its name in expressions, its path, and itself."""

    name: str
    path: str
    value: Any


class _Fired(NamedTuple):
    rule: Rule
    status: str
    evidence: tuple[Evidence, ...]
    match: dict[str, Any]
    subjects: tuple[str, ...] = ()
    item: _Item | None = None

    def local(self) -> dict[str, tuple[str, Any]]:
        """The item of a list that the rule is true of, by its name in expressions."""
        return {self.item.name: (self.item.path, self.item.value)} if self.item is not None else {}

    def about(self) -> str:
        """Whom that item is about: the name of a client."""
        return str(getattr(self.item.value, "name", "")) if self.item is not None else ""


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
    fired: list[_Fired] = []
    undecided: dict[str, str] = {}
    for rule in rules:
        found = _by_symptom(rule, hits or {}, roots, facts, source)
        fired += [found] if found else _by_facts(rule, roots, undecided, source)
    if any(item.rule.severity != "note" for item in fired):
        fired = [item for item in fired if not item.rule.fallback]
    findings = _told_once(_finding(item, roots, lang, clean) for item in sorted(fired, key=_rank))
    folded = _fold(findings, {item.rule.id: item.rule for item in fired})
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


def _by_facts(rule: Rule, roots: dict[str, Any], undecided: dict[str, str], source: str) -> list[_Fired]:
    """The rule by its conditions: once, or once for each item of a list that one of them is true of."""
    fired: dict[str, _Fired] = {}
    for when in rule.when:
        if not when.each and fired:
            continue
        for item in _items(when, roots, undecided):
            found = _by_fact(rule, when, item, roots, undecided, source)
            if found is not None:
                fired.setdefault(found.about(), found)
    return list(fired.values())


def _items(when: When, roots: dict[str, Any], undecided: dict[str, str]) -> list[_Item | None]:
    """What a condition is asked of: the facts as they are (None), or each item of a list in turn."""
    if not when.each:
        return [None]
    values = roots.get(when.each)
    if isinstance(values, Unknown):
        undecided[when.each] = values.reason
    return [_Item(EACH[when.each], f"{when.each}[{place}]", item) for place, item in enumerate(known(values) or ())]


def _by_fact(
    rule: Rule, when: When, item: _Item | None, roots: dict[str, Any], undecided: dict[str, str], source: str
) -> _Fired | None:
    blank = _Fired(rule, "likely" if when.likely else "seen", (), {}, (), item)
    evaluator = Evaluator({**roots, "match": {}}, local=blank.local())
    result = truth(evaluator.evaluate(parse(when.expr)))
    if result is True:
        subjects = dict.fromkeys(_subject(path) for path, value in evaluator.reads.items() if value is not None)
        return blank._replace(evidence=_facts_read(evaluator, source), subjects=tuple(subjects))
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
            line = known(getattr(owner, "line", None)) or None
            place = getattr(owner, "source", "") or (subject if line is None else source)
            shown[Evidence(owner.shown(), str(place), line)] = None
            continue
        placed = _placed(evaluator, path) if value is not None else None
        if placed is not None:
            shown[placed] = None
            continue
        words = "absent" if value is None else ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else value
        words = "none" if words == "" else words
        shown[Evidence(f"{path} = {words}", subject, None)] = None
    return tuple(shown)[:MOST_EVIDENCE]


def _placed(evaluator: Evaluator, path: str) -> Evidence | None:
    """The words in a file that a fact comes from, where its record can tell (`place_of`)."""
    whole, bracket, key = path.partition("[")
    owner = evaluator.owners.get(whole)
    finder = getattr(owner, "place_of", None)
    if finder is None:
        return None
    found = finder(whole.rpartition(".")[2] + bracket + key)
    return Evidence(*found) if found else None


def _subject(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]


def _rank(fired: _Fired) -> tuple[int, int, int, int, str]:
    line = next((item.line for item in fired.evidence if item.line is not None), 0)
    rule = fired.rule
    return SEVERITIES.index(rule.severity), fired.status != "seen", -rule.priority, line, rule.id


def _finding(fired: _Fired, roots: dict[str, Any], lang: str, clean: Callable[[str], str]) -> Finding:
    rule = fired.rule
    evaluator = Evaluator({**roots, "match": fired.match}, clean, _with_client(fired.local(), roots))
    remedies = []
    for remedy in rule.remedies:
        if remedy.condition and truth(evaluator.evaluate(parse(remedy.condition))) is False:
            continue
        text = fill(remedy.text.get(lang), evaluator)
        command = fill(remedy.command, evaluator) if remedy.command else ""
        if text is not None and command is not None:
            remedies.append(Advice(text, command, remedy.price, edits_of(remedy, evaluator, roots.get("clients"))))
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
    parent: dict[int, int] = {}
    for number, finding in enumerate(findings):
        for place, other in enumerate(findings):
            if other.rule == finding.rule or place in parent or not _same_client(finding, other):
                continue
            if _explains(rules[finding.rule], rules[other.rule]) and not _above(number, place, parent):
                parent[place] = number
    children: dict[int, list[int]] = {}
    for child, root in parent.items():
        children.setdefault(root, []).append(child)

    def build(number: int) -> Finding:
        inside = tuple(build(child) for child in children.get(number, ()))
        own = findings[number]
        severity = min((own.severity, *(item.severity for item in inside)), key=SEVERITIES.index)
        return own._replace(explains=inside, severity=severity)

    def first(number: int) -> int:
        """The best place of a finding or of what it explains: a cause is told where its worst consequence would be."""
        return min([number, *(first(child) for child in children.get(number, ()))])

    roots = [(number, build(number)) for number in range(len(findings)) if number not in parent]
    roots.sort(key=lambda root: (SEVERITIES.index(root[1].severity), first(root[0])))
    return tuple(root for _, root in roots)


def _same_client(finding: Finding, other: Finding) -> bool:
    """Whether one can be the cause of the other: a fault of one client explains nothing about another client."""
    return not (finding.about and other.about and finding.about != other.about)


def _above(number: int, maybe_root: int, parent: dict[int, int]) -> bool:
    """Whether `maybe_root` is already above `number`, so that folding it under would make a ring."""
    while number in parent:
        number = parent[number]
        if number == maybe_root:
            return True
    return number == maybe_root
