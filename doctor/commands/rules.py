"""`doctor rules`: list, show and check what doctor knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.commands.answer import answer, redactor, show, write
from doctor.engine.conditions import Evaluator
from doctor.engine.diagnose import advise
from doctor.engine.finding import Report
from doctor.engine.load import load, read_rules, read_table, rules_folder
from doctor.engine.templates import fill_known
from doctor.exits import UsageError
from doctor.report.rows import Row
from doctor.report.words import language

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from doctor.engine.load import Knowledge
    from doctor.engine.rules import Rule
    from doctor.exits import Exit
    from doctor.outside import Outside


def rules(options: argparse.Namespace, outside: Outside) -> int:
    """Carry out `rules list`, `rules show ID` or `rules check`."""
    from doctor.exits import Exit

    lang = language(options.lang, dict(outside.environ))
    if options.rules_verb not in ("list", "show", "check"):  # `doctor rules memory`, `doctor rules memory/gpu-oom`
        options.about, options.rules_verb = options.rules_verb, "show" if "/" in options.rules_verb else "list"
    if options.rules_verb == "check":
        from doctor.engine.check import faults

        left_out: list[str] = []
        folder = rules_folder(outside)
        sound = read_rules(outside, folder, left_out)
        causes = [cause for group in read_table(outside, folder, "causes").values() for cause in group]
        found = (*left_out, *faults(sound, causes))
        write("".join(f"{fault}\n" for fault in found) or "every rule is sound\n")
        return Exit.FINDINGS if found else Exit.OK
    knowledge = load(outside)
    if options.rules_verb == "show":
        if options.about is None:
            raise UsageError(
                "show wants the id of a rule, such as memory/gpu-oom-kv-cache; `doctor rules list` shows them all"
            )
        must_be_a_rule(options.about, knowledge)
        return show_rule(options.about, knowledge, options, outside, lang)
    wanted = [rule for rule in knowledge.rules if options.about in (None, rule.id.partition("/")[0])]
    if not wanted:
        subjects = sorted({rule.id.partition("/")[0] for rule in knowledge.rules})
        raise UsageError(f"no rules about {options.about!r}; subjects are {', '.join(subjects)}")
    if options.format == "json":
        import json

        listed = [
            {"id": rule.id, "cause": rule.cause, "severity": rule.severity, "title": _title(rule, lang)}
            for rule in wanted
        ]
        write(json.dumps({"schema_version": 1, "rules": listed}, ensure_ascii=False, indent=2) + "\n")
    else:
        show(_lines(wanted, lang), options)
    return Exit.OK


def must_be_a_rule(name: str, knowledge: Knowledge) -> None:
    """Raises UsageError when no rule has this id; it says which are near."""
    import difflib

    ids = [rule.id for rule in knowledge.rules]
    last = name.split("/")[-1]
    if name not in ids:
        near = [one for one in ids if len(last) > 3 and last in one][:3] or difflib.get_close_matches(name, ids, 3, 0.7)
        hint = f"; near it: {', '.join(near)}" if near else "; `doctor rules list` shows them all"
        raise UsageError(f"no rule {name!r}{hint}")


def show_rule(rule_id: str, knowledge: Knowledge, options: argparse.Namespace, outside: Outside, lang: str) -> Exit:
    """Print the page of one rule: what it means, what to do, what it looks like, how it is recognised."""
    from doctor.commands.answer import redacted, speaks_unicode
    from doctor.report.rule_page import Signs, rule_rows

    rule = next(rule for rule in knowledge.rules if rule.id == rule_id)
    clean = redactor(outside)
    titles = {other.id: _title(other, lang) for other in knowledge.rules}
    signs = Signs(
        examples=clean.tree(_examples(rule_id, outside)),
        patterns=tuple(symptom.pattern for symptom in rule.symptoms),
        conditions=tuple(when.expr for when in rule.when),
        mistaken_for=tuple((other, titles[other]) for other in rule.differential if other in titles),
    )
    options.fail_on = "never"
    report = Report("rules", (advise(rule, lang=lang, evidence=()),), (), {"rule": signs._asdict()})
    if options.format != "text":
        return answer(report, options, lang, clean)
    (finding,) = redacted(report, clean).findings
    show(rule_rows(finding, signs, lang, verbose=options.verbose, unicode=speaks_unicode()), options)
    from doctor.exits import Exit

    return Exit.OK


def _examples(rule_id: str, outside: Outside) -> tuple[str, ...]:
    """Lines by which the rule is recognised, from its own examples; none where its file cannot be read."""
    from doctor.engine.load import read_rule
    from doctor.engine.reader import RuleError

    try:
        rule = read_rule(outside, rules_folder(outside), rule_id)
    except RuleError:
        return ()
    return tuple(example.text for example in rule.examples if example.match and example.text)


def _lines(rules: list[Rule], lang: str) -> Iterator[Row]:
    width = max((len(rule.id) for rule in rules), default=0)
    for rule in rules:
        yield Row(((rule.severity, f"{rule.id:<{width}}"), ("", f"  {_title(rule, lang)}")))


def _title(rule: Rule, lang: str) -> str:
    """A rule's title without the values it would have on a machine."""
    return fill_known(rule.title.get(lang), Evaluator({}))
