"""The frozen tables against the gguf package and against themselves."""

import gguf
import pytest

from doctor.gguf.header import tensor_bytes, tensor_type
from doctor.gguf.types import FILE_TYPES, REMOVED_TYPES, TYPES


@pytest.mark.parametrize("kind", list(gguf.GGMLQuantizationType), ids=lambda kind: kind.name)
def test_tensor_types_are_those_of_the_package(kind):
    # A type is missing here when the package is newer: run tests/gguf/freeze_types.py.
    assert TYPES[int(kind)] == (kind.name, *gguf.GGML_QUANT_SIZES[kind])


@pytest.mark.parametrize("kind", [kind for kind in gguf.LlamaFileType if kind != 1024], ids=lambda kind: kind.name)
def test_file_types_are_those_of_the_package(kind):
    assert FILE_TYPES[int(kind)] == kind.name.removeprefix("MOSTLY_").removeprefix("ALL_")


def test_no_type_is_both_known_and_removed():
    assert not set(TYPES) & set(REMOVED_TYPES)


def test_sizes_of_tensors():
    assert tensor_bytes(12, (5120, 17408), 5120 * 17408) == 5120 * 17408 // 256 * 144
    assert tensor_bytes(2, (48,), 48) is None  # not whole blocks of 32
    assert tensor_bytes(31, (256,), 256) is None
    assert tensor_bytes(0, (), 1) == 4


def test_a_type_the_table_does_not_know_is_asked_of_the_package(monkeypatch):
    monkeypatch.delitem(TYPES, 39)
    assert tensor_type(39) == ("MXFP4", 32, 17)
    assert tensor_type(999) is None
