"""llama-fit-params: what it prints is read, when it may be run, and how far it is from our own numbers."""

import os
import shlex
import stat
from pathlib import Path

import pytest

from doctor.facts.budget.fit_params import FitDevice, FitParams, collect, compared, find_program, words_for
from doctor.facts.budget.fit_params_output import complaint, read_table
from doctor.facts.launch.record import LaunchOption
from doctor.facts.record import Unknown, from_json, to_json
from doctor.outside import Outside

SAMPLES = Path(__file__).parents[2] / "fixtures" / "fit_params"
MIB = 1 << 20


def sample(name):
    return (SAMPLES / name).read_text()


@pytest.fixture
def folder(tmp_path):
    """A folder of programs that is not the current one, with a llama-server in it."""
    path = tmp_path / "bin"
    path.mkdir()
    (path / "llama-server").write_text("")
    return path


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    return str(path)


def program(folder, script):
    path = folder / "llama-fit-params"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def saying(verbose_out="", verbose_err="", short=None, status=0):
    """A script that prints these fixtures: with -fitp the short one, else the verbose ones."""
    lines = ['case " $* " in *" -fitp "*)']
    lines.append(f"cat {shlex.quote(str(SAMPLES / short))}; exit 0;;" if short else "exit 1;;")
    lines.append("esac")
    lines += [
        f"cat {shlex.quote(str(SAMPLES / name))} {to}" for name, to in ((verbose_out, ""), (verbose_err, ">&2")) if name
    ]
    return "\n".join([*lines, f"exit {status}"])


def outside(**environ):
    return Outside({"PATH": "/usr/bin:/bin", "HOME": os.environ["HOME"], **environ})


def options(*rows):
    return tuple(LaunchOption(name, spelling, value, 1, *rest) for name, spelling, value, *rest in rows)


def asked(folder, model, **keywords):
    number = keywords.pop("number", 10900)
    return collect(keywords.pop("outside", outside()), str(folder / "llama-server"), number, model, **keywords)


# --- reading -----------------------------------------------------------------------------------------------------


def test_the_long_table():
    rows = [("Host", 1481, 512, 266), ("CPU_REPACK", 3204, 0, 0)]
    assert read_table(sample("cpu_verbose.stdout") + sample("cpu_verbose.stderr")) == (rows, True)


def test_the_short_tables():
    assert read_table(sample("cpu_short.stdout")) == ([("Host", 1481, 512, 266)], False)
    assert read_table(sample("cuda_short.stdout")) == ([("CUDA0", 15088, 405, 529), ("Host", 682, 0, 44)], False)


def test_the_long_table_of_cards_and_only_the_first():
    head = "llama_memory_breakdown_print: | memory breakdown [MiB] | total   free     self   model   context   compute    unaccounted |\n"
    card = "llama_memory_breakdown_print: |   - CUDA0 (RTX 4090)   | 24077 =  945 + (19187 = 17904 +     384 +     898) +        3945 |\n"
    minus = "llama_memory_breakdown_print: |   - CUDA1 (RTX 3060)   | 12287 = -17 + (19187 = 17903 +     385 +     899) + 17592186044415 |\n"
    host = "llama_memory_breakdown_print: |   - Host               |                 58271 = 58259 +       0 +      12                |\n"
    rows = [("CUDA0", 17904, 384, 898), ("CUDA1", 17903, 385, 899), ("Host", 58259, 0, 12)]
    assert read_table(f"{head}{card}{minus}{host}next\n{head}{card}end\n") == (rows, True)
    assert read_table(head + card) == ([], False)  # the end of the log is lost


@pytest.mark.parametrize(
    "text", ["", "Host", "Host 1 2", "Host 1 2 3 4", "Host -1 2 3", "a 1 2 3\n", "| memory breakdown [MiB] |"]
)
def test_what_is_no_table(text):
    assert read_table(text) == ([], False)


def test_a_table_without_end():
    assert len(read_table("A 1 2 3\n" * 100_000 + "Host 1 2 3\n")[0]) <= 64
    line = "x |   - " + "C" * 500_000
    assert read_table(f"| memory breakdown [MiB] |\n{line}\n") == ([], False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            sample("refused.stderr"),
            "llama_init_from_model: model does not support different K (q8_0) and V (f16) cache types",
        ),
        ("0.00.1 D failed to x\nerror: invalid argument: -fitp\n", "error: invalid argument: -fitp"),
        ("terminate called\n  what():  failed to load model\n", "failed to load model"),
        ("all is \x1b[31mwell\n", ""),
        ("", ""),
    ],
)
def test_the_reason(text, words):
    assert complaint(text) == words


# --- running -----------------------------------------------------------------------------------------------------


def test_a_real_answer(folder, model):
    path = program(folder, saying("cpu_verbose.stdout", "cpu_verbose.stderr"))
    found = asked(folder, model, slots=2, options=options(("--ctx-size", "-c", "4096")))
    assert found.path == str(path)
    assert found.devices == (
        FitDevice("Host", 1481 * MIB, 512 * MIB, 266 * MIB),
        FitDevice("CPU_REPACK", 3204 * MIB, 0, 0),
    )
    assert found.command == f"llama-fit-params --model {shlex.quote(model)} --parallel 2 -c 4096 -v"
    assert (found.repack_counted, found.slots) == (True, 2)
    assert from_json(FitParams, to_json(found)) == found


def test_the_short_table_where_the_log_is_lost(folder, model):
    program(folder, saying(short="cuda_short.stdout", status=1))
    found = asked(folder, model)
    assert [device.name for device in found.devices] == ["CUDA0", "Host"]
    assert not found.repack_counted
    assert found.command.endswith("-fitp on")
    assert isinstance(asked(folder, model, number=8000), Unknown)  # has no -fitp


def test_a_refusal_says_why(folder, model):
    program(folder, saying(verbose_err="refused.stderr", status=1))
    found = asked(folder, model)
    assert isinstance(found, Unknown) and "does not support different K (q8_0) and V (f16)" in found.reason


def test_what_it_is_told(folder, model):
    program(folder, f'echo "$@" > {folder}/words; env > {folder}/environment; exit 3')
    found = asked(
        folder, model, number=8000, outside=outside(LLAMA_ARG_CTX_SIZE="9", CUDA_VISIBLE_DEVICES="1"),
        options=options(("--port", "--port", "80"), ("--n-gpu-layers", "-ngl", "99")),
    )  # fmt: skip
    assert isinstance(found, Unknown) and "status 3" in found.reason
    assert (folder / "words").read_text() == f"--model {model} --parallel 1 -ngl 99 -v\n"
    environment = (folder / "environment").read_text()
    assert "CUDA_VISIBLE_DEVICES=1" in environment and "GGML_NO_BACKTRACE=1" in environment
    assert "LLAMA_ARG" not in environment


def test_it_is_bounded(folder, model, monkeypatch):
    monkeypatch.setattr("doctor.facts.budget.fit_params.SECONDS", 0.3)
    program(folder, "sleep 20")
    assert "no end after 0.3 s" in asked(folder, model).reason
    program(folder, "exec yes")
    monkeypatch.setattr("doctor.facts.budget.fit_params.SECONDS", 20.0)
    monkeypatch.setattr("doctor.facts.budget.fit_params.OUTPUT", 1000)
    assert "prints without end" in asked(folder, model).reason


def test_a_crash(folder, model):
    program(folder, "kill -ILL $$")
    assert "ended with signal 4" in asked(folder, model).reason


# --- what may be run ---------------------------------------------------------------------------------------------


def test_older_builds_have_none(folder, model):
    program(folder, f"touch {folder}/ran")
    assert "came with b7407" in asked(folder, model, number=7000).reason
    assert not (folder / "ran").exists()


def test_beside_the_server_behind_a_link(folder, tmp_path):
    path = program(folder, "")
    link = tmp_path / "links" / "llama-server"
    link.parent.mkdir()
    link.symlink_to(folder / "llama-server")
    assert find_program(outside(), str(link)) == str(path)


def test_on_path(folder):
    path = program(folder, "")
    assert find_program(outside(PATH=str(folder)), None) == str(path)


def test_nowhere(folder):
    found = find_program(outside(PATH="/nowhere"), str(folder / "llama-server"))
    assert isinstance(found, Unknown) and "beside llama-server or on PATH" in found.reason


@pytest.mark.parametrize("below", ["", "bin", "build/bin"])
def test_in_the_current_folder_only_when_named(tmp_path, monkeypatch, below):
    place = tmp_path / "clone" / below
    place.mkdir(parents=True, exist_ok=True)
    path = program(place, "")
    monkeypatch.chdir(tmp_path / "clone")
    server = str(place / "llama-server")
    found = find_program(outside(), server)
    assert isinstance(found, Unknown) and f"--binary {path}" in found.reason
    assert isinstance(find_program(outside(PATH=str(place)), None), Unknown)
    assert find_program(outside(), server, named=True) == str(path)


def test_of_another_user(folder):
    path = program(folder, "")

    class Elsewhere(Outside):
        def owner(self, path):
            return 4242

    found = find_program(Elsewhere({"PATH": ""}), str(folder / "llama-server"))
    assert isinstance(found, Unknown) and found.reason == f"{path} belongs to another user, so it is not run"


def test_the_owner_of_a_file(folder):
    path = program(folder, "")
    assert outside().owner(str(path)) == os.stat(path)[stat.ST_UID]


def test_words():
    words, left_out = words_for(
        options(
            ("--ctx-size", "-c", "4096"),
            ("--host", "--host", "0.0.0.0"),
            ("--override-tensor", "-ot", "a=CPU"),
            ("--override-tensor", "-ot", "b=CPU"),
            ("--kv-offload", "-nkvo", None, True),
            ("--cache-type-k", "-ctk", Unknown("a shell fills it in")),
            ("--spec-type", "--spec-type", "draft-mtp"),
            ("--rpc", "--rpc", "10.0.0.1:50052"),
            ("--ctx-size", "LLAMA_ARG_CTX_SIZE", "8192"),
            ("--n-gpu-layers", "LLAMA_ARG_N_GPU_LAYERS", "20"),
            ("--op-offload", "LLAMA_ARG_NO_OP_OFFLOAD", None, True),
        )
    )
    assert words == ["-c", "4096", "-ot", "a=CPU", "-ot", "b=CPU", "-nkvo", "--n-gpu-layers", "20"]
    assert left_out == ("--cache-type-k", "--spec-type", "--rpc", "--op-offload")


# --- comparing ---------------------------------------------------------------------------------------------------


def said(*rows, repack=False):
    devices = tuple(FitDevice(name, *(size * MIB for size in sizes)) for name, *sizes in rows)
    return FitParams("/x", "llama-fit-params", 1, devices, repack, ())


def ours(**rows):
    return {
        name: dict(zip(("model", "context", "compute"), (size * MIB for size in row), strict=True))
        for name, row in rows.items()
    }


LOGITS = 4 * 512 * 248_320
"""Qwen3.6-27B, -ub 512: 485 MiB."""


def test_the_known_over_count_is_no_difference():
    # b11434 on the same command: 146 and 44 MiB of compute in the server, 529 and 44 here.
    found = compared(
        said(("CUDA0", 15088, 405, 529), ("Host", 682, 0, 44)),
        ours(CUDA0=(15088, 405, 146), CUDA_Host=(682, 0, 44)),
        LOGITS,
    )
    assert (found.worst_percent, found.worst_device) == (None, None)


def test_no_over_count_where_another_buffer_is_larger():
    found = compared(said(("CUDA0", 15088, 4501, 740)), ours(CUDA0=(15088, 4501, 740)), LOGITS)
    assert found.worst_percent is None


def test_a_difference():
    found = compared(said(("CUDA0", 15088, 8704, 740)), ours(CUDA0=(15088, 4501, 740)), LOGITS)
    assert found.worst_device == "CUDA0"
    assert found.worst_percent == pytest.approx(100 * 4203 / 24532, abs=0.1)
    assert (found.worst_ours_bytes, found.worst_theirs_bytes) == (20329 * MIB, 24532 * MIB)


def test_too_little_compute_is_a_difference_too():
    found = compared(said(("CUDA0", 1000, 100, 100)), ours(CUDA0=(1000, 100, 600)), LOGITS)
    assert found.worst_percent == pytest.approx(100 * 500 / 1700, abs=0.1)


def test_a_device_only_one_of_them_uses():
    assert compared(said(("CUDA0", 1000, 0, 0)), ours(CPU=(1000, 0, 0)), 0).worst_percent == 100
    assert compared(said(("CUDA0", 0, 0, 0), ("Host", 1000, 0, 0)), ours(CPU=(1000, 0, 0)), 0).worst_percent is None


def test_repacked_weights_are_host_memory():
    table = said(("Host", 1481, 512, 266), ("CPU_REPACK", 3204, 0, 0), repack=True)
    mine = ours(CPU=(283, 512, 34), CPU_REPACK=(4402, 0, 0))
    assert compared(table, mine, 4 * 512 * 128_256).worst_percent is None


def test_repacked_weights_that_are_not_counted():
    mine = ours(CPU=(283, 512, 34), CPU_REPACK=(4402, 0, 0))
    assert compared(said(("Host", 1481, 512, 266)), mine, 4 * 512 * 128_256).worst_percent is None
    found = compared(said(("Host", 1481, 1512, 266)), mine, 4 * 512 * 128_256)
    assert found.worst_device == "Host" and found.worst_percent > 50


def test_small_differences_are_not_told():
    assert compared(said(("Host", 100, 0, 0)), ours(CPU=(40, 0, 0)), 0).worst_percent is None
