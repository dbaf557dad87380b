"""`doctor check` from saved facts and on the machine it runs on."""

import json
import os
from dataclasses import replace

import pytest

from doctor.cli import main
from doctor.facts import server_address, side_by_side
from doctor.facts.facts import SUBJECTS, Facts, nothing_known
from doctor.facts.gpu.record import Gpu
from doctor.facts.record import Unknown, from_json, not_collected, to_json
from doctor.facts.server.record import Server


def run(capsys, *argv):
    status = main(["check", *argv])
    return status, capsys.readouterr()


def saved(tmp_path, facts):
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"schema_version": 1, "facts": to_json(facts)}))
    return str(path)


def test_this_machine(capsys):
    status, out = run(capsys, "--format", "json")
    data = json.loads(out.out)
    assert status in (0, 1) and out.err == ""
    assert data["facts"]["machine"]["cores_logical"] >= 1 and data["facts"]["machine"]["ram_total_bytes"] > 1 << 28
    assert set(data["facts"]) == {*SUBJECTS, "speed"}
    assert {"server", "gguf"} <= {item["check"] for item in data["not_checked"]}


def test_only_and_skip(capsys):
    _, out = run(capsys, "--only", "machine", "--format", "json")
    facts = json.loads(out.out)["facts"]
    assert facts["gpu"] == {"unknown": "left out by --only or --skip"} and "os" in facts["machine"]
    _, out = run(capsys, "--only", "machine,gpu", "--skip", "machine", "--format", "json")
    assert json.loads(out.out)["facts"]["machine"] == {"unknown": "left out by --only or --skip"}


def test_save_and_from_give_the_same_findings(capsys, tmp_path):
    path = str(tmp_path / "saved.json")
    _, first = run(capsys, "--save", path, "--format", "json")
    _, second = run(capsys, "--from", path, "--format", "json")
    one, two = json.loads(first.out), json.loads(second.out)
    assert one["findings"] == two["findings"] and one["facts"] == two["facts"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"facts": {"machine": 5}}', '{"facts": {"gpu": {"state": 7}}}', "[" * 5000]
)
def test_bad_saved_facts_are_one_line(capsys, tmp_path, text):
    path = tmp_path / "bad.json"
    path.write_text(text)
    status, out = run(capsys, "--from", str(path))
    assert status == 2 and len(out.err.strip().splitlines()) == 1 and "--from" in out.err


def test_facts_of_a_newer_version_are_read(tmp_path, capsys):
    data = {"facts": {**to_json(nothing_known("x")), "more": 1}}
    (tmp_path / "new.json").write_text(json.dumps(data))
    assert run(capsys, "--from", str(tmp_path / "new.json"))[0] == 0


def test_a_crashed_check_is_a_finding_and_the_rest_goes_on(capsys, monkeypatch):
    from doctor.facts.gpu import record as gpu

    monkeypatch.setattr(gpu, "collect", lambda outside: 1 / 0)
    status, out = run(capsys, "--only", "gpu,machine", "--format", "json")
    data = json.loads(out.out)
    assert status == 3
    assert "doctor/gpu-crashed" in [finding["rule"] for finding in data["findings"]]
    assert "os" in data["facts"]["machine"]


def test_a_check_that_hangs_is_left_behind(capsys, monkeypatch):
    import threading

    from doctor.facts.gpu import record as gpu

    never = threading.Event()
    monkeypatch.setitem(side_by_side.DEADLINES, "gpu", 0.1)
    monkeypatch.setattr(gpu, "collect", lambda outside: never.wait(20))
    _, out = run(capsys, "--only", "gpu", "--format", "json")
    never.set()
    assert {"check": "gpu", "reason": "no result within 0.1 s"} in json.loads(out.out)["not_checked"]


def test_nothing_unknown_shows_green(capsys, tmp_path):
    _, out = run(capsys, "--from", saved(tmp_path, nothing_known("not looked")))
    green = [line for line in out.out.splitlines() if line.lstrip().startswith("✓ ") and "Nothing wrong" not in line]
    assert green == []


def test_a_gpu_that_does_not_work_is_not_green(capsys, tmp_path):
    gpu = replace(
        not_collected(Gpu, "x"), state="driver-not-loaded", detail="Driver Not Loaded", hardware=True, devices=()
    )
    _, out = run(capsys, "--from", saved(tmp_path, replace(nothing_known("x"), gpu=gpu)))
    assert "✓ gpu" not in out.out and "Driver Not Loaded" in out.out


def test_records_survive_json():
    facts = replace(nothing_known("x"), gpu=replace(not_collected(Gpu, "y"), state="ok", devices=()))
    assert from_json(Facts, json.loads(json.dumps(to_json(facts)))) == facts


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("http://127.0.0.1:9000", ("http://127.0.0.1:9000", "the address given")),
        (None, ("http://127.0.0.1:8080", "the default address")),
    ],
)
def test_server_url(option, expected):
    assert server_address.server_url(option, None, ()) == expected


@pytest.mark.parametrize(
    ("host", "port", "prefix", "url"),
    [
        (None, None, None, "http://127.0.0.1:8080"),
        ("0.0.0.0", 9000, None, "http://127.0.0.1:9000"),
        ("::", 9000, "/llm", "http://[::1]:9000/llm"),
        ("192.0.2.1", 80, "", "http://192.0.2.1:80"),
        (Unknown("x"), Unknown("x"), Unknown("x"), "http://127.0.0.1:8080"),
    ],
)
def test_server_url_of_a_launch_command(host, port, prefix, url):
    from doctor.facts.launch.record import Launch

    started = replace(not_collected(Launch, "x"), host=host, port=port, api_prefix=prefix)
    assert server_address.server_url(None, started, ()) == (url, server_address.FROM_LAUNCH)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:1", True),
        ("localhost:1", True),
        ("http://[::1]:1/v1", True),
        ("http://192.0.2.1", False),
        ("http://127.example.org", False),
    ],
)
def test_loopback(url, expected):
    assert server_address.is_loopback(url) is expected


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "1" + "0" * 400])
@pytest.mark.parametrize("form", ["text", "json"])
def test_saved_facts_with_impossible_numbers_are_refused(capsys, tmp_path, number, form):
    path = tmp_path / "facts.json"
    path.write_text('{"facts": {"log": {"lines": 1, "draft_acceptance": NUMBER}}}'.replace("NUMBER", number))
    status, out = run(capsys, "--from", str(path), "--format", form)
    assert status == 2 and out.out == "" and "facts.log.draft_acceptance" in out.err


def test_saved_facts_are_small(capsys, tmp_path):
    path = tmp_path / "facts.json"
    path.write_text("[" + "1," * 3_000_000 + "1]")
    status, out = run(capsys, "--from", str(path))
    assert status == 2 and "larger than" in out.err


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--server", ""),
        ("--server", "ftp://127.0.0.1"),
        ("--server", "http://exa mple"),
        ("--server", "http://127.0.0.1:99999999"),
        ("--launch", ""),
        ("--launch", "ls -la"),
        ("--model", ""),
        ("--model", "no/such.gguf"),
        ("--model", "/dev/null"),
        ("--binary", "no/such/llama-server"),
        ("--only", ""),
        ("--only", ","),
        ("--skip", ""),
        ("--key", ""),
        ("--key", "q8Zr3vLm0Xy7TkPw"),
        ("--from", ""),
        ("--save", ""),
        ("--save", "."),
        ("--model", "--"),
    ],
)
def test_what_cannot_be_is_one_line_and_status_2(capsys, option, value):
    try:
        status, out = run(capsys, "--only", "machine", f"{option}={value}")
    except SystemExit as end:
        status, out = end.code, capsys.readouterr()
    assert status == 2 and out.out == ""
    assert out.err.strip().splitlines()[-1].startswith("doctor") and option.strip("-") in out.err
    assert "q8Zr3vLm0Xy7TkPw" not in out.err


def test_a_model_that_is_not_there_says_so(capsys):
    _, out = run(capsys, "--only", "gguf,launch", "--launch", "llama-server -m /no/such/model.gguf")
    assert "no such file" in out.out


def test_a_key_in_a_complaint_is_hidden(capsys):
    with pytest.raises(SystemExit) as end:
        main(["check", "--api-key", "sk-local-test", "\x1b[31m"])
    err = capsys.readouterr().err
    assert end.value.code == 2 and "sk-local-test" not in err and "\x1b" not in err
    assert main(["log", "/tmp/\x1b[31msk-local-test\n.log"]) == 2
    err = capsys.readouterr().err
    assert "sk-local-test" not in err and "\x1b" not in err and len(err.splitlines()) == 1


def test_the_budget_of_a_launch_command_is_shown(capsys, tmp_path):
    from tests.gguf.headers import model_file

    path = model_file(tmp_path, "llama-3.1-8b-q4_k_m")
    _, out = run(capsys, "--launch", f"llama-server -m {path} -c 8192 -ngl 0", "--skip", "clients,build,cuda")
    assert "What the launch command needs" in out.out and "RAM needs" in out.out
    assert "weights 4." in out.out
    _, out = run(
        capsys, "--launch", f"llama-server -m {path} -c 8192 -ngl 0", "--only", "launch,gguf", "--format", "json"
    )
    facts = json.loads(out.out)["facts"]["budget"]
    assert facts["n_ctx"] == 8192 and facts["kv_bytes"] == 1 << 30 and facts["sources"][0] == "the file's header"


def test_a_machine_with_nothing_on_it_says_what_to_name(capsys, clean_environment):
    words = "Name yours: doctor check --server URL, --launch FILE, --model FILE."
    assert words in run(capsys)[1].out
    assert words not in run(capsys, "--only", "machine,gpu")[1].out
    (clean_environment / ".claude").mkdir()
    (clean_environment / ".claude" / "settings.json").write_text(
        '{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}}'
    )
    assert words not in run(capsys)[1].out


@pytest.mark.skipif(os.name == "nt", reason="a path of Windows is looked at there")
@pytest.mark.parametrize(
    ("name", "text", "missing"),
    [
        ("start.bat", "set M=D:\\models\\q.gguf\r\nllama-server.exe -m %M%\r\n", False),
        ("start.sh", "llama-server -m 'D:\\models\\q.gguf'\n", True),  # a slip: no llama-server here opens that
    ],
)
def test_the_model_of_a_launch_file_for_windows_is_not_looked_for_elsewhere(capsys, tmp_path, name, text, missing):
    path = tmp_path / name
    path.write_text(text)
    only = ("--only", "launch,model", "--format", "json")
    _, out = run(capsys, "--launch", str(path), *only)
    data = json.loads(out.out)
    assert ("model/path-missing-here" in {found["rule"] for found in data["findings"]}) is missing
    told = [item["reason"] for item in data["not_checked"] if item["check"] == "gguf"]
    assert missing or "a path of Windows" in told[0]


def test_one_slot_is_one(capsys, tmp_path):
    server = replace(not_collected(Server, "x"), url="http://127.0.0.1:9", state="ok", n_ctx=4096, slots=1)
    path = saved(tmp_path, replace(nothing_known("x"), server=server))
    for lang, words in (("en", ", 1 slot\n"), ("zh", "1 个槽位\n")):
        assert words in run(capsys, "--from", path, "--lang", lang)[1].out
