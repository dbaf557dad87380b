"""`doctor check`: look at this machine, its model, launch command, server and clients, and say what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.commands.answer import answer, left_out, redactor, speaker
from doctor.commands.beside import cmake_line, corrections, of_logs, of_others
from doctor.commands.check_wishes import must_look_nowhere, wishes_of
from doctor.commands.html import must_be_writable
from doctor.commands.saved_facts import load_facts, save_facts
from doctor.commands.together import all_changes, launch_file
from doctor.engine.diagnose import diagnose
from doctor.engine.finding import Advice, Evidence, Finding, NotChecked, Report
from doctor.engine.load import load
from doctor.exits import Exit
from doctor.facts.collect import collect
from doctor.facts.facts import ON_REQUEST, SUBJECTS, Facts
from doctor.facts.launch.record import Launch
from doctor.facts.record import Unknown, known, to_json
from doctor.facts.side_by_side import CRASHED, LEFT_OUT, Wishes
from doctor.report.words import language, say
from doctor.secrets import Vault

if TYPE_CHECKING:
    import argparse

    from doctor.engine.diagnose import Diagnosis
    from doctor.outside import Outside


def check(options: argparse.Namespace, outside: Outside) -> Exit:
    """Collect (or load) facts, diagnose them, answer."""
    from doctor.report.summary import bars, subjects_of

    lang = language(options.lang, dict(outside.environ))
    must_be_writable(outside, options)
    vault = Vault()
    clean = redactor(outside, vault)
    knowledge = load(outside)
    others: list[Launch] = []
    wishes: Wishes | None = None
    if options.from_file is not None:
        must_look_nowhere(options)
        facts = load_facts(outside, options.from_file)
    else:
        wishes = wishes_of(options, outside, vault)
        facts = collect(outside, vault, wishes, others)
    plain: dict[str, Any] = to_json(facts)
    if options.save is not None:
        save_facts(outside, options.save, clean.tree(plain))
    diagnosis = diagnose(knowledge.rules, facts, lang=lang, source="launch", clean=speaker(clean, lang))
    crashes = crashed(facts)
    further = of_others(knowledge, facts, others, diagnosis.findings, lang, speaker(clean, lang))
    if options.build_dir is not None:
        further = (*of_logs(outside, options.build_dir, knowledge, facts, lang, speaker(clean, lang)), *further)
    findings = (*diagnosis.findings, *further, *crashes)
    subjects = subjects_of(facts, findings, lang)
    report = Report(
        command="check",
        findings=findings,
        not_checked=(*not_checked(facts, diagnosis), *left_out(knowledge)),
        facts=plain,
        found_nothing=say("nothing_check", lang),
        healthy=any(subject.state == "ok" for subject in subjects),
        corrections=(
            *(corrections(facts, others) if options.fix else ()),
            *((cmake_line(outside, facts, lang),) if options.build_dir is not None else ()),
            *(
                all_changes(outside, vault, knowledge, facts, findings, wishes, lang, speaker(clean, lang))
                if wishes
                else ()
            ),
        ),
        launch_file=launch_file(facts),
        notes=(say("nothing_here", lang),) if options.build_dir is None and nothing_here(facts) else (),
    )
    status = answer(report, options, lang, clean, subjects, bars=bars(facts, lang), outside=outside)
    return Exit.INTERNAL if crashes else status


def nothing_here(facts: Facts) -> bool:
    """Whether a whole check has found a machine and nothing else: no server, command, model or client."""
    looked_for = (facts.launch, facts.server, facts.gguf, facts.clients)
    if any(isinstance(value, Unknown) and value.reason in (LEFT_OUT, "not collected") for value in looked_for):
        return False
    return not any(known(value) for value in looked_for)


def not_checked(facts: Facts, diagnosis: Diagnosis) -> tuple[NotChecked, ...]:
    """Subjects that could not be looked at, then single facts that left a rule undecided."""
    subjects = {
        name: value.reason for name in SUBJECTS if isinstance(value := getattr(facts, name), Unknown) and name != "log"
    }
    whole = [NotChecked(name, reason) for name, reason in subjects.items()]
    single = [
        item
        for item in diagnosis.undecided
        if item.check.partition(".")[0].partition("[")[0] not in (*subjects, "log", "match", *ON_REQUEST)
    ]
    return (*whole, *single)


def crashed(facts: Facts) -> tuple[Finding, ...]:
    """A finding for every check that crashed."""
    found = []
    for name in SUBJECTS:
        value = getattr(facts, name)
        if isinstance(value, Unknown) and value.reason.startswith(CRASHED):
            found.append(
                Finding(
                    rule=f"doctor/{name}-crashed",
                    cause="doctor-fault",
                    severity="warning",
                    status="seen",
                    title=f"doctor's own check of {name} crashed",
                    why="This is a fault of doctor, not of your set-up; everything else was checked.",
                    evidence=(Evidence(value.reason, name, None),),
                    remedies=(Advice(f"Report it; until then leave the check out with --skip {name}", "", "none"),),
                    explains=(),
                    references=(),
                )
            )
    return tuple(found)
