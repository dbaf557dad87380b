"""Cards, toolkits and drivers: the table, and the cmake line made of it."""

from dataclasses import replace

import pytest

from doctor.engine.load import read_table, rules_folder
from doctor.facts.build.cmake_line import driver_for, needed_toolkit, plan
from doctor.facts.cuda.host import HostCompiler
from doctor.facts.cuda.record import Cuda, Toolkit
from doctor.facts.gpu.record import Gpu, GpuDevice
from doctor.facts.record import Unknown, not_collected
from doctor.outside import Outside

TABLE = read_table(Outside(), rules_folder(Outside()), "cuda")


def machine(sms, toolkits=(), nvcc=None):
    cards = tuple(replace(not_collected(GpuDevice, "test"), index=at, sm=sm) for at, sm in enumerate(sms))
    found = tuple(Toolkit(f"/usr/local/cuda-{version}", version) for version in toolkits)
    cuda = replace(
        not_collected(Cuda, "test"),
        toolkits=found,
        nvcc=f"/usr/local/cuda-{nvcc}/bin/nvcc" if nvcc else None,
        nvcc_version=nvcc,
    )
    return replace(not_collected(Gpu, "test"), devices=cards), cuda


OLD = [50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87]
ADA = [*OLD, 89, 90]
TURING_ON = [75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121]

# toolkit, what it compiles for, newest gcc and clang, lowest and highest _MSC_VER, the drivers that came with it
MATRIX = [
    ("11.1", [35, 37, *OLD[:-1]], 10, 10, None, "455.23", "456.38"),
    ("11.2", [35, 37, *OLD[:-1]], 10, 11, None, "460.27.03", "460.82"),
    ("11.3", [35, 37, *OLD[:-1]], 10, 11, None, "465.19.01", "465.89"),
    ("11.4", [35, 37, *OLD], 11, 12, None, "470.42.01", "471.11"),
    ("11.5", [35, 37, *OLD], 11, 12, None, "495.29.05", "496.04"),
    ("11.6", [35, 37, *OLD], 11, 12, None, "510.39.01", "511.23"),
    ("11.7", [35, 37, *OLD], 11, 13, [1910, 1939], "515.43.04", "516.01"),
    ("11.8", [35, 37, *ADA], 11, 14, [1910, 1939], "520.61.05", "520.06"),
    ("12.0", ADA, 12, 14, [1910, 1939], "525.60.13", "527.41"),
    ("12.1", ADA, 12, 15, [1910, 1939], "530.30.02", "531.14"),
    ("12.2", ADA, 12, 16, [1910, 1939], "535.54.03", "536.25"),
    ("12.3", ADA, 12, 16, [1910, 1939], "545.23.06", "545.84"),
    ("12.4", ADA, 13, 17, [1910, 1949], "550.54.14", "551.61"),
    ("12.5", ADA, 13, 17, [1910, 1949], "555.42.02", "555.85"),
    ("12.6", ADA, 13, 18, [1910, 1949], "560.28.03", "560.76"),
    ("12.8", [*ADA, 100, 101, 120], 14, 19, [1910, 1949], "570.26", "570.65"),
    ("12.9", [*ADA, 100, 101, 103, 120, 121], 14, 19, [1910, 1949], "575.51.03", "576.02"),
    ("13.0", TURING_ON, 15, 20, [1920, 1949], "580.65.06", None),
    ("13.1", TURING_ON, 15, 21, [1920, 1949], "590.44.01", None),
    ("13.2", TURING_ON, 15, 21, [1920, 1959], None, None),
    ("13.3", TURING_ON, 15, 21, [1920, 1959], None, None),
    ("13.4", sorted([*TURING_ON, 107]), 16, 22, [1920, 1959], None, None),
    ("13.5", sorted([*TURING_ON, 107]), 16, 22, [1920, 1959], None, None),
]


@pytest.mark.parametrize("expected", MATRIX, ids=[row[0] for row in MATRIX])
def test_matrix(expected):
    (row,) = [row for row in TABLE["toolkit"] if row["version"] == expected[0]]
    names = ("version", "architectures", "gcc", "clang", "msvc", "linux", "windows")
    assert tuple(row.get(name) for name in names) == expected


def test_the_table_is_whole():
    versions = [row["version"] for row in TABLE["toolkit"]]
    assert versions == [row[0] for row in MATRIX]
    assert versions == sorted(versions, key=lambda version: tuple(map(int, version.split("."))))
    # What was not read out of the toolkit itself says so by having no `read`.
    assert all(row["read"].startswith(row["version"] + ".") for row in TABLE["toolkit"] if "read" in row)
    assert [row["version"] for row in TABLE["toolkit"] if "read" not in row] == [f"11.{minor}" for minor in range(1, 7)]


@pytest.mark.parametrize(
    ("cards", "needed"),
    [
        ([61], "11.1 to 12.9"),  # GTX 1080
        ([70], "11.1 to 12.9"),  # V100
        ([75], "11.1 or newer"),  # RTX 2080
        ([86], "11.1 or newer"),  # RTX 3090
        ([87], "11.4 or newer"),  # Orin
        ([89], "11.8 or newer"),  # RTX 4090
        ([90], "11.8 or newer"),  # H100
        ([100], "12.8 or newer"),  # B200
        ([101], "12.8 to 12.9"),  # Thor before it was called 110
        ([103], "12.9 or newer"),  # B300
        ([107], "13.4 or newer"),
        ([110], "13.0 or newer"),  # Thor
        ([120], "12.8 or newer"),  # RTX 5090
        ([121], "12.9 or newer"),  # GB10
        ([61, 120], "12.8 to 12.9"),
        ([37], "11.1 to 11.8"),  # K80
        ([37, 120], None),
        ([300], None),
    ],
)
def test_which_toolkit_a_card_needs(cards, needed):
    assert needed_toolkit(TABLE, cards) == needed


@pytest.mark.parametrize(
    ("major", "windows", "driver"),
    [
        (11, False, "450.80.02"),
        (12, False, "525.60.13"),
        (12, True, "528.33"),
        (13, False, "580.65.06"),
        (14, False, None),
    ],
)
def test_which_driver_a_family_needs(major, windows, driver):
    assert driver_for(TABLE, major, windows=windows) == driver


@pytest.mark.parametrize(
    ("cards", "toolkits", "nvcc", "line"),
    [
        ([86], ["12.4"], "12.4", "-DCMAKE_CUDA_ARCHITECTURES=86 && "),
        ([120], ["12.4", "12.8"], "12.4", "-DCMAKE_CUDA_ARCHITECTURES=120 -DCMAKE_CUDA_COMPILER=/usr/local/cuda-12.8/bin/nvcc && "),
        ([61], ["12.9", "13.0"], "13.0", "-DCMAKE_CUDA_ARCHITECTURES=61 -DCMAKE_CUDA_COMPILER=/usr/local/cuda-12.9/bin/nvcc && "),
        ([86, 89, 86], ["12.4"], "12.4", '-DCMAKE_CUDA_ARCHITECTURES="86;89" && '),
        ([120], ["14.1"], "14.1", "-DCMAKE_CUDA_ARCHITECTURES=120 && "),  # newer than the table
    ],
)  # fmt: skip
def test_the_line(cards, toolkits, nvcc, line):
    made = plan(TABLE, *machine(cards, toolkits, nvcc))
    assert made.command == f"cmake -B build -DGGML_CUDA=ON {line}cmake --build build --config Release -j"


@pytest.mark.parametrize(
    ("cards", "toolkits", "words"),
    [
        ([], ["12.4"], "no CUDA card is known here"),
        ([120], [], "no CUDA toolkit was found: install 12.8 or newer first"),
        ([120], ["12.4"], "toolkit 12.4 cannot compile for sm_120: install 12.8 or newer"),
        ([61], ["13.0"], "toolkit 13.0 cannot compile for sm_61: install 11.1 to 12.9"),
    ],
)
def test_no_line_where_none_works(cards, toolkits, words):
    made = plan(TABLE, *machine(cards, toolkits))
    assert (made.command, made.remarks) == (None, (words,))


GCC_15 = HostCompiler("gcc", "/usr/bin/g++", "15.2.1")
GCC_13 = HostCompiler("gcc", "/usr/bin/g++-13", "13")
CLANG_17 = HostCompiler("clang", "/usr/bin/clang++-17", "17")


@pytest.mark.parametrize(
    ("found", "option", "remark"),
    [
        ([GCC_13], "", "gcc 13 is taken (13 or older)"),
        ([GCC_15, GCC_13], " -DCMAKE_CUDA_HOST_COMPILER=/usr/bin/g++-13", "gcc 15 is too new for CUDA 12.4 (gcc 13 or older)"),
        ([GCC_15, CLANG_17], " -DCMAKE_CUDA_HOST_COMPILER=/usr/bin/clang++-17", "gcc 15 is too new for CUDA 12.4 (gcc 13 or older)"),
        ([GCC_15], " -DCMAKE_CUDA_HOST_COMPILER=g++-13", "gcc 15 is too new for CUDA 12.4 (gcc 13 or older): install g++-13 first"),
    ],
)  # fmt: skip
def test_the_host_compiler_in_the_line(found, option, remark):
    gpu, cuda = machine([86], ["12.4"], "12.4")
    made = plan(TABLE, gpu, replace(cuda, host_compilers=tuple(found), host_compiler=found[0]))
    assert f"ARCHITECTURES=86{option} && " in made.command
    assert remark in made.remarks
    assert "what it builds runs on driver 525.60.13 or newer" in made.remarks


def test_nothing_known():
    assert plan(TABLE, None, None).command is None
    gpu = replace(not_collected(Gpu, "test"), devices=Unknown("no driver"))
    assert plan(TABLE, gpu, None).command is None
