"""`doctor explain`: a symptom in words becomes the causes that fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.commands.answer import answer, every, left_out, redactor, speaker
from doctor.engine.diagnose import diagnose
from doctor.engine.finding import Report
from doctor.engine.fit import Seen, fitting
from doctor.engine.load import load
from doctor.facts.record import to_json
from doctor.report.words import language, say
from doctor.secrets import Vault

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from doctor.engine.load import Knowledge
    from doctor.exits import Exit
    from doctor.outside import Outside


def explain(options: argparse.Namespace, outside: Outside) -> Exit:
    """Answer with the causes that fit the words, best first, or with one rule when the words are its id."""
    knowledge = load(outside)
    words = " ".join(options.words)
    asked_in_chinese = any("\u4e00" <= character <= "\u9fff" for character in words)
    lang = language(options.lang or ("zh" if asked_in_chinese else None), dict(outside.environ))
    if len(options.words) == 1 and any(rule.id == words for rule in knowledge.rules):
        from doctor.commands.rules import show_rule

        return show_rule(words, knowledge, options, outside, lang)
    vault = Vault()
    clean = redactor(outside, vault)
    seen = look(knowledge, outside, vault, lang, speaker(clean, lang)) if options.check else None
    findings = fitting(words, knowledge, lang, seen)
    status = findings[0].status if findings else ""
    note = "weak" if status == "guess" else "several" if status != "seen" and len(findings) > 1 else ""
    report = Report(
        command="explain",
        findings=findings,
        not_checked=left_out(knowledge),
        facts=to_json(seen.facts) if seen else {},
        found_nothing=say("nothing_explain", lang),
        notes=(say(note, lang),) if note else (),
    )
    options.fail_on = "never"  # a question is answered, whatever the answer is
    return answer(report, options, lang, clean)


def look(knowledge: Knowledge, outside: Outside, vault: Vault, lang: str, clean: Callable[[str], str]) -> Seen:
    """Look at this machine, as `doctor check` does."""
    from doctor.facts.collect import collect
    from doctor.facts.side_by_side import Wishes

    facts = collect(outside, vault, Wishes())
    found = diagnose(knowledge.rules, facts, lang=lang, source="launch", clean=clean)
    return Seen(facts, {finding.rule: finding for finding in every(found.findings)}, clean)
