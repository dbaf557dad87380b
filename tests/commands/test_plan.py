"""`doctor plan` as a user meets it."""

import json
import os
import subprocess
import sys
import time

import pytest

from doctor.cli import main
from doctor.outside import Outside
from tests.gguf.headers import INDEX, model_file

QWEN = "qwen3.6-27b-mtp-q4_k_m"
MIB = 1 << 20


def run(capsys, *argv):
    try:
        status = main(["plan", *argv], Outside())
    except SystemExit as end:
        status = end.code
    out = capsys.readouterr()
    return status, out.out, out.err


def as_json(capsys, *argv):
    status, out, err = run(capsys, *argv, "--format", "json")
    assert err == ""
    return status, json.loads(out)


@pytest.fixture(scope="module")
def qwen(tmp_path_factory):
    return str(model_file(tmp_path_factory.mktemp("models"), QWEN))


def test_says_whether_it_fits_and_gives_three_commands(capsys, qwen):
    status, out, err = run(capsys, qwen, "--gpu", "3090", "--build", "11434")
    assert (status, err) == (0, "")
    assert "The model fits whole on the card: up to 262144 tokens with a q4_0 cache" in out
    assert "CUDA0 GeForce RTX 3090: 24.00 GiB" in out
    commands = [line.strip() for line in out.splitlines() if line.strip().startswith("llama-server")]
    assert len(commands) == 3 and "--spec-type draft-mtp" in commands[0] and "--ctx-size 262144" in commands[2]
    assert "\x1b" not in out


def test_chinese(capsys, qwen):
    status, out, _ = run(capsys, qwen, "--gpu", "3090", "--build", "b11434", "--lang", "zh")
    assert status == 0 and "模型可以全部放进显卡" in out and "速度优先" in out


def test_a_command_that_does_not_fit_is_answered_with_remedies_by_price(capsys, qwen):
    launch = f"llama-server -m {qwen} -c 262144 -ngl 99 --temp 0.2"
    status, out, _ = run(capsys, "--launch", launch, "--gpu", "3090", "--build", "11434")
    assert status == 1
    assert "The command does not fit" in out
    places = [
        out.index(words)
        for words in ("1 slot instead of 4", "a q8_0 KV cache", "a context of", "layers on the card (`-ngl")
    ]
    assert places == sorted(places)
    assert "--temp 0.2" in out
    assert run(capsys, "--launch", launch, "--gpu", "3090", "--build", "11434", "--fail-on", "never")[0] == 0


def test_a_command_that_fits(capsys, qwen):
    launch = f"llama-server -m {qwen} -c 32768 -np 1 -ngl 99"
    status, out, _ = run(capsys, "--launch", launch, "--gpu", "3090", "--build", "11434")
    assert status == 0 and "The command fits" in out and "To make it fit" not in out


def test_a_command_that_is_refused(capsys, qwen):
    launch = f"llama-server -m {qwen} -ctv q8_0 -fa off"
    status, data = as_json(capsys, "--launch", launch, "--gpu", "3090", "--build", "11434")
    assert status == 1 and "flash_attn" in data["asked"]["refused"]


def test_the_budget_in_llama_cpps_own_columns(capsys, qwen):
    """From a measured row: Q4_K_M with -c 4096, everything on the card; weights and caches to the byte."""
    launch = f"llama-server -m {qwen} -c 4096 -np 1 -ngl 99"
    status, data = as_json(capsys, "--launch", launch, "--device", "cuda", "--build", "11434")
    assert status == 0
    budget = data["budget"]
    assert (budget["n_ctx"], budget["n_ctx_seq"], budget["n_ubatch"]) == (4096, 4096, 512)
    assert abs(budget["bytes"]["CUDA0"]["model"] / MIB - 15088) < 1
    assert abs(budget["bytes"]["CUDA0"]["context"] / MIB - (256 + 149.6)) < 0.1
    assert set(budget["bytes"]["CUDA0"]) == {"model", "context", "compute"}
    assert data["profiles"] == [] and data["asked"]["spare_bytes"] is None


def test_rows_carry_their_doubt_and_their_reason(capsys, qwen):
    _, data = as_json(capsys, qwen, "--gpu", "3090", "--build", "11434")
    rows = data["profiles"][0]["budget"]["rows"]
    assert {row["kind"] for row in rows} >= {"weights", "kv", "recurrent", "compute", "overhead"}
    assert all(row["plus_minus"] >= 0 and row["why"] for row in rows)
    card = data["cards"][0]
    assert card["usable_least"] < card["usable_bytes"] < card["usable_most"] < card["total_bytes"]


def test_a_margin_is_left_free_and_an_option_fills_the_card(capsys, qwen):
    _, kept = as_json(capsys, qwen, "--gpu", "3090", "--build", "11434")
    _, edge = as_json(capsys, qwen, "--gpu", "3090", "--build", "11434", "--margin", "0")
    _, wide = as_json(capsys, qwen, "--gpu", "3090", "--build", "11434", "--margin", "2")
    assert [data["cards"][0]["margin_bytes"] >> 20 for data in (kept, edge, wide)] == [512, 0, 2048]
    assert edge["profiles"][0]["ctx"] > kept["profiles"][0]["ctx"] > wide["profiles"][0]["ctx"]
    spare = [data["profiles"][0]["spare_bytes"] for data in (kept, edge, wide)]
    assert spare[1] < 64 * MIB and 512 * MIB <= spare[0] < 600 * MIB and 2048 * MIB <= spare[2] < 2200 * MIB
    _, out, _ = run(capsys, qwen, "--gpu", "3090", "--build", "11434")
    assert "0.50 of it left free (--margin)" in out and "stay free; with 256 tokens more too little would" in out
    assert run(capsys, qwen, "--gpu", "3090", "--margin", "much")[0] == 2


def test_a_command_may_fill_the_card_and_what_is_proposed_instead_does_not(capsys, qwen):
    _, edge = as_json(capsys, qwen, "--gpu", "3090", "--build", "11434", "--margin", "0")
    tokens = next(row["tokens"] for row in edge["largest_context"] if row["kv_type"] == "f16")
    launch = f"llama-server -m {qwen} -c {{}} -np 1 -ngl 99 -fa on"
    status, data = as_json(capsys, "--launch", launch.format(tokens), "--gpu", "3090", "--build", "11434")
    assert status == 0 and data["asked"]["fits"] and data["remedies"] == []
    status, data = as_json(capsys, "--launch", launch.format(tokens + 512), "--gpu", "3090", "--build", "11434")
    assert status == 1
    shorter = next(int(step["value"]) for step in data["remedies"] if step["what"] == "context")
    assert shorter < tokens - 4096


def test_options_that_keep_caches_to_the_ram_are_explained(capsys, qwen):
    _, out, _ = run(capsys, qwen, "--gpu", "3090", "--ram", "8", "--build", "11434")
    commands = [line for line in out.splitlines() if "llama-server --model" in line]
    assert any("--cache-ram" in line for line in commands)
    for option in ("--cache-ram", "--ctx-checkpoints"):
        assert any(option in line for line in commands) == (f"  `{option} " in out)


def test_goals_put_their_own_first(capsys, qwen):
    def goals(*argv):
        return [
            item["goal"] for item in as_json(capsys, qwen, "--gpu", "3090", "--build", "11434", *argv)[1]["profiles"]
        ]

    assert goals() == ["speed", "balanced", "context"]
    assert goals("--goal", "context") == ["context", "speed", "balanced"]
    assert goals("--goal", "quality") == ["quality", "speed", "context"]


@pytest.mark.parametrize("form", ["compose", "systemd", "preset"])
def test_other_forms(capsys, qwen, form):
    marks = {"compose": "services:", "systemd": "ExecStart=llama-server", "preset": "ctx-size = "}
    status, out, _ = run(capsys, qwen, "--gpu", "3090", "--build", "11434", "--output", form)
    assert status == 0 and marks[form] in out


def test_too_large_for_the_card_names_smaller_quantisations(capsys, qwen):
    _, out, _ = run(capsys, qwen, "--gpu", "4060 ti 16gb", "--ram", "64", "--build", "11434")
    assert "does not fit whole" in out and "IQ4_XS" in out and "of 66 layers on the card" in out


def test_nothing_is_possible(capsys, qwen):
    status, out, _ = run(capsys, qwen, "--vram", "2", "--ram", "8", "--build", "11434")
    assert status == 1 and "neither card nor RAM is large enough" in out


def test_two_cards(capsys, qwen):
    _, data = as_json(capsys, qwen, "--gpu", "3060,3060", "--build", "11434")
    assert [card["device"] for card in data["cards"]] == ["CUDA0", "CUDA1"]
    assert {"CUDA0", "CUDA1"} <= set(data["profiles"][0]["budget"]["bytes"])


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "plan wants a model"),
        (["MODEL", "--gpu", "rtx 3900"], "no card called 'rtx 3900' is known; nearest: GeForce RTX 3090"),
        (["MODEL", "--gpu", "4060 ti"], "say which"),
        (["MODEL", "--vram", "24x"], "wants a number of GiB"),
        (["MODEL", "--vram", "8,"], "one item a card"),
        (["MODEL", "--vram", "8", "--ctx", "64q"], "no number of tokens"),
        (["MODEL", "--vram", "8", "--slots", "0"], "1 to 256 slots"),
        (["MODEL", "--vram", "8", "--build", "new"], "no build number such as b10434"),
        (["MODEL", "--device", "tpu"], "wants cuda"),
        (["MODEL", "--vram", "8", "--gpu", "3090"], "cannot be used together"),
        (["/nowhere/m.gguf", "--vram", "8"], "/nowhere/m.gguf: no such file"),
        (["MODEL", "--vram", "8", "--launch", "ls -l"], "--launch wants a command that starts llama-server"),
    ],
)
def test_wrong_calls_are_one_line(capsys, qwen, argv, words):
    status, out, err = run(
        capsys,
        *(qwen if word == "MODEL" else word for word in argv),
        *(["--build", "11434"] if "--build" not in argv else []),
    )
    assert (status, out) == (2, "")
    assert words in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"hello", "not a GGUF file"), (b"", "not a GGUF file"), (b"GGUF\x03\x00\x00\x00", "MODEL: ")],
)
def test_files_that_are_no_models(capsys, tmp_path, content, words):
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    status, out, err = run(capsys, str(path), "--vram", "8", "--build", "11434")
    assert (status, out, len(err.splitlines())) == (2, "", 1) and words in err


def test_a_folder_is_no_model(capsys, tmp_path):
    assert "is a folder" in run(capsys, str(tmp_path), "--vram", "8", "--build", "11434")[2]


def test_time_of_a_plan(tmp_path):
    """A model with 248,320 tokens in its vocabulary takes as long: see tests/bench/bench_plan.py."""
    path = model_file(tmp_path, "gemma-3-27b-q4_k_m")
    argv = [sys.executable, "-m", "doctor", "plan", str(path), "--gpu", "3090", "--build", "11434"]
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    best = 9.0
    for _ in range(3):
        before = os.times()
        subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=environ, cwd=os.getcwd())
        after = os.times()
        best = min(best, after.children_user - before.children_user + after.children_system - before.children_system)
        if best < 0.4:
            break
        time.sleep(0.2)
    assert best < 0.6  # 0.25 s on an idle machine


def test_every_model_of_the_fixtures_gets_a_plan(capsys, tmp_path):
    for name in INDEX:
        try:
            path = model_file(tmp_path, name)
        except FileNotFoundError:
            continue
        status, data = as_json(capsys, str(path), "--gpu", "4090", "--ram", "128", "--build", "11434")
        assert status == 0, name
        assert data["profiles"], name
        path.unlink()


def test_presets_are_for_builds_that_read_them(capsys, qwen):
    status, _, err = run(capsys, qwen, "--gpu", "3090", "--build", "7000", "--output", "preset")
    assert status == 2 and "from b7352 on, this is b7000" in err


def test_a_projector_counts_and_goes_to_ram_first(capsys, qwen, tmp_path):
    import numpy
    from gguf import GGUFWriter

    path = tmp_path / "mmproj.gguf"
    writer = GGUFWriter(path, "clip")
    writer.add_tensor("v.patch_embd.weight", numpy.zeros((1024, 1024), dtype=numpy.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    launch = f"llama-server -m {qwen} -c 262144 -np 1 -ngl 99 --mmproj {path}"
    _, data = as_json(capsys, "--launch", launch, "--gpu", "3090", "--build", "11434")
    rows = {row["kind"]: row for row in data["budget"]["rows"]}
    assert rows["mmproj"]["bytes"] == 2 << 20 and rows["mmproj"]["device"] == "CUDA0"
    assert data["remedies"][0]["what"] == "mmproj" and "--no-mmproj-offload" in data["remedies"][0]["command"]
    _, data = as_json(capsys, "--launch", f"{launch}x", "--gpu", "3090", "--build", "11434")
    assert "mmproj.ggufx: no such file: not counted" in data["notes"][0]


def test_the_speed_to_expect_is_a_range_with_its_basis(capsys, qwen):
    _, data = as_json(capsys, qwen, "--gpu", "3090", "--build", "11434")
    speed = next(profile for profile in data["profiles"] if not profile["mtp"])["speed"]
    assert speed["decode_low"] < 41 < speed["decode_high"] < 2 * speed["decode_low"]  # measured 38 to 43
    assert "RTX 3090 (936 GB/s)" in speed["basis"] and 15.4e9 < speed["bytes_per_token"] < 16.4e9
    assert speed["deep_low"] < speed["decode_low"] and speed["draft_low"] is None
    drafting = next(profile for profile in data["profiles"] if profile["mtp"])["speed"]
    assert drafting["draft_low"] < 1.553 < drafting["draft_high"]  # report C
    _, data = as_json(capsys, qwen, "--vram", "24", "--build", "11434")
    assert data["profiles"][1]["speed"] == {"unknown": "the memory bandwidth of CUDA0 is not known"}


def test_a_container_command_becomes_a_service_of_its_own(capsys, qwen):
    folder, name = os.path.split(qwen)
    launch = (
        f"docker run --gpus all -v {folder}:/models -p 8080:8080 ghcr.io/ggml-org/llama.cpp:server-cuda "
        f"-m /models/{name} -c 8192 --temp 0.2"
    )
    argv = ("--launch", launch, "--gpu", "3090", "--build", "11434")
    _, out, _ = run(capsys, *argv, "--output", "compose")
    assert f'- "{folder}:/models:ro"' in out and f'- "/models/{name}"' in out and '- "--temp"' in out
    assert "docker" not in out
    _, out, _ = run(capsys, *argv)
    assert out.count("docker run --gpus all") == 3 - out.count("the same as")


def test_the_cards_of_this_machine_are_the_default(capsys, qwen):
    _, data = as_json(capsys, qwen, "--build", "11434")
    assert data["cards_source"] in ("found", "none") and data["ram_bytes"] > 0


def test_a_model_beside_a_command_takes_the_place_of_its_own(capsys, qwen, tmp_path):
    other = model_file(tmp_path, "llama-3.1-8b-q4_k_m")
    launch = f"llama-server -m {qwen} -c 8192 -ngl 99 --alias x"
    _, data = as_json(capsys, str(other), "--launch", launch, "--gpu", "3090", "--build", "11434")
    command = data["profiles"][0]["command"]
    assert f"--model {other}" in command and qwen not in command and "--alias x" in command
    assert data["model"]["architecture"] == "llama"


def test_before_the_download(capsys):
    """The header of a file on a server of this machine; what it says is what the file on disk says."""
    from tests.gguf.headers import header_of
    from tests.gguf.web import File, serving

    name = "llama-3.1-8b-q4_k_m"
    with serving() as web:
        web.pages["/Llama.gguf"] = File(header_of(name), INDEX[name]["file_bytes"])
        status, out, err = run(capsys, f"{web.url}/Llama.gguf", "--gpu", "3060", "--build", "11434")
        assert (status, err) == (0, "") and "not downloaded: read" in out and "--model Llama.gguf" in out
        status, out, err = run(capsys, f"{web.url}/none.gguf", "--gpu", "3060", "--build", "11434")
        assert (status, out, len(err.splitlines())) == (2, "", 1)


def test_a_unit_has_whole_paths(capsys, qwen, monkeypatch):
    folder, _, name = qwen.rpartition("/")
    monkeypatch.chdir(folder)
    _, out, _ = run(capsys, name, "--gpu", "3090", "--build", "11434", "--output", "systemd")
    assert f"--model {folder}/{name} " in out


def test_a_card_nobody_knows_gets_no_far_fetched_names(capsys, qwen):
    assert "nearest" not in run(capsys, qwen, "--gpu", "7900xtx")[2]
    assert "GeForce RTX 3090" in run(capsys, qwen, "--gpu", "rtx 3091")[2]


@pytest.mark.parametrize(
    ("card", "words"), [("9999", "不认识显卡 '9999'"), ("rtx 3900", "相近的有"), ("4060 ti", "请写明是哪一种")]
)
def test_a_card_that_is_not_known_in_chinese(capsys, qwen, card, words):
    assert words in run(capsys, qwen, "--gpu", card, "--lang", "zh")[2]
