"""A remedy's `edit` with the values of this machine: which file, which place in it, what to write there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.engine.conditions import Evaluator, parse, truth
from doctor.engine.finding import Edit
from doctor.engine.templates import fill
from doctor.facts.record import known
from doctor.launch.quoting import split_command

if TYPE_CHECKING:
    from doctor.engine.rules import EditRule, Remedy


def edits_of(remedy: Remedy, evaluator: Evaluator, clients: Any) -> tuple[Edit, ...]:
    """The edits of a remedy; () where one of them has no place that can be written, no value, or might be wrong."""
    if not remedy.edits or (remedy.condition and truth(evaluator.evaluate(parse(remedy.condition))) is not True):
        return ()
    # What is written is the value itself: hiding names and keys is for what is shown.
    plain = Evaluator(evaluator.roots, local=evaluator.local)
    made = [_edit(rule, plain, known(clients) or ()) for rule in remedy.edits]
    edits = tuple(edit for edit in made if edit is not None)
    same_file = len({edit.file for edit in edits}) == 1
    return edits if len(edits) == len(made) and same_file else ()


def launch_of(remedy: Remedy, evaluator: Evaluator) -> tuple[str, ...]:
    """The words of the launch command as a remedy wants it; () where it changes none, or might be wrong."""
    if not remedy.launch or (remedy.condition and truth(evaluator.evaluate(parse(remedy.condition))) is not True):
        return ()
    plain = Evaluator(evaluator.roots, local=evaluator.local)
    command = fill(remedy.command, plain)
    before = fill("{launch.command}", plain)
    return () if command is None or command == before else tuple(split_command(command))


def _edit(rule: EditRule, evaluator: Evaluator, clients: tuple[Any, ...]) -> Edit | None:
    client = _client(rule, evaluator, clients)
    value = fill(rule.value, evaluator) if rule.value else ""
    if client is None or value is None:
        return None
    if rule.target.isidentifier():
        return _named(rule, rule.target, value, client)
    item = evaluator.evaluate(parse(rule.target))
    if not hasattr(item, "pointer"):
        return None
    return _standing(rule, item, value) or _named(rule, item.name, value, client, of_shell=True)


def _client(rule: EditRule, evaluator: Evaluator, clients: tuple[Any, ...]) -> Any:
    if not rule.client:
        return evaluator.local.get("client", ("", None))[1]
    name = fill(rule.client, evaluator)
    return next((client for client in clients if client.name == name), None)


def _named(rule: EditRule, setting: str, value: str, client: Any, of_shell: bool = False) -> Edit | None:
    """The client's own place for a setting. `of_shell`: what is removed there comes from the shell all the same."""
    for place in known(client.writable) or ():
        if place.setting == setting:
            value = place.prefix + value if value else ""
            return Edit(
                setting, rule.action, value, place.file, place.pointer, place.kind, of_shell and rule.action == "remove"
            )
    return None


def _standing(rule: EditRule, item: Any, value: str) -> Edit | None:
    """The place a setting or a key stands in."""
    from doctor.facts.clients.record import standing

    place = standing(item)
    if place is None:
        return None
    return Edit(item.name, rule.action, getattr(item, "prefix", "") + value if value else "", *place, "")
