"""A report as SARIF 2.1.0 for code scanning: one result a finding, with the file and line where there is one.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from doctor import __version__
from doctor.engine.finding import every

if TYPE_CHECKING:
    from doctor.engine.finding import Evidence, Finding, Report

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(report: Report) -> str:
    """The report as SARIF text, one object, ending in a newline."""
    findings = list(every(report.findings))
    rules = {finding.rule: finding for finding in findings}
    places = {rule: place for place, rule in enumerate(rules)}
    run = {
        "tool": {
            "driver": {
                "name": "llama-doctor",
                "version": __version__,
                "rules": [_rule(finding) for finding in rules.values()],
            }
        },
        "results": [_result(finding, places[finding.rule]) for finding in findings],
        "columnKind": "unicodeCodePoints",
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2) + "\n"


def _rule(finding: Finding) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": finding.rule, "shortDescription": {"text": finding.title}}
    link = next((link for link in finding.references if link.startswith("https://")), None)
    return {**rule, "helpUri": link} if link else rule


def _result(finding: Finding, place: int) -> dict[str, Any]:
    ways = [" ".join(part for part in (advice.text, advice.command) if part) for advice in finding.remedies]
    words = "\n".join(part for part in (finding.title, finding.why, *ways) if part)
    return {
        "ruleId": finding.rule,
        "ruleIndex": place,
        "level": finding.severity,
        "message": {"text": words},
        "locations": [_location(item) for item in finding.evidence if item.line is not None and item.line > 0][:1],
        "relatedLocations": [_location(item) for item in finding.evidence if item.line is not None and item.line > 0][
            1:
        ],
        "properties": {"cause": finding.cause, "status": finding.status},
    }


def _location(item: Evidence) -> dict[str, Any]:
    path = item.source.replace("\\", "/")
    region = {"startLine": item.line, "snippet": {"text": item.text}}
    return {"physicalLocation": {"artifactLocation": {"uri": quote(path, safe="/~")}, "region": region}}
