"""A report as JSON: the format other programs read. `schema_version` changes when a reader would have to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from doctor import __version__

if TYPE_CHECKING:
    from doctor.engine.finding import Correction, Finding, Report

SCHEMA_VERSION = 1


def render(report: Report) -> str:
    """The report as JSON text, one object, ending in a newline."""
    data = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "llama-doctor", "version": __version__, "command": report.command},
        "findings": [finding_json(finding, report.launch_file) for finding in report.findings],
        "not_checked": [{"check": item.check, "reason": item.reason} for item in report.not_checked],
        "facts": report.facts,
    }
    if report.corrections:
        data["corrections"] = [_correction(item) for item in report.corrections]
    return json.dumps(data, ensure_ascii=False, indent=2, allow_nan=False, default=str) + "\n"


def _correction(item: Correction) -> dict[str, Any]:
    return {
        "name": item.name,
        "build": item.build,
        "changes": [
            {"place": place, "words": words, "replacement": right, "why": why}
            for place, words, right, why in item.changes
        ],
        "command": item.command,
        "together": item.together,
    }


def finding_json(finding: Finding, launch_file: str = "") -> dict[str, Any]:
    """A finding as plain data. `launch_file` is where a change of the launch command can be written."""
    return {
        "rule": finding.rule,
        "cause": finding.cause,
        "severity": finding.severity,
        "status": finding.status,
        "title": finding.title,
        "why": finding.why,
        "evidence": [{"text": item.text, "source": item.source, "line": item.line} for item in finding.evidence],
        "remedies": [
            {
                "text": item.text,
                "command": item.command,
                "price": item.price,
                "edit": bool(item.edits or (item.launch and launch_file)),
            }
            for item in finding.remedies
        ],
        "decide": finding.decide,
        "instead_of": finding.instead_of,
        "client": finding.about,
        "explains": [finding_json(item, launch_file) for item in finding.explains],
        "references": list(finding.references),
    }
