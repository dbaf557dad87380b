"""Findings as HTML: the first one open on the page, every other one behind its title."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.report.fact_words import evidence_words, telling
from doctor.report.html.markup import Markup, code, element, joined, words
from doctor.report.html.words import tell
from doctor.report.words import colon, key_remark, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.engine.finding import Advice, Evidence, Finding


def finding_head(finding: Finding, lang: str) -> Markup:
    """The headline of the page: what is wrong, how bad, how sure."""
    return joined([element("h1", finding.title), element("p", _about(finding, lang), class_="about")])


def do_first(finding: Finding, lang: str) -> Iterator[Markup]:
    """The one thing to do first."""
    if finding.remedies:
        yield element(
            "section",
            element("h3", say("do_first", lang)),
            *_advice(finding.remedies[0], lang),
            class_="first",
        )


def rest(findings: tuple[Finding, ...], lang: str) -> Iterator[Markup]:
    """All findings but the first, then what else could look like them."""
    for heading, others in (("rest", False), ("other", True)):
        chosen = [finding for finding in findings if bool(finding.instead_of) is others]
        if chosen:
            yield element("h2", tell(heading, lang))
            yield from (_folded(finding, lang) for finding in chosen)


def _folded(finding: Finding, lang: str) -> Markup:
    title = joined(
        [element("b", finding.title), element("br"), element("span", _about(finding, lang), class_="small quiet")]
    )
    inside = []
    for at, advice in enumerate(finding.remedies[:1]):
        if at == 0:
            inside.append(element("h3", say("do_first", lang)))
        inside += _advice(advice, lang)
    inside += grounds(finding, lang)
    summary = element("summary", element("span", title))
    return element("details", summary, element("div", *inside, class_="inside"))


def _about(finding: Finding, lang: str) -> Markup:
    parts: list[str | None] = []
    if not finding.instead_of:
        parts += [element("span", say(finding.severity, lang), class_=f"state {finding.severity}"), " · "]
    return joined([*parts, f"{say(finding.status, lang)} · {finding.rule}"])


def grounds(finding: Finding, lang: str) -> Iterator[Markup]:
    """What a finding rests on, why, the other ways out, what follows."""
    shown = telling(finding.evidence)
    if shown and not finding.instead_of:
        yield element("h3", say("evidence", lang))
        yield _lines(shown, lang)
    if finding.why and not finding.instead_of:
        yield element("h3", say("why", lang))
        yield element("p", words(finding.why))
    ways = finding.remedies[1:]
    if ways and not finding.instead_of:
        yield element("h3", say("or", lang))
        yield element("ul", *(element("li", *_advice(advice, lang)) for advice in ways), class_="ways")
    if finding.decide:
        yield element("h3", say("to_decide", lang))
        yield element("p", words(finding.decide))
    if finding.explains:
        yield element("h3", say("follows", lang))
        yield element("ul", *(_consequence(child, lang) for child in finding.explains), class_="ways")
    links = [link for link in finding.references if link.startswith(("https://", "http://"))]
    if links:
        yield element("h3", say("more", lang))
        yield element(
            "ul", *(element("li", element("a", link, href=link, rel="noreferrer")) for link in links), class_="small"
        )


def _consequence(finding: Finding, lang: str) -> Markup:
    told = element("span", finding.rule, class_="small quiet")
    return element("li", finding.title, " ", told, _lines(list(finding.evidence[:3]), lang))


def _lines(evidence: list[Evidence], lang: str) -> Markup:
    items = []
    for item in evidence:
        # A fact begins with its subject: only a line of a text has a place to be told.
        where = element("span", f"{item.source}:{item.line}", class_="where") if item.line is not None else None
        items.append(element("li", where, element("q", evidence_words(item, lang))))
    return element("ul", *items, class_="lines") if items else Markup()


def _advice(advice: Advice, lang: str) -> Iterator[Markup]:
    price = say(f"price_{advice.price}", lang)
    cost = element("span", f"{say('costs', lang)}{colon(lang)}{price}", class_="price") if price else None
    yield element("p", words(advice.text), " " if cost else None, cost)
    if advice.command:
        yield element("pre", code(advice.command))
    if remark := key_remark(advice.command, lang):
        yield element("p", remark, class_="small quiet")
