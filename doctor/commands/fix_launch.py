"""`doctor fix` on a launch file: everything that can be put right in it as one edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.commands.fix_answer import FOR_ANOTHER, WITH_LAUNCH_FILE, answer, consent
from doctor.engine.finding import every
from doctor.exits import Exit, UsageError
from doctor.facts.collect import again, build_asked, own_help
from doctor.facts.launch.record import Seen, find
from doctor.facts.record import Unknown, known
from doctor.facts.server_address import port_of
from doctor.fix.diff import diff
from doctor.fix.launch.bench import Bench
from doctor.fix.launch.files import LaunchFiles
from doctor.fix.launch.hand import Hand
from doctor.fix.launch.improve import BUILD_UNKNOWN, advice_of, improve
from doctor.fix.launch.paper import Paper
from doctor.fix.launch.restart import restart
from doctor.fix.plan import CannotFix, Plan
from doctor.fix.write import apply
from doctor.launch.table import load_table
from doctor.outside import OutsideError
from doctor.report.fix import ByHand, Outcome

if TYPE_CHECKING:
    from doctor.commands.fix_answer import Run, Sight
    from doctor.engine.finding import Finding
    from doctor.fix.launch.steps import Step

RULE = "launch"
"""What the note of the edit has in place of a rule: it stands for several."""
_ANSWERS = ("ok", "loading", "unauthorised")


def launch_file(run: Run) -> Seen | None:
    """The launch file to put right: the one named, the one here, or the one here that the running server was started by."""
    if run.options.client is not None:
        return None
    found = find(run.outside, run.vault, text=run.options.launch, port=port_of(run.options.server))
    if isinstance(found, Unknown) and run.options.launch is not None:
        raise UsageError(f"--launch: {found.reason}")
    seen = known(found)
    if seen is not None and seen.origin.source == "process" and run.options.launch is None:
        return _of_process(run, seen)
    return seen if seen is not None and seen.origin.file is not None else None


def _of_process(run: Run, running: Seen) -> Seen | None:
    """The file in the current folder that holds the very arguments of a running server."""
    from doctor.facts.launch.files import find_here

    here = find_here(run.outside)
    arguments = [word.text for word in running.command.arguments]
    for seen in (here, *here.others) if here is not None else ():
        if [word.text for word in seen.command.arguments] == arguments:
            return here
    return None


def with_file(run: Run, seen: Seen) -> Run:
    """The run, with the launch file looked at and all that its words depend on."""
    here = run.options.for_build is None
    return run._replace(launch=seen.origin.file, subjects=WITH_LAUNCH_FILE if here else FOR_ANOTHER)


def comes_first(run: Run, seen: Sight) -> bool:
    """Whether the launch file is put right before clients' settings: it was named, or what it cures is worse."""
    if run.options.launch is not None:
        return True
    for finding in every(seen.findings):
        if advice_of(finding, run.options.rule) is not None:
            return True
        if finding.severity != "note" and not finding.instead_of and any(item.edits for item in finding.remedies):
            return False
    return False


def fix_launch(run: Run, seen: Sight, found: Seen) -> Exit | None:
    """Put the file right; None where there is nothing to change in it."""
    path = str(found.origin.file)
    bench = _bench(run, seen, found)
    try:
        files = LaunchFiles(run.outside, path, load_table(run.outside), inside=found.origin.source == "folder")
        hand = Hand(files, run.vault)
    except CannotFix as error:
        if improve(_paper(bench), bench, run.options.rule).done:
            return answer(
                run, _by_hand(run, bench, Outcome(error.kind, None, None, path, (), detail=str(error))), Exit.USAGE
            )
        return None
    if len(hand.now) != len(bench.seen):
        return None  # it was changed since
    improved = improve(hand, bench, run.options.rule)
    left_to_do = _steps(hand, improved.refused)
    if not improved.done:
        if not left_to_do or (run.options.launch is None and _worse_elsewhere(seen)):
            return None
        asked = all(step.why == BUILD_UNKNOWN for step in left_to_do)
        state = "launch-build" if asked else "launch-by-hand"
        return answer(
            run,
            _by_hand(run, bench, Outcome(state, None, None, path, ()), left_to_do, careful=not asked),
            Exit.FINDINGS,
        )
    target = hand.target or files.main
    before = files.before[target]
    plan = Plan(files.shown(target), target, before, files.bytes_of(target, hand.changed[target]), ())
    lines = diff(plan, run.clean)
    shown = Outcome("planned", None, None, plan.path, lines, gone=improved.gone(), by_hand=left_to_do)
    shown, ended = consent(run, shown)
    return _write(run, bench, hand, plan, shown) if ended is None else ended


def _worse_elsewhere(seen: Sight) -> bool:
    """Whether there is an error that has nothing to do with the launch command: it is told first."""
    errors = [finding for finding in seen.findings if finding.severity == "error" and not finding.instead_of]
    return bool(errors) and not any("launch" in finding.subjects for finding in errors)


def _bench(run: Run, seen: Sight, found: Seen) -> Bench:
    wishes = run.wishes()
    facts = vars(seen.facts)
    return Bench(
        run.outside, run.vault, run.rules, seen.facts, (found, *found.others), load_table(run.outside), build_asked(wishes, facts),
        own_help(run.outside, wishes, facts), run.lang, run.clean.text,
        again=lambda facts, launch: again(run.outside, wishes, facts, launch),
    )  # fmt: skip


def _paper(bench: Bench) -> Paper:
    return Paper([seen.command for seen in bench.seen], bench.vault)


def _by_hand(
    run: Run, bench: Bench, outcome: Outcome, steps: tuple[ByHand, ...] = (), *, careful: bool = True
) -> Outcome:
    """With the change as it is made by hand: where, and the whole command."""
    improved = improve(_paper(bench), bench, run.options.rule, careful=careful)
    told = improved.gone()
    if not steps:
        steps = tuple(ByHand(f"{outcome.file}:{step.line}", step.old, step.new, step.why) for step in improved.done)
    command = next((str(known(end.launch.command) or "") for end in improved.end if end is not None), "")
    return outcome._replace(gone=told, by_hand=steps, command=command)


def _steps(hand: Hand, steps: tuple[Step, ...]) -> tuple[ByHand, ...]:
    return tuple(
        ByHand(f"{hand.files.shown(hand.files.where(step.file))}:{step.line}", step.old, step.new, step.why)
        for step in steps
    )


def _write(run: Run, bench: Bench, hand: Hand, plan: Plan, shown: Outcome) -> Exit:
    """Write, read the file anew, and judge what it says now."""
    try:
        entry = apply(run.outside, plan, run.options.rule or RULE, "")
    except OutsideError as error:
        return answer(run, shown._replace(state="not-written", detail=str(error)), Exit.USAGE)
    after = find(run.outside, run.vault, text=plan.path if plan.target == hand.files.main else hand.files.path)
    left: tuple[Finding, ...] = ()
    same = isinstance(after, Seen) and _commands(after) == [item.command.words for item in hand.now]
    if isinstance(after, Seen):
        judged = [bench.judged(at, item.command) for at, item in enumerate((after, *after.others))]
        left = tuple(
            finding
            for found in judged
            for finding in (found.findings if found else ())
            if finding.severity != "note" and not finding.instead_of and "launch" in finding.subjects
        )
    names = [
        item.name for item, old in zip(hand.now, bench.seen, strict=True) if item.command.words != old.command.words
    ]
    text = hand.changed[plan.target] if plan.target == hand.files.main else hand.files.texts[hand.files.main]
    server = known(bench.facts.server)
    running = server is not None and known(server.state) in _ANSWERS
    errors = [finding for finding in left if finding.severity == "error"]
    outcome = shown._replace(
        state="launch-partly" if errors or not same else "launch-done",
        backup=entry.backup,
        left=tuple({finding.rule: finding for finding in left}.values()),
        restart=restart(hand.files.kind, hand.files.path, [name for name in names if name], text),
        running=str(known(server.url) or "") if running and server is not None else "",
    )
    return answer(run, outcome, Exit.OK if outcome.state == "launch-done" else Exit.FINDINGS)


def _commands(seen: Seen) -> list[object]:
    return [item.command.words for item in (seen, *seen.others)]
