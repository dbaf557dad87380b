"""Every rule is sound, its examples come out as it says, and healthy logs stay silent."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from doctor.commands.log import read
from doctor.engine.check import faults
from doctor.engine.diagnose import advise
from doctor.engine.load import load, read_rules, read_table, rules_folder
from doctor.outside import Outside
from doctor.secrets import Vault

FIXTURES = Path(__file__).parents[2] / "fixtures"
OUTSIDE = Outside()
FOLDER = rules_folder(OUTSIDE)
RULES = read_rules(OUTSIDE, FOLDER)
CAUSES = [cause for group in read_table(OUTSIDE, FOLDER, "causes").values() for cause in group]
CASES = [
    json.loads(line) for path in sorted((FIXTURES / "cases").glob("*.jsonl")) for line in path.read_text().splitlines()
]
REPORTS = [case for case in CASES if case["label"] != "none"]
SLOW = {
    name: [json.loads(line) for line in (FIXTURES / "cases" / f"{name}.jsonl").read_text().splitlines()]
    for name in ("slow", "slow2", "slow3")
}
"""Reports of slowness whose cause their thread established, labelled before they were first run. The first run found of the 37
pastes of the first set 8 first and 10 among three, of its questions 17 and 22; of the 20 of the second set, which the rules
made after the first had not seen, 10 and 11, and 12 and 16. Of the third, 40 more, half A (by which rules were then made) 5
and 8, and 10 and 16 of 20; half B, run once after that and before anything was made by it, 11 and 12, and 14 and 16 of 20
(with the rules before, 6 and 7, and 10 and 11)."""
FRESH7 = [json.loads(line) for line in (FIXTURES / "cases" / "fresh7.jsonl").read_text().splitlines()]
"""Reports of clients in front of a server, most of them of clients that no reader knows, labelled before they were first run.
Set A (30) was for working, B (30) untouched until A's kinds were done, C (11) until B's were. The very first run found of A's
pastes 26 first and 26 among three, of its questions 26 and 29; of B's 25 and 27, and 24 and 25; of C's 7 and 7, and 9 and 11.
With A's kinds done B had 27 and 29, and 25 and 26; two of those are no clean gain, for who did A's kinds had collected B.
With B's kinds done C still had 7 and 7, and 9 and 11. Of healthy7's pastes 11 of 12 were silent at once."""
WORDS = FIXTURES / "words" / "slow.txt"
HEALTHY = [case for case in CASES if case["label"] == "none"]


def test_every_rule_is_sound():
    assert faults(RULES, CAUSES) == ()


def test_there_are_enough_rules():
    assert len(RULES) >= 60


def test_every_cause_of_the_vocabulary_has_a_rule():
    assert set(CAUSES) - {rule.cause for rule in RULES} == set()


def test_every_rule_can_be_found_by_words_of_both_languages():
    for rule in RULES:
        assert any(not phrase.isascii() for phrase in rule.phrases), f"{rule.id} has no Chinese phrase"
        assert any(phrase.isascii() for phrase in rule.phrases), f"{rule.id} has no English phrase"


@cache
def knowledge():
    return load(OUTSIDE)


def diagnose_text(text):
    _, diagnosis, _ = read([text.encode()], knowledge(), OUTSIDE, Vault(), lang="en", source="input")
    return diagnosis.findings


def pasted(report):
    parts = [f"$ {report['command']}"] if report.get("command") else []
    parts += [report["config"]] if report.get("config") else []
    parts += [report["input"]]
    parts += [f"# {report['facts']}"] if report.get("facts") else []
    return "\n".join(parts) + "\n"


@pytest.mark.parametrize("report", HEALTHY, ids=lambda report: report["id"])
def test_healthy_report_is_silent(report):
    assert [f.rule for f in diagnose_text(pasted(report)) if f.severity != "note"] == []


GOOD = sorted((FIXTURES / "logs" / "good").glob("*"))


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.name)
def test_healthy_log_is_silent(path):
    assert [f.rule for f in diagnose_text(path.read_text(errors="replace")) if f.severity != "note"] == []


def test_labelled_reports_keep_their_rank():
    """A floor, not the aim: a change to a rule or to the ranking must not lose what was right."""
    from doctor.engine.fit import fitting

    paste = words = 0
    reports = [report for report in REPORTS if not report["id"].startswith("sl-")]
    for report in reports:
        good = {report["label"], *report.get("also_ok", [])}
        found = diagnose_text(pasted(report))
        paste += bool(found) and found[0].cause in good
        explained = fitting(report["question"], knowledge(), "en")
        words += bool(explained) and explained[0].cause in good
    assert paste / len(reports) >= 0.95
    assert words / len(reports) >= 0.90


@pytest.mark.parametrize(
    ("name", "least"), [("slow", (35, 36, 32, 37)), ("slow2", (19, 20, 18, 19)), ("slow3", (36, 36, 32, 36))]
)
def test_slow_reports_keep_their_rank(name, least):
    """The same for reports of slowness: the cause first, and among the first three, by the paste and by the question."""
    assert ranks(SLOW[name], least) == ()


def ranks(reports, least):
    """() where at least so many reports have their cause first and among three, by paste and by question; else how many."""
    from doctor.engine.fit import fitting

    places = []
    for report in reports:
        good = {report["label"], *report.get("also_ok", [])}
        answers = (diagnose_text(pasted(report)), fitting(report["question"], knowledge(), report["lang"]))
        places.append([next((at for at, found in enumerate(answer) if found.cause in good), 9) for answer in answers])
    paste, words = zip(*places, strict=True)
    counts = tuple(sum(at < most for at in part) for part in (paste, words) for most in (1, 3))
    return () if all(found >= wanted for found, wanted in zip(counts, least, strict=True)) else counts


@pytest.mark.parametrize(("part", "least"), [("A", (30, 30, 29, 29)), ("B", (30, 30, 29, 30)), ("C", (11, 11, 10, 11))])
def test_reports_of_unknown_clients_keep_their_rank(part, least):
    """The cause first, and among the first three, by the paste and by the question."""
    assert ranks([report for report in FRESH7 if report["set"] == part], least) == ()


def test_wordings_of_slowness_find_their_cause():
    """A floor: of what people type about each slow cause, the cause first, and among the first three."""
    from doctor.engine.fit import fitting

    good: list[str] = []
    ranks = []
    for line in WORDS.read_text(encoding="utf-8").splitlines():
        if line.startswith("# ") and not re.search("[A-Z;.]", line):
            good = line[2:].split(" | ")
        elif line and not line.startswith("#"):
            found = fitting(line, knowledge(), "en" if line.isascii() else "zh")
            ranks.append(next((at for at, one in enumerate(found) if one.cause in good), 9))
    assert sum(rank < 1 for rank in ranks) / len(ranks) >= 0.89
    assert sum(rank < 3 for rank in ranks) / len(ranks) >= 0.95


def without_optional(text):
    """A text as it reads when nothing is known: without its [[ ]], its {default(…)} and the like filled."""
    return (
        re.sub(r"\{(?:default|address|port)\(.*?\)\}", "…", re.sub(r"\[\[.*?\]\]", "", text))
        .replace("{{", "")
        .replace("}}", "")
    )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_texts_read_well_when_nothing_is_known(rule):
    """`explain` and `rules show` have no facts: no hole in a text, and at least one way out."""
    for text in (rule.title, rule.why, rule.decide):
        assert "{" not in without_optional(text.en)
        assert "{" not in without_optional(text.zh)
    finding = advise(rule, lang="en", evidence=())
    assert finding.remedies


OTHER_PLACEHOLDERS = re.compile(
    r"(?:地址|主机|域名):端口|127\.0\.0\.1:(?:PORT|端口)|\bADDRESS/|http://(?:IP|地址|主机)\b|<(?:host|port|ip)>|YOUR_"
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_an_address_that_is_not_known_is_written_in_one_way(rule):
    texts = [text.get(lang) for text in (rule.title, rule.why, rule.decide) for lang in ("en", "zh")]
    texts += [words for remedy in rule.remedies for words in (*remedy.text, remedy.command)]
    assert [text for text in texts if OTHER_PLACEHOLDERS.search(text)] == [], (
        "HOST:PORT, or {address(…)} where it can be known"
    )


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_every_remedy_can_stand_first(rule):
    """Which remedies can be told depends on the facts: none may begin as if another stood before it."""
    for remedy in rule.remedies:
        assert not re.match(r"(?:Or|And|Then|Else|Otherwise|Until then|Meanwhile)\b", remedy.text.en)
        assert not remedy.text.zh.startswith(("或者", "或用", "或在", "否则", "然后", "在此之前"))
