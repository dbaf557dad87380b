"""`doctor bench` on a real server: it agrees with the server's own timings, and names what slows it on purpose."""

import json
import os
import threading
import urllib.request

import pytest

from doctor.bench.ask import Asker
from doctor.cli import main
from doctor.facts.ladder.target import CHAT
from doctor.outside import Outside
from tests.models import tiny_llama
from tests.real.conftest import KEY, free_port

pytestmark = pytest.mark.real
AGREES = 0.03


@pytest.fixture(scope="session")
def heavy_model(tmp_path_factory):
    """A model of 42 MB: some hundred tokens a second on one core, so that a clock has something to measure."""
    path = tmp_path_factory.mktemp("model") / "heavy.gguf"
    return tiny_llama(path, layers=8, embedding=512, heads=8, heads_kv=4, ctx_train=8192, vocab=2000)


@pytest.fixture(scope="session")
def wide_model(tmp_path_factory):
    """A model of 160 MB: more than caches hold, so that reading many tokens a step pays, as it does with real models."""
    path = tmp_path_factory.mktemp("model") / "wide.gguf"
    return tiny_llama(path, layers=8, embedding=1024, heads=8, heads_kv=4, ctx_train=8192, vocab=2000)


@pytest.fixture
def heavy_server(start_server, heavy_model):
    return lambda **options: start_server(**{"model_path": heavy_model, "n_ctx": 8192, **options})


def bench(capsys, url, *more, seconds="12"):
    status = main(["bench", url, "--seconds", seconds, "--format", "json", *more])
    return status, json.loads(capsys.readouterr().out)


def rules(answer):
    return [found["rule"] for found in answer["findings"] if found["severity"] != "note"]


def complete(url, prompt, tokens=24):
    body = json.dumps({"prompt": prompt, "n_predict": tokens, "ignore_eos": True}).encode()
    request = urllib.request.Request(f"{url}/completion", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as reply:
        return json.loads(reply.read())


def test_it_agrees_with_the_servers_own_timings(capsys, heavy_server):
    with heavy_server(n_parallel=2) as server:
        for _ in range(3):  # on a busy machine one run of three may be disturbed between two clocks
            status, answer = bench(capsys, server.url)
            found = answer["facts"]["bench"]
            if found["agreement"] <= AGREES:
                break
    assert status == 0 and found["problem"] is None
    assert found["agreement"] <= AGREES, found["measurements"]
    short, long, second = found["measurements"]
    assert long["prompt_tokens"] > 2 * short["prompt_tokens"] and long["depth"] > short["depth"]
    assert second["cached_tokens"] >= 0.9 * long["prompt_tokens"] and found["cache_hit"] > 0.9
    assert found["together_per_second"] > 0 and found["queued"] is False
    assert found["seconds"] < 60 and found["wire_api"] == "completion"


def test_the_chat_api_gives_the_same_figures(heavy_server):
    with heavy_server() as server:
        asker = Asker(Outside(), server.url, {}, "tiny", CHAT, 60.0)
        sample = asker.ask("The lamp in room 7 was checked and found in order. " * 20, 64)
    assert sample.problem == "" and sample.read > 300 and sample.server[0] > 0
    if sample.written >= 32:  # the random model may end by itself
        assert sample.decode_per_second() == pytest.approx(sample.server[1], rel=0.1)


def test_more_threads_than_the_machine_has(capsys, heavy_server):
    with heavy_server(threads=2 * (os.cpu_count() or 1)) as server:
        _, answer = bench(capsys, server.url, seconds="16")
    assert answer["facts"]["bench"]["busy_threads"] > (os.cpu_count() or 1)
    assert rules(answer)[0] == "speed/threads-above-logical"


def test_a_tiny_micro_batch(capsys, heavy_server, wide_model):
    with heavy_server(model_path=wide_model, n_batch=32, n_ubatch=1) as server:
        _, answer = bench(capsys, server.url)
    assert rules(answer)[0] == "speed/prompt-as-slow-as-writing", answer["facts"]["bench"]
    assert answer["facts"]["bench"]["prompt_over_decode"] < 2


def test_slots_flooded_by_others(capsys, heavy_server):
    with heavy_server(n_parallel=2) as server:
        stop = threading.Event()

        def flood():
            while not stop.is_set():
                complete(server.url, "Count the lamps. ", 400)

        threads = [threading.Thread(target=flood, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            _, answer = bench(capsys, server.url)
        finally:
            stop.set()
            for thread in threads:
                thread.join(60)
    assert answer["facts"]["bench"]["slots_busy_before"] >= 1
    assert rules(answer)[0] == "speed/requests-share-server"


def test_the_log_of_a_client_that_changes_the_start_of_its_prompt(capsys, heavy_server):
    with heavy_server() as server:
        talk = "The lamp in room 7 was checked and found in order. " * 30
        for turn in range(4):
            talk += f"Turn {turn}: and now the next lamp was checked too. "
            complete(server.url, f"At {turn * 7919 + 100003} o'clock. " + talk)
        main(["log", str(server.log_path), "--format", "json"])
    answer = json.loads(capsys.readouterr().out)
    assert rules(answer)[0] == "context/prompt-cache-invalidated-by-client"
    timeline = answer["facts"]["timeline"]
    assert timeline["reread_cause"] == "prefix" and timeline["reread_turns"] >= 2


def test_the_log_of_the_same_talk_with_a_start_that_stays(capsys, heavy_server):
    with heavy_server() as server:
        talk = "The lamp in room 7 was checked and found in order. " * 30
        for turn in range(4):
            talk += f"Turn {turn}: and now the next lamp was checked too. "
            complete(server.url, talk)
        main(["log", str(server.log_path), "--format", "json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["facts"]["timeline"]["reread_turns"] == 0
    assert "context/prompt-cache-invalidated-by-client" not in rules(answer)


def test_the_log_of_a_tiny_micro_batch(capsys, heavy_server, wide_model):
    with heavy_server(model_path=wide_model, n_batch=32, n_ubatch=1) as server:
        for turn in range(3):  # shorter each time: no conversation that goes on
            complete(server.url, f"{turn} " + "The lamp in room 7 was checked and found in order. " * (9 - turn), 24)
        main(["log", str(server.log_path), "--format", "json"])
    answer = json.loads(capsys.readouterr().out)
    # A busy machine can make one request stand out; the cause must be told all the same.
    assert "speed/prompt-as-slow-as-writing" in rules(answer), answer["facts"]["timeline"]


def test_a_saved_run_is_a_regression_check(capsys, heavy_server, tmp_path):
    saved = tmp_path / "before.json"
    with heavy_server() as server:
        bench(capsys, server.url, "--save", str(saved))
        data = json.loads(saved.read_text())
        data["facts"]["bench"]["decode_per_second"] *= 100
        saved.write_text(json.dumps(data))
        status, answer = bench(capsys, server.url, "--compare", str(saved))
    found = answer["facts"]["bench"]
    assert status == 1 and "decode_per_second" in found["regressed"]
    assert rules(answer)[0] == "speed/bench-regressed"
    change = next(change for change in found["changes"] if change["name"] == "decode_per_second")
    assert change["change"] < -0.5


def test_a_key_and_no_server(capsys, heavy_server, monkeypatch):
    status, answer = bench(capsys, f"http://127.0.0.1:{free_port()}")
    assert status == 1 and answer["facts"]["bench"]["problem"]
    with heavy_server(api_keys=[KEY]) as server:
        status, answer = bench(capsys, server.url)
        assert status == 1 and answer["findings"][0]["cause"].startswith("auth-key")
        monkeypatch.setenv("BENCH_KEY", KEY)
        status, answer = bench(capsys, server.url, "--key-env", "BENCH_KEY")
        assert status == 0 and answer["facts"]["bench"]["measurements"] and KEY not in json.dumps(answer)
