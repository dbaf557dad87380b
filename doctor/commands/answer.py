"""The last steps of every verb: redact, give the report its form, write it, choose the exit status."""

from __future__ import annotations

import sys
from itertools import chain
from typing import TYPE_CHECKING, Any

from doctor.engine.finding import NotChecked
from doctor.engine.rules import SEVERITIES
from doctor.exits import Exit, UsageError
from doctor.outside import OutsideError
from doctor.redact import Redactor, sanitize
from doctor.report.typable import typable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from doctor.engine.finding import Finding, Report
    from doctor.engine.load import Knowledge
    from doctor.outside import Outside
    from doctor.report.bars import Bar
    from doctor.report.rows import Row
    from doctor.report.text import Subject
    from doctor.secrets import Vault

_ASCII = str.maketrans(
    {
        "…": "...",
        "→": "->",
        "–": "-",
        "—": "-",
        "×": "x",
        "·": "-",
        "’": "'",
        "‘": "'",
        "“": '"',
        "”": '"',
        "≥": ">=",
        "≤": "<=",
    }
)
"""What marks become where they cannot be shown."""


def redactor(outside: Outside, vault: Vault | None = None) -> Redactor:
    """The redactor for this user and machine."""
    return Redactor(names=outside.identity(), home=outside.home(), vault=vault)


def speaker(clean: Redactor, lang: str) -> Callable[[str], str]:
    """What a value passes before it stands in a rule's text: redaction, then the language of the answer."""
    if lang != "zh":
        return clean.text
    from doctor.report.spoken import spoken

    return lambda text: spoken(clean.text(text), lang)


def left_out(knowledge: Knowledge) -> tuple[NotChecked, ...]:
    """Rule files that are wrong and were left out, as checks that were not made."""
    return tuple(NotChecked(f"rules/{fault.partition(':')[0]}", fault) for fault in knowledge.left_out)


def answer(
    report: Report,
    options: argparse.Namespace,
    lang: str,
    clean: Redactor,
    subjects: tuple[Subject, ...] = (),
    head: Callable[[bool], Iterator[Row]] | None = None,
    bars: tuple[Bar, ...] = (),
    outside: Outside | None = None,
) -> Exit:
    """Write the report to standard output and return the exit status.

    `head` makes the lines that stand before it in text, given whether marks outside ASCII can be shown. With `outside`
    the report is also written as the page that --html asks for.
    """
    safe = redacted(report, clean)
    if outside is not None and getattr(options, "html", None) is not None:
        from doctor.commands.html import write_page

        lines = tuple(head(True)) if head else ()
        write_page(outside, options, safe, lang, subjects=clean.tree(subjects), bars=bars, head=lines)
    if options.format == "json":
        from doctor.report import as_json

        write(as_json.render(safe))
    elif options.format == "markdown":
        from doctor.report import as_markdown

        write(as_markdown.render(safe, clean.tree(subjects), lang))
    elif options.format == "sarif":
        from doctor.report import as_sarif

        write(as_sarif.render(safe))
    else:
        from doctor.report import text

        safe_subjects: tuple[Any, ...] = tuple(
            subject._replace(summary=typable(subject.summary)) if subject.name == "launch" else subject
            for subject in clean.tree(subjects)
        )
        brief = report.command == "explain"
        unicode = speaks_unicode()
        rows = text.rows(safe, safe_subjects, lang=lang, verbose=options.verbose, unicode=unicode, brief=brief)
        show(chain(head(unicode) if head else (), rows, _bar_rows(bars, lang, unicode)), options)
    return status(report.findings, options.fail_on)


def _bar_rows(bars: tuple[Bar, ...], lang: str, unicode: bool) -> Iterator[Row]:
    """What the launch command needs, a bar a device."""
    if not bars:
        return
    from doctor.report.bars import bar_rows
    from doctor.report.rows import Row
    from doctor.report.words import say

    yield Row((("head", say("needs", lang)),))
    yield from bar_rows(bars, lang, drawn=on_terminal(), unicode=unicode)


def redacted(report: Report, clean: Redactor) -> Report:
    """The report as it may leave. Evidence and facts first: a key found there is then known in every other text."""
    facts = clean.tree(report.facts)
    launch = facts.get("launch")
    kind = str(launch.get("file_kind") or "") if isinstance(launch, dict) else ""
    evidence = {id(finding): clean.tree(finding.evidence) for finding in every(report.findings)}

    def safe(finding: Finding) -> Finding:
        return finding._replace(
            title=clean.known(finding.title),
            why=clean.known(finding.why),
            decide=clean.known(finding.decide),
            evidence=evidence[id(finding)],
            remedies=tuple(
                advice._replace(
                    text=clean.known(advice.text),
                    command=typable(clean.known(advice.command), kind),
                    edits=tuple(edit._replace(value="", file="", pointer="") for edit in advice.edits),
                    launch=("",) if advice.launch else (),
                )
                for advice in finding.remedies
            ),
            explains=tuple(safe(child) for child in finding.explains),
        )

    return report._replace(
        findings=tuple(safe(finding) for finding in report.findings),
        not_checked=clean.tree(report.not_checked),
        facts=facts,
        notes=clean.tree(report.notes),
        launch_file=clean.text(report.launch_file),
        corrections=tuple(
            item._replace(
                name=clean.known(item.name),
                changes=clean.tree(item.changes),
                command=item.command and typable(clean.text(item.command), kind),
            )
            for item in report.corrections
        ),
    )


def every(findings: tuple[Finding, ...]) -> Iterator[Finding]:
    """All findings, those folded under others too."""
    for finding in findings:
        yield finding
        yield from every(finding.explains)


def show(rows: Iterator[Row], options: argparse.Namespace) -> None:
    """Rows on a terminal in colour (unless --no-color), anywhere else plain."""
    from doctor.report import text

    if on_terminal():
        text.print_rich(rows, colour=not options.no_color)
    else:
        write(text.plain(rows))


def write(words: str, *, flush: bool = False) -> None:
    """Text to standard output; what its encoding cannot say becomes `?` instead of an error."""
    encoding = sys.stdout.encoding or "utf-8"
    words = sanitize(words)  # once more, for what did not come through a redactor: names of rule files
    if not speaks_unicode():
        words = words.translate(_ASCII)
    sys.stdout.write(words.encode(encoding, "replace").decode(encoding))
    if flush:
        sys.stdout.flush()


def on_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout.isatty()


def speaks_unicode() -> bool:
    """Whether standard output can show marks outside ASCII."""
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")


def status(findings: tuple[Finding, ...], fail_on: str) -> Exit:
    """1 when a finding is at or above the threshold."""
    if fail_on == "never":
        return Exit.OK
    limit = SEVERITIES.index(fail_on)
    worst = min((SEVERITIES.index(finding.severity) for finding in findings), default=len(SEVERITIES))
    return Exit.FINDINGS if worst <= limit else Exit.OK


def must_exist(outside: Outside, option: str, path: str) -> None:
    """Raises UsageError when what the user named is not there."""
    try:
        found = outside.stat(outside.real_path(path) if path else path)
        if not (found.is_file or found.is_dir):
            raise OutsideError("invalid", f"{path}: neither a file nor a folder")
    except OutsideError as error:
        if error.kind != "denied":  # what may not be read is told of in the report
            raise UsageError(f"{option}: {error}") from None
