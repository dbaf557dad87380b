"""The C++ compilers of a machine, and which of them a CUDA toolkit takes."""

import pytest

from doctor.facts.cuda.host import HostCompiler, Limits, ask, find_compilers, fitting, limits, taken
from doctor.facts.cuda.record import collect
from doctor.facts.record import Unknown
from doctor.outside import Outside, OutsideError
from tests.facts.tree import Link, Tree, host_config

GCC = "g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.\n"
FEDORA = "g++ (GCC) 15.2.1 20250808 (Red Hat 15.2.1-1)\nCopyright (C) 2025 Free Software Foundation, Inc.\n"
UBUNTU = "c++ (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0\n"
CONDA = "x86_64-conda-linux-gnu-c++ (conda-forge gcc 14.3.0-7) 14.3.0\n"
CLANG = "Ubuntu clang version 18.1.3 (1ubuntu1)\nTarget: x86_64-pc-linux-gnu\n"
APPLE = "Apple clang version 17.0.0 (clang-1700.0.13.5)\nTarget: arm64-apple-darwin24.5.0\n"
CL = "Microsoft (R) C/C++ Optimizing Compiler Version 19.41.34120 for x64\nCopyright (C) Microsoft Corporation.\n"
NVCC = "Cuda compilation tools, release 12.4, V12.4.131\n"


@pytest.mark.parametrize(
    ("text", "kind", "version"),
    [
        (GCC, "gcc", "12.2.0"),
        (FEDORA, "gcc", "15.2.1"),
        (UBUNTU, "gcc", "13.3.0"),
        (CONDA, "gcc", "14.3.0"),
        (CLANG, "clang", "18.1.3"),
        (APPLE, "clang", "17.0.0"),
        (CL, "msvc", "1941"),
    ],
)
def test_what_a_compiler_says(tmp_path, text, kind, version):
    found = ask(Tree(tmp_path, {}, answers={"/usr/bin/g++ --version": text}), "/usr/bin/g++")
    assert (found.kind, found.version) == (kind, version)


def test_what_says_nothing_known(tmp_path):
    assert ask(Tree(tmp_path, {}, answers={"/usr/bin/g++ --version": "hello\n"}), "/usr/bin/g++") is None
    late = OutsideError("timeout", "/usr/bin/g++: no end after 1.5 s")
    found = ask(Tree(tmp_path, {}, answers={"/usr/bin/g++ --version": late}), "/usr/bin/g++")
    assert isinstance(found.version, Unknown) and found.major() is None


def test_on_path(tmp_path):
    files = dict.fromkeys(["/usr/bin/g++-15", "/usr/bin/g++-13", "/usr/bin/clang++-18"], "")
    files["/usr/bin/g++"] = Link("g++-15")
    found = find_compilers(Tree(tmp_path, files))  # nothing needs to be asked: the names say it
    assert [(item.path, item.kind, item.version) for item in found] == [
        ("/usr/bin/g++", "gcc", "15"),
        ("/usr/bin/g++-13", "gcc", "13"),
        ("/usr/bin/clang++-18", "clang", "18"),
    ]


FOUND = (
    HostCompiler("gcc", "/usr/bin/g++", "15.2.1"),
    HostCompiler("gcc", "/usr/bin/g++-12", "12"),
    HostCompiler("gcc", "/usr/bin/g++-13", "13"),
    HostCompiler("clang", "/usr/bin/clang++", "17.0.6"),
)


@pytest.mark.parametrize(
    ("limit", "path"),
    [
        (Limits(13, 17, 1949), "/usr/bin/g++-13"),
        (Limits(12, 17, 1949), "/usr/bin/g++-12"),
        (Limits(15, 17, 1949), "/usr/bin/g++"),
        (Limits(11, 17, 1949), "/usr/bin/clang++"),
        (Limits(11, 16, 1949), None),
        (Limits(Unknown("?"), Unknown("?"), Unknown("?")), None),
    ],
)
def test_the_newest_that_fits(limit, path):
    found = fitting(FOUND, limit)
    assert (found.path if found else None) == path


def test_which_one_nvcc_takes(tmp_path):
    files = {"/usr/local/cuda/bin/nvcc": "", "/usr/bin/g++-12": "", "/usr/bin/g++-13": ""}
    plain = Tree(tmp_path / "a", files)
    assert taken(plain, "/usr/local/cuda/bin/nvcc", FOUND).path == "/usr/bin/g++"
    assert taken(plain, None, FOUND) is None
    named = Tree(tmp_path / "b", files, environ={"CUDAHOSTCXX": "g++-13"})
    assert taken(named, "/usr/local/cuda/bin/nvcc", FOUND).path == "/usr/bin/g++-13"
    linked = Tree(tmp_path / "c", {**files, "/usr/local/cuda/bin/g++": Link("/usr/bin/g++-12")})
    assert taken(linked, "/usr/local/cuda/bin/nvcc", FOUND).version == "12"


def test_limits_of_the_header(tmp_path):
    tree = Tree(tmp_path, {"/opt/cuda/include/crt/host_config.h": host_config(13, 18, 1950)})
    assert limits(tree, "/opt/cuda", "12.4") == Limits(13, 17, 1949)


def test_limits_of_the_table():
    assert limits(Outside({}), "/nowhere", "12.8") == Limits(14, 19, 1949)
    assert limits(Outside({}), None, "11.4") == Limits(11, 12, Unknown("not found in public text"))
    assert limits(Outside({}), None, "9.0").gcc == Unknown("CUDA 9.0 is not in the table")


def test_collected(tmp_path):
    files = {
        "/usr/local/cuda-12.4/bin/nvcc": "",
        "/usr/local/cuda-12.4/include/cuda_runtime.h": "",
        "/usr/local/cuda-12.4/include/crt/host_config.h": host_config(13, 18, 1950),
        "/usr/bin/g++": "",
        "/usr/bin/g++-13": "",
    }
    answers = {"/usr/bin/g++ --version": FEDORA, "/usr/local/cuda-12.4/bin/nvcc --version": NVCC}
    environ = {"PATH": "/usr/local/cuda-12.4/bin:/usr/bin"}
    found = collect(Tree(tmp_path, files, environ=environ, answers=answers))
    assert (found.host_compiler.version, found.newest_gcc, found.newest_clang) == ("15.2.1", 13, 17)
    assert found.fitting_compiler.path == "/usr/bin/g++-13"
