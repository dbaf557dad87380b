"""Which rules are true: by what a text says, by facts, once or of each item of a list; and the evidence for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.engine.conditions import Evaluator, parse, truth
from doctor.engine.finding import Evidence
from doctor.engine.rules import EACH, in_builds
from doctor.facts.record import Unknown, known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doctor.engine.match import Hit, Hits
    from doctor.engine.rules import Rule, Symptom, When
    from doctor.facts.facts import Facts

MOST_EVIDENCE = 5


class _Item(NamedTuple):
    """One item of a list of facts: its name in expressions, its path, and itself."""

    name: str
    path: str
    value: Any


class Fired(NamedTuple):
    """A rule that is true: how sure, why, what its pattern caught, and of which item of a list."""

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


def by_symptom(rule: Rule, hits: Mapping[str, Hits], roots: dict[str, Any], facts: Facts, source: str) -> Fired | None:
    """The rule by a text: when one of its symptoms stands in it and none of their conditions is false."""
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
    return Fired(rule, status, tuple(Evidence(text, source, number) for number, text in lines), match)


def _hits_of(symptom: Symptom, hits: Mapping[str, Hits]) -> tuple[Hit, ...]:
    found = hits[symptom.pattern]
    if not symptom.last:
        return found.first
    return () if found.last is None else (found.last,)


def by_facts(rule: Rule, roots: dict[str, Any], undecided: dict[str, str], source: str) -> list[Fired]:
    """The rule by its conditions: once, or once for each item of a list that one of them is true of."""
    fired: dict[str, Fired] = {}
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
) -> Fired | None:
    blank = Fired(rule, "likely" if when.likely else "seen", (), {}, (), item)
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
