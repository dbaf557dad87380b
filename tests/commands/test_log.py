"""What `doctor log` says when a text lacks what would decide: that it does, and the one command that brings it."""

import json

import pytest

from doctor.cli import main

QUIET = """\
0.00.019.206 I srv  llama_server: initializing ...
0.00.026.219 I cmn  common_param: common_params_print_info: verbosity = {level} (adjust with the `-lv N` CLI arg)
0.00.028.339 I srv    load_model: loading model 'a.gguf'
0.05.765.622 I srv    load_model: initializing, n_slots = 1, n_ctx_slot = 32768, kv_unified = 'false'
0.05.798.225 I srv  llama_server: model loaded
0.05.798.365 I srv  llama_server: listening on http://127.0.0.1:8080
"""


def answered(tmp_path, capsys, text, *options):
    path = tmp_path / "paste.txt"
    path.write_text(text, encoding="utf-8")
    assert main(["log", str(path), *options]) == 0
    return capsys.readouterr().out


def commands(tmp_path, capsys, text):
    found = json.loads(answered(tmp_path, capsys, text, "--format", "json"))["findings"]
    return [(f["rule"], f["severity"], f["remedies"][0]["command"] or f["remedies"][0]["text"]) for f in found]


@pytest.mark.parametrize("text", ["", "\n", " \t\r\n\n"])
def test_a_text_without_a_word_is_what_a_silent_client_leaves(text, tmp_path, capsys):
    assert "doctor verify --client" in answered(tmp_path, capsys, text, "--lang", "en")
    assert "doctor verify --client" in answered(tmp_path, capsys, text, "--lang", "zh")


def test_a_quiet_log_says_what_it_cannot_show(tmp_path, capsys):
    assert "-lv 4" in answered(tmp_path, capsys, QUIET.format(level=3), "--lang", "en")
    chinese = answered(tmp_path, capsys, QUIET.format(level=3), "--lang", "zh")
    assert "-lv 4" in chinese and "看不出" in chinese
    loud = answered(tmp_path, capsys, QUIET.format(level=4), "--lang", "en")
    assert "Nothing wrong found in this text.\n" in loud and "-lv" not in loud


def test_facts_a_quiet_log_cannot_hold_are_unknown(tmp_path, capsys):
    said = json.loads(answered(tmp_path, capsys, QUIET.format(level=3), "--format", "json"))
    assert "-lv 4" in said["facts"]["log"]["devices"]["unknown"] and said["facts"]["log"]["n_ctx_slot"] == 32768
    assert "-lv 4" in {item["check"]: item["reason"] for item in said["not_checked"]}["log.layers_offloaded"]
    loud = json.loads(answered(tmp_path, capsys, QUIET.format(level=4), "--format", "json"))
    assert loud["facts"]["log"]["devices"] is None and loud["not_checked"] == []


@pytest.mark.parametrize(
    ("question", "rule", "command"),
    [
        ("Why so slow? 3 tok/s only", "speed/offload-not-shown", "-lv 4"),
        ("回答很慢，只有 3 token", "speed/offload-not-shown", "-lv 4"),
        ("does it use the gpu?", "speed/offload-not-shown", "-lv 4"),
        ("会不会爆显存", "memory/sizes-not-shown", "nvidia-smi"),
        ("the model writes nonsense", "output/template-not-shown", "curl -s http://127.0.0.1:8080/props"),
    ],
)
def test_a_question_gets_the_command_that_decides(tmp_path, capsys, question, rule, command):
    for text in (QUIET.format(level=3) + question, question):
        ((found, severity, first),) = commands(tmp_path, capsys, text)
        assert (found, severity) == (rule, "note") and command in first


def test_the_command_is_the_users_own(tmp_path, capsys):
    text = "$ llama-server -m a.gguf -c 32768 --port 9000\n" + QUIET.format(level=3)
    assert commands(tmp_path, capsys, text + "so slow")[0][2] == "llama-server -m a.gguf -c 32768 --port 9000 -lv 4"
    assert commands(tmp_path, capsys, text + "only nonsense")[0][2].endswith(":9000/props")


def test_a_question_of_context_is_asked_of_the_server(tmp_path, capsys):
    text = "what context does my server really have?"
    assert commands(tmp_path, capsys, text)[0][::2] == (
        "context/slot-not-shown",
        "curl -s http://127.0.0.1:8080/props",
    )
    assert not commands(tmp_path, capsys, QUIET.format(level=3) + text)  # the log has it


def test_an_answer_leaves_no_question(tmp_path, capsys):
    shown = QUIET.format(level=4) + "0.1 I load_tensors: offloaded 65/65 layers to GPU\nso slow"
    assert not commands(tmp_path, capsys, shown)
    path = tmp_path / "e.txt"
    path.write_text(QUIET.format(level=3) + "CUDA error: out of memory\nso slow")
    assert main(["log", str(path), "--format", "json", "--fail-on", "never"]) == 0
    found = json.loads(capsys.readouterr().out)["findings"]
    assert found[0]["severity"] == "error" and not any(f["rule"].endswith("-not-shown") for f in found)


def test_nothing_recognised_names_what_decides(tmp_path, capsys):
    words = answered(tmp_path, capsys, "hello\n", "--lang", "en")
    assert all(piece in words for piece in ("-lv 4", "nvidia-smi", "/props"))


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("TypeError (fetch failed)", True),
        (
            "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9000.00 MiB on device 0: cudaMalloc failed: out of memory",
            False,
        ),
    ],
)
def test_the_walk_that_tells_a_clients_causes_apart_is_offered(tmp_path, capsys, text, offered):
    path = tmp_path / "c.txt"
    path.write_text(text)
    main(["log", str(path)])
    assert ("doctor verify --client" in capsys.readouterr().out) is offered


@pytest.mark.parametrize(
    "text",
    [
        "[Service]\nEnvironment=LLAMA_API_KEY=sk-local-test\nExecStart=/usr/bin/llama-server -m a.gguf --host 0.0.0.0\n",
        '[Service]\nExecStart=/usr/bin/llama-server -m a.gguf --host 0.0.0.0\nEnvironment="A=1" "LLAMA_API_KEY=sk-local-test"\n',
        "[Service]\nEnvironmentFile=/etc/llama\nExecStart=/usr/bin/llama-server -m a.gguf --host 0.0.0.0\n",
        "$ export LLAMA_API_KEY=sk-local-test\n$ llama-server -m a.gguf --host 0.0.0.0\n",
    ],
)
def test_what_a_unit_or_an_export_sets_counts_for_the_command(tmp_path, capsys, text):
    assert commands(tmp_path, capsys, text) == []


def test_a_variable_set_after_the_command_or_for_nothing_does_not(tmp_path, capsys):
    text = "$ llama-server -m a.gguf --host 0.0.0.0\n$ export LLAMA_API_KEY=sk-local-test\n$ export X='\n"
    assert [rule for rule, *_ in commands(tmp_path, capsys, text)] == ["launch/open-to-network"]


SLOW_AND_OPEN = """\
$ llama-server -m a.gguf --host 0.0.0.0 --port 8080 -ngl 99
My two colleagues and I ask it, and the second of us waits until the first answer is finished, it is slow like that
"""


def test_what_is_asked_is_answered_before_what_else_is_wrong(tmp_path, capsys):
    """The open port is certain, but the question was why it is slow."""
    path = tmp_path / "paste.txt"
    path.write_text(SLOW_AND_OPEN, encoding="utf-8")
    main(["log", str(path), "--format", "json"])
    found = [(f["cause"], f["status"]) for f in json.loads(capsys.readouterr().out)["findings"]]
    assert found[0] == ("requests-wait-for-slot", "guess")
    assert ("server-open-to-network", "seen") in found
    for lang, words in (("en", "what else is wrong"), ("zh", "其他问题")):
        main(["log", str(path), "--lang", lang])
        assert words in capsys.readouterr().out
