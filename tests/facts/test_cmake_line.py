"""Cards, toolkits and drivers: the table, and the cmake line made of it."""

from dataclasses import replace

import pytest

from doctor.engine.load import read_table, rules_folder
from doctor.facts.build.cmake_line import driver_for, needed_toolkit, plan
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


@pytest.mark.parametrize(
    ("cards", "needed"),
    [
        ([61], "11.1 to 12.9"),  # GTX 1080
        ([70], "11.1 to 12.9"),  # V100
        ([75], "11.1 or newer"),  # RTX 2080
        ([86], "11.1 or newer"),  # RTX 3090
        ([89], "11.8 or newer"),  # RTX 4090
        ([90], "11.8 or newer"),  # H100
        ([100], "12.8 or newer"),  # B200
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


def test_the_table_goes_up():
    versions = [tuple(map(int, row["version"].split("."))) for row in TABLE["toolkit"]]
    assert versions == sorted(versions)
    assert all(row["lowest"] < row["highest"] for row in TABLE["toolkit"])


@pytest.mark.parametrize(
    ("cards", "toolkits", "nvcc", "line"),
    [
        ([86], ["12.4"], "12.4", "-DCMAKE_CUDA_ARCHITECTURES=86 && "),
        ([120], ["12.4", "12.8"], "12.4", "-DCMAKE_CUDA_ARCHITECTURES=120 -DCMAKE_CUDA_COMPILER=/usr/local/cuda-12.8/bin/nvcc && "),
        ([61], ["12.9", "13.0"], "13.0", "-DCMAKE_CUDA_ARCHITECTURES=61 -DCMAKE_CUDA_COMPILER=/usr/local/cuda-12.9/bin/nvcc && "),
        ([86, 89, 86], ["12.4"], "12.4", '-DCMAKE_CUDA_ARCHITECTURES="86;89" && '),
        ([120], ["13.5"], "13.5", "-DCMAKE_CUDA_ARCHITECTURES=120 && "),  # newer than the table
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


def test_nothing_known():
    assert plan(TABLE, None, None).command is None
    gpu = replace(not_collected(Gpu, "test"), devices=Unknown("no driver"))
    assert plan(TABLE, gpu, None).command is None
