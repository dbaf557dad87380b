"""`doctor plan` for a model that is not here yet, and with llama.cpp's own opinion beside ours."""

import json
import os

import pytest

from doctor.cli import main
from doctor.outside import Outside
from tests.gguf.headers import INDEX, header_of, model_file
from tests.gguf.web import File, serving

LLAMA = "llama-3.1-8b-q4_k_m"


def run(capsys, *argv, **environ):
    status = main(["plan", *argv, "--format", "json"], Outside({"PATH": "/usr/bin:/bin", **environ}))
    out = capsys.readouterr()
    return status, json.loads(out.out) if out.out else None, out.err


def test_a_model_on_the_network_is_planned_from_its_header_alone(capsys):
    with serving() as web:
        header, size = header_of(LLAMA), INDEX[LLAMA]["file_bytes"]
        web.pages["/o/r/resolve/main/m.gguf"] = File(header, size)
        status, found, err = run(capsys, f"{web.url}/o/r/resolve/main/m.gguf", "--vram", "24", "--build", "11434")
        assert (status, err) == (0, "")
        assert web.sent <= 2 * len(header)
        assert found["model"]["url"].endswith("/m.gguf") and found["model"]["bytes"] == size
        assert all(
            "-m m.gguf" in " ".join(p["command"].split()) or "--model m.gguf" in p["command"] for p in found["profiles"]
        )


def test_a_gated_model_says_what_to_do(capsys):
    with serving() as web:
        web.pages["/o/r/resolve/main/m.gguf"] = (401, {}, b"")
        status, found, err = run(capsys, f"{web.url}/o/r/resolve/main/m.gguf", "--vram", "24")
        assert (status, found) == (2, None)
        assert err.startswith("doctor: MODEL: ") and err.count("\n") == 1


@pytest.fixture
def llama(tmp_path):
    return str(model_file(tmp_path, LLAMA))


def programs(tmp_path, script):
    """A folder with a llama-server that answers --version, and a llama-fit-params that runs `script`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, body in (
        ("llama-server", 'echo "version: 11434 (abcdef0)" >&2'),
        ("llama-fit-params", f'case " $* " in *" -fitp "*) {script};; *) exit 1;; esac'),
    ):
        path = folder / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def opinion(capsys, tmp_path, llama, host):
    _, plain, _ = run(
        capsys, "--launch", f"llama-server -m {llama} -c 4096 -np 1", "--device", "cpu", "--build", "11434"
    )
    ours = plain["budget"]["bytes"]
    model, context, compute = (
        round(host * sum(columns[kind] for columns in ours.values())) >> 20 for kind in ("model", "context", "compute")
    )
    path = programs(tmp_path, f"echo 'Host {model} {context} {compute}'")
    return run(
        capsys, "--launch", f"llama-server -m {llama} -c 4096 -np 1", "--device", "cpu", "--verify", PATH=path,
        HOME=os.environ["HOME"],
    )  # fmt: skip


def test_a_second_opinion_that_agrees(capsys, tmp_path, llama):
    _, found, _ = opinion(capsys, tmp_path, llama, 1.0)
    assert found["second_opinion"]["said"]["devices"][0]["name"] == "Host"
    assert found["second_opinion"]["findings"] == []


def test_a_second_opinion_that_differs_is_a_finding(capsys, tmp_path, llama):
    _, found, _ = opinion(capsys, tmp_path, llama, 1.5)
    assert [finding["rule"] for finding in found["second_opinion"]["findings"]] == ["memory/second-opinion-differs"]


def test_without_the_program_the_reason_is_said(capsys, tmp_path, llama):
    _, found, _ = run(capsys, "--launch", f"llama-server -m {llama}", "--device", "cpu", "--verify")
    assert found["second_opinion"]["said"] is None and "llama-server" in found["second_opinion"]["reason"]


@pytest.mark.parametrize("argv", [["{model}", "--verify"], ["http://127.0.0.1:1/m.gguf", "--vram", "8"]])
def test_wrong_use_is_one_line(capsys, llama, argv):
    status, found, err = run(capsys, *(word.format(model=llama) for word in argv))
    assert (status, found) == (2, None) and err.startswith("doctor: ") and err.count("\n") == 1
