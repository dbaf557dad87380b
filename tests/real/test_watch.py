"""The server watcher against llama.cpp's own server."""

import contextlib
import http.client
import json
import threading
import urllib.request

import pytest

from doctor.facts.watch.server import ServerWatch
from doctor.outside import Outside

pytestmark = pytest.mark.real


def complete(url, tokens):
    body = json.dumps({"prompt": "hello world", "n_predict": tokens, "ignore_eos": True}).encode()
    with urllib.request.urlopen(f"{url}/completion", body, timeout=60) as reply:
        return json.load(reply)["timings"]


def test_the_speed_is_the_servers_own(start_server):
    with start_server(n_ctx=2048, n_parallel=2, endpoint_metrics=True) as running:
        watch = ServerWatch(Outside(), running.url, "")
        first = watch.sample(0)
        timings = complete(running.url, 200)
        second = watch.sample(1)
    assert (first.state, first.slots, first.busy, first.done_decode_tokens) == ("ok", 2, 0, None)
    # The first token comes out of the prompt's own pass: builds count it on one side or the other.
    assert second.done_decode_tokens in (timings["predicted_n"], timings["predicted_n"] - 1)
    speed = second.done_decode_tokens / second.done_decode_seconds
    assert speed == pytest.approx(timings["predicted_per_second"], rel=0.03)


def test_a_request_at_work_is_seen_in_the_slots(start_server):
    with start_server(n_ctx=8192, n_parallel=1) as running:
        watch = ServerWatch(Outside(), running.url, "")
        watch.sample(0)

        def work():
            with contextlib.suppress(OSError, http.client.HTTPException):  # the server ends before it does
                complete(running.url, 6000)

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        seen = []
        for at in range(1, 400):
            sample = watch.sample(at)
            if sample.busy and sample.decode_tokens:
                seen.append(sample)
            if len(seen) == 3:
                break
        assert len(seen) == 3 and seen[0].depth < seen[1].depth <= 6100


def test_without_slots_and_metrics_it_is_only_known_to_be_there(start_server):
    with start_server(endpoint_slots=False) as running:
        found = ServerWatch(Outside(), running.url, "").sample(0)
    assert (found.state, found.busy, found.slots) == ("ok", None, None)
