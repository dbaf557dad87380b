"""What a streamed answer says of speeds, by our own clock: replies made by hand, with times that are known."""

import json
from dataclasses import replace

import pytest

from doctor.bench.ask import COMPLETION, Asker, Sample
from doctor.bench.collect import compared
from doctor.bench.run import SHORTEST_PROMPT, WARM_LETTERS, measure, sizes_for
from doctor.facts.bench import Bench, Measurement
from doctor.facts.record import not_collected
from doctor.outside import HttpReply, OutsideError, StreamReply
from doctor.report.bench import bench_rows
from doctor.report.text import plain


class Server:
    """Answers as llama-server does: reads `reading` and writes `writing` tokens a second, 5 ms of its own a request."""

    def __init__(self, reading=1000.0, writing=50.0, slots=1, fails=""):
        self.reading, self.writing, self.fails = reading, writing, fails
        self.time, self.seen, self.asked = 0.0, "", []

    def monotonic(self):
        return self.time

    def now(self):
        return 1e9 + self.time

    def http(self, method, url, **more):
        return HttpReply(200, {}, b"{}", False, 5.0)

    def http_stream(self, method, url, *, headers, body, timeout, limit=0):
        if self.fails:
            raise OutsideError("refused", self.fails)
        asked = json.loads(body)
        prompt, tokens = asked["prompt"], asked["n_predict"]
        same = 0
        while same < min(len(prompt), len(self.seen)) and prompt[same] == self.seen[same]:
            same += 1
        whole, cached = len(prompt) // 3, same // 3
        cached = min(cached, whole - 1)
        self.seen, read = prompt, whole - cached
        at = 5.0 + 1000 * read / self.reading
        pieces = []
        for number in range(tokens):
            pieces.append((at + 1000 * number / self.writing, b'data: {"content":"ab ","stop":false}\n\n'))
        last = pieces[-1][0]
        timings = {
            "prompt_n": read,
            "cache_n": cached,
            "prompt_per_second": self.reading,
            "predicted_n": tokens,
            "predicted_per_second": self.writing,
        }
        pieces.append(
            (last, ("data: " + json.dumps({"content": "", "stop": True, "timings": timings}) + "\n\n").encode())
        )
        self.time += last / 1000
        self.asked.append((read, cached, tokens))
        return StreamReply(200, {"content-type": "text/event-stream"}, tuple(pieces), "whole")


def asker(server):
    return Asker(server, "http://127.0.0.1:1", {}, "m", COMPLETION, 60.0)


@pytest.mark.parametrize(("reading", "writing"), [(1000.0, 50.0), (30.0, 7.0), (12000.0, 300.0)])
def test_our_clock_gives_the_speeds_that_are_true(reading, writing):
    server = Server(reading, writing)
    found = measure(asker(server), seconds=45, n_ctx=8192, slots=1, progress=lambda step: None)
    assert found.problem == "" and [one.name for one in found.measurements] == ["short", "long", "second-turn"]
    for one in found.measurements[:2]:
        assert one.prefill_per_second == pytest.approx(reading, rel=0.02)
        assert one.decode_per_second == pytest.approx(writing, rel=0.02)
    assert found.cache_hit > 0.95
    assert server.time <= 45


def test_a_slow_server_is_asked_less_and_in_time():
    server = Server(4.0, 0.8)
    found = measure(asker(server), seconds=45, n_ctx=4096, slots=2, progress=lambda step: None)
    assert any("no time left" in reason for reason in found.skipped)
    assert max(read for read, _, _ in server.asked) <= WARM_LETTERS // 3 + 1


def test_sizes_stay_in_the_slot():
    warm = Sample(read=200, written=8, first=100.0, last=200.0, server=(5000.0, 100.0))
    sizes = sizes_for(warm, 0.0, 45, 1024)
    assert sizes.long + 2 * sizes.answer < 1024
    assert sizes_for(warm, 0.0, 45, SHORTEST_PROMPT) is None


def test_what_cannot_be_had_is_a_problem_in_words():
    found = measure(
        asker(Server(fails="connection refused")), seconds=45, n_ctx=None, slots=None, progress=lambda step: None
    )
    assert found.problem == "connection refused" and found.measurements == ()


@pytest.mark.parametrize(
    "body", [b"", b"data: {}\n\n", b"data: [1]\n\n", b"data: \xff\xfe\n\n", b'data: {"error":{"message":"no"}}\n\n']
)
def test_an_answer_that_is_none(body):
    server = Server()
    server.http_stream = lambda *args, **more: StreamReply(200, {}, ((1.0, body),), "whole")
    assert asker(server).ask("x", 4).problem


def test_a_run_is_held_against_a_saved_one():
    blank = not_collected(Bench, "x")
    before = blank.__class__(
        **{**blank.__dict__, "decode_per_second": 50.0, "prefill_per_second": 900.0, "cache_hit": 1.0}
    )
    now = blank.__class__(
        **{**blank.__dict__, "decode_per_second": 41.0, "prefill_per_second": 880.0, "cache_hit": 1.0}
    )
    found = compared(now, before)
    assert found.regressed == ("decode_per_second",)
    assert [(one.name, one.change) for one in found.changes] == [
        ("prefill_per_second", -0.0222),
        ("decode_per_second", -0.18),
        ("cache_hit", 0.0),
    ]


def of_depth(tokens, speed):
    one = Measurement("long", tokens, None, speed, None, 96, speed, None, tokens, None)
    return replace(
        not_collected(Bench, "x"), measurements=(one,), prefill_per_second=speed, deep_decode_per_second=speed
    )


@pytest.mark.parametrize(
    ("tokens", "worse"),
    [
        (4000, ("prefill_per_second", "deep_decode_per_second")),
        (1000, ("prefill_per_second", "deep_decode_per_second")),
        (200, ("deep_decode_per_second",)),  # shorter than a batch: read slower for that alone
        (9000, ()),  # deeper in: slower for that alone
    ],
)
def test_figures_of_other_lengths_are_no_regression_where_the_length_may_be_all(tokens, worse):
    found = compared(of_depth(tokens, 20.0), of_depth(4096, 50.0))
    assert found.regressed == worse
    text = plain(bench_rows(found, None, "en", unicode=True))
    assert ("cannot be compared" in text) is (len(worse) < 2) and ("before 50.0 with 4096" in text) is (tokens != 4000)
