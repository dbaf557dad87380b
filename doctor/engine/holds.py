"""Whether one rule is still true of one client: what is asked after an edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.engine.conditions import Evaluator, parse, truth
from doctor.engine.rules import EACH
from doctor.facts.record import Unknown, known

if TYPE_CHECKING:
    from doctor.engine.rules import Rule
    from doctor.facts.facts import Facts


def holds(rule: Rule, facts: Facts, about: str) -> bool | Unknown:
    """True or false as the rule's conditions say of the item with this name, unknown where that cannot be decided."""
    roots = {name: getattr(facts, name) for name in facts.__dataclass_fields__}
    answers: list[bool | Unknown] = []
    for when in rule.when:
        if not when.each:
            answers.append(_true(when.expr, roots, {}))
            continue
        items = roots.get(when.each)
        if isinstance(items, Unknown):
            answers.append(items)
        for place, item in enumerate(known(items) or ()):
            if not about or getattr(item, "name", "") == about:
                answers.append(_true(when.expr, roots, {EACH[when.each]: (f"{when.each}[{place}]", item)}))
    unknown = next((answer for answer in answers if isinstance(answer, Unknown)), None)
    return True if any(answer is True for answer in answers) else unknown if unknown is not None else False


def _true(expression: str, roots: dict[str, Any], local: dict[str, tuple[str, Any]]) -> bool | Unknown:
    return truth(Evaluator({**roots, "match": {}}, local=local).evaluate(parse(expression)))
