"""`check --build-dir`: what CMakeCache.txt and the logs of a build folder say."""

import json

import pytest

from doctor.cli import main
from doctor.engine.load import read_table, rules_folder
from doctor.facts.build.folder import collect
from doctor.facts.record import Unknown
from doctor.outside import Outside
from tests.facts.test_device_code import elf, fat_binary

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


# As cmake 3.25 left it after configuring llama.cpp b10434 with these on its command line.
GIVEN = """
//No help, variable specified on the command line.
GGML_CUDA_FORCE_DMMV:UNINITIALIZED=ON

//No help, variable specified on the command line.
GGML_HIPBLAS:BOOL=1

//ggml: use HIP
GGML_HIP:BOOL=OFF

//No help, variable specified on the command line.
LLAMA_BUILD_NUMBER:UNINITIALIZED=5

//No help, variable specified on the command line.
LLAMA_CUDA_F16:UNINITIALIZED=ON

//No help, variable specified on the command line.
LLAMA_METAL:UNINITIALIZED=ON

//No help, variable specified on the command line.
LLAMA_NATIVE:UNINITIALIZED=OFF

//Name of generator.
CMAKE_GENERATOR:INTERNAL=Unix Makefiles
"""


def test_options_that_nobody_reads(folder):
    (folder / "CMakeCache.txt").write_text(GIVEN)
    found = collect(Outside({}), str(folder))
    # LLAMA_BUILD_NUMBER is read undeclared, LLAMA_METAL=ON is translated; LLAMA_NATIVE=OFF is neither.
    assert found.cmake_unused == ("GGML_CUDA_FORCE_DMMV", "GGML_HIPBLAS", "LLAMA_CUDA_F16", "LLAMA_NATIVE")
    assert found.cmake_renamed == ("-DGGML_HIP=1", "-DGGML_NATIVE=OFF")
    assert found.generator == "Unix Makefiles"


def test_the_table_of_options():
    table = read_table(Outside(), rules_folder(Outside()), "cmake_options")
    assert not set(table["renamed"]) & set(table["gone"])
    # Where a name leads is the name of today.
    assert not set(table["renamed"].values()) & (set(table["renamed"]) | set(table["gone"]))
    assert [table["renamed"][name] for name in ("LLAMA_CUBLAS", "LLAMA_HIPBLAS", "LLAMA_SERVER_SSL")] == [
        "GGML_CUDA",
        "GGML_HIP",
        "LLAMA_OPENSSL",
    ]
    assert (table["gone"]["GGML_CUDA_F16"], table["gone"]["LLAMA_CUDA_F16"]) == (6216, 6216)


CUDA_FOUND = """set(CMAKE_CUDA_COMPILER "/usr/local/cuda/bin/nvcc")
set(CMAKE_CUDA_HOST_COMPILER "{host}")
set(CMAKE_CUDA_HOST_COMPILER_VERSION "{version}")
set(CMAKE_CUDA_COMPILER_VERSION "12.4.131")
"""
CXX_FOUND = """set(CMAKE_CXX_COMPILER "/usr/bin/c++")
set(CMAKE_CXX_COMPILER_ID "GNU")
set(CMAKE_CXX_COMPILER_VERSION "14.2.0")
"""


@pytest.mark.parametrize(
    ("host", "version", "told"),
    [
        ("", "", ("gcc", "/usr/bin/c++", "14.2.0")),  # nvcc takes the C++ compiler
        ("/usr/bin/g++-13", "13.3.0", ("gcc", "/usr/bin/g++-13", "13.3.0")),
        ("/usr/bin/clang++-17", "", ("clang", "/usr/bin/clang++-17", "17")),
    ],
)
def test_compilers(folder, host, version, told):
    (folder / "CMakeFiles/3.28.3").mkdir()
    (folder / "CMakeFiles/3.28.3/CMakeCUDACompiler.cmake").write_text(CUDA_FOUND.format(host=host, version=version))
    (folder / "CMakeFiles/3.28.3/CMakeCXXCompiler.cmake").write_text(CXX_FOUND)
    found = collect(Outside({}), str(folder))
    assert found.cuda_compiler_version == "12.4"
    assert (found.host_compiler.kind, found.host_compiler.path, found.host_compiler.version) == told


def test_compilers_of_a_build_without_cuda(folder):
    (folder / "CMakeCache.txt").write_text("GGML_CUDA:BOOL=OFF\n")
    found = collect(Outside({}), str(folder))
    assert (found.cuda_compiler_version, found.host_compiler, found.cuda_native) == (None, None, None)


@pytest.mark.parametrize(
    ("text", "native", "ptx"),
    [
        ("86", (86,), (86,)),
        ("86-real", (86,), ()),
        ("75-virtual;86-real", (86,), (75,)),
        ("120a-real;121f", (120, 121), ()),
        ("90a-virtual", (90,), ()),
    ],
)
def test_code_that_the_cache_tells(folder, text, native, ptx):
    (folder / "CMakeCache.txt").write_text(f"CMAKE_CUDA_ARCHITECTURES:STRING={text}\n")
    found = collect(Outside({}), str(folder))
    assert (found.cuda_native, found.cuda_ptx, found.cuda_read_from) == (native, ptx, "CMakeCache.txt")


def test_the_library_beats_the_cache(folder):
    (folder / "bin").mkdir()
    (folder / "bin/libggml-cuda.so").write_bytes(elf({".nv_fatbin": fat_binary([(2, 90, 0x11)])}))
    found = collect(Outside({}), str(folder))
    assert (found.cuda_native, found.cuda_ptx) == ((90,), ())
    assert found.cuda_read_from.endswith("bin/libggml-cuda.so")


def test_the_cure_for_a_refused_compiler_is_the_one_that_is_here(folder, capsys, tmp_path):
    (folder.parent / "build.log").write_text(
        "host_config.h:143:2: error: #error -- unsupported GNU version! gcc versions later than 13 are not supported!\n"
    )
    _, shown = run(capsys, folder)
    assert "sudo apt install g++-13 && " in shown.out and "-DCMAKE_CUDA_HOST_COMPILER=g++-13" in shown.out
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in (
        ("nvcc", "Cuda compilation tools, release 12.4, V12.4.131"),
        ("g++", "g++ (GCC) 15.2.1"),
        ("g++-13", ""),
    ):
        (programs / name).write_text(f"#!/bin/sh\necho '{text}'\n")
        (programs / name).chmod(0o755)
    outside = Outside({"PATH": f"{programs}:/bin", "HOME": "/nowhere"})
    main(["check", "--build-dir", str(folder), "--only", "build,cuda"], outside)
    assert f"-DCMAKE_CUDA_HOST_COMPILER={programs}/g++-13 && " in capsys.readouterr().out


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
