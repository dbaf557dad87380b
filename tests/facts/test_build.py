import json
import os
import stat
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from doctor.facts.build import record as build
from doctor.facts.build.output import backends_of, parse_devices, parse_version
from doctor.facts.build.places import _folders
from doctor.facts.build.record import Build, BuildDevice, collect, from_number
from doctor.facts.build.table import age_in_days, identify
from doctor.facts.launch.record import collect as collect_launch
from doctor.facts.record import Unknown, from_json, to_json
from doctor.outside import Outside
from doctor.secrets import Vault
from tests.binaries import llama_server

MIB = 1 << 20
posix = pytest.mark.skipif(os.name != "posix", reason="the stand-in program is a shell script")

OLD_VERSION = "version: 6143 (0123abc)\nbuilt with cc (GCC) 13 for x86_64-linux-gnu"
NEW_VERSION = "version: 0.1.0-dev (build 1, commit 7e4c0a9)\nbuilt with GNU 11.4.0 for Linux x86_64"
TWO_CARDS = """ggml_cuda_init: found 1 CUDA devices:
Available devices:
  CUDA0: NVIDIA GeForce RTX 3090 (24111 MiB, 23600 MiB free)
  Vulkan0: AMD Radeon (RADV NAVI31) (16368 MiB, 16000 MiB free)
  RPC[127.0.0.1:50052]: RPC[127.0.0.1:50052] (8192 MiB, 8000 MiB free)
  BLAS: OpenBLAS (0 MiB, 0 MiB free)
"""
NO_CARD = "Available devices:\n  (none)\n"


def program(folder, version=OLD_VERSION, devices=NO_CARD, script=""):
    """A stand-in for llama-server that prints what it is given."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "llama-server"
    path.write_text(
        f"#!/bin/sh\n{script}\ncase $1 in\n--version) cat >&2 <<'END'\n{version}\nEND\n;;\n"
        f"--list-devices) cat <<'END'\n{devices}\nEND\n;;\nesac\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def world(tmp_path, **variables):
    return Outside({"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin", **variables})


@pytest.mark.parametrize(
    ("printed", "number", "commit"),
    [
        (OLD_VERSION, 6143, "0123abc"),
        (NEW_VERSION, 1, "7e4c0a9"),
        ("version: 0.1.0 (build 10434, commit 7e4c0a9)", 10434, "7e4c0a9"),
        ("ggml_cuda_init: found 1 CUDA devices:\nversion: 0 (unknown)\nbuilt with MSVC", 0, None),
        ("version: 0.2.0 (build 12000, commit unknown)", 12000, None),
    ],
)
def test_version_lines(printed, number, commit):
    version = parse_version(printed)
    assert (version.number, version.commit) == (number, commit)


@pytest.mark.parametrize("printed", ["", "version", "version: banana", "usage: llama-server [options]"])
def test_no_version(printed):
    assert parse_version(printed) is None


def test_device_lines():
    assert parse_devices(TWO_CARDS) == (
        BuildDevice("CUDA0", "NVIDIA GeForce RTX 3090", 24111 * MIB, 23600 * MIB),
        BuildDevice("Vulkan0", "AMD Radeon (RADV NAVI31)", 16368 * MIB, 16000 * MIB),
        BuildDevice("RPC[127.0.0.1:50052]", "RPC[127.0.0.1:50052]", 8192 * MIB, 8000 * MIB),
        BuildDevice("BLAS", "OpenBLAS", None, None),
    )
    assert parse_devices(NO_CARD) == ()
    assert parse_devices("error: invalid argument: --list-devices") is None


def test_backends():
    assert backends_of(parse_devices(TWO_CARDS), [], "") == {"CUDA", "Vulkan", "RPC", "BLAS"}
    libraries = [
        "libggml-cpu-haswell.so",
        "libggml-hip.so.0",
        "ggml-sycl.dll",
        "libggml-metal.dylib",
        "libggml-base.so",
        "ggml-x.txt",
    ]
    assert backends_of((), libraries, "") == {"CPU", "HIP", "SYCL", "Metal"}
    assert backends_of((), [], "ggml_cuda_init: failed to initialize CUDA: no driver") == {"CUDA"}


@pytest.mark.parametrize(
    ("number", "commit", "expected"),
    [
        (1, "7e4c0a9", (10434, True)),
        (None, "7e4c0a968aaaa", (10434, True)),
        (10434, "7e4c0a968", (10434, True)),
        (6143, "0123abc", (6143, False)),
        (11434, "abcdef0", (11434, "unknown")),
        (1, "abcdef0", ("unknown", "unknown")),
        (0, None, ("unknown", "unknown")),
        (4308, None, (4308, "unknown")),
        (1, "26c0846", (1, True)),
    ],
)
def test_identity(number, commit, expected):
    found = identify(Outside(), number, commit)
    values = tuple("unknown" if isinstance(value, Unknown) else value for value in found[:2])
    assert values == expected


class Clock(Outside):
    def now(self):
        return 1_791_331_200.0  # 2026-10-07


@pytest.mark.parametrize(("number", "days"), [(11434, 1), (11401, 2), (11400, 5), (10434, 54), (583, 1235), (1, 1307)])
def test_age(number, days):
    assert age_in_days(Clock(), number) == days


def test_age_of_a_build_from_the_future():
    assert isinstance(age_in_days(Clock(), 11435), Unknown)


def test_tables_are_searched_quickly():
    identify(Outside(), 1, "7e4c0a9")
    started = time.process_time()
    identify(Outside(), 1, "7e4c0a9")
    assert time.process_time() - started < 0.03


@posix
def test_a_program_with_cards(tmp_path):
    path = program(tmp_path / "bin", devices=TWO_CARDS)
    found = collect(world(tmp_path), option=str(path), launch=None)
    assert (found.path, found.source, found.number, found.commit) == (str(path), "option", 6143, "0123abc")
    assert found.version_text == "6143 (0123abc), built with cc (GCC) 13 for x86_64-linux-gnu"
    assert (found.backends, found.gpu_backend) == (("BLAS", "CUDA", "RPC", "Vulkan"), True)
    assert [device.name for device in found.devices] == ["CUDA0", "Vulkan0", "RPC[127.0.0.1:50052]", "BLAS"]
    assert from_json(Build, json.loads(json.dumps(to_json(found)))) == found


@posix
def test_a_program_for_the_cpu(tmp_path):
    found = collect(world(tmp_path), option=str(program(tmp_path / "bin", NEW_VERSION)), launch=None)
    assert (found.number, found.upstream, found.backends, found.gpu_backend) == (10434, True, ("CPU",), False)
    assert found.devices == ()


@posix
def test_libraries_beside_it_count_without_a_card(tmp_path):
    path = program(tmp_path / "bin")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libggml-cuda.so").touch()
    found = collect(world(tmp_path), option=str(path), launch=None)
    assert (found.backends, found.gpu_backend, found.devices) == (("CUDA",), True, ())


@posix
def test_a_build_folder(tmp_path):
    path = program(tmp_path / "llama.cpp/build/bin")
    (tmp_path / "llama.cpp/build/CMakeCache.txt").write_text(
        "# comment\nCMAKE_BUILD_TYPE:STRING=Release\nCMAKE_CUDA_ARCHITECTURES:STRING=89\nGGML_CUDA:BOOL=ON\n"
        "GGML_VULKAN:BOOL=OFF\nLLAMA_CURL:BOOL=OFF\nCMAKE_CUDA_COMPILER:FILEPATH=/usr/local/cuda/bin/nvcc\n"
        "HOME_TOKEN:STRING=secret\nGGML_CUDA-ADVANCED:INTERNAL=1\nggml_BINARY_DIR:STATIC=/x\n"
    )
    found = collect(world(tmp_path), option=str(tmp_path / "llama.cpp"), launch=None)
    assert found.path == str(path)
    assert found.cmake == {
        "CMAKE_BUILD_TYPE": "Release", "CMAKE_CUDA_ARCHITECTURES": "89", "GGML_CUDA": "ON", "GGML_VULKAN": "OFF",
        "LLAMA_CURL": "OFF", "CMAKE_CUDA_COMPILER": "/usr/local/cuda/bin/nvcc",
    }  # fmt: skip
    assert found.backends == ("CUDA",)


@posix
def test_order_of_places(tmp_path):
    in_use = program(tmp_path / "in-use")
    on_path = program(tmp_path / "on-path")
    usual = program(tmp_path / "home/llama.cpp/build/bin")
    outside = world(tmp_path, PATH=f"{on_path.parent}:/usr/bin:/bin")
    started = collect_launch(outside, Vault(), text=f"{in_use} -m x.gguf", build_number=None)
    assert collect(outside, option=str(usual), launch=started).source == "option"
    assert [(found.path, found.source) for found in (
        collect(outside, option=None, launch=started),
        collect(outside, option=None, launch=None),
        collect(world(tmp_path, PATH="/usr/bin:/bin"), option=None, launch=None),
    )] == [(str(in_use), "launch"), (str(on_path), "path"), (str(usual), "common-place")]  # fmt: skip


def test_winget_and_scoop(tmp_path):
    outside = Outside({"USERPROFILE": r"C:\Users\me", "LOCALAPPDATA": str(tmp_path), "PATH": ""}, platform="win32")
    folders = _folders(outside)
    assert rf"{tmp_path}\Microsoft\WinGet\Links" in folders
    assert r"C:\Users\me\scoop\apps\llama.cpp\current" in folders
    assert not any("$" in folder or "*" in folder for folder in folders)


def test_nothing_found(tmp_path):
    if any(
        os.path.exists(f"{place}/llama-server") for place in ("/usr/bin", "/usr/local/bin", "/opt/llama.cpp", "/app")
    ):
        pytest.skip("this machine has a llama-server of its own")
    found = collect(world(tmp_path), option=None, launch=None)
    assert (found.path, found.source) == (None, None)
    assert isinstance(found.number, Unknown)


def test_an_option_that_leads_nowhere(tmp_path):
    found = collect(world(tmp_path), option=str(tmp_path / "none"), launch=None)
    assert isinstance(found.path, Unknown) and "none" in found.path.reason
    found = collect(world(tmp_path), option=str(tmp_path), launch=None)
    assert "no llama-server in this folder" in found.path.reason


def test_a_server_in_a_container_is_not_mistaken_for_another(tmp_path):
    launch = collect_launch(
        Outside(), Vault(), text="docker run ghcr.io/ggml-org/llama.cpp:server -m x.gguf", build_number=None
    )
    found = collect(world(tmp_path), option=None, launch=launch)
    assert "container" in found.path.reason


@posix
def test_a_program_that_lacks_a_library(tmp_path):
    line = "llama-server: error while loading shared libraries: libcudart.so.12: cannot open shared object file"
    path = program(tmp_path / "bin", script=f"echo '{line}' >&2; exit 127")
    found = collect(world(tmp_path), option=str(path), launch=None)
    assert found.path == str(path)
    assert "libcudart.so.12" in found.number.reason and found.devices == found.number


@posix
def test_a_program_that_crashes(tmp_path):
    path = program(tmp_path / "bin", script="kill -ILL $$")
    assert "signal 4" in collect(world(tmp_path), option=str(path), launch=None).number.reason


@posix
def test_a_program_that_never_ends(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "VERSION_SECONDS", 0.3)
    path = program(tmp_path / "bin", script="sleep 60")
    started = time.monotonic()
    assert "no end after" in collect(world(tmp_path), option=str(path), launch=None).number.reason
    assert time.monotonic() - started < 5


@posix
def test_a_program_that_is_something_else(tmp_path):
    found = collect(world(tmp_path), option=str(program(tmp_path / "bin", "hello", "hello")), launch=None)
    assert found.number == Unknown("--version printed no version")
    assert isinstance(found.devices, Unknown) and isinstance(found.gpu_backend, Unknown)


@posix
def test_variables_of_the_launch_choose_the_devices(tmp_path):
    path = program(
        tmp_path / "bin",
        devices="Available devices:\n  CUDA$CUDA_VISIBLE_DEVICES: x$LLAMA_ARG_CTX_SIZE (1 MiB, 1 MiB free)",
    )
    path.write_text(path.read_text().replace("<<'END'", "<<END"))
    outside = world(tmp_path, CUDA_VISIBLE_DEVICES="7", LLAMA_ARG_CTX_SIZE="lots")
    started = collect_launch(outside, Vault(), text=f"CUDA_VISIBLE_DEVICES=1 {path}", build_number=None)
    (device,) = collect(outside, option=None, launch=started).devices
    assert (device.name, device.description) == ("CUDA1", "x")


def test_a_build_that_a_log_names():
    found = from_number(Outside(), 10434, source="log")
    assert (found.source, found.number) == ("log", 10434)
    assert isinstance(found.path, Unknown)
    assert from_number(Outside(), 1, source="server", commit="7e4c0a9").number == 10434
    assert isinstance(from_number(Outside(), None, source="log"), Unknown)
    assert from_number(Outside(), Unknown("why"), source="log") == Unknown("why")


@pytest.mark.real
def test_the_real_binary(tmp_path):
    found = collect(world(tmp_path), option=llama_server(), launch=None)
    assert found.path == llama_server()
    assert found.version_text.startswith("0.1.0-dev (build 1, commit 7e4c0a9), built with")
    assert (found.number, found.commit, found.upstream) == (10434, "7e4c0a9", True)
    assert {"CPU", "Vulkan"} <= set(found.backends) and found.gpu_backend is True
    assert isinstance(found.devices, tuple)
    assert found.cmake is None


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_the_program_of_a_real_process(tmp_path):
    argv = [llama_server(), "--host", "127.0.0.1", "--port", "0", "--models-dir", "."]
    with subprocess.Popen(
        argv,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            started = collect_launch(Outside(), Vault(), text=argv[0], build_number=None)
            found = collect(world(tmp_path), option=None, launch=replace(started, pid=server.pid))
        finally:
            server.kill()
    assert (found.source, found.path, found.number) == ("process", os.path.realpath(argv[0]), 10434)


@posix
def test_the_program_of_another_user_is_not_run(tmp_path):
    """As root we would run what a stranger wrote, or our own program with a stranger's LD_LIBRARY_PATH."""
    witness = tmp_path / "ran"
    path = program(tmp_path / "bin", script=f"echo $LD_LIBRARY_PATH > {witness}")
    launch = collect_launch(Outside(), Vault(), text=f"LD_LIBRARY_PATH=/stranger {path} -m x", build_number=None)
    theirs = replace(launch, source="process", pid=os.getpid(), other_user=True)
    found = collect(world(tmp_path), option=None, launch=theirs)
    assert isinstance(found.path, Unknown) and "another user" in found.path.reason and not witness.exists()
    collect(world(tmp_path), option=str(path), launch=theirs)
    assert witness.read_text().strip() == ""
    collect(world(tmp_path), option=None, launch=launch)
    assert witness.read_text().strip() == "/stranger"


@posix
def test_a_program_in_the_current_folder_is_not_run(tmp_path, monkeypatch):
    """`doctor check` inside a folder out of the internet must not run what lies there."""
    witness = tmp_path / "ran"
    path = program(tmp_path / "clone" / "build" / "bin", script=f"touch {witness}")
    monkeypatch.chdir(tmp_path / "clone")
    found = collect(Outside({"HOME": str(tmp_path), "PATH": ""}), option=None, launch=None)
    assert isinstance(found.path, Unknown) and f"--binary {path}" in found.path.reason and not witness.exists()
