"""The HTML page: the same content as the text, the numbers of the JSON, and nothing that a text could smuggle in."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from doctor.cli import main
from doctor.engine.finding import Advice, Evidence, Finding, NotChecked, Report
from doctor.facts.budget import record as budget
from doctor.facts.facts import Facts, nothing_known
from doctor.facts.launch import record as launch
from doctor.facts.record import from_json, to_json
from doctor.outside import Outside
from doctor.report.bars import Bar
from doctor.report.fact_words import fact_words
from doctor.report.html import MARK, render
from doctor.report.html.chart import Axes, Point, Series, chart, ticks
from doctor.report.html.markup import Markup, element, words
from doctor.report.html.page import Page
from doctor.report.rows import Row
from doctor.report.text import Subject
from doctor.secrets import Vault
from tests.gguf.headers import model_file

GIB = 1 << 30
FIXTURES = Path(__file__).parents[2] / "fixtures"
TAGS = set(
    "html head meta link title style body main p b h1 h2 h3 section details summary span br div ul li q code pre a data "
    "figure figcaption svg rect line circle text table thead tbody tr th td footer".split()
)
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><svg onload=alert(1)>",
    "</q></li></ul><iframe src=javascript:alert(1)>",
    "`</code><script>` `<b onclick=x>`",
    "&lt;script&gt; &#60;script&#62;",
    "\x1b[31mred\x1b[0m \x00 \u202egnp.exe\u202c",
    "]]> <!-- --> <![CDATA[",
]


class Reader(HTMLParser):
    """Gathers elements, their attributes, the text, and what `data` elements hold."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.words, self.values, self.open = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)
        if tag == "data":
            self.values.append(float(dict(attributes)["value"]))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self):
        return "".join(self.words)


def finding(**more):
    usual = {
        "rule": "memory/x", "cause": "c", "severity": "error", "status": "seen", "title": "Title", "why": "Because",
        "evidence": (Evidence("line of a log", "server.log", 7),), "remedies": (Advice("Do it", "llama-server -c 8192", "context"),),
        "explains": (), "references": (),
    }  # fmt: skip
    return Finding(**{**usual, **more})


def page(*findings, **more):
    report = Report("log", tuple(findings), more.pop("not_checked", ()), more.pop("facts", {}), **more.pop("told", {}))
    return render(Page(report, **more))


def sound(text):
    """Holds the page to what it may consist of, and returns what it says."""
    reader = Reader(text)
    assert reader.open == []
    assert {tag for tag, _ in reader.elements} <= TAGS
    for tag, attributes in reader.elements:
        assert not any(name.startswith("on") for name in attributes), attributes
        assert not {"src", "srcset", "formaction", "xlink:href"} & set(attributes)
        for name in ("href",):
            target = attributes.get(name)
            assert target is None or target == "data:," or (tag == "a" and re.match(r"https?://", target))
    assert "url(" not in text and "@import" not in text
    return reader


@pytest.mark.parametrize("evil", HOSTILE)
def test_nothing_in_a_text_becomes_markup(evil):
    first = finding(
        title=evil, why=evil, rule=evil, decide=evil, evidence=(Evidence(evil, evil, 1),), remedies=(Advice(evil, evil, "none"),),
        explains=(finding(title=evil),), references=(evil, "javascript:alert(1)", "https://example.org/?a=" + evil),
    )  # fmt: skip
    text = page(
        first,
        first,
        finding(title=evil, instead_of="x"),
        subjects=(Subject(evil, "ok", evil),),
        bars=(Bar(evil, {"weights": GIB}, 2 * GIB),),
        head=(Row((("title", evil), ("", evil)), 2), Row((("command", evil),), 2, copy=True), Row((("", evil),))),
        not_checked=(NotChecked(evil, evil),),
        told={"notes": (evil,)},
        title=evil,
    )
    reader = sound(text)
    assert not any(letter in text for letter in "\x1b\x00\u202e")
    if "\x1b" not in evil and "`" not in evil:
        assert evil in reader.text


def test_the_order_is_that_of_the_text():
    text = page(
        finding(remedies=(Advice("First way", "cmd", "none"), Advice("Second way", "", "speed"))),
        finding(title="Another", severity="note"),
        finding(title="Alike", instead_of="memory/x"),
        subjects=(Subject("gpu", "ok", "a card"),),
        bars=(Bar("CUDA0", {"weights": GIB}, 2 * GIB),),
    )
    parts = [
        "Title",
        "Do this first",
        "First way",
        "Evidence",
        "line of a log",
        "Why",
        "Second way",
        "Another",
        "Alike",
        "a card",
        "CUDA0",
    ]
    places = [text.index(part, text.index("<main>")) for part in parts]
    assert places == sorted(places)
    assert text.startswith("<!DOCTYPE html>") and MARK in text[:1000]
    assert "<script" not in text and "default-src 'none'" in text.replace("&#x27;", "'")
    assert "<code>llama-server" not in text and "<pre><code>cmd</code></pre>" in text


def test_a_command_is_copied_as_it_is():
    command = "llama-server -m 'my model.gguf'  --ctx-size 8192 \\\n  --cache-type-k q8_0"
    text = page(finding(remedies=(Advice("x", command, "none"),)))
    found = re.search(r"<pre>(.*?)</pre>", text, re.DOTALL)[1]
    assert Reader(found).text == command


def test_words_between_backticks_are_code_and_a_lone_one_is_a_backtick():
    assert words("use `-c 1` now") == 'use <code><span class="n">-c</span> 1</code> now'
    assert words("a ` b") == "a ` b"


def test_an_element_escapes_what_is_no_element():
    assert element("p", "<b>", Markup("<i></i>"), None, title='"<') == '<p title="&quot;&lt;">&lt;b&gt;<i></i></p>'


def test_chinese():
    text = page(finding(), lang="zh", subjects=(Subject("gpu", "unknown", "x"),))
    assert '<html lang="zh-CN">' in text and "先做这个" in text and "已检查" in text and "Do this first" not in text


def test_ticks_are_round_and_reach_over_both_ends():
    assert ticks(0, 41.5, 4) == [0, 20, 40, 60]
    assert ticks(1, 34, 4, whole=True) == [0, 10, 20, 30, 40]
    assert ticks(0, 0.004, 4)[-1] >= 0.004


def test_a_chart_puts_points_where_they_belong():
    drawn = chart(Axes("T", "x", "u", 20.0), (Series("s", "one", (Point(0, 0), Point(5, 10), Point(10, 20))),), "en")
    assert re.findall(r'cx="([\d.]+)%" cy="([\d.]+)"', drawn) == [("0.00", "190"), ("50.00", "95"), ("100.00", "0")]
    assert chart(Axes("T", "x", "u"), (Series("s", "one", ()),), "en") == ""


@pytest.mark.parametrize("value", [float("inf"), float("nan"), -1.0, 1e300, True, "7", None, [1]])
def test_numbers_that_cannot_be_drawn_are_left_out(value):
    timing = {
        "prompt_tokens": 10,
        "prompt_per_second": value,
        "decoded_tokens": 20,
        "decoded_per_second": value,
        "line": value,
    }
    sound(
        page(
            finding(),
            facts={
                "log": {"timings": [timing] * 3},
                "watch": {"series": [{"at_seconds": value, "sm_percent": value}] * 3},
            },
        )
    )


LOG = "\n".join(
    f"slot print_timing: id  0 | task {at} | prompt eval time = 100.00 ms / {at + 20} tokens ( 1.00 ms per token, {900 + at / 7:.2f} tokens per second)\n"
    f"slot print_timing: id  0 | task {at} |        eval time = 100.00 ms / {at + 30} tokens ( 1.00 ms per token, {40 - at / 3:.2f} tokens per second)"
    for at in range(12)
)


def test_the_numbers_of_a_log_are_those_of_the_json(capsys, tmp_path):
    log, html = tmp_path / "server.log", tmp_path / "report.html"
    log.write_text(LOG)
    main(["log", str(log), "--html", str(html), "--format", "json"])
    timings = json.loads(capsys.readouterr().out)["facts"]["log"]["timings"]
    fields = ("prompt_tokens", "prompt_per_second", "decoded_tokens", "decoded_per_second", "line")
    assert len(timings) == 12
    text = html.read_text()
    assert sound(text).values == [timing[field] for timing in timings for field in fields]
    assert text.count("<circle") == 24


def test_speed_over_depth_is_drawn_where_the_log_knows_depths(capsys, tmp_path):
    html = tmp_path / "report.html"
    main(["log", str(FIXTURES / "logs" / "speed" / "decay_steep.log"), "--html", str(html), "--format", "json"])
    turns = json.loads(capsys.readouterr().out)["facts"]["timeline"]["turns"]
    fields = ("depth", "prompt_tokens", "prompt_per_second", "decoded_tokens", "decoded_per_second", "line")
    text = html.read_text()
    assert all(turn["depth"] for turn in turns) and "Generation by context depth" in text
    assert sound(text).values == [turn[field] for turn in turns for field in fields]
    assert text.count("<circle") == 3 * len(turns)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    outside, vault = Outside(), Vault()
    path = str(model_file(folder, "qwen3.6-27b-mtp-q4_k_m"))
    known = from_json(Facts, json.loads((FIXTURES / "machines" / "rtx-3090-24gb-linux.json").read_text()))
    found = launch.find(outside, vault, text=f"llama-server -m {path} -c 131072 -ngl 99", port=None)
    judged = launch.judge(outside, vault, found, 11434)
    counted = budget.collect(outside, path, judged, 11434, None, known.gpu, known.machine)
    whole = replace(known, launch=judged, budget=counted)
    target = folder / "facts.json"
    target.write_text(json.dumps({"facts": to_json(whole)}))
    return str(target)


def test_the_memory_is_that_of_the_json(capsys, tmp_path, saved):
    html = tmp_path / "report.html"
    main(["check", "--from", saved, "--html", str(html), "--format", "json"])
    report = json.loads(capsys.readouterr().out)
    rows = [row for row in report["facts"]["budget"]["rows"] if not row["at_most"]]
    reader = sound(html.read_text())
    assert len(rows) > 4 and sum(reader.values) == sum(row["bytes"] for row in rows)
    assert all(one["title"] in reader.text for one in report["findings"])
    for one in report["findings"]:
        assert all(fact_words(item["text"], "en") in reader.text for item in one["evidence"])
        assert all(item["command"] in reader.text for item in one["remedies"])


def test_a_key_in_a_log_is_not_on_the_page(capsys, tmp_path):
    log, html = tmp_path / "server.log", tmp_path / "report.html"
    key = "sk-proj-4fJd82LqPz0WmX7vYcB19aTnRkEu"
    log.write_text(f"CUDA error: out of memory {key}\n")
    main(["log", str(log), "--html", str(html)])
    assert key not in html.read_text() and "&lt;key-1&gt;" in html.read_text()


def test_verify_shows_its_rungs(capsys, tmp_path):
    html = tmp_path / "report.html"
    assert main(["verify", "http://127.0.0.1:9/v1", "--html", str(html)]) == 1
    reader = sound(html.read_text())
    assert "✗ port" in reader.text and "Nothing listens" in reader.text


def test_plan_has_its_verdict_as_headline(capsys, tmp_path):
    html = tmp_path / "report.html"
    model = str(model_file(tmp_path, "llama-3.1-8b-q4_k_m"))
    main(["plan", model, "--gpu", "3090", "--html", str(html)])
    text = html.read_text()
    assert re.search(r"<h1>The model fits whole on the card: up to \d+ tokens", text)
    reader = sound(text)
    assert "llama-server --model" in reader.text and len(reader.values) > 4


def test_what_is_no_page_is_not_replaced(capsys, tmp_path):
    log, other = tmp_path / "a.log", tmp_path / "notes.html"
    log.write_text("CUDA error: out of memory\n")
    other.write_text("<html>my notes</html>")
    assert main(["log", str(log), "--html", str(other)]) == 2
    err = capsys.readouterr().err
    assert "--force" in err and len(err.splitlines()) == 1 and other.read_text() == "<html>my notes</html>"
    assert main(["log", str(log), "--html", str(other), "--force"]) == 1
    assert MARK in other.read_text()
    before = other.read_text()
    log.write_text("all is well\n")
    assert main(["log", str(log), "--html", str(other)]) == 0  # a page of doctor's is replaced
    assert other.read_text() != before
    for place in (tmp_path, tmp_path / "no" / "where.html", ""):
        assert main(["log", str(log), "--html", str(place)]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_page_is_for_its_user_alone(tmp_path):
    log, html = tmp_path / "a.log", tmp_path / "r.html"
    log.write_text("CUDA error: out of memory\n")
    main(["log", str(log), "--html", str(html)])
    assert html.stat().st_mode & 0o077 == 0


def test_nothing_found_is_the_headline():
    facts = to_json(nothing_known("x"))
    assert "<h1>Nothing wrong found</h1>" in page(facts=facts, told={"found_nothing": "Nothing wrong found"})
