"""The command line as a user meets it: exit statuses, output on the right stream, one clear line for bad input."""

import io
import json
import os
import subprocess
import sys
import time

import pytest

from doctor import __version__
from doctor.cli import main
from doctor.outside import Outside

OOM = (
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 8192.00 MiB on device 0: cudaMalloc failed: out of memory\n"
    "llama_kv_cache_init: failed to allocate buffer for kv cache\n"
)


class Stdin(Outside):
    def __init__(self, data):
        super().__init__()
        self.data = data

    def stdin(self):
        return io.BytesIO(self.data)


def run(capsys, *argv, stdin=b""):
    try:
        status = main(list(argv), Stdin(stdin))
    except SystemExit as end:
        status = end.code
    out = capsys.readouterr()
    return status, out.out, out.err


def test_version(capsys):
    assert run(capsys, "--version")[:2] == (0, f"doctor {__version__}\n")


@pytest.mark.parametrize("verb", [[], ["check"], ["explain"], ["log"], ["rules"], ["rules", "show"]])
def test_help_has_words(capsys, verb):
    status, out, _ = run(capsys, *verb, "--help")
    assert status == 0 and "usage: doctor" in out


@pytest.mark.parametrize(
    "argv",
    [
        ["chekc"],
        ["log"],
        ["log", "no/such/file"],
        ["log", "."],
        ["check", "--only", "gpuu"],
        ["check", "--from", "no/such/file"],
        ["check", "--key", "NO_SUCH_VARIABLE"],
        ["check", "--key-env", "NO_SUCH_VARIABLE"],
        ["check", "--key-file", "no/such/file"],
        ["check", "--format", "xml"],
        ["rules", "show", "no/such"],
        ["rules", "list", "nosuch"],
        ["explain"],
    ],
)
def test_wrong_use_is_one_line_and_status_2(capsys, argv):
    status, out, err = run(capsys, *argv)
    assert status == 2 and out == "" and "Traceback" not in err
    assert err.strip().splitlines()[-1].startswith("doctor")


@pytest.mark.parametrize(("fail_on", "status"), [("error", 1), ("warning", 1), ("never", 0)])
def test_exit_status_follows_the_threshold(capsys, fail_on, status):
    assert run(capsys, "log", "-", "--fail-on", fail_on, stdin=OOM.encode())[0] == status


def test_json_alone_on_stdout_in_the_promised_shape(capsys):
    status, out, err = run(capsys, "log", "-", "--format", "json", stdin=OOM.encode())
    data = json.loads(out)
    assert status == 1 and err == ""
    assert data["schema_version"] == 1 and data["tool"]["version"] == __version__
    assert {"findings", "not_checked", "facts"} <= set(data)
    finding = data["findings"][0]
    assert finding["cause"] == "gpu-oom-kv-cache" and finding["severity"] == "error" and finding["status"] == "seen"
    assert {"rule", "title", "why", "evidence", "remedies", "explains", "references"} <= set(finding)
    assert {"text", "source", "line"} == set(finding["evidence"][0]) and finding["evidence"][-1]["line"] == 2
    assert {"text", "command", "price", "edit"} == set(finding["remedies"][0])


def test_empty_input_is_no_error(capsys):
    status, out, _ = run(capsys, "log", "-", stdin=b"")
    assert status == 0 and "empty" in out


@pytest.mark.parametrize(
    "data", [b"\x00" * 5000, b"\xff\xfe\x00", bytes(range(256)) * 50, b"\x1b[2J\x1b]0;x\x07", b"{" * 100_000]
)
def test_rubbish_is_survived_and_no_control_character_leaves(capsys, data):
    status, out, err = run(capsys, "log", "-", stdin=data)
    assert status in (0, 1) and err == ""
    assert not [c for c in out if ord(c) < 32 and c != "\n"]


def test_secrets_and_escapes_of_a_paste_do_not_leave(capsys):
    paste = OOM.replace("device 0", "\x1b[31mdevice 0") + "llama-server -m x.gguf --api-key sk-local-test -c 131072\n"
    for form in ("text", "json"):
        _, out, _ = run(capsys, "log", "-", "--format", form, stdin=paste.encode())
        assert "sk-local-test" not in out and "\x1b" not in out


def test_chinese(capsys):
    _, out, _ = run(capsys, "log", "-", "--lang", "zh", stdin=OOM.encode())
    assert "先做这个" in out and "显存" in out


def test_a_question_in_chinese_is_answered_in_chinese(capsys):
    assert "先做这个" in run(capsys, "explain", "显存不够")[1]
    assert "Do this first" in run(capsys, "explain", "显存不够", "--lang", "en")[1]


def test_language_follows_the_locale(capsys, monkeypatch):
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert "先做这个" in run(capsys, "log", "-", stdin=OOM.encode())[1]


def test_explain_answers_and_rule_id_shows_the_rule(capsys):
    assert "KV" in run(capsys, "explain", "kv cache out of memory")[1]
    status, out, _ = run(capsys, "explain", "memory/gpu-oom-kv-cache")
    lines = out.splitlines()
    assert status == 0 and "error: The KV cache does not fit" in lines[0] and lines[1].strip() == "Why"
    assert (
        "Do this first" in out and "failed to allocate buffer" in out and "likely" not in out and "kv cache/" not in out
    )
    _, out, _ = run(capsys, "explain", "memory/gpu-oom-kv-cache", "-v")
    assert out.index("Recognised by") < out.index("/failed to allocate buffer for kv cache/") and out.index("Why") < 300
    data = json.loads(run(capsys, "rules", "show", "memory/gpu-oom-kv-cache", "--format", "json")[1])
    assert data["findings"][0]["remedies"] and data["facts"]["rule"]["patterns"] and data["facts"]["rule"]["examples"]


def test_explain_check_lets_this_machine_decide(capsys, clean_environment):
    (clean_environment / ".claude").mkdir()
    settings = {"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9/v1", "ANTHROPIC_AUTH_TOKEN": "sk-local-test"}}
    (clean_environment / ".claude" / "settings.json").write_text(json.dumps(settings))
    words = ["explain", "claude code 404 model may not exist", "--format", "json"]
    guess = json.loads(run(capsys, *words)[1])["findings"]
    sure = json.loads(run(capsys, *words, "--check")[1])["findings"]
    assert {finding["status"] for finding in guess} == {"likely"}
    assert sure[0]["cause"] == "url-doubled-v1" and sure[0]["status"] == "seen"
    assert sure[0]["evidence"][-1]["source"].endswith("settings.json")


def test_rules_list_and_check(capsys):
    assert "memory/gpu-oom-kv-cache" in run(capsys, "rules", "list", "memory")[1]
    assert json.loads(run(capsys, "rules", "list", "--format", "json")[1])["rules"]
    assert run(capsys, "rules", "check")[:2] == (0, "every rule is sound\n")


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m doctor rules list | head -1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and done.stderr == ""


def test_ascii_terminal_is_survived():
    done = subprocess.run(
        [sys.executable, "-m", "doctor", "explain", "显存不够", "--lang", "zh"],
        capture_output=True, timeout=60, env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stderr == b""


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes the streams")
@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("log - <&-", 2),
        ("rules list >&-", 2),
        ("--version >&-", 2),
        ("--help >&-", 2),
        ("log no/such/file 2>&-", 2),
        ("log no/such/file <&- >&- 2>&-", 2),
        ("rules list > /dev/full", 2),
        ("--version > /dev/full", 2),
        ("log no/such/file 2> /dev/full", 2),
    ],
)
def test_streams_that_are_closed_or_full(command, status):
    if "/dev/full" in command and not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    done = subprocess.run(
        ["/bin/sh", "-c", f"{sys.executable} -m doctor {command}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) <= 1


def test_no_warning_on_the_way(tmp_path):
    path = tmp_path / "x.log"
    path.write_text(OOM)
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-m", "doctor", "log", str(path)],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and done.stderr == ""


def test_a_tab_in_a_line_becomes_blanks(capsys):
    _, out, _ = run(
        capsys, "log", "-", stdin=OOM.replace("device 0", "device\t0").replace("cudaMalloc", "\tcudaMalloc").encode()
    )
    assert "\t" not in out and "cudaMalloc" in out


@pytest.mark.parametrize("words", ["] " + " " * 3900 + "x killed", "a." * 60_000, "显存" * 20_000])
def test_explain_ends_soon(capsys, words):
    started = time.process_time()
    assert run(capsys, "explain", words)[0] == 0
    assert time.process_time() - started < 5


def test_explain_calls_a_weak_fit_a_guess(capsys):
    out = run(capsys, "explain", "my wife says the computer is loud", "--lang", "en")[1]
    assert out.startswith("No cause fits these words well") and "(likely" not in out
    assert "(a guess" not in run(capsys, "explain", "kv cache out of memory", "--lang", "en")[1]
