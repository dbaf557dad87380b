"""A line for each client: its triplet, and how it stands."""

from dataclasses import replace

import pytest

from doctor.engine.finding import Finding
from doctor.facts.clients.record import Client, Credential, Setting
from doctor.facts.facts import nothing_known
from doctor.facts.record import Unknown, not_collected
from doctor.report.summary import subjects_of


def client(name, **fields):
    return replace(not_collected(Client, "not looked"), id=name.lower(), name=name, problems=(), **fields)


def setting(value):
    return Setting("x", value, "a.json", 1)


SET = {"base_url": setting("http://127.0.0.1:8080"), "port_open": True}


def finding(severity, about="", explains=()):
    parts = ("a/x", "c", severity, "seen", "t", "w", (), (), explains, ())
    return Finding(*parts, subjects=("clients",), about=about)


def lines(found, findings=(), lang="en"):
    rows = subjects_of(replace(nothing_known("not looked"), clients=found), findings, lang)
    return [(row.state, row.summary) for row in rows if row.name == "clients"]


def test_the_triplet_is_shown_and_never_a_key():
    key = Credential("KEY", "<key-1>", "authorization", "a.json", 2, ())
    whole = client("A", model=setting("m"), small_model=setting("s"), credentials=(key,), **SET)
    assert lines((whole,)) == [("ok", "A → http://127.0.0.1:8080, key KEY, model m, small model s")]
    assert lines((whole,), lang="zh") == [("ok", "A → http://127.0.0.1:8080, 密钥 KEY, 模型 m, 小模型 s")]


@pytest.mark.parametrize(
    ("fields", "state", "words"),
    [
        (SET, "ok", "A → http://127.0.0.1:8080"),
        ({**SET, "port_open": False}, "unknown", "A → http://127.0.0.1:8080"),
        ({**SET, "port_open": None}, "unknown", "A → http://127.0.0.1:8080"),
        ({"base_url": None}, "unknown", "A: no server of its own is set"),
        ({"base_url": Unknown("a.json:2: not valid JSON")}, "unknown", "A: a.json:2: not valid JSON"),
    ],
)
def test_only_what_was_seen_to_listen_is_green(fields, state, words):
    assert lines((client("A", **fields),)) == [(state, words)]


def test_a_verdict_is_of_one_client():
    two = (client("A", **SET), client("B", **SET))
    inner = finding("error", "B")
    assert [state for state, _ in lines(two, (finding("warning", "A", (inner,)),))] == ["warning", "error"]
    assert [state for state, _ in lines(two, (finding("note", "A"),))] == ["ok", "ok"]
    assert [state for state, _ in lines(two, (finding("error"),))] == ["error", "error"]


def test_no_client_at_all():
    assert lines(()) == [("unknown", "none found")]
