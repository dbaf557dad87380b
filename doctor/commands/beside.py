"""What `check` says beside its findings about this machine: further servers of a launch file, build logs, corrected commands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from doctor.commands.answer import every
from doctor.engine.diagnose import diagnose
from doctor.engine.finding import Correction, Finding
from doctor.facts.facts import Facts, nothing_known
from doctor.facts.record import Unknown, known
from doctor.report.words import say

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.engine.load import Knowledge
    from doctor.facts.launch.record import Launch
    from doctor.outside import Outside


def of_others(
    knowledge: Knowledge,
    facts: Facts,
    others: list[Launch],
    told: tuple[Finding, ...],
    lang: str,
    clean: Callable[[str], str],
) -> tuple[Finding, ...]:
    """What is wrong with the further servers of a launch file, and not already said of the first."""
    said = {(finding.rule, finding.evidence) for finding in every(told)}
    added: list[Finding] = []
    away = "only the first server of the launch file is looked at"
    first = known(facts.launch)
    for other in others:
        same = first is not None and known(other.model) is not None and known(other.model) == known(first.model)
        changed = replace(facts, launch=other, server=Unknown(away), gguf=facts.gguf if same else Unknown(away))
        for finding in diagnose(knowledge.rules, changed, lang=lang, source="launch", clean=clean).findings:
            if "launch" in finding.subjects and (finding.rule, finding.evidence) not in said:
                said.add((finding.rule, finding.evidence))
                added.append(finding)
    return tuple(added)


def of_logs(
    outside: Outside, folder: str, knowledge: Knowledge, facts: Facts, lang: str, clean: Callable[[str], str]
) -> tuple[Finding, ...]:
    """What the logs of a build folder say."""
    from doctor.engine.match import Matcher
    from doctor.facts.build.folder import logs
    from doctor.logs.paste import Paste

    rules = [rule for rule in knowledge.rules if rule.id.startswith("build/")]
    here = replace(nothing_known("a build log"), cuda=facts.cuda, gpu=facts.gpu)
    found: list[Finding] = []
    for path, text in logs(outside, outside.real_path(folder)):
        hits = Matcher(rules).sift(Paste([text.encode()]))
        met = [rule for rule in rules if any(symptom.pattern in hits for symptom in rule.symptoms)]
        for finding in diagnose(met, here, hits, lang=lang, source=path, clean=clean).findings:
            in_log = any(evidence.line is not None for evidence in finding.evidence)
            if in_log and finding.rule not in [told.rule for told in found]:
                found.append(finding)
    return tuple(found)


def cmake_line(outside: Outside, facts: Facts, lang: str) -> Correction:
    """The cmake line for the cards and the toolkit of this machine."""
    from doctor.engine.load import read_table, rules_folder
    from doctor.facts.build.cmake_line import plan

    table = read_table(outside, rules_folder(outside), "cuda")
    made = plan(table, known(facts.gpu), known(facts.cuda), windows=outside.platform == "win32")
    return Correction(
        say("cmake_line", lang), None, tuple(("", "", None, words) for words in made.remarks), made.command
    )


def corrections(facts: Facts, others: list[Launch]) -> tuple[Correction, ...]:
    """What each launch command looks like on its build."""
    from doctor.engine.correct import correction

    build = known(facts.build)
    number = known(build.number) if build is not None else None
    found = [known(facts.launch), *others]
    return tuple(correction(launch, number) for launch in found if launch is not None)
