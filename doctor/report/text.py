"""A report for people: what to do first, what it rests on, the rest. The only place that knows colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.report.corrections import correction_rows, hint_row
from doctor.report.evidence import consequence_rows, evidence_rows
from doctor.report.fact_words import not_checked_rows
from doctor.report.rows import Row
from doctor.report.subjects import name_of, padded
from doctor.report.words import colon, key_remark, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.engine.finding import Advice, Finding, Report

STYLES = {
    "error": "bold red",
    "warning": "bold yellow",
    "note": "bold cyan",
    "title": "bold",
    "head": "dim",
    "command": "green",
    "ok": "green",
    "quiet": "dim",
    "weights": "blue",
    "kv": "green",
    "state": "cyan",
    "compute": "yellow",
    "overhead": "dim",
    "": "",
}
MARKS = {"error": "✗", "warning": "!", "note": "·", "ok": "✓", "unknown": "–"}
PLAIN_MARKS = {"error": "x", "warning": "!", "note": "*", "ok": "+", "unknown": "-"}


class Subject(NamedTuple):
    """One line on a subject that was looked at: how it stands (ok, note, warning, error, unknown) and in short what it is."""

    name: str
    state: str
    summary: str


def rows(
    report: Report, subjects: tuple[Subject, ...], *, lang: str, verbose: bool, unicode: bool, brief: bool = False
) -> Iterator[Row]:
    """The lines of a report. `brief`: of all findings but the first only the title, the first remedy and how to be sure."""
    marks = MARKS if unicode else PLAIN_MARKS
    for note in report.notes:
        yield Row((("", note),))
    if report.notes:
        yield Row(())
    for number, finding in enumerate(report.findings):
        other = bool(finding.instead_of)
        if other and not report.findings[number - 1].instead_of:
            yield Row((("head", say("instead", lang)),))
        short = other or (brief and number > 0 and not verbose)
        yield from _finding(
            finding, marks, lang, verbose, brief=short, file=report.launch_file, near=report.command == "log"
        )
        yield Row(())
    if not report.findings and report.found_nothing:
        state = "ok" if report.healthy else "unknown"
        yield Row((("ok" if report.healthy else "quiet", f"{marks[state]} "), ("", report.found_nothing)))
        yield Row(())
    for correction in report.corrections:
        yield from correction_rows(correction, lang, report.launch_file)
        yield Row(())
    if subjects:
        yield Row((("head", say("looked_at", lang)),))
        for subject in subjects:
            style = "quiet" if subject.state == "unknown" else subject.state
            name = padded(name_of(subject.name, lang))
            yield Row(((style, f"{marks[subject.state]} {name}"), ("", f" {subject.summary}")), 2, hangs=True)
    shown = {subject.name for subject in subjects}
    missing = [item for item in report.not_checked if item.check not in shown]
    if missing and verbose:
        yield Row((("head", say("not_checked", lang)),))
        for names, why in not_checked_rows(missing, lang):
            yield Row((("quiet", f"{names}{colon(lang)}{why}"),), 2)
    elif missing and subjects:
        yield Row((("quiet", say("undecided", lang).format(count=len(missing))),), 2)


def finding_rows(finding: Finding, lang: str, *, unicode: bool) -> Iterator[Row]:
    """The lines of one finding that stands in another answer."""
    yield from _finding(finding, MARKS if unicode else PLAIN_MARKS, lang, verbose=False)


def _finding(
    finding: Finding,
    marks: dict[str, str],
    lang: str,
    verbose: bool,
    *,
    brief: bool = False,
    file: str = "",
    near: bool = False,
) -> Iterator[Row]:
    label = "? " if finding.instead_of else f"{marks[finding.severity]} {say(finding.severity, lang)}{colon(lang)}"
    yield Row(
        (
            ("quiet" if finding.instead_of else finding.severity, label),
            ("title", finding.title),
            ("quiet", f"  ({say(finding.status, lang)} · {finding.rule})"),
        )
    )
    for advice in finding.remedies[:1]:
        yield Row((("head", say("do_first", lang)),), 2)
        yield from advice_rows(advice, lang)
        if advice.edits:
            key = " --key-env NAME" if any(edit.wants_key() for edit in advice.edits) else ""
            yield hint_row(f"--rule {finding.rule}{key}", lang)
        elif advice.launch and file:
            asked = finding.severity == "note" or finding.status != "seen"  # these are made when asked for by name
            yield hint_row(f"--launch {file}" + (f" --rule {finding.rule}" if asked else ""), lang)
    if brief:
        yield from _decide(finding, lang)
        return
    yield from evidence_rows(finding.evidence, lang, short=near, verbose=verbose)
    if finding.why:
        yield Row((("head", say("why", lang)),), 2)
        yield Row((("", finding.why),), 4)
    for number, advice in enumerate(finding.remedies[1:]):
        if number == 0:
            yield Row((("head", say("or", lang)),), 2)
        yield from advice_rows(advice, lang)
    yield from _decide(finding, lang)
    yield from consequence_rows(finding, lang, short=near, verbose=verbose)
    if verbose and finding.references:
        yield Row((("head", say("more", lang)),), 2)
        for link in finding.references:
            yield Row((("quiet", link),), 4, copy=True)


def _decide(finding: Finding, lang: str) -> Iterator[Row]:
    if finding.decide:
        yield Row((("head", say("to_decide", lang)),), 2)
        yield Row((("", finding.decide),), 4)


def advice_rows(advice: Advice, lang: str) -> Iterator[Row]:
    """The lines of one way out."""
    price = say(f"price_{advice.price}", lang)
    cost = (("quiet", f"  [{say('costs', lang)}{colon(lang)}{price}]"),) if price else ()
    yield Row((("", advice.text), *cost), 4)
    for line in advice.command.splitlines():
        yield Row((("command", line),), 6, copy=True)
    if remark := key_remark(advice.command, lang):
        yield Row((("quiet", remark),), 6)


def plain(lines: Iterator[Row]) -> str:
    """The lines for a pipe or a file: no colour, nothing wrapped."""
    out = []
    for row in lines:
        text = "".join(piece for _, piece in row.pieces)
        text = text if row.copy else text.replace("\t", "    ")
        pad = " " * row.indent
        out.append("\n".join(pad + part if part else "" for part in text.split("\n")))
    return "\n".join(out).rstrip("\n") + "\n"


def print_rich(lines: Iterator[Row], *, colour: bool = True) -> None:
    """The lines on a terminal: coloured, wrapped to its width (commands are not, so that they can be copied)."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False, emoji=False, markup=False, no_color=None if colour else True)
    for row in lines:
        if not row.pieces:
            console.print()
            continue
        parts = [Text(piece, STYLES[style]) for style, piece in row.pieces]
        if row.copy:
            console.print(Text.assemble(" " * row.indent, *parts), soft_wrap=True)
        elif row.hangs:
            table = Table.grid()
            table.add_column(no_wrap=True)
            table.add_column(overflow="fold")
            table.add_row(parts[0], Text.assemble(*parts[1:]))
            console.print(Padding(table, (0, 0, 0, row.indent), expand=False))
        else:
            console.print(Padding(Text.assemble(*parts), (0, 0, 0, row.indent), expand=False))
