"""Requests out of logs: real ones of two verbosities, wordings of old builds, and what would break a reader."""

import time
from pathlib import Path

import pytest

from doctor.logs.paste import Paste
from doctor.logs.turns import MOST_TURNS

LOGS = Path(__file__).parents[2] / "fixtures" / "logs"


def turns(data):
    paste = Paste([data if isinstance(data, bytes) else data.encode()])
    for _ in paste.sift(lambda shape, among: ()):
        pass
    return paste.turns


@pytest.mark.parametrize("name", ["default", "lv4"])
def test_a_real_log_of_seven_requests(name):
    found = turns((LOGS / "good" / f"b11434_success_{name}.log").read_bytes())
    assert [(t.prompt_tokens, t.cached_tokens, t.decoded_tokens, t.depth) for t in found] == [
        (724, 0, 12, 735),
        (1, 723, 12, 735),
        (93, 724, 12, 828),
        (523, 1, 12, 535),
        (5, 812, 12, 828),
        (724, 1, 12, 736),
        (200, 208, 60, 467),
    ]
    assert [t.similarity for t in found] == [None, 1.0, 0.886, None, None, None, 0.882]
    assert all(t.together == 1 for t in found) and sum(t.graphs_reused for t in found) == (
        121 if name == "default" else 120
    )


def test_every_line_looked_at_gives_the_same():
    data = (LOGS / "good" / "b11434_success_default.log").read_bytes()
    paste = Paste([data])
    list(paste)
    assert paste.turns == turns(data)


def test_drafts_and_a_shifted_context():
    (found,) = turns((LOGS / "real" / "b11434_spec_draft_simple_lv4.log").read_bytes())
    assert (found.accepted, found.drafted, found.mean_length) == (37, 37, 4.7)
    (found,) = turns((LOGS / "real" / "b11434_ctx_shift_lv4.log").read_bytes())
    assert found.events == ("context-shift",) and found.depth == 234


OLD = """
slot launch_slot_: id  0 | task 7 | processing task
slot update_slots: id  0 | task 7 | new prompt, n_ctx_slot = 4096, n_keep = 0, n_prompt_tokens = 724
slot update_slots: id  0 | task 7 | kv cache rm [200, end)
slot      release: id  0 | task 7 | stop processing: n_past = 735, truncated = 0
slot print_timing: id  0 | task 7 |
prompt eval time =    1000.00 ms /   524 tokens (    1.91 ms per token,   524.00 tokens per second)
       eval time =    1000.00 ms /    12 tokens (   83.33 ms per token,    12.00 tokens per second)
      total time =    2000.00 ms /   536 tokens
"""


def test_the_wordings_of_old_builds():
    (found,) = turns(OLD)
    assert (found.prompt_tokens, found.cached_tokens, found.decoded_per_second, found.depth) == (524, 200, 12.0, 735)


def test_timings_alone():
    line = "llama_print_timings: {} time = 1000.00 ms / {} tokens ( 10.00 ms per token, {}.00 tokens per second)\n"
    text = "".join(line.format(what, 100 + at, at) for at in (1, 2) for what in ("prompt eval", "eval"))
    found = turns(text)
    assert [(t.prompt_tokens, t.decoded_tokens, t.slot) for t in found] == [(101, 101, None), (102, 102, None)]


def test_requests_side_by_side():
    text = (
        "slot launch_slot_: id  0 | task 1 | processing task, is_child = 0\n"
        "slot launch_slot_: id  1 | task 2 | processing task, is_child = 0\n"
        "slot print_timing: id  0 | task 1 | eval time = 1000.00 ms / 50 tokens ( 20.00 ms per token, 50.00 tokens per second)\n"
        "slot release: id  0 | task 1 | stop processing: n_tokens = 60, truncated = 0\n"
        "slot launch_slot_: id  0 | task 3 | processing task, is_child = 0\n"
        "slot print_timing: id  0 | task 3 | eval time = 1000.00 ms / 50 tokens ( 20.00 ms per token, 50.00 tokens per second)\n"
    )
    assert [(t.task, t.together) for t in turns(text)] == [(1, 2), (3, 2)]


def test_a_long_log_is_bounded():
    one = (
        "slot launch_slot_: id  0 | task {0} | processing task, is_child = 0\n"
        "slot print_timing: id  0 | task {0} | eval time = 1000.00 ms / 50 tokens ( 20.00 ms per token, 50.00 tokens per second)\n"
    )
    data = "".join(one.format(at) for at in range(60_000)).encode()
    began = time.monotonic()
    found = turns(data)
    assert len(found) == MOST_TURNS and found[-1].task == 59_999
    assert time.monotonic() - began < 10


def test_nonsense_is_not_a_request():
    assert (
        turns("id 99999999999999999 | task 1 | eval time = 1 ms / 9999999999999999 tokens ( x 9 tokens per second)")
        == ()
    )
    assert turns("slot x: id  0 | task -1 | selected slot by LCP similarity, f_sim_best = ....") == ()
