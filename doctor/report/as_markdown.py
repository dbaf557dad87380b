"""A report as Markdown, to paste into an issue: nothing in it can become a link, a mention or markup of its own."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from doctor import __version__
from doctor.report.corrections import correction_rows
from doctor.report.fact_words import evidence_words, not_checked_rows, telling
from doctor.report.subjects import name_of
from doctor.report.words import colon, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.engine.finding import Advice, Correction, Finding, Report
    from doctor.report.text import Subject

_SPECIAL = re.compile(r"([\\*_\[\]|~!])|^([^\S\n]*)([#+-]|\d+\.)(?=\s)", re.MULTILINE)
_ACTIVE = re.compile(r"(?<=[@#])(?=\w)|(?<=://)|(?<=www\.)")
"""Where GitHub would see a mention, an issue or an address: something invisible goes between."""


def render(report: Report, subjects: tuple[Subject, ...], lang: str) -> str:
    """The report as Markdown text."""
    lines = [f"### doctor {report.command}", ""]
    for note in report.notes:
        lines += [_text(note), ""]
    for number, finding in enumerate(report.findings):
        if finding.instead_of and not report.findings[number - 1].instead_of:
            lines += [f"#### {say('instead', lang)}", ""]
        lines += _finding(finding, lang, brief=bool(finding.instead_of))
    if not report.findings and report.found_nothing:
        lines += [_text(report.found_nothing), ""]
    for correction in report.corrections:
        lines += _correction(correction, lang)
    if subjects:
        lines += [f"#### {say('looked_at', lang)}", "", "| | | |", "|---|---|---|"]
        lines += [
            f"| {_state(subject.state, lang)} | {name_of(subject.name, lang)} | {_cell(subject.summary)} |"
            for subject in subjects
        ]
        lines.append("")
    shown = {subject.name for subject in subjects}
    missing = [item for item in report.not_checked if item.check not in shown]
    if missing:
        lines += ["<details>", f"<summary>{say('not_checked', lang)}{colon(lang)}{len(missing)}</summary>", ""]
        lines += [f"- {_text(names)}{colon(lang)}{_text(why)}" for names, why in not_checked_rows(missing, lang)]
        lines += ["", "</details>", ""]
    return "\n".join([*lines, f"<sub>llama-doctor {__version__}</sub>"]) + "\n"


def _finding(finding: Finding, lang: str, *, brief: bool) -> Iterator[str]:
    severity = "" if brief else f"{say(finding.severity, lang)}{colon(lang)}"
    yield f"#### {severity}{_text(finding.title)}"
    yield from ("", f"{say(finding.status, lang)} · {_code(finding.rule)}", "")
    for number, advice in enumerate(finding.remedies[: 1 if brief else None]):
        if number < 2:
            yield from (f"**{say('or' if number else 'do_first', lang)}**", "")
        yield from _advice(advice, lang)
    if finding.decide:
        yield from (f"**{say('to_decide', lang)}**: {_text(finding.decide)}", "")
    evidence = telling(finding.evidence)
    if brief:
        return
    if evidence:
        yield from (f"**{say('evidence', lang)}**", "")
        yield from _fenced(
            "\n".join(
                (f"{item.source}:{item.line}: " if item.line is not None else "") + evidence_words(item, lang)
                for item in evidence
            )
        )
    if finding.why:
        yield from (f"**{say('why', lang)}**: {_text(finding.why)}", "")
    if finding.explains:
        yield from (f"**{say('follows', lang)}**", "")
        yield from (f"- {_text(child.title)} ({_code(child.rule)})" for child in finding.explains)
        yield ""


def _advice(advice: Advice, lang: str) -> Iterator[str]:
    price = say(f"price_{advice.price}", lang)
    yield _text(advice.text) + (f" ({say('costs', lang)}{colon(lang)}{price})" if price else "")
    yield ""
    if advice.command:
        yield from _fenced(advice.command, "sh")


def _correction(correction: Correction, lang: str) -> Iterator[str]:
    for row in correction_rows(correction, lang):
        text = "".join(piece for _, piece in row.pieces)
        if row.copy:
            yield from ("", *_fenced(text, "sh"))
        else:
            yield from (f"**{_text(text)}**", "") if row.indent == 0 else (f"- {_text(text)}",)


def _fenced(text: str, kind: str = "text") -> Iterator[str]:
    """A block of code whose fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}{kind}", text, fence, "")


def _code(text: str) -> str:
    return f"`{' '.join(text.replace('`', '′').split())}`"


def _text(text: str) -> str:
    """A text on one line that shows as it is, but for `code`."""
    parts = " ".join(text.split()).split("`")
    if len(parts) % 2 == 0:
        parts = ["".join(parts)]
    return "".join(f"`{part}`" if at % 2 else _plain(part) for at, part in enumerate(parts))


def _plain(text: str) -> str:
    escaped = escape(text, quote=False)
    escaped = _SPECIAL.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}", escaped)
    return _ACTIVE.sub("<!-- -->", escaped)


def _cell(text: str) -> str:
    return _text(text.replace("`", "′"))


def _state(state: str, lang: str) -> str:
    return {"ok": "✓", "unknown": "–"}.get(state) or say(state, lang)
