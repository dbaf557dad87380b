"""`doctor watch` over recordings, and live against a server of this machine."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from doctor.cli import main
from doctor.outside import Outside
from tests.facts.watch.web import Web, metrics, slot

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "watch"
CAUSES = {
    "at-the-limit": "speed/watch-at-the-limit",
    "card-waits": "speed/watch-card-waits",
    "spilled": "speed/watch-pcie-traffic",
    "too-hot": "speed/watch-too-hot",
    "swapping": "speed/watch-swapping",
    "disk-reads": "speed/model-paged-from-disk",
    "cpu-quota": "speed/cpu-quota-stalls",
    "waiting": "speed/watch-requests-wait",
    "mostly-prompts": "speed/watch-mostly-prompts",
    "other-program": "speed/watch-other-program",
    "driver-lost": "speed/watch-driver-lost",
    "restarts": "speed/watch-server-restarts",
    "idle": None,
}


def replayed(capsys, name, *argv):
    status = main(["watch", "--from", str(RECORDINGS / f"{name}.jsonl"), *argv])
    return status, capsys.readouterr().out


@pytest.mark.parametrize("name", CAUSES)
def test_the_first_finding_is_the_cause(capsys, name):
    status, out = replayed(capsys, name, "--format", "json")
    findings = json.loads(out)["findings"]
    assert [one["rule"] for one in findings if not one["instead_of"]] == ([CAUSES[name]] if CAUSES[name] else [])
    assert status == (1 if name == "driver-lost" else 0)
    assert all(
        one["remedies"] and not set("…{}") & set(one["title"] + one["why"]) for one in findings if not one["instead_of"]
    )


def test_every_recording_has_a_cause():
    assert {path.stem for path in RECORDINGS.glob("*.jsonl")} == set(CAUSES)


def test_text_and_chinese(capsys):
    status, out = replayed(capsys, "card-waits", "--fail-on", "warning")
    assert status == 1 and "Watched for 40 s (40 samples); the server worked for 40 s of it" in out
    assert (
        "CUDA0     NVIDIA GeForce RTX 3090: at work 12 % of the time" in out
        and "server kept 7.6 cores of the processor busy" in out
    )
    _, out = replayed(capsys, "card-waits", "--lang", "zh")
    assert "显卡在等待，处理器在工作" in out and "观察了 40 秒" in out


def test_nothing_to_say_is_no_all_clear(capsys):
    _, out = replayed(capsys, "idle")
    assert "– The server had no work" in out and "✓" not in out


def test_the_page_draws_what_the_json_says(capsys, tmp_path):
    html = tmp_path / "watch.html"
    _, out = replayed(capsys, "too-hot", "--html", str(html), "--format", "json")
    series = json.loads(out)["facts"]["watch"]["series"]
    text = html.read_text()
    # A line of n points has n - 1 pieces.
    assert text.count('class="path') == sum(
        sum(point.get(field) is not None for point in series) - 1
        for field in (
            "sm_percent",
            "memory_percent",
            "power_watts",
            "decode_per_second",
            "ram_available_bytes",
            "server_cores",
            "others_cores",
        )
        if any(point.get(field) is not None for point in series)
    )
    assert "Generation" in text and "tokens per second" in text and "<script" not in text


@pytest.mark.parametrize("text", ["", "{}", "[" * 5000, '{"doctor_watch": {"version": 1}}\n{"at_seconds": []}'])
def test_a_bad_recording_is_one_line(capsys, tmp_path, text):
    path = tmp_path / "bad.jsonl"
    path.write_text(text)
    assert main(["watch", "--from", str(path)]) == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1 and "--from" in err


def test_what_does_not_go_together(capsys, tmp_path):
    assert main(["watch", "--from", str(RECORDINGS / "idle.jsonl"), "--log", "x"]) == 2
    assert "leave out --log" in capsys.readouterr().err
    assert main(["watch", "--for", "1", "--save", str(tmp_path / "no" / "where")]) == 2
    assert "--save" in capsys.readouterr().err
    assert main(["watch", "--for", "1", "--server", "ftp://x"]) == 2
    assert main(["watch", "--for", "1", "--key", "NOT_SET"]) == 2
    for words in (["--for", "0"], ["--for", "soon"], ["--interval", "0.01"]):
        with pytest.raises(SystemExit) as end:
            main(["watch", *words])
        assert end.value.code == 2


@pytest.fixture
def web():
    server = Web()
    server.pages["/slots"] = (200, [slot(0, busy=True, task=7, decoded=10, cached=100, processed=5), slot(1)])
    server.pages["/metrics"] = (200, metrics(requests_processing=1, requests_deferred=2))
    yield server
    server.close()


class Ticks(Outside):
    """The real world, in which waiting takes no time: `steps` says what happens before a sample, the last ends it."""

    def __init__(self, last, steps=None):
        super().__init__()
        self.last, self.steps, self.count = last, steps or {}, 0

    def sleep(self, seconds):
        self.count += 1
        time.sleep(0.01)
        self.steps.get(self.count, lambda: None)()
        if self.count > self.last:
            raise KeyboardInterrupt


def test_live_saved_and_replayed_give_the_same_answer(capsys, tmp_path, web):
    log, saved = tmp_path / "server.log", tmp_path / "saved.jsonl"
    log.write_text("")
    argv = ["watch", "--server", web.url, "--log", str(log), "--save", str(saved), "--format", "json"]
    assert main(argv, Ticks(4)) == 0
    live = json.loads(capsys.readouterr().out)
    assert [one["rule"] for one in live["findings"]] == ["speed/watch-requests-wait"]
    watch = live["facts"]["watch"]
    assert (watch["slots"], watch["waiting_most"], watch["samples"]) == (2, 2, 4)
    assert main(["watch", "--from", str(saved), "--format", "json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["findings"] == live["findings"] and again["facts"]["watch"] == watch


def test_a_line_each_time_where_there_is_no_terminal(capsys, web):
    assert main(["watch", "--server", web.url], Ticks(3)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all("s  |  Server: 1 of 2 slots at work, 2 waiting" in line and "GiB RAM free" in line for line in lines[:3])
    assert lines[3].startswith("Watched for")


def test_it_ends_when_its_time_is_over(capsys, web):
    assert main(["watch", "--server", web.url, "--for", "1", "--interval", "0.3", "--format", "json"]) == 0
    assert 1 <= json.loads(capsys.readouterr().out)["facts"]["watch"]["samples"] <= 5


def test_a_recording_and_what_is_shown_hold_no_names_and_keys(capsys, tmp_path, web, monkeypatch):
    saved = tmp_path / "saved.jsonl"
    monkeypatch.setenv("SERVER_KEY", "sk-local-test-0123456789abcdef")
    monkeypatch.setenv("USER", "annabella")
    url = web.url.replace("http://", "http://annabella:sk-local-test-pw99@")
    main(
        ["watch", "--server", url, "--key-env", "SERVER_KEY", "--log", "/home/annabella/x.log", "--save", str(saved)],
        Ticks(2),
    )
    text = saved.read_text() + capsys.readouterr().out
    assert "annabella" not in text and "sk-local-test" not in text and len(saved.read_text().splitlines()) == 3


def test_ctrl_c_ends_the_watching_and_not_the_answer(tmp_path, web):
    saved = tmp_path / "saved.jsonl"
    argv = [sys.executable, "-m", "doctor", "watch", "--server", web.url, "--interval", "0.2", "--save", str(saved)]
    argv += ["--fail-on", "warning"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert " s  |  Server: 1 of 2 slots" in first and err == "" and process.returncode == 1
    assert "Requests wait for a free slot" in out and len(saved.read_text().splitlines()) >= 2


def test_a_server_that_goes_and_comes_back(capsys):
    web, others = Web(), []
    web.pages["/slots"] = (200, [slot(0)])

    def again():
        others.append(Web(web.port))
        others[0].pages = web.pages

    main(["watch", "--server", web.url, "--format", "json"], Ticks(8, {3: web.close, 6: again}))
    others[0].close()
    data = json.loads(capsys.readouterr().out)
    assert data["facts"]["watch"]["server_restarts"] == 1
    assert data["findings"][0]["rule"] == "speed/watch-server-restarts"


def test_nothing_there_is_no_fault(capsys):
    status = main(["watch", "--server", "http://127.0.0.1:9", "--format", "json"], Ticks(2))
    assert status == 0 and json.loads(capsys.readouterr().out)["facts"]["watch"]["server_state"] == "refused"


def test_that_no_card_answers_is_said_once(capsys):
    main(["watch", "--server", "http://127.0.0.1:9", "--for", "1", "--interval", "0.3"])
    lines = [text for text in capsys.readouterr().out.splitlines() if "  |  " in text]
    assert len(lines) > 1 and sum("no NVIDIA card answers" in text for text in lines) <= 1
