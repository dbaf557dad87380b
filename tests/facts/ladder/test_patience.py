"""What depends on the client at the end of a climb: how long it waits, and whether it calls tools at all."""

import pytest

from doctor.facts.ladder.ask import Asker
from doctor.facts.ladder.deep import tools
from doctor.facts.ladder.speed import speed
from doctor.facts.ladder.state import Climb
from doctor.facts.ladder.target import of_url
from doctor.outside import Outside


def climb(**changes):
    outside = Outside({})
    target = of_url("http://127.0.0.1:9/v1", model="m", key=None, source="option")._replace(name="aider", **changes)
    return Climb(outside, target, None, Asker(outside, 0.1))


@pytest.mark.parametrize(
    ("seconds", "patience", "expected"),
    [
        (120.0, 90.0, ("failed", "prefill-above-timeout")),
        (120.0, 600.0, ("warned", "prefill-slow")),
        (120.0, None, ("warned", "prefill-slow")),
        (20.0, 90.0, ("passed", "")),
        (None, 1.0, ("passed", "")),
    ],
)
def test_the_first_request_is_held_against_what_the_client_waits(seconds, patience, expected):
    way = climb(patience=patience)
    way.found |= {"prefill": 100.0, "decode": 10.0, "first_request_seconds": seconds}
    step = speed(way)
    assert (step.state, step.reason) == expected
    assert expected[1] != "prefill-above-timeout" or step.detail.endswith("takes 120 s to read; it waits 90 s")


def test_a_client_without_tools_is_not_asked_to_call_one():
    step = tools(climb(tools=False))
    assert (step.state, step.detail) == ("not-tried", "aider uses no tools")
