"""Whether a rule is still true of one client."""

from dataclasses import replace

import pytest

from doctor.engine.holds import holds
from doctor.engine.load import load
from doctor.facts.clients.record import Client, Setting
from doctor.facts.facts import nothing_known
from doctor.facts.record import Unknown, not_collected
from doctor.outside import Outside

RULES = {rule.id: rule for rule in load(Outside()).rules}
RULE = RULES["client/v1-in-claude-base-live"]


def facts(*urls):
    clients = [
        replace(
            not_collected(Client, "x"),
            id=f"c{n}",
            name=f"C{n}",
            appends_v1=True,
            base_url=url and Setting("B", url, "f", 1),
        )
        for n, url in enumerate(urls)
    ]
    return replace(nothing_known("x"), clients=tuple(clients))


@pytest.mark.parametrize(("about", "expected"), [("C0", True), ("C1", False), ("", True)])
def test_each_client_has_its_own_answer(about, expected):
    assert holds(RULE, facts("http://a/v1", "http://a"), about) is expected


def test_what_cannot_be_seen_is_unknown():
    assert isinstance(holds(RULE, nothing_known("not looked"), "C0"), Unknown)
