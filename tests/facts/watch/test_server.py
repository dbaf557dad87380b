"""The server watcher against sockets of this machine."""

import pytest

from doctor.facts.watch.server import ServerWatch
from doctor.outside import Outside
from tests.facts.watch.web import Web, metrics, slot


@pytest.fixture
def web():
    server = Web()
    server.pages["/props"] = (200, {"is_sleeping": False})
    yield server
    server.close()


def test_slots_count_what_is_generated_between_two_looks(web):
    watch = ServerWatch(Outside(), web.url, "")
    web.pages["/slots"] = (200, [slot(0, busy=True, task=7, decoded=100, cached=1000, processed=24), slot(1)])
    first = watch.sample(0)
    assert (first.state, first.slots, first.busy, first.decode_tokens, first.depth) == ("ok", 2, 1, None, 1124)
    web.pages["/slots"] = (200, [slot(0, busy=True, task=7, decoded=141), slot(1, busy=True, task=9, decoded=6)])
    second = watch.sample(1)
    assert (second.busy, second.decode_tokens) == (2, 47)
    web.pages["/slots"] = (200, [slot(0), slot(1, busy=True, task=12, decoded=3)])
    assert watch.sample(2).decode_tokens == 3


def test_an_older_build_has_one_object_where_newer_ones_have_a_list(web):
    watch = ServerWatch(Outside(), web.url, "")
    web.pages["/slots"] = (200, [slot(0, busy=True, task=7, decoded=10, new=False)])
    watch.sample(0)
    web.pages["/slots"] = (200, [slot(0, busy=True, task=7, decoded=30, new=False)])
    assert watch.sample(1).decode_tokens == 20


def test_metrics_give_what_ended_and_a_restart_shows(web):
    watch = ServerWatch(Outside(), web.url, "")
    web.pages["/slots"] = (501, "{}")
    web.pages["/metrics"] = (
        200,
        metrics(
            prompt_tokens_total=100,
            prompt_seconds_total=1.5,
            tokens_predicted_total=50,
            requests_processing=1,
            requests_deferred=2,
        ),
    )
    first = watch.sample(0)
    assert (first.busy, first.waiting, first.done_prompt_tokens) == (1, 2, None)
    web.pages["/metrics"] = (
        200,
        metrics(
            prompt_tokens_total=180,
            prompt_seconds_total=1.75,
            tokens_predicted_total=50,
            requests_processing=0,
            requests_deferred=0,
        ),
    )
    second = watch.sample(1)
    assert (second.done_prompt_tokens, second.done_prompt_seconds, second.done_decode_tokens) == (80, 0.25, 0)
    web.pages["/metrics"] = (
        200,
        metrics(prompt_tokens_total=3, prompt_seconds_total=0.1, tokens_predicted_total=2, requests_processing=0),
    )
    third = watch.sample(2)
    assert third.restarted and third.done_prompt_tokens is None
    assert web.asked.count("/slots") == 1  # an address that is switched off is not asked each time


def test_a_sleeping_model_is_not_woken_up(web):
    web.pages["/props"] = (200, {"is_sleeping": True})
    watch = ServerWatch(Outside(), web.url, "")
    assert [watch.sample(at).state for at in (0, 1, 2)] == ["sleeping"] * 3
    assert set(web.asked) == {"/props"} and len(web.asked) == 1
    web.pages["/props"] = (200, {"is_sleeping": False})
    web.pages["/slots"] = (200, [slot(0)])
    assert watch.sample(60).state == "ok"


def test_it_goes_away_and_comes_back():
    web = Web()
    web.pages["/slots"] = (200, [slot(0)])
    watch = ServerWatch(Outside(), web.url, "")
    assert watch.sample(0).state == "ok"
    web.close()
    assert watch.sample(1).state == "refused"
    again = Web(web.port)
    again.pages["/props"] = again.pages["/slots"] = again.pages["/metrics"] = (
        503,
        '{"error":{"message":"Loading model"}}',
    )
    assert watch.sample(2).state == "loading"
    again.pages = {"/slots": (200, [slot(0)])}
    assert watch.sample(3).state == "ok"
    again.close()


def test_a_key_is_sent_and_one_that_is_missing_is_told(web):
    web.pages["/slots"] = (200, [slot(0)])
    ServerWatch(Outside(), web.url, "sk-local-test").sample(0)
    assert set(web.keys) == {"Bearer sk-local-test"}
    web.pages = dict.fromkeys(("/props", "/slots", "/metrics"), (401, "{}"))
    assert ServerWatch(Outside(), web.url, "").sample(0).state == "unauthorised"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[",
        "[[]]",
        '[{"id": [], "is_processing": true, "id_task": {}, "next_token": [7]}]',
        '{"a": 1}',
        "\x00\xff" * 999,
        '[{"next_token": {"n_decoded": -5}, "n_prompt_tokens": 1e400}]',
    ],
)
def test_any_answer_is_survived(web, body):
    from doctor.facts.watch.sample import ServerSample
    from doctor.facts.watch.sampler import _sound

    web.pages["/slots"] = (200, body)
    web.pages["/metrics"] = (200, body + "\nllamacpp:prompt_tokens_total nan\nllamacpp:prompt_seconds_total 1e999\n")
    watch = ServerWatch(Outside(), web.url, "")
    found = [_sound(lambda at=at: watch.sample(at), ServerSample("error")) for at in (0, 1)]
    assert all(one.state in ("ok", "error") for one in found)


@pytest.mark.parametrize(
    ("slots", "figures", "state", "trouble"),
    [
        ((200, "["), (501, ""), "error", "/slots: the answer is no JSON"),
        ((200, "{}"), (501, ""), "error", "/slots: the answer is no list"),
        ((200, [{**slot(0), "n_ctx": "many"}]), (501, ""), "ok", "/slots: what stands for n_ctx is no sensible number"),
        ((200, [slot(0)]), (200, "llamacpp:requests_processing NaN\n"), "ok", "/metrics: no figure in it can be read"),
        ((501, ""), (200, "nothing\n"), "error", "/metrics: no figure in it can be read"),
        ((302, ""), (501, ""), "error", "/slots: HTTP 302"),
        ((200, "[" + "0," * (1 << 20) + "0]"), (501, ""), "error", "/slots: the answer is larger than 1 MiB"),
        ((200, [slot(0)]), (501, ""), "ok", None),
    ],
)
def test_what_is_wrong_with_an_answer_is_told(web, slots, figures, state, trouble):
    web.pages["/slots"], web.pages["/metrics"] = slots, figures
    sample = ServerWatch(Outside(), web.url, "").sample(0)
    assert (sample.state, sample.trouble) == (state, trouble)


def test_a_slot_whose_number_is_none_is_survived(web):
    watch = ServerWatch(Outside(), web.url, "")
    web.pages["/slots"] = (
        200,
        [{**slot(0, busy=True, task=7, decoded=10), "id": []}, slot(1, busy=True, task=8, decoded=5)],
    )
    watch.sample(0)
    web.pages["/slots"] = (
        200,
        [{**slot(0, busy=True, task=7, decoded=90), "id": []}, slot(1, busy=True, task=8, decoded=9)],
    )
    assert watch.sample(1).decode_tokens == 4
