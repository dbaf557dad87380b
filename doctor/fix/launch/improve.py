"""Puts a launch command right: first what its build would not take as it was meant, then what rules say, one after the other,
each judged by the command that the ones before it made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.engine.finding import every
from doctor.fix.launch.changes import (
    ANY_BUILD,
    Change,
    Variable,
    corrections,
    of_variables,
    outcome,
    state_of,
    towards,
)
from doctor.fix.launch.steps import Improved, Step
from doctor.fix.plan import CannotFix
from doctor.launch.command_text import hidden
from doctor.launch.other_servers import OTHER_SERVERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doctor.engine.finding import Advice, Finding
    from doctor.fix.launch.bench import Bench, Judged
    from doctor.fix.launch.changes import State, Wanted
    from doctor.fix.launch.paper import Worker

STEPS = 400
SECONDS = 30.0
"""Longest time for all steps: a file that needs more is no launch file of a person's."""
BUILD_UNKNOWN = "build-unknown"
"""Why a change is not made that is right on some builds only."""
_WITHOUT = "leave it out"
"""In rules/tables/option_fixes.toml: an option that has no successor and needs none. Any other reason for one that is not
known (another program's, a file with more options) wants somebody who knows what was meant."""


def improve(worker: Worker, bench: Bench, rule: str | None = None, *, careful: bool = True) -> Improved:
    """Everything that can be put right, or what this rule says.

    `careful`: what is wrong on some builds only is left where the build is not known.
    """
    return _Run(worker, bench, rule, careful=careful).all()


def advice_of(finding: Finding, rule: str | None) -> Advice | None:
    """The remedy to carry out: the first one, and only where it is a change of the launch command; of a rule that was asked
    for by name the first that is."""
    unasked = finding.severity == "note" or finding.instead_of or finding.status != "seen"
    if finding.rule != rule if rule else unasked:
        return None
    remedies = finding.remedies if rule else finding.remedies[:1]
    return next((advice for advice in remedies if advice.launch), None)


class _Run:
    def __init__(self, worker: Worker, bench: Bench, rule: str | None, *, careful: bool) -> None:
        self._careful = careful
        self._worker = worker
        self._bench = bench
        self._rule = rule
        self._table = bench.table()
        self._tried: set[tuple[object, ...]] = set()
        self._set: dict[int, set[str]] = {}  # options that a remedy has set: no later one sets them again
        self._judged: dict[tuple[object, ...], Judged | None] = {}
        self._corrected: dict[tuple[object, ...], list[Wanted]] = {}
        self._done: list[Step] = []
        self._refused: list[Step] = []
        self._rules: list[str] = []
        self._told: dict[str, Finding] = {}

    def all(self) -> Improved:
        end_at = self._bench.outside.monotonic() + SECONDS
        for at in range(len(self._worker.now)):
            for finding in every(found.findings if (found := self._judge(at)) else ()):
                if not finding.instead_of:
                    self._told.setdefault(finding.rule, finding)
        for _ in range(STEPS):
            if self._bench.outside.monotonic() > end_at:
                break
            if not (self._rule is None and self._correct()) and not self._remedy():
                break
        servers = range(len(self._worker.now))
        end = tuple(self._judge(at) for at in servers)
        rules = tuple(dict.fromkeys(self._rules))
        return Improved(tuple(self._done), tuple(self._refused), rules, tuple(self._told.values()), end)

    def _judge(self, at: int) -> Judged | None:
        command = self._worker.now[at].command
        key = (at, command.words, tuple(command.variables.items()))
        if key not in self._judged:
            self._judged[key] = self._bench.judged(at, command)
        return self._judged[key]

    # --- what the build wants written otherwise ------------------------------------------------------------------------

    def _correct(self) -> bool:
        """Carry out the next correction; False when there is none."""
        for at in range(len(self._worker.now)):
            for change in self._corrections(at):
                key = self._key(at, change)
                if key in self._tried:
                    continue
                self._tried.add(key)
                reason = self._not_ours(change)
                if reason:
                    self._refuse(at, change, reason)
                else:
                    self._carry_out(at, [change])
                return True
        return False

    def _key(self, at: int, change: Wanted) -> tuple[object, ...]:
        """By what a change is known again after others were made."""
        if isinstance(change, Variable):
            return at, change
        texts = [word.text for word in self._worker.now[at].command.words]
        return at, tuple(texts[max(0, change.first - 1) : change.end]), change.words, change.kind

    def _corrections(self, at: int) -> list[Wanted]:
        command = self._worker.now[at].command
        if command.program in OTHER_SERVERS:
            return []
        key = (at, command.words, tuple(command.variables.items()))
        if key not in self._corrected:
            judged = self._judge(at)
            found = corrections(command, self._table, self._bench.number(), self._bench.vault)
            self._corrected[key] = found + (of_variables(judged.launch, command) if judged else [])
        return self._corrected[key]

    def _not_ours(self, change: Wanted) -> str:
        reason = change.why.partition("; ")[2]
        if change.kind == "unknown" and isinstance(change, Change) and not change.words and reason:
            return "" if _WITHOUT in reason else reason
        if change.kind == "too-new" and isinstance(change, Change) and not change.words:
            return change.why
        if self._careful and self._bench.build is None and change.kind not in ANY_BUILD:
            return BUILD_UNKNOWN
        return ""

    # --- what rules say -----------------------------------------------------------------------------------------------

    def _remedy(self) -> bool:
        """Carry out the next remedy; False when there is none."""
        for at in range(len(self._worker.now)):
            for finding, advice in self._remedies(at):
                if (at, finding.rule) in self._tried:
                    continue
                self._tried.add((at, finding.rule))
                changes = self._towards(at, advice)
                names = self._options(at, changes)
                if not changes or names & self._set.get(at, set()):
                    continue
                if self._carry_out(at, changes):
                    self._set.setdefault(at, set()).update(names)
                    self._rules.append(finding.rule)
                    self._told.setdefault(finding.rule, finding)
                return True
        return False

    def _remedies(self, at: int) -> Iterator[tuple[Finding, Advice]]:
        judged = self._judge(at)
        # Another server has the same settings under other names: what is written here would not be its own.
        other = self._worker.now[at].command.program in OTHER_SERVERS
        findings = judged.findings if judged and not other else ()
        for finding in every(findings) if self._rule else findings:
            advice = advice_of(finding, self._rule)
            if advice is not None:
                yield finding, advice

    def _towards(self, at: int, advice: Advice) -> list[Wanted]:
        judged = self._judge(at)
        command = self._worker.now[at].command
        vault = self._bench.vault
        wanted = towards(command, judged.launch, advice.launch, vault) if judged else []
        return [
            change for change in wanted if outcome(command, change, vault) != state_of(command)
        ]  # it says so already

    def _options(self, at: int, changes: Sequence[Wanted]) -> set[str]:
        """The options that changes set or take out, by their canonical names."""
        command = self._worker.now[at].command
        names: set[str] = set()
        for change in changes:
            if isinstance(change, Variable):
                variable = self._table.variable(change.new, self._bench.number())
                names.add(variable.option if variable else change.new)
                continue
            texts = [word.text for word in command.words[max(0, change.first - 1) : change.end]]
            for text in (*texts, *change.words):
                segment = self._table.at(text, self._bench.number())
                if segment is not None:
                    names.add(segment.option)
        return names

    # --- both ---------------------------------------------------------------------------------------------------------

    def _carry_out(self, at: int, changes: Sequence[Wanted]) -> bool:
        """All changes or none."""
        steps = [self._step(at, change, change.why) for change in changes]
        made: list[Wanted] = []
        state = self._worker.state()
        for change in changes:
            try:
                self._worker.carry_out(at, change, self._allowed(at, change))
                made.append(change)
            except CannotFix as error:
                self._worker.back_to(state)
                self._refuse(at, change, str(error), changes)
                return False
        self._done += steps
        return True

    def _refuse(self, at: int, change: Wanted, reason: str, together: Sequence[Wanted] = ()) -> None:
        for item in together or [change]:
            step = self._step(at, item, reason)
            if not any(step[:5] == told[:5] for told in self._refused):
                self._refused.append(step)

    def _step(self, at: int, change: Wanted, why: str) -> Step:
        command = self._worker.now[at].command
        if isinstance(change, Variable):
            file, line = command.places.get(change.name, ("", 0))
            return Step(at, line, file, f"{change.name}={change.old}", f"{change.new}={change.value}", why)
        word = command.words[min(change.first, len(command.words) - 1)]
        old = self._old(at, change)
        new = " ".join(change.words)
        if not change.free and change.first > command.first and not old.startswith("-"):
            before = hidden(command.words, self._bench.vault)[change.first - 1]  # a value is shown with its option
            word = word if old else command.words[change.first - 1]
            old, new = f"{before} {old}".rstrip(), f"{before} {new}".rstrip()
        return Step(at, word.line, word.file, old, new, why)

    def _old(self, at: int, change: Wanted) -> str:
        if isinstance(change, Variable):
            return change.name
        return " ".join(hidden(self._worker.now[at].command.words, self._bench.vault)[change.first : change.end])

    def _allowed(self, at: int, change: Wanted) -> dict[int, list[State]]:
        """The states further servers may come to: what the same words, shared with them, are to become there too."""
        found: dict[int, list[State]] = {}
        for other in range(len(self._worker.now)):
            if other == at:
                continue
            wanted = list(self._corrections(other)) if self._rule is None else []
            for _, advice in self._remedies(other):
                wanted += self._towards(other, advice)
            command = self._worker.now[other].command
            found[other] = [
                outcome(command, item, self._bench.vault) for item in wanted if self._same(at, change, other, item)
            ]
        return found

    def _same(self, at: int, change: Wanted, other: int, item: Wanted) -> bool:
        if isinstance(change, Variable) or isinstance(item, Variable):
            return change == item
        return change.words == item.words and self._old(at, change) == self._old(other, item)
