"""`doctor log`: anything pasted becomes findings with the lines they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.commands.answer import answer, left_out, must_exist, redactor, speaker
from doctor.commands.html import must_be_writable
from doctor.commands.together import together
from doctor.engine.diagnose import diagnose
from doctor.engine.finding import Report
from doctor.engine.fit import concerned, nearest
from doctor.engine.load import load
from doctor.engine.match import Matcher
from doctor.exits import Exit, UsageError
from doctor.facts.pasted import paste_facts
from doctor.facts.record import Unknown, known, to_json
from doctor.fix.launch.bench import Bench
from doctor.launch.table import load_table
from doctor.logs.complaint import complaint_lines
from doctor.logs.paste import Paste
from doctor.logs.trouble import trouble_lines
from doctor.outside import OutsideError
from doctor.report.words import language, say
from doctor.secrets import Vault

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from doctor.engine.diagnose import Diagnosis
    from doctor.engine.finding import Finding
    from doctor.engine.load import Knowledge
    from doctor.facts.facts import Facts
    from doctor.facts.launch.record import Seen
    from doctor.facts.log import Log
    from doctor.outside import Outside


ANSWERED = 1
"""From this on a finding does not answer what is asked."""


def log(options: argparse.Namespace, outside: Outside) -> Exit:
    """Read the file (or standard input) and answer with what is wrong in it."""
    lang = language(options.lang, dict(outside.environ))
    must_be_writable(outside, options)
    if options.model is not None:
        must_exist(outside, "--model", options.model)
    source = "input" if options.file == "-" else options.file
    vault = Vault()
    knowledge = load(outside)
    clean = redactor(outside, vault)
    benches: list[Bench] = []
    words: list[bool] = []
    try:
        with outside.stdin() if options.file == "-" else outside.open(options.file) as stream:
            chunks = noting_words(outside.chunks(stream), words)
            facts, found, count = read(
                chunks,
                knowledge,
                outside,
                vault,
                lang=lang,
                source=source,
                clean=speaker(clean, lang),
                model=options.model,
                benches=benches,
            )
    except OutsideError as error:
        raise UsageError(str(error)) from None
    understood = recognised(facts)
    report = Report(
        command="log",
        findings=found.findings,
        not_checked=(
            *left_out(knowledge),
            *(item for item in found.undecided if item.check.startswith(("log.", "timeline."))),
        ),
        facts={
            "log": to_json(facts.log),
            "launch": to_json(facts.launch),
            "build": to_json(facts.build),
            "budget": to_json(facts.budget),
            "speed": to_json(facts.speed),
            "timeline": to_json(facts.timeline),
        },
        found_nothing=nothing(facts, lang) if count and words else say("empty_log", lang),
        healthy=understood,
        notes=notes(found.findings, lang),
        corrections=tuple(item for bench in benches for item in together(bench)),
    )
    return answer(report, options, lang, clean, outside=outside)


def noting_words(chunks: Iterable[bytes], into: list[bool]) -> Iterator[bytes]:
    """The same chunks; `into` is no longer empty once one of them held more than blanks."""
    for chunk in chunks:
        if not into and not chunk.isspace():
            into.append(True)
        yield chunk


def notes(findings: tuple[Finding, ...], lang: str) -> tuple[str, ...]:
    """What stands before the findings: that they are guesses, or what would tell apart what a client may mean."""
    if any(finding.status == "guess" for finding in findings):
        known_too = any(finding.status != "guess" and finding.severity != "note" for finding in findings)
        return (say("guessed_slow" if known_too else "guessed", lang),)
    first = next((finding for finding in findings if finding.severity != "note"), None)
    open_question = first is not None and (first.status == "likely" or any(f.instead_of for f in findings))
    if first is not None and open_question and first.rule.startswith("client/"):
        return (say("walk", lang),)
    return ()


def nothing(facts: Facts, lang: str) -> str:
    """What is said when nothing is found: whether anything was understood, and what such a text cannot show."""
    log = known(facts.log)
    if log is not None and isinstance(log.layers_offloaded, Unknown):
        return say("nothing_log_quiet", lang).format(level=known(log.verbosity))
    return say("nothing_log" if recognised(facts) else "nothing_recognised", lang)


def recognised(facts: Facts) -> bool:
    """Whether a text held anything that is known: a fact of a log, a launch command, or the address a client is given."""
    log = known(facts.log)
    asked = known(facts.asked)
    return (
        known(facts.launch) is not None
        or (asked is not None and bool(asked.endpoints))
        or (log is not None and any(value for value in _values(log)))
    )


def _values(log: Log) -> Iterator[object]:
    return (known(getattr(log, name)) for name in log.__dataclass_fields__ if name != "lines")


def read(
    chunks: Iterable[bytes],
    knowledge: Knowledge,
    outside: Outside,
    vault: Vault,
    *,
    lang: str,
    source: str,
    clean: Callable[[str], str] = str,
    model: str | None = None,
    benches: list[Bench] | None = None,
) -> tuple[Facts, Diagnosis, int]:
    """(facts, diagnosis, number of lines) of a text. `clean` is what its words pass before they stand in advice.

    `model` is a file the user names: a path in the text itself is never opened. `benches` is given what it takes to judge
    the launch command again.
    """
    paste = Paste(chunks)
    hits = Matcher(knowledge.rules).sift(paste)
    seen: list[Seen] = []
    facts = paste_facts(paste, outside, vault, model, seen)
    if benches is not None and seen and known(facts.launch) is not None:
        number = known(build.number) if (build := known(facts.build)) else None
        benches.append(
            Bench(
                outside,
                vault,
                knowledge.rules,
                facts,
                tuple(seen),
                load_table(outside),
                number,
                None,
                lang,
                clean,
                hits,
                source,
            )
        )
    found = diagnose(knowledge.rules, facts, hits, lang=lang, source=source, clean=clean)
    about = concerned("slow", knowledge) if complaint_lines(paste.head) else frozenset()
    asks = frozenset(rule.id for rule in knowledge.rules if rule.fallback)
    if about:
        found = found._replace(findings=tuple(sorted(found.findings, key=lambda one: _answers(one, about, asks))))
    if all(_answers(finding, about, asks) > ANSWERED for finding in found.findings):
        fresh = not found.findings and not recognised(facts)
        told = {item.line for finding in found.findings if finding.rule not in asks for item in finding.evidence}
        told |= {endpoint.line for endpoint in asked.endpoints} if (asked := known(facts.asked)) else set()
        unknown = _unknown(paste, told, fresh=fresh)
        guessed = nearest(unknown, knowledge, lang, source, "slow" if about else "")
        if any(finding.severity != "note" for finding in found.findings):
            guessed = tuple(finding for finding in guessed if finding.rule in about)
        found = found._replace(findings=(*guessed, *found.findings))
    return facts, found, paste.count


def _answers(finding: Finding, about: frozenset[str], asks: frozenset[str]) -> int:
    """How well a finding answers what a text complains of: an error, a warning and a remark about that; then the others.

    `about`: the rules that the complaint can have to do with; empty when the text has none. `asks`: those that only say
    what is missing.
    """
    if finding.severity == "error":
        return 0
    if finding.severity == "warning":
        return ANSWERED if not about or finding.rule in about else 3
    return 2 if finding.rule in about - asks else 4


def _unknown(paste: Paste, told: set[int | None], *, fresh: bool) -> list[tuple[int, str]]:
    """The lines of a text that speak of trouble and that nothing was said of. `fresh`: the text holds no facts at all."""
    speaking = dict((*trouble_lines(paste.head), *complaint_lines(paste.head, only_words=fresh)))
    told = told | {command.line for command in paste.commands}
    return [(number, speaking[number]) for number in sorted(speaking) if number not in told]
