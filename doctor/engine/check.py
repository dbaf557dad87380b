"""What authors of rules are held to: every rule names facts that exist, and its own examples come out as it says."""

from __future__ import annotations

import ast
import dataclasses
import re
import typing
from typing import TYPE_CHECKING, Any

from doctor.engine.conditions import ConditionError, parse
from doctor.engine.diagnose import diagnose
from doctor.engine.match import Matcher
from doctor.engine.rules import EACH
from doctor.engine.templates import pieces_of
from doctor.facts.facts import Facts
from doctor.facts.record import FactsFormatError, Unknown, field_types, from_json, not_collected

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doctor.engine.rules import Example, Rule


def faults(rules: tuple[Rule, ...], causes: Iterable[str] | None = None) -> tuple[str, ...]:
    """Everything wrong with a set of rules, one line each. `causes`, when given, is the vocabulary of causes."""
    found: list[str] = []
    ids = {rule.id for rule in rules}
    known_causes = set(causes) if causes is not None else {rule.cause for rule in rules}
    for rule in rules:
        found += [f"{rule.id}: {fault}" for fault in _faults_of(rule, rules, ids, known_causes)]
    return tuple(found)


def _faults_of(rule: Rule, rules: tuple[Rule, ...], ids: set[str], causes: set[str]) -> Iterator[str]:
    if rule.cause not in causes:
        yield f"cause {rule.cause!r} is not in rules/tables/causes.toml"
    for name in rule.explains:
        if name.startswith("cause:"):
            if name[6:] not in {other.cause for other in rules}:
                yield f"explains {name!r}, and no rule has that cause"
        elif "*" not in name and name not in ids:
            yield f"explains {name!r}, and there is no such rule"
    for name in rule.differential:
        if name not in ids:
            yield f"differential {name!r}, and there is no such rule"
    own = any(when.each for when in rule.when)
    if not own and any(not edit.client for remedy in rule.remedies for edit in remedy.edits):
        yield 'an edit wants a client: each = "clients" or "ladders", or client = "{…}"'
    groups = {name for symptom in rule.symptoms for name in re.compile(symptom.pattern).groupindex}
    local = {EACH[when.each]: _record_of(field_types(Facts)[when.each]) for when in rule.when if when.each}
    told = {**local, "client": _record_of(field_types(Facts)["clients"])} if "ladder" in local else local
    for text in _expressions(rule):
        yield from expression_faults(text, local)
        yield from _unknown_groups(text, groups)
    for text in _of_remedies(rule):
        yield from expression_faults(text, told)
        yield from _unknown_groups(text, groups)
    for template in _templates(rule):
        yield from template_faults(template, told)
        yield from _unknown_groups(template, groups)
    if (rule.symptoms or rule.when) and not {True, False} <= {example.match for example in rule.examples}:
        yield "wants at least one example that matches and one that does not"
    for number, example in enumerate(rule.examples, 1):
        try:
            fires = example_fires(rule, example)
        except ConditionError:
            continue  # reported above, where the text is
        except FactsFormatError as error:
            yield f"example {number}: {error}"
            continue
        if fires is not example.match:
            yield f"example {number} {'fires' if fires else 'does not fire'}, and should{' not' if fires else ''}"


def example_fires(rule: Rule, example: Example) -> bool:
    """Whether the rule alone fires on its example. Raises FactsFormatError for facts that do not exist."""
    from doctor.facts.pasted import paste_facts
    from doctor.logs.paste import Paste
    from doctor.outside import Outside
    from doctor.secrets import Vault

    paste = Paste([example.text.encode()])
    hits = Matcher([rule]).sift(paste)
    facts = with_facts(paste_facts(paste, Outside(environ={}), Vault()), example.facts)
    return bool(diagnose([rule], facts, hits).findings)


def with_facts(facts: Facts, given: dict[str, Any]) -> Facts:
    """Facts with some set, written as {"launch.ctx_size": 32768, "gpu.devices": [{…}]}. Raises FactsFormatError."""
    types = field_types(Facts)
    for path, value in given.items():
        subject, _, name = path.partition(".")
        if subject not in types:
            raise FactsFormatError(f"no subject {subject!r}")
        record = _record_of(types[subject])
        if not name:
            made = from_json(types[subject], _complete(types[subject], value), path)
        else:
            fields = field_types(record) if record else {}
            if name not in fields or record is None:
                raise FactsFormatError(f"no fact {path!r}")
            current = getattr(facts, subject)
            base = current if dataclasses.is_dataclass(current) and not isinstance(current, Unknown) else None
            if base is None:
                base = not_collected(record, "not in the example")
            entry = from_json(fields[name], _complete(fields[name], value), path)
            made = dataclasses.replace(typing.cast(Any, base), **{name: entry})
        facts = dataclasses.replace(facts, **{subject: made})
    return facts


def _complete(kind: Any, value: Any) -> Any:
    """Records inside examples may leave fields out: what is not said is absent ("" where a field must have a text)."""
    record = _record_of(kind)
    if record is None:
        return value
    if isinstance(value, list):
        return [_complete(record, item) for item in value]
    if not isinstance(value, dict) or set(value) == {"unknown"}:
        return value
    blank: dict[Any, Any] = {str: "", int: 0, bool: False}
    filled = {}
    for name, hint in field_types(record).items():
        if name in value:
            filled[name] = _complete(hint, value[name])
        elif type(None) in typing.get_args(hint):
            filled[name] = None
        else:
            filled[name] = blank.get(hint, [])
    return {**value, **filled}


def expression_faults(text: str, local: dict[str, Any] | None = None) -> Iterator[str]:
    """What is wrong with an expression: its grammar, and facts that do not exist."""
    try:
        node = parse(text)
    except ConditionError as error:
        yield str(error)
        return
    yield from _unknown_paths(node, dict(local or {}))


def template_faults(template: str, local: dict[str, Any] | None = None) -> Iterator[str]:
    """What is wrong with a text: braces, expressions, facts that do not exist."""
    try:
        pieces = pieces_of(template)
    except ConditionError as error:
        yield f"{error} in {template!r}"
        return
    for piece in pieces:
        if piece.expression is not None:
            yield from _unknown_paths(piece.expression, dict(local or {}))


def _unknown_groups(text: str, groups: set[str]) -> Iterator[str]:
    """`match.NAME` for which no pattern of the rule has a group."""
    for name in re.findall(r"\bmatch\.(\w+)", text):
        if name not in groups:
            yield f"no pattern captures {name!r}, and a text uses match.{name}"


def _expressions(rule: Rule) -> Iterator[str]:
    yield from (when.expr for when in rule.when)
    yield from (symptom.condition for symptom in rule.symptoms if symptom.condition)


def _of_remedies(rule: Rule) -> Iterator[str]:
    yield from (remedy.condition for remedy in rule.remedies if remedy.condition)
    targets = (edit.target for remedy in rule.remedies for edit in remedy.edits)
    yield from (target for target in targets if not target.isidentifier())


def _templates(rule: Rule) -> Iterator[str]:
    for text in (rule.title, rule.why, rule.decide, *(remedy.text for remedy in rule.remedies)):
        yield from text
    yield from (remedy.command for remedy in rule.remedies)
    for edit in (edit for remedy in rule.remedies for edit in remedy.edits):
        yield from (edit.value, edit.client)


def _unknown_paths(node: ast.AST, local: dict[str, Any]) -> Iterator[str]:
    """Names and fields in an expression that no fact has. `match` is whatever the pattern captures."""
    if isinstance(node, ast.GeneratorExp):
        loop = node.generators[0]
        yield from _unknown_paths(loop.iter, local)
        item = _record_of(_type_of(loop.iter, local))
        inner = {**local, loop.target.id if isinstance(loop.target, ast.Name) else "": item}
        for part in (node.elt, *loop.ifs):
            yield from _unknown_paths(part, inner)
        return
    if isinstance(node, ast.Name) and not (node.id in local or node.id in field_types(Facts) or node.id == "match"):
        yield f"no fact {node.id!r}"
    if isinstance(node, ast.Attribute):
        owner = _record_of(_type_of(node.value, local))
        if owner is not None and node.attr not in field_types(owner):
            yield f"{owner.__name__} has no fact {node.attr!r}"
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.Call) and child is node.func):
            yield from _unknown_paths(child, local)


def _type_of(node: ast.AST, local: dict[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return local.get(node.id, field_types(Facts).get(node.id))
    if isinstance(node, ast.Attribute):
        owner = _record_of(_type_of(node.value, local))
        return field_types(owner).get(node.attr) if owner is not None else None
    if isinstance(node, ast.Subscript):
        return _record_of(_type_of(node.value, local))
    return None


def _record_of(kind: Any) -> Any:
    """The record class inside a type such as Fact[tuple[GpuDevice, ...]], or None when there is none."""
    if dataclasses.is_dataclass(kind):
        return None if kind is Unknown else kind
    for part in typing.get_args(kind):
        found = _record_of(part)
        if found is not None:
            return found
    return None
