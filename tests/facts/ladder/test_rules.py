"""Every reason a rung can give has a rule: a failed climb never ends without a finding."""

import dataclasses
import re
from pathlib import Path

import pytest

from doctor.engine.diagnose import diagnose
from doctor.engine.load import load
from doctor.facts.facts import nothing_known
from doctor.facts.ladder.record import RUNGS, Ladder, Rung
from doctor.facts.record import field_types, not_collected
from doctor.facts.server.record import Server
from doctor.outside import Outside
from doctor.report.rungs import NAMES

SOURCE = "\n".join(
    path.read_text() for path in (Path(__file__).parents[3] / "doctor" / "facts" / "ladder").glob("*.py")
)
GIVEN = set(re.findall(r'(?:failed|warned|sure|_unless_named)\(\s*(?:climb,\s*)?"([a-z0-9-]+)"', SOURCE))
# Those put together at run time, and those that are the state of the server's record.
MADE = {"not-json", "error-body", "no-choices", "too-slow", "no-answer", "endless", "stream-error", "encoded", "flood"}
MADE |= {f"stream-{problem}" for problem in ("cut", "broken", "not-sse", "endless")}
MADE |= {"v1-doubled", "v1-missing", "endpoint-as-base", "path-other", "silent", "tls", "not-http", "unreachable"}
STATES = {"name-unknown": "unreachable", "refused": "refused", "timeout": "timeout", "unreachable": "unreachable"}
STATES |= {
    "tls": "tls",
    "not-http": "not-http",
    "html": "html",
    "loading": "loading",
    "unknown-program": "not-llama.cpp",
}
REASONS = sorted(GIVEN | MADE)
KNOWLEDGE = load(Outside())


def ladder_with(reason, **more):
    values = dict.fromkeys(field_types(Ladder))
    values |= {"client": "", "name": "a client", "url": "http://127.0.0.1:8080", "url_source": "option", "deep": True}
    values |= {"request_url": "http://127.0.0.1:8080/v1/chat/completions", "wire_api": "openai-chat"}
    values |= {"same_server": True, "rungs": (Rung("port", "failed", reason, "said"),), "reasons": (reason,)}
    values |= {"failed": "port", "reason": reason, "detail": "said", "kind": "llama.cpp", "status": 401}
    values |= {"other_address": "http://[::1]:8080"}
    return Ladder(**{**values, **more})


def test_all_the_reasons_are_seen():
    assert len(GIVEN) > 30 and {"key-shadowed", "cache-missed", "tools-dropped", "proxy-dead"} <= GIVEN


@pytest.mark.parametrize("reason", REASONS)
def test_a_finding_with_a_way_out_and_evidence(reason):
    server = dataclasses.replace(
        not_collected(Server, "x"),
        url="http://127.0.0.1:8080",
        state=STATES.get(reason, "ok"),
        kind="unknown",
        port_open=False,
    )
    facts = dataclasses.replace(nothing_known("x"), ladders=(ladder_with(reason),), server=server)
    for lang in ("en", "zh"):
        found = diagnose(KNOWLEDGE.rules, facts, lang=lang).findings
        about = [one for one in found if {"ladders", "server"} & set(one.subjects)]
        assert about and about[0].remedies and about[0].evidence
        assert "{ladder" not in about[0].title + about[0].remedies[0].text


def test_a_sound_ladder_fires_nothing():
    facts = dataclasses.replace(
        nothing_known("x"),
        ladders=(dataclasses.replace(ladder_with("x"), failed=None, reason=None, reasons=(), rungs=()),),
    )
    assert diagnose(KNOWLEDGE.rules, facts).findings == ()


def test_every_rung_has_a_name_in_both_languages():
    assert set(RUNGS) == set(NAMES["en"]) and set(NAMES["en"]) == set(NAMES["zh"])
