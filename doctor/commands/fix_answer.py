"""What the halves of `doctor fix` share: the options of a run, a look at the machine, and the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.commands.answer import show, speaker, speaks_unicode, write
from doctor.engine.diagnose import diagnose
from doctor.exits import Exit
from doctor.facts.collect import collect
from doctor.facts.side_by_side import Wishes
from doctor.report import fix as report
from doctor.report.typable import typable

if TYPE_CHECKING:
    import argparse

    from doctor.engine.finding import Finding
    from doctor.engine.rules import Rule
    from doctor.facts.facts import Facts
    from doctor.outside import Outside
    from doctor.redact import Redactor
    from doctor.report.fix import Outcome
    from doctor.secrets import Vault

SETTINGS = ("launch", "clients", "server", "ladders")
"""What edits of clients' settings depend on: the rest of the machine is not looked at."""
WITH_LAUNCH_FILE = (*SETTINGS, "machine", "gpu", "build", "gguf")
"""What the words of a launch command depend on too."""
FOR_ANOTHER = (*SETTINGS, "build", "gguf")
"""The same for a command that is written for another build than the one here: the machine is another one too."""


class Run(NamedTuple):
    """What every step needs. `launch` is the launch file to look at, as the user gave it or as it was found."""

    options: argparse.Namespace
    outside: Outside
    vault: Vault
    clean: Redactor
    lang: str
    rules: tuple[Rule, ...]
    launch: str | None = None
    subjects: tuple[str, ...] = SETTINGS

    def wishes(self) -> Wishes:
        """What is looked at."""
        return Wishes(
            server=self.options.server,
            launch=self.launch or self.options.launch,
            subjects=self.subjects,
            build_number=self.options.for_build,
            client=self.options.client,
            far=self.options.rule is not None,
        )


class Sight(NamedTuple):
    """The facts and what they mean."""

    facts: Facts
    findings: tuple[Finding, ...]


def look(run: Run, outside: Outside) -> Sight:
    """Collect and diagnose."""
    facts = collect(outside, run.vault, run.wishes())
    source = "launch" if run.subjects != SETTINGS else "settings"
    diagnosis = diagnose(run.rules, facts, lang=run.lang, source=source, clean=speaker(run.clean, run.lang))
    return Sight(facts, diagnosis.findings)


def consent(run: Run, shown: Outcome) -> tuple[Outcome, Exit | None]:
    """Show what would be done and ask; with the exit status where it is not to be done."""
    if run.options.dry_run:
        return shown, answer(run, shown._replace(state="dry-run"), Exit.OK)
    if run.options.yes:
        return shown, None
    if run.options.format == "json" or not run.outside.is_asking():
        return shown, answer(run, shown._replace(state="not-asked"), Exit.USAGE)
    show(report.rows(safe(run, shown), lang=run.lang, unicode=speaks_unicode()), run.options)
    if run.outside.ask(report.say("question", run.lang)).lower() not in ("y", "yes", "j", "是", "好"):
        return shown, answer(run, shown._replace(state="declined", diff=()), Exit.USAGE)
    return shown._replace(diff=(), by_hand=(), worse=()), None  # it was shown already


def safe(run: Run, outcome: Outcome) -> Outcome:
    """The outcome as it may be shown; the diff is safe already."""

    def shown(finding: Finding) -> Finding:
        return finding._replace(
            title=run.clean.known(finding.title), why=run.clean.known(finding.why), evidence=(), explains=()
        )

    advice = outcome.advice
    return outcome._replace(
        finding=shown(outcome.finding) if outcome.finding else None,
        advice=advice
        and advice._replace(
            text=run.clean.known(advice.text), command=typable(run.clean.known(advice.command)), edits=(), launch=()
        ),
        file=run.clean.text(outcome.file),
        backup=run.clean.text(outcome.backup),
        detail=run.clean.text(outcome.detail),
        worse=tuple((shown(finding), wants_key) for finding, wants_key in outcome.worse),
        left=tuple(map(shown, outcome.left)),
        gone=tuple(map(shown, outcome.gone)),
        by_hand=run.clean.tree(outcome.by_hand),
        command=typable(run.clean.text(outcome.command)),
        restart=typable(run.clean.text(outcome.restart)),
        running=run.clean.text(outcome.running),
    )


def answer(run: Run, outcome: Outcome, status: Exit) -> Exit:
    """Write the outcome in the form that is asked for."""
    made = safe(run, outcome)
    if run.options.format == "json":
        write(report.as_json(made))
    else:
        show(report.rows(made, lang=run.lang, unicode=speaks_unicode()), run.options)
    return Exit.OK if status == Exit.FINDINGS and run.options.fail_on == "never" else status
