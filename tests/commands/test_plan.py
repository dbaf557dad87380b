"""`doctor plan`, from the command line to what is printed, with a header extended to its full size."""

from __future__ import annotations

import json

import pytest

from doctor.cli import main
from tests.gguf.headers import model_file

LLAMA = "llama-3.1-8b-q4_k_m"


@pytest.fixture
def llama(tmp_path):
    return model_file(tmp_path, LLAMA)


def planned(capsys, *words):
    status = main(["plan", *map(str, words)])
    return status, capsys.readouterr().out


def test_the_budget_has_the_shape_of_llama_cpps_breakdown(capsys, llama):
    launch = f"llama-server -m {llama} -c 4096 -np 1"
    status, out = planned(capsys, "--launch", launch, "--device", "cuda", "--build", "11434", "--format", "json")
    assert status == 0
    found = json.loads(out)["budget"]
    assert (found["n_ctx"], found["n_ctx_seq"], found["n_ubatch"]) == (4096, 4096, 512)
    assert set(found["bytes"]) == {"CUDA0", "CUDA_Host"}
    assert found["bytes"]["CUDA0"]["context"] == 512 << 20
    assert set(found["bytes"]["CUDA0"]) == {"model", "context", "compute"}


def test_people_get_a_table(capsys, llama):
    status, out = planned(capsys, "--launch", f"llama-server -m {llama} -c 8192", "--device", "cuda:2")
    assert status == 0
    assert "CUDA1:" in out and "weights" in out


def test_a_start_that_would_fail_says_so(capsys, llama):
    launch = f"llama-server -m {llama} -ctv q8_0 -fa off"
    status, out = planned(capsys, "--launch", launch, "--format", "json")
    assert status == 1
    assert "flash_attn" in json.loads(out)["refused"]["message"]


def test_a_file_that_is_no_model_is_told(capsys, tmp_path):
    page = tmp_path / "model.gguf"
    page.write_text("<html><title>Sign in</title></html>")
    status, out = planned(capsys, "--launch", f"llama-server -m {page}")
    assert status == 1
    assert "web page" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--launch", "ls -l"], "--launch"),
        (["--launch", "llama-server -c 1"], "no model file"),
        (["--launch", "llama-server -m /no/such.gguf"], "no such file"),
        (["--launch", "llama-server -m x.gguf", "--device", "toaster"], "--device"),
        (["--launch", "llama-server -m x.gguf", "--build", "newest"], "--build"),
    ],
)
def test_wrong_usage_is_one_line(capsys, words, complaint):
    assert main(["plan", *words]) == 2
    err = capsys.readouterr().err
    assert complaint in err and err.count("\n") == 1
