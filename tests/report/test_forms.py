"""Markdown for issues and SARIF for code scanning, of the same report."""

import json
import re

import pytest

from doctor.cli import main
from doctor.engine.finding import Advice, Evidence, Finding, NotChecked, Report
from doctor.report import as_markdown, as_sarif
from doctor.report.text import Subject


def finding(**more):
    usual = {
        "rule": "memory/x", "cause": "c", "severity": "error", "status": "seen", "title": "Title", "why": "Because",
        "evidence": (Evidence("a line", "logs/my server.log", 7), Evidence("more", "logs/my server.log", 9)),
        "remedies": (Advice("Do it", "llama-server -c 1", "context"),), "explains": (), "references": ("https://example.org/1",),
    }  # fmt: skip
    return Finding(**{**usual, **more})


def markdown(*findings, subjects=(), missing=()):
    return as_markdown.render(Report("log", tuple(findings), tuple(missing), {}), tuple(subjects), "en")


def test_markdown_says_what_the_text_says():
    text = markdown(finding(), subjects=(Subject("gpu", "ok", "a | b"),), missing=(NotChecked("x.y", "no reason"),))
    assert "#### error: Title" in text and "```sh\nllama-server -c 1\n```" in text
    assert (
        "logs/my server.log:7: a line" in text and "| ✓ | GPU | a \\| b |" in text and "<summary>Not checked: 1" in text
    )


@pytest.mark.parametrize(
    "evil",
    [
        "<script>x</script>",
        "@maintainer fixes #12",
        "[click](http://evil.example)",
        "![x](http://e.example/p.png)",
        "# big",
    ],
)
def test_markdown_stays_text(evil):
    text = markdown(finding(title=evil, why=evil, remedies=(Advice(evil, "", "none"),)))
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert "<script" not in prose and not re.search(r"(?<!\\)!?(?<!\\)\[click|@maintainer|#12|http://e", prose)
    assert not re.search(r"^# ", prose, re.MULTILINE)


def test_a_fence_is_longer_than_any_inside():
    text = markdown(finding(evidence=(Evidence("```\n<b>out</b>\n````", "f", 1),)))
    assert "`````text\n" in text


def test_sarif_has_what_code_scanning_reads(capsys, tmp_path):
    child = finding(rule="server/y", severity="note", evidence=())
    data = json.loads(as_sarif.render(Report("log", (finding(explains=(child,)),), (), {})))
    run = data["runs"][0]
    assert data["version"] == "2.1.0" and [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        "memory/x",
        "server/y",
    ]
    first, second = run["results"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "logs/my%20server.log" and place["region"]["startLine"] == 7
    assert first["level"] == "error" and "llama-server -c 1" in first["message"]["text"]
    assert first["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 9
    assert second["ruleIndex"] == 1 and second["locations"] == []


def test_both_from_the_command_line(capsys, tmp_path):
    log = tmp_path / "a.log"
    log.write_text("ggml_cuda: CUDA error: out of memory\n")
    assert main(["log", str(log), "--format", "sarif"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 1
    assert main(["log", str(log), "--format", "markdown", "--lang", "zh"]) == 1
    assert "**先做这个**" in capsys.readouterr().out
