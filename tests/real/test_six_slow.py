"""A real server, made slow in six ways: the first finding is the true cause, and a healthy server has none.

Other programs of the machine may take processor time meanwhile, which `doctor` rightly tells: that is no wrong answer here.
"""

import os

import pytest

from tests.models import tiny_llama
from tests.real.busy import SENTENCE, at_work, bench, complete, doctor, rules, talk, watch
from tests.real.groups import forget, limited

pytestmark = pytest.mark.real
OTHERS = "speed/processor-busy-with-others"
CORES = os.cpu_count() or 1


@pytest.fixture(scope="session")
def large_model(tmp_path_factory):
    """A model of 310 MB, which a memory limit can be smaller than while the server itself still fits."""
    path = tmp_path_factory.mktemp("model") / "large.gguf"
    return tiny_llama(path, layers=8, embedding=1536, heads=16, heads_kv=8, ctx_train=4096, vocab=2000)


def causes(answer):
    """The faults without those that come from other programs of this machine."""
    return [rule for rule in rules(answer) if rule != OTHERS]


def first_is(cause, *answers):
    """Whether each answer begins with this cause; what does not is shown with its facts."""
    wrong = [answer for answer in answers if rules(answer)[:1] != [cause]]
    assert not wrong, [
        (rules(one), {name: one["facts"].get(name) for name in ("bench", "watch", "process")}) for one in wrong
    ]
    return True


def measured_in_peace(capsys, url):
    """A measurement without a finding, of at most three: the host of a virtual machine takes processor time unseen."""
    for _ in range(3):
        _, measured = bench(capsys, url)
        if causes(measured) == []:
            break
    return measured


def checked(capsys, url, model):
    """The answer of `doctor check` about this server; whether there is a card is another matter."""
    return doctor(capsys, "check", "--server", url, "--model", str(model), "--skip", "gpu,cuda,build,clients,ladders")[
        1
    ]


def test_nothing_when_healthy(capsys, heavy_server, wide_model):
    with heavy_server(model_path=wide_model, n_parallel=2, endpoint_metrics=True) as server:
        with at_work(lambda _: talk(server.url, 5)):
            seen = watch(capsys, server, seconds="12")
        measured = measured_in_peace(capsys, server.url)
        assert causes(measured) == [], measured["facts"]["bench"]
        assert causes(checked(capsys, server.url, wide_model)) == []
    assert causes(seen) == [] and seen["facts"]["watch"]["busy_seconds"] > 5, seen["facts"]["watch"]
    assert seen["facts"]["watch"]["refaults_per_second"] < 500 and seen["facts"]["process"]["cpus"] is None
    assert seen["facts"]["timeline"]["requests"] >= 1


def test_more_threads_than_the_machine_has(capsys, heavy_server):
    with heavy_server(threads=2 * CORES) as server:
        _, measured = bench(capsys, server.url, seconds="16")
        with at_work(lambda number: complete(server.url, f"{number} {SENTENCE}", 48)):
            seen = watch(capsys, server, seconds="10")
    assert measured["facts"]["bench"]["busy_threads"] > CORES and seen["facts"]["watch"]["busy_threads"] > CORES
    assert first_is("speed/threads-above-logical", measured, seen)


def test_a_cpu_quota(capsys, heavy_server, heavy_model):
    with limited("cpu", 0.25) as before, heavy_server(before=before) as server:
        _, measured = bench(capsys, server.url)
        with at_work(lambda number: complete(server.url, f"{number} {SENTENCE}", 48)):
            seen = watch(capsys, server)
        looked = checked(capsys, server.url, heavy_model)
    assert first_is("speed/cpu-quota-stalls", measured, seen, looked)
    assert seen["facts"]["process"]["cpus"] == 0.25 and seen["facts"]["watch"]["throttled_share"] > 0.5
    assert looked["facts"]["machine"]["cgroup_cpus"] != 0.25  # the server's quota, not that of this process


def test_a_quota_that_is_large_enough_is_none(capsys, heavy_server, wide_model):
    with limited("cpu", CORES) as before, heavy_server(model_path=wide_model, before=before) as server:
        measured = measured_in_peace(capsys, server.url)
    assert causes(measured) == [], measured["facts"]["bench"]
    assert measured["facts"]["process"]["cpus"] == CORES


def test_a_client_that_changes_the_start_of_its_prompt(capsys, heavy_server):
    cause = "context/prompt-cache-invalidated-by-client"
    with heavy_server(endpoint_metrics=True) as server:
        with at_work(lambda _: talk(server.url, 6, changing=True)):
            seen = watch(capsys, server, seconds="16")
        _, read = doctor(capsys, "log", str(server.log_path))
    # On a busy machine one request of a log can stand out; the cause must be told all the same.
    assert cause in rules(read) and causes(seen)[:1] == [cause], (read["facts"]["timeline"], seen["facts"]["timeline"])
    assert read["facts"]["timeline"]["reread_cause"] == seen["facts"]["timeline"]["reread_cause"] == "prefix"


def test_the_same_talk_with_a_start_that_stays(capsys, heavy_server):
    with heavy_server() as server:
        talk(server.url, 4)
        _, read = doctor(capsys, "log", str(server.log_path))
    assert read["facts"]["timeline"]["reread_turns"] == 0
    assert "context/prompt-cache-invalidated-by-client" not in rules(read)


def test_slots_flooded_by_others(capsys, heavy_server):
    with heavy_server(n_parallel=2, endpoint_metrics=True) as server:
        with at_work(lambda _: complete(server.url, "Count the lamps. ", 400), workers=2):
            _, measured = bench(capsys, server.url)
            seen = watch(capsys, server)
        with at_work(lambda _: complete(server.url, "Count the lamps. ", 400), workers=4):
            queued = watch(capsys, server)
    assert measured["facts"]["bench"]["slots_busy_before"] >= 1 and seen["facts"]["watch"]["slots_busy_mean"] > 1.5
    assert first_is("speed/requests-share-server", measured, seen)
    assert first_is("speed/watch-requests-wait", queued) and queued["facts"]["watch"]["waiting_most"] >= 1


def test_a_tiny_micro_batch(capsys, heavy_server, wide_model):
    with heavy_server(model_path=wide_model, n_batch=32, n_ubatch=1) as server:
        # shorter each time: no conversation that goes on
        with at_work(lambda number: complete(server.url, f"{number} " + SENTENCE * (9 - number % 8), 24)):
            seen = watch(capsys, server, seconds="12")
        _, read = doctor(capsys, "log", str(server.log_path))
        for _ in range(3):  # a measurement in which other programs had the processor tells nothing of it
            _, measured = bench(capsys, server.url)
            if measured["facts"]["bench"]["waited_share"] < 0.4:
                break
    cause = "speed/prompt-as-slow-as-writing"
    # A busy machine can make one request of a log stand out; the cause must be told all the same.
    assert cause in rules(read) and (cause in causes(seen) or seen["facts"]["watch"]["waited_share"] > 0.4)
    assert causes(measured)[:1] == [cause] or measured["facts"]["bench"]["waited_share"] > 0.4
    assert measured["facts"]["bench"]["prompt_over_decode"] < 2


def test_a_memory_limit_below_the_model(capsys, heavy_server, large_model):
    size = large_model.stat().st_size
    with heavy_server(model_path=large_model, n_ctx=1024) as server:
        _, before = bench(capsys, server.url)
    forget(large_model)
    with (
        limited("memory", int(size * 0.75)) as limit,
        heavy_server(model_path=large_model, n_ctx=1024, before=limit) as server,
    ):
        _, measured = bench(capsys, server.url)
        with at_work(lambda number: complete(server.url, f"{number} {SENTENCE}", 8)):
            seen = watch(capsys, server)
        looked = checked(capsys, server.url, large_model)
    assert first_is("speed/model-paged-from-disk", measured, seen)
    assert first_is("memory/container-memory-limit", looked)
    assert before["facts"]["bench"]["refaults_per_second"] < 500 < 2000 < seen["facts"]["watch"]["refaults_per_second"]
    assert seen["facts"]["process"]["memory_limit_bytes"] < size
