"""`doctor check`: look at this machine, its model, launch command, server and clients, and say what is wrong."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from doctor.commands.answer import answer, every, left_out, must_exist, redactor, speaker
from doctor.commands.html import must_be_writable
from doctor.commands.key import given_key
from doctor.commands.together import all_changes, launch_file
from doctor.engine.diagnose import diagnose
from doctor.engine.finding import Advice, Correction, Evidence, Finding, NotChecked, Report
from doctor.engine.load import load
from doctor.exits import Exit, UsageError
from doctor.facts.collect import collect
from doctor.facts.facts import ON_REQUEST, SUBJECTS, Facts, nothing_known
from doctor.facts.launch.record import Launch, find
from doctor.facts.record import FactsFormatError, Unknown, from_json, known, to_json
from doctor.facts.side_by_side import CRASHED, LEFT_OUT, LOOKED_AT, Wishes
from doctor.outside import OutsideError
from doctor.report.subjects import CHOICES, SHOWN_CHOICES
from doctor.report.words import language, say
from doctor.secrets import Vault

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from doctor.engine.diagnose import Diagnosis
    from doctor.engine.load import Knowledge
    from doctor.outside import Outside


SAVED_LIMIT = 2 << 20
"""Bytes of a file of saved facts. A machine with eight cards and a long log saves some 0.5 MB."""


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
        looking = [
            name
            for name in (
                "model",
                "launch",
                "server",
                "binary",
                "key_env",
                "key_file",
                "only",
                "skip",
                "for_build",
                "build_dir",
            )
            if getattr(options, name)
        ]
        if looking:
            raise UsageError(f"--from takes saved facts as they are: leave out --{looking[0].replace('_', '-')}")
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


def wishes_of(options: argparse.Namespace, outside: Outside, vault: Vault) -> Wishes:
    """What the options ask for. Raises UsageError for what cannot be."""
    names = LOOKED_AT
    wanted = set(names)
    for option, value in (("--only", options.only), ("--skip", options.skip)):
        typed = [name.strip().lower() for name in (value or "").split(",") if name.strip()]
        wrong = [name for name in typed if name not in CHOICES]
        if wrong:
            raise UsageError(f"{option}: no subject {wrong[0]!r}; subjects are {', '.join(SHOWN_CHOICES)}")
        if value is not None and not typed:
            raise UsageError(f"{option} names no subject; subjects are {', '.join(SHOWN_CHOICES)}")
        listed = [CHOICES[name] for name in typed]
        if listed:
            wanted = set(listed) if option == "--only" else wanted - set(listed)
    key = given_key(options, outside, vault)
    _check_places(options, outside)
    return Wishes(
        model=options.model,
        launch=options.launch,
        server=options.server,
        binary=options.binary,
        key_token=vault.put(key) if key else None,
        want_hash=options.hash,
        subjects=tuple(name for name in names if name in wanted),
        build_number=options.for_build,
        build_dir=options.build_dir,
        progress=_progress if options.hash and outside.redraws() else None,
    )


def _check_places(options: argparse.Namespace, outside: Outside) -> None:
    """Raises UsageError when what the user named is not there or cannot be what it should be."""
    from doctor.facts.urls import parse_address

    if options.server is not None and (problem := parse_address(options.server).problem):
        raise UsageError(f"--server: {options.server.rpartition('@')[2]!r}: {problem}")
    if options.launch is not None:
        found = find(outside, Vault(), text=options.launch)
        if isinstance(found, Unknown):
            raise UsageError(f"--launch: {found.reason}")
    if options.model is not None:
        must_exist(outside, "--model", options.model)
    if options.build_dir is not None:
        from doctor.facts.build.folder import has_cache

        must_exist(outside, "--build-dir", options.build_dir)
        if not has_cache(outside, outside.real_path(options.build_dir)):
            raise UsageError(f"--build-dir: {options.build_dir}: no CMakeCache.txt here: configure with cmake -B first")
    if options.binary is not None and outside.which(options.binary) is None:
        must_exist(outside, "--binary", options.binary)


def load_facts(outside: Outside, path: str) -> Facts:
    """Saved facts. Raises UsageError when the file is not what `--save` writes."""
    import json

    try:
        data = json.loads(outside.read_text(path, SAVED_LIMIT))
        if isinstance(data, dict) and "facts" in data:
            data = data["facts"]
        facts = from_json(Facts, data)
        assert isinstance(facts, Facts)
        return facts
    except OutsideError as error:
        raise UsageError(f"--from: {error}") from None
    except (ValueError, RecursionError) as error:
        detail = str(error) if isinstance(error, FactsFormatError) else f"not JSON ({error})"
        raise UsageError(f"--from: {path} does not hold facts saved with --save: {detail}") from None


def save_facts(outside: Outside, path: str, plain: dict[str, Any]) -> None:
    """Write redacted facts. Raises UsageError when that is not possible."""
    import json

    from doctor import __version__

    data = {"schema_version": 1, "tool": {"name": "llama-doctor", "version": __version__}, "facts": plain}
    try:
        outside.write_text(path, json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    except OutsideError as error:
        raise UsageError(f"--save: {error}") from None


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


def _progress(done: int, total: int) -> None:
    percent = 100 * done // total if total else 100
    sys.stderr.write(f"\rsha256: {percent:3d} %" + ("\n" if done >= total else ""))
    sys.stderr.flush()
