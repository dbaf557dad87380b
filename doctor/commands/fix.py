"""`doctor fix`: make the edit that cures the first finding an edit can cure, and see whether it did."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, NamedTuple

from doctor.commands.answer import redactor
from doctor.commands.fix_answer import Run, Sight, answer, consent, look
from doctor.commands.fix_launch import comes_first, fix_launch, launch_file, with_file
from doctor.commands.key import given_key
from doctor.engine.finding import every
from doctor.engine.holds import holds
from doctor.engine.load import load
from doctor.exits import Exit, UsageError
from doctor.facts.clients import names_of
from doctor.facts.record import Unknown, known
from doctor.fix import formats
from doctor.fix.diff import diff
from doctor.fix.plan import CannotFix, Plan, choices, planned
from doctor.fix.undo import undo
from doctor.fix.write import apply
from doctor.outside import OutsideError
from doctor.report.fix import Outcome
from doctor.report.words import language
from doctor.secrets import Vault

if TYPE_CHECKING:
    import argparse

    from doctor.engine.finding import Advice, Finding
    from doctor.outside import Outside


class _Choice(NamedTuple):
    """What is going to be done."""

    finding: Finding
    advice: Advice
    plan: Plan


def fix(options: argparse.Namespace, outside: Outside) -> Exit:
    """Look, choose, show, ask, write, look again."""
    vault = Vault()
    run = Run(options, outside, vault, redactor(outside, vault), language(options.lang, dict(outside.environ)), ())
    if options.undo:
        return _undo(run)
    key = given_key(options, outside, vault)
    run = run._replace(rules=load(outside).rules)
    _check_names(run)
    written = launch_file(run)
    run = run if written is None else with_file(run, written)
    seen = look(run, outside)
    if options.client is not None and not names_of(known(seen.facts.clients) or (), options.client):
        ids = sorted({client.id for client in known(seen.facts.clients) or ()})
        raise UsageError(f"--client: no client {options.client!r} here; there are: {', '.join(ids) or 'none'}")
    launch_first = written is not None and comes_first(run, seen)
    if written is not None and launch_first and (done := fix_launch(run, seen, written)) is not None:
        return done
    choice, refusals = _choose(run, seen, key)
    if choice is None and written is not None and not launch_first and not refusals:
        done = fix_launch(run, seen, written)
        if done is not None:
            return done
    if choice is None:
        return _nothing(run, seen, refusals)
    lines = diff(choice.plan, run.clean)
    worse = () if run.options.rule is not None else _worse(run, seen, choice.finding, refusals)
    shown = Outcome("planned", choice.finding, choice.advice, choice.plan.path, lines, worse=worse)
    shown, ended = consent(run, shown)
    return _carry_out(run, choice, shown) if ended is None else ended


def _check_names(run: Run) -> None:
    if run.options.rule is not None and not any(rule.id == run.options.rule for rule in run.rules):
        raise UsageError(f"--rule: no rule {run.options.rule!r}; `doctor rules list` shows them all")


def _choose(run: Run, seen: Sight, key: str | None) -> tuple[_Choice | None, list[tuple[Finding, CannotFix]]]:
    """The first edit that can be made, and what stood against those before it."""
    refusals: list[tuple[Finding, CannotFix]] = []
    clients = known(seen.facts.clients) or ()
    for finding, advice in choices(seen.findings, clients, run.options.rule, run.options.client):
        try:
            return _Choice(finding, advice, planned(run.outside, run.vault, advice, key)), refusals
        except CannotFix as error:
            refusals.append((finding, error))
    return None, refusals


def _worse(
    run: Run, seen: Sight, chosen: Finding, refusals: list[tuple[Finding, CannotFix]]
) -> tuple[tuple[Finding, bool], ...]:
    """The errors that come before the one an edit was found for, and whether an edit cures them that wants the key."""
    names = names_of(known(seen.facts.clients) or (), run.options.client) if run.options.client else None
    wants_key = [finding for finding, error in refusals if error.kind == "key-wanted"]
    before = []
    for finding in seen.findings:
        within = tuple(every((finding,)))
        if chosen in within:
            break
        if finding.severity == "error" and not finding.instead_of and (names is None or finding.about in ("", *names)):
            before.append((finding, any(item in wants_key for item in within)))
    return tuple(before)


def _nothing(run: Run, seen: Sight, refusals: list[tuple[Finding, CannotFix]]) -> Exit:
    """No edit can be made: say why, or which finding wants a hand."""
    if refusals:
        finding, error = refusals[0]
        advice = next(advice for advice in finding.remedies if advice.edits)
        outcome = Outcome(error.kind, finding, advice, advice.edits[0].file, (), detail=str(error))
        return answer(run, outcome, Exit.USAGE)
    wanted = run.options.rule
    names = names_of(known(seen.facts.clients) or (), run.options.client) if run.options.client else None
    left = [
        finding
        for finding in (every(seen.findings) if wanted else seen.findings)
        if (finding.rule == wanted if wanted else finding.severity != "note" and not finding.instead_of)
        and (names is None or finding.about in names)
    ]
    if not left:
        looked = known(seen.facts.clients) or known(seen.facts.launch) is not None
        return answer(run, Outcome("nothing" if looked else "nothing-here", None, None, "", ()), Exit.OK)
    return answer(run, Outcome("by-hand", left[0], next(iter(left[0].remedies), None), "", ()), Exit.FINDINGS)


def _carry_out(run: Run, choice: _Choice, shown: Outcome) -> Exit:
    """Write, and look again."""
    finding, plan = choice.finding, choice.plan
    try:
        entry = apply(run.outside, plan, finding.rule, finding.about)
    except OutsideError as error:
        return answer(run, shown._replace(state="not-written", detail=str(error)), Exit.USAGE)
    rule = next(rule for rule in run.rules if rule.id == finding.rule)
    after = look(run, _as_a_new_shell(run.outside, plan))
    verdict = holds(rule, after.facts, finding.about)
    state = "undecided" if isinstance(verdict, Unknown) else "not-cured" if verdict else "cured"
    before_rules = {finding.rule, *(told.rule for told, _ in shown.worse)}
    others = tuple(
        item
        for item in after.findings
        if item.severity == "error" and item.about in ("", finding.about) and item.rule not in before_rules
    )
    outcome = shown._replace(
        state=state,
        backup=entry.backup,
        detail=verdict.reason if isinstance(verdict, Unknown) else "",
        left=others,
        new_shell=formats.format_of(plan.path) == "shell",
    )
    return answer(run, outcome, Exit.OK if state == "cured" else Exit.FINDINGS)


def _as_a_new_shell(outside: Outside, plan: Plan) -> Outside:
    """The world with the variables a changed shell profile gives to a shell that starts now."""
    if formats.format_of(plan.path) != "shell":
        return outside
    environ = dict(outside.environ)
    data = formats.read("shell", plan.after.decode("utf-8"))
    for edit in plan.edits:
        name = edit.pointer[1:]
        if name in data:
            environ[name] = data[name]
        else:
            environ.pop(name, None)
    world = copy.copy(outside)
    world.environ = environ
    return world


def _undo(run: Run) -> Exit:
    try:
        done = undo(run.outside)
    except OutsideError as error:
        return answer(run, Outcome("not-written", None, None, "", (), detail=str(error)), Exit.USAGE)
    file, backup = (done.entry.file, done.entry.backup) if done.entry else ("", "")
    state = {"undone": "undone", "nothing": "nothing-to-undo"}.get(done.state, f"undo-{done.state}")
    outcome = Outcome(state, None, None, file, (), backup=backup)
    return answer(run, outcome, Exit.OK if done.state == "undone" else Exit.USAGE)
