"""Evidence for people: what is there many times is there once, and what tells nothing is left out."""

from doctor.engine.finding import Evidence, Finding
from doctor.report.evidence import consequence_rows, evidence_rows
from doctor.report.text import plain


def log(number, text="0.07.411 W srv: Invalid API Key", source="logs/server.log"):
    return Evidence(text, source, number)


def shown(*evidence, lang="en", short=False, verbose=False):
    return plain(evidence_rows(evidence, lang, short=short, verbose=verbose)).splitlines()


def test_lines_that_differ_in_numbers_alone_are_shown_once():
    lines = shown(*(log(number, f"0.0{number}.1 W srv: Invalid API Key") for number in range(3, 8)), log(9, "exiting"))
    assert [line.strip() for line in lines] == [
        "Evidence",
        "logs/server.log:3: 0.03.1 W srv: Invalid API Key",
        "… and 4 more like it, up to line 7",
        "logs/server.log:9: exiting",
    ]
    assert len(shown(log(1), log(2))) == 3 and len(shown(*(log(n) for n in range(5)), verbose=True)) == 6
    assert "类似的还有 4 行" in shown(*(log(n) for n in range(5)), lang="zh")[2]


def test_the_folder_of_the_text_the_user_named_tells_nothing():
    assert shown(log(3), short=True)[1].strip().startswith("server.log:3: ")


def test_what_is_not_there_is_evidence_only_where_all_is_that():
    absent, there = Evidence("log.lines = absent", "log", None), Evidence("server.state = refused", "server", None)
    assert [line.strip() for line in shown(absent, there)[1:]] == ["server, state: connection refused"]
    assert [line.strip() for line in shown(absent)[1:]] == ["log, lines: not there"]
    assert shown(Evidence("why is it slow", "words", None)) == [""]


def test_a_line_is_not_told_again_below_what_follows():
    def finding(rule, evidence, explains=()):
        return Finding(rule, "c", "error", "seen", rule.upper(), "", evidence, (), explains, ())

    child = finding("b/child", (log(3), log(4, "failed to load model"), log(5, "exiting")))
    rows = consequence_rows(finding("a/root", (log(3),), (child,)), "en", short=True, verbose=False)
    assert [line.strip() for line in plain(rows).splitlines()] == [
        "What follows from it",
        "B/CHILD  (b/child)",
        "server.log:4: failed to load model",
    ]
