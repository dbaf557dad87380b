"""What samples amount to, and recordings as text."""

import json
from dataclasses import replace

import pytest

from doctor.facts.record import FactsFormatError, Unknown, to_json
from doctor.facts.watch.recording import MOST_SAMPLES, empty, head_line, parse, sample_line
from doctor.facts.watch.sample import HostSample, Sample, ServerSample
from doctor.facts.watch.summary import POINTS, summarise
from tests.facts.watch.make_recordings import FIXTURES, STATES, minute, texts, turn


def same(data):
    return data


@pytest.mark.parametrize("name", STATES)
def test_the_fixtures_are_what_their_maker_makes(name):
    assert (FIXTURES / "watch" / f"{name}.jsonl").read_text() == texts()[name]


def test_only_the_time_in_which_the_server_worked_counts():
    def half(at, card, host, server):
        if at <= 20:
            return (
                replace(card, sm_percent=0.0, power_watts=20.0),
                replace(host, server_cores=0.0),
                replace(server, busy=0, decode_tokens=0),
                (),
            )
        return (
            replace(card, sm_percent=90.0, power_watts=300.0),
            replace(host, server_cores=4.0),
            replace(server, decode_tokens=30),
            (),
        )

    found = summarise(list(minute(half)), 12)
    assert (found.seconds, found.samples, found.busy_seconds, found.cores) == (40.0, 40, 20.0, 12)
    assert (found.sm_percent, found.idle_sm_percent, found.server_cores) == (90.0, 0.0, 4.0)
    (card,) = found.cards
    assert (card.sm_percent, card.power_watts, card.power_share) == (90.0, 300.0, 0.0)
    assert card.pcie_share == pytest.approx(9_000_000 / 31_504_000_000, abs=1e-4)
    assert found.decode_per_second == 30.0 and found.decode_seconds == 20.0


def test_the_servers_own_times_count_before_the_slots():
    samples = [
        Sample(1.0, 1.0, "no-library", (), HostSample(), ServerSample("ok", 1, 1, 0, 20)),
        Sample(2.0, 1.0, "no-library", (), HostSample(), ServerSample("ok", 1, 0, 0, 0, None, 1000.0, 1.0, 90.0, 2.0)),
    ]
    found = summarise(samples, None)
    assert (found.decode_per_second, found.prompt_per_second, found.prompt_share) == (45.0, 1000.0, 0.3333)
    assert found.cards == Unknown("NVML: no-library") and isinstance(found.sm_percent, Unknown)
    assert found.busy_seconds == 2.0  # a request that ended between two looks was work


def test_the_log_counts_where_the_server_tells_nothing():
    timings = (turn(1, 2000, 1000.0, 40, 20.0), turn(2, 4000, 1000.0, 40, 20.0))
    found = summarise([Sample(1.0, 1.0, "ok", (), HostSample(), None, timings, "ok")], None)
    assert (found.requests, found.prompt_seconds, found.decode_seconds, found.prompt_share) == (2, 6.0, 4.0, 0.6)
    assert found.prompt_tokens_per_request == 3000.0 and isinstance(found.server_state, Unknown)


@pytest.mark.parametrize(
    ("states", "pids", "restarts"),
    [
        ("ok ok ok", "1 1 1", 0),
        ("refused loading ok", "0 1 1", 0),  # it is only starting
        ("ok refused ok", "1 0 2", 1),
        ("ok refused refused loading ok ok refused ok", "1 0 0 2 2 2 0 3", 2),
        ("ok refused ok ok ok", "1 0 0 0 2", 1),  # its process is found some looks later
        ("ok ok", "1 2", 1),  # between two looks
        ("ok timeout ok", "1 1 1", 0),  # busy is not gone
    ],
)
def test_restarts(states, pids, restarts):
    samples = [
        Sample(float(at), 1.0, "ok", (), HostSample(server_pid=int(pid) or None), ServerSample(state))
        for at, (state, pid) in enumerate(zip(states.split(), pids.split(), strict=True))
    ]
    assert summarise(samples, None).server_restarts == restarts


def test_a_long_series_is_averaged():
    found = summarise(list(minute(STATES["at-the-limit"], 1000)), None)
    assert len(found.series) <= POINTS and found.series[-1].at_seconds == 1000
    assert summarise([], None).samples == 0


def test_a_recording_comes_back_as_it_was():
    samples = list(minute(STATES["mostly-prompts"]))
    text = head_line(empty(2.0), same) + "".join(sample_line(one, same) for one in samples)
    found = parse(text)
    assert found.samples == tuple(samples) and found.interval == 2.0


def test_texts_are_redacted_when_they_are_written():
    host = Sample(1.0, 1.0, "ok", (), HostSample())
    assert "XX" in sample_line(host, lambda data: {**data, "cards_state": "XX"})


GOOD = head_line(empty(1.0), same)
ONE = sample_line(Sample(1.0, 1.0, "ok", (), HostSample()), same)


@pytest.mark.parametrize(
    "text",
    [
        "", "\n\n", "[]\n", "{", '{"doctor_watch": 7}\n', '{"doctor_watch": {"version": 2}}\n', GOOD + "7\n", GOOD + "[" * 9000,
        GOOD + '{"at_seconds": "x"}\n', GOOD + ONE.replace('"at_seconds":1.0', '"at_seconds":-1'),
        GOOD + ONE.replace('"at_seconds":1.0', '"at_seconds":1e999'), GOOD + ONE.replace('"at_seconds":1.0', '"at_seconds":NaN'),
        GOOD + ONE.replace('"at_seconds":1.0', '"at_seconds":2') + ONE, GOOD + "{}\n", GOOD + "\n" * 3 + "x" * 10,
        GOOD + ONE.replace('"host":{', '"host":{"cpu_percent":"hot",'), GOOD + ONE * (2 * MOST_SAMPLES + 1),
    ],
)  # fmt: skip
def test_what_is_no_recording_is_refused(text):
    with pytest.raises(FactsFormatError):
        parse(text)


def test_the_record_is_plain_data():
    for name in STATES:
        samples = list(minute(STATES[name]))
        assert json.loads(json.dumps(to_json(summarise(samples, 8)), allow_nan=False))["samples"] == 40
