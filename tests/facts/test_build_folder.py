"""`check --build-dir`: what CMakeCache.txt and the logs of a build folder say."""

import json

import pytest

from doctor.cli import main
from doctor.facts.build.folder import collect
from doctor.facts.record import Unknown
from doctor.outside import Outside

CACHE = """# This is the CMakeCache file.
CMAKE_BUILD_TYPE:STRING=Release
//CUDA architectures
CMAKE_CUDA_ARCHITECTURES:UNINITIALIZED=86;120a-real
GGML_CUDA:BOOL=ON
//No help, variable specified on the command line.
GGML_CUDA_F16:UNINITIALIZED=ON
GGML_VULKAN:BOOL=OFF
GGML_CUDA_INTERNAL:INTERNAL=1
"""


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "llama.cpp/build"
    (made / "CMakeFiles").mkdir(parents=True)
    (made / "CMakeCache.txt").write_text(CACHE)
    return made


def test_cache(folder):
    found = collect(Outside({}), str(folder))
    assert (found.source, found.cmake_unused, found.cuda_architectures) == ("build-dir", ("GGML_CUDA_F16",), (86, 120))
    assert (found.backends, found.gpu_backend) == (("CUDA",), True)
    assert isinstance(found.number, Unknown)


@pytest.mark.parametrize("text", ["native", "OFF", "all-major", ""])
def test_architectures_that_cannot_be_told(folder, text):
    (folder / "CMakeCache.txt").write_text(f"CMAKE_CUDA_ARCHITECTURES:STRING={text}\n")
    assert isinstance(collect(Outside({}), str(folder)).cuda_architectures, Unknown)


def run(capsys, folder, *words):
    status = main(
        ["check", "--build-dir", str(folder), "--only", "build", *words], Outside({"PATH": "", "HOME": "/nowhere"})
    )
    return status, capsys.readouterr()


def test_unused_options_and_logs_become_findings(folder, capsys):
    (folder.parent / "build.log").write_text(
        "-- Configuring\nnvcc fatal   : Unsupported gpu architecture 'compute_120'\n"
    )
    status, shown = run(capsys, folder, "--format", "json")
    found = {item["rule"]: item["evidence"] for item in json.loads(shown.out)["findings"]}
    assert status == 1
    assert "GGML_CUDA_F16" in found["build/cmake-option-unused"][0]["text"]
    (line,) = found["build/arch-unknown-to-toolkit"]
    assert line["source"].endswith("build.log") and line["line"] == 2


def test_the_cmake_line_is_told(folder, capsys):
    _, shown = run(capsys, folder)
    assert "The cmake line for this machine:" in shown.out and "no CUDA card is known here" in shown.out
    _, shown = run(capsys, folder, "--lang", "zh")
    assert "适合这台机器的 cmake 命令" in shown.out


@pytest.mark.parametrize("where", ["missing", "."])
def test_not_a_build_folder(tmp_path, capsys, where):
    status, shown = run(capsys, tmp_path / where)
    assert status == 2 and shown.err.count("\n") == 1


def test_a_program_in_the_folder_is_not_run(folder):
    program = folder / "bin/llama-server"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {folder}/it-ran\n")
    program.chmod(0o755)
    collect(Outside({}), str(folder))
    assert not (folder / "it-ran").exists()
