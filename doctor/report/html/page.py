"""The whole page, in the order of the text: the one thing to do first, what it rests on, the rest, what was looked at."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, NamedTuple

from doctor import __version__
from doctor.report.corrections import correction_rows
from doctor.report.fact_words import fact_name
from doctor.report.html.figures import memory_bar, speed_charts, speed_table, turns_of
from doctor.report.html.findings import do_first, finding_head, grounds, rest
from doctor.report.html.lines import html_rows
from doctor.report.html.markup import Markup, element, joined, words
from doctor.report.html.style import CSS
from doctor.report.html.watched import watch_charts
from doctor.report.html.words import counted, tell
from doctor.report.spoken import spoken
from doctor.report.subjects import name_of
from doctor.report.words import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.engine.finding import Report
    from doctor.report.bars import Bar
    from doctor.report.rows import Row
    from doctor.report.text import Subject

MARK = '<meta name="generator" content="llama-doctor'
"""Stands near the beginning of every page: a file with it may be replaced by a newer one."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""What a browser may do on this page. If something got through the escaping, it still could not run or be sent."""
_MARKS = {"error": "✗", "warning": "!", "note": "·", "ok": "✓", "unknown": "–"}


class Page(NamedTuple):
    """Everything a page is made of. Texts are redacted already. `head` are lines that stand before the findings; `at` is
    seconds since the epoch. `title` is said where no finding gives one.
    """

    report: Report
    subjects: tuple[Subject, ...] = ()
    bars: tuple[Bar, ...] = ()
    head: tuple[Row, ...] = ()
    lang: str = "en"
    at: float = 0.0
    title: str = ""


def render(page: Page) -> str:
    """The page as text."""
    lang = page.lang
    title = f"doctor {page.report.command}: {_headline(page)}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        Markup(f'{MARK} {__version__}">'),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        Markup(f"<style>{CSS}</style>"),
    )
    main = element("main", *_body(page))
    whole = element(
        "html", Markup("\n"), head, Markup("\n"), element("body", main), lang="zh-CN" if lang == "zh" else "en"
    )
    return f"<!DOCTYPE html>\n{whole}\n"


def _body(page: Page) -> Iterator[Markup | None]:
    report, lang = page.report, page.lang
    yield element("p", _over(page), class_="over")
    for note in report.notes:
        yield element("p", words(note), class_="remark")
    if report.findings:
        first = report.findings[0]
        yield finding_head(first, lang)
        yield from do_first(first, lang)
        yield from html_rows(page.head, lang)
        yield from grounds(first, lang)
        yield from rest(report.findings[1:], lang)
    else:
        yield element("h1", _headline(page))
        yield from html_rows(page.head, lang)
    for correction in report.corrections:
        yield from html_rows(correction_rows(correction, lang), lang)
    yield from _looked_at(page)
    if page.bars:
        yield element("h2", tell("memory", lang))
        yield from (memory_bar(bar, lang) for bar in page.bars)
    yield from watch_charts(report.facts.get("watch"), lang)
    yield from _speed(page)
    when = datetime.fromtimestamp(page.at, timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    yield element("footer", tell("made", lang, tool=f"llama-doctor {__version__}", when=when))


def _headline(page: Page) -> str:
    """The one sentence above everything."""
    if page.report.findings:
        return page.report.findings[0].title
    return page.title or page.report.found_nothing or tell("all_well", page.lang)


def _over(page: Page) -> Markup:
    told = [finding.severity for finding in page.report.findings if not finding.instead_of]
    counts = [
        counted(key, page.lang, told.count(severity))
        for key, severity in (("errors", "error"), ("warnings", "warning"), ("notes", "note"))
        if severity in told
    ]
    return joined([element("b", f"doctor {page.report.command}"), "".join(f" · {count}" for count in counts)])


def _looked_at(page: Page) -> Iterator[Markup]:
    lang = page.lang
    if page.subjects:
        items = [
            element(
                "li",
                element(
                    "span",
                    _MARKS[subject.state],
                    class_=f"state {subject.state}",
                    aria_label=_state(subject.state, lang),
                    role="img",
                ),
                element("span", name_of(subject.name, page.lang), class_="name"),
                element("span", subject.summary, class_="words" + (" quiet" if subject.state == "unknown" else "")),
            )
            for subject in page.subjects
        ]
        yield element("h2", say("looked_at", lang))
        yield element("ul", *items, class_="looked")
    shown = {subject.name for subject in page.subjects}
    missing = [item for item in page.report.not_checked if item.check not in shown]
    if missing:
        lines = [
            element(
                "li",
                element("span", fact_name(item.check, page.lang), class_="where"),
                element("span", spoken(item.reason, lang)),
            )
            for item in missing
        ]
        summary = element("summary", element("span", tell("count_not_checked", lang, count=len(missing))))
        inside = element("div", element("ul", *lines, class_="lines small"), class_="inside")
        yield element("details", summary, inside)


def _state(state: str, lang: str) -> str:
    return {"ok": "ok", "unknown": say("not_checked", lang)}.get(state) or say(state, lang)


def _speed(page: Page) -> Iterator[Markup]:
    turns = turns_of(page.report.facts)
    charts = list(speed_charts(turns, page.lang))
    if not charts:
        return
    yield element("h2", tell("speed", page.lang))
    yield from charts
    summary = element("summary", element("span", tell("numbers", page.lang)))
    yield element("details", summary, element("div", speed_table(turns, page.lang), class_="inside"))
