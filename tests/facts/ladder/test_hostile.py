"""Servers that mean no good or are merely broken: bounded time and memory, and each ends at its rung."""

import gzip
import itertools
import json
import time
import tracemalloc

import pytest

from doctor.facts.ladder import ask
from doctor.facts.ladder.climb import climb_ladder
from doctor.facts.ladder.collect import server_of
from doctor.facts.ladder.target import of_url
from doctor.outside import Outside
from doctor.secrets import Vault
from tests.facts.ladder.serving import CHUNK, END, JSON, REPLY, SSE, as_json, serving, vllm

KEY = "sk-local-test"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(ask, "CHEAP_SECONDS", 0.4)


def climb(url, *, key=None, seconds=0.6, deep=True, most=6.0):
    outside = Outside({})
    target = of_url(url, model=None, key=key, source="option")
    started = time.monotonic()
    ladder = climb_ladder(outside, target, server_of(outside, Vault(), target), deep_too=deep, deep_seconds=seconds)
    assert time.monotonic() - started < most
    return ladder


def where(ladder):
    return ladder.failed, ladder.reason


def drip(first=b""):
    yield first
    while True:
        time.sleep(0.05)
        yield b"x"


def flood():
    return itertools.repeat(b'{"choices": ' + b"[" * 65536)


def after(seconds, data):
    time.sleep(seconds)
    yield data


def test_a_sound_server_passes_every_rung_it_can():
    with serving(vllm()) as (url, _):
        ladder = climb(f"{url}/v1")
    states = {rung.name: rung.state for rung in ladder.rungs}
    assert ladder.failed is None and ladder.kind == "vllm"
    assert {states[name] for name in ("key", "path", "model", "reply", "stream", "tools")} == {"passed"}
    # What such a server does not tell is not green.
    assert {states[name] for name in ("context", "template", "cache")} == {"not-tried"}


PACKED = gzip.compress(bytes(50 << 20))


@pytest.mark.parametrize(
    ("step", "answer", "rung", "reason"),
    [
        ("empty", lambda _: (200, JSON, after(5, b"{}")), "ready", "silent"),
        ("empty", lambda _: (200, JSON, drip()), "ready", "silent"),
        ("empty", lambda _: (200, JSON, flood()), "ready", "flood"),
        ("empty", (502, {"Content-Type": "text/html"}, b"<html>Bad Gateway</html>"), "ready", "upstream-dead"),
        ("empty", (200, {"Content-Type": "text/html"}, b"<!doctype html>"), "path", "html"),
        ("empty", as_json({"error": "Unexpected endpoint or method. (POST /x)"}), "path", "path-unknown"),
        ("empty", (999, JSON, b"{}"), "ready", "server-error"),
        ("empty", (200, JSON, b"[1, 2]"), "path", "not-json"),
        ("empty", as_json({}), "path", "no-choices"),
        ("empty", (200, JSON, b'{"id": "\xff"}'), "path", "not-json"),
        ("empty", (200, {**JSON, "Content-Encoding": "gzip"}, PACKED), "path", "encoded"),
        ("reply", lambda _: (200, JSON, after(5, b"{}")), "reply", "too-slow"),
        ("reply", lambda _: (200, JSON, drip(b'{"choices"')), "reply", "too-slow"),
        ("reply", lambda _: (200, JSON, flood()), "reply", "endless"),
        ("reply", (200, {**JSON, "Content-Encoding": "gzip"}, PACKED), "reply", "encoded"),
        ("reply", (200, JSON, b"\xff\xfe{}"), "reply", "not-json"),
        ("reply", (200, JSON, b'{"choices": ['), "reply", "not-json"),
        ("reply", (200, JSON, b"[" * 200_000), "reply", "not-json"),
        ("reply", (200, JSON, b""), "reply", "not-json"),
        ("reply", as_json({"error": {"message": "no credit"}}), "reply", "error-body"),
        ("reply", as_json({"choices": []}), "reply", "no-choices"),
        ("reply", as_json({"choices": [{"message": None}]}), "reply", "no-choices"),
        ("reply", (200, {"Content-Type": "text/html"}, b"<html>login</html>"), "reply", "html"),
        ("reply", as_json({"error": {"message": "boom"}}, 500), "reply", "answer-error"),
        ("stream", (200, SSE, (CHUNK * 3).encode()), "stream", "stream-cut"),
        ("stream", (200, SSE, b""), "stream", "stream-cut"),
        ("stream", (200, SSE, b"data: {}\n\n" * 10_001 + END.encode()), "stream", "stream-endless"),
        ("stream", (200, SSE, (CHUNK + "data: {not json\n\n" + END).encode()), "stream", "stream-broken"),
        ("stream", (200, SSE, CHUNK.encode() + b"data: \xff\xfe\n\n" + END.encode()), "stream", "stream-broken"),
        ("stream", (200, SSE, (CHUNK + 'data: {"error":{"message":"x"}}\n\n').encode()), "stream", "stream-error"),
        ("stream", as_json(REPLY), "stream", "stream-not-sse"),
        ("stream", (200, {**SSE, "Content-Encoding": "gzip"}, PACKED), "stream", "encoded"),
        ("stream", lambda _: (200, SSE, drip(CHUNK.encode())), "stream", "too-slow"),
        ("stream", lambda _: (200, SSE, itertools.repeat(CHUNK.encode() * 100)), "stream", "stream-endless"),
        ("stream", lambda _: (200, SSE, itertools.repeat(b"x" * 4096)), "stream", "stream-endless"),
        ("tools", as_json({"error": {"message": "tools are not supported"}}, 400), "tools", "tools-refused"),
    ],
)
def test_each_fault_ends_at_its_rung(step, answer, rung, reason):
    with serving(vllm(**{step: answer})) as (url, _):
        assert where(climb(url)) == (rung, reason)


def test_a_tool_call_with_broken_arguments():
    call = {"id": "a", "type": "function", "function": {"name": "report_status", "arguments": '{"ok": '}}
    with serving(vllm(tools=as_json({"choices": [{"message": {"tool_calls": [call]}}]}))) as (url, _):
        assert where(climb(url)) == ("tools", "tool-call-broken")


def test_a_stream_that_is_held_back():
    timings = 'data: {"choices":[],"timings":{"prompt_per_second":90.0,"predicted_per_second":5.0}}\n\n'
    held = (CHUNK * 10 + timings + END).encode()
    with serving(vllm(stream=lambda _: (200, SSE, after(1.8, held)))) as (url, _):
        ladder = climb(url, seconds=3.0, most=12.0)
    assert ladder.failed is None and "stream-buffered" in ladder.reasons


def test_memory_stays_small():
    with serving(vllm(stream=lambda _: (200, SSE, itertools.repeat(b"data: " + b"x" * 65536)))) as (url, _):
        tracemalloc.start()
        climb(url)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 40 << 20


def test_a_redirect_is_not_followed_and_the_key_stays_here():
    with serving(vllm()) as (other, asked_there):
        moved = lambda _: (307, {"Location": f"{other}/v1/chat/completions"}, b"")  # noqa: E731
        with serving(vllm(empty=moved)) as (url, _):
            ladder = climb(url, key=KEY)
    assert where(ladder) == ("path", "redirect") and ladder.location.startswith(other)
    assert asked_there == []


def test_the_key_goes_to_the_origin_under_test_only_and_into_no_fact():
    with serving(vllm(empty=as_json({"error": {"message": f"bad key {KEY}"}}, 401))) as (url, asked):
        ladder = climb(url, key=KEY)
    assert where(ladder) == ("key", "key-refused")
    assert {headers["host"] for _, _, headers, _ in asked} == {url.removeprefix("http://")}
    assert all(headers.get("authorization", f"Bearer {KEY}") == f"Bearer {KEY}" for _, _, headers, _ in asked)


def test_the_right_key_in_the_wrong_header():
    def want_x_api_key(headers):
        taken = headers.get("x-api-key") == KEY
        return as_json({"error": {"message": "required"}}, 400) if taken else as_json({"error": "no key"}, 401)

    with serving(vllm(empty=want_x_api_key)) as (url, _):
        ladder = climb(url, key=KEY)
    assert where(ladder) == ("key", "key-wrong-header") and ladder.key_hint == "x-api-key"


def test_a_key_no_header_can_carry():
    with serving(vllm()) as (url, _):
        assert where(climb(url, key="sk-local\ntest“")) == ("key", "key-unsendable")


def test_nothing_asked_for_means_nothing_generated():
    with serving(vllm()) as (url, asked):
        ladder = climb(url, deep=False)
    assert ladder.failed is None and all(not body for _, _, _, body in asked)


def test_the_requests_of_the_deep_rungs_are_short_and_few():
    with serving(vllm()) as (url, asked):
        climb(url)
    bodies = [body for _, _, _, body in asked if body]
    assert len(bodies) <= ask.DEEP_REQUESTS and all(0 < body["max_tokens"] <= 256 for body in bodies)
    assert all(len(json.dumps(body)) < 8000 for body in bodies)


@pytest.mark.parametrize("allowed", ["", "http://other.example"])
def test_cors(allowed):
    def answer(method, path, headers, body):
        if method == "OPTIONS":
            return 200, {"Access-Control-Allow-Origin": allowed} if allowed else {}, b""
        return vllm()(method, path, headers, body)

    with serving(answer) as (url, _):
        outside = Outside({})
        target = of_url(url, model=None, key=None, source="option")
        ladder = climb_ladder(outside, target, server_of(outside, Vault(), target), origin="http://localhost:3000")
    assert where(ladder) == ("cors", "cors-refused")
