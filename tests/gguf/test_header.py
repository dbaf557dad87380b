"""The header walk: against the gguf package on healthy files, against limits and words on hostile ones."""

import io
import os
import struct
import time

import gguf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.gguf.cursor import CHUNK, MAX_STRINGS
from doctor.gguf.header import Header, read_header
from tests.gguf.headers import INDEX, header_of, model_file
from tests.gguf.raw import ARRAY, BOOL, F32, F64, I8, I64, STRING, U8, U64, Typed, gguf_bytes, gguf_string
from tests.models import tiny_llama

PLAIN = {"general.architecture": "llama", "llama.block_count": 1}
ONE_TENSOR = [("token_embd.weight", (32, 2), 0)]


def read(data: bytes, size: int | None = None) -> Header:
    return read_header(io.BytesIO(data), len(data) if size is None else size)


def package_view(path):
    """Values (those we keep) and tensors as the gguf package reads them."""
    reader = gguf.GGUFReader(path)
    values = {}
    for key, field in reader.fields.items():
        if key.startswith("GGUF."):
            continue
        kept = field.types != [gguf.GGUFValueType.ARRAY, gguf.GGUFValueType.STRING]
        if kept and (field.types[0] != gguf.GGUFValueType.ARRAY or len(field.data) <= 1024):
            values[key] = tuple(found) if isinstance(found := field.contents(), list) else found
    tensors = [
        (t.name, tuple(int(n) for n in t.shape), int(t.tensor_type), t.n_bytes, t.data_offset) for t in reader.tensors
    ]
    return values, tensors


def our_view(path):
    size = os.path.getsize(path)
    with open(path, "rb") as stream:
        header = read_header(stream, size)
    assert header.problem is None
    tensors = [(t.name, t.shape, t.type, t.bytes, header.data_offset + t.offset) for t in header.tensors]
    return header.values, tensors


def test_a_tiny_model_reads_as_in_the_package(tmp_path):
    path = tiny_llama(
        tmp_path / "m.gguf", extra={"some.floats": [1.5, -2.0], "some.flag": True, "some.words": ["a", "b"]}
    )
    assert our_view(path) == package_view(path)


def test_a_large_model_reads_as_in_the_package(tmp_path):
    path = model_file(tmp_path, "gpt-oss-20b-mxfp4")
    assert our_view(path) == package_view(path)


@pytest.mark.parametrize("name", INDEX)
def test_large_models(name):
    header = read(header_of(name), INDEX[name]["file_bytes"])
    assert header.problem is None
    assert len(header.tensors) == INDEX[name]["tensors"]
    assert sum(tensor.elements for tensor in header.tensors) == INDEX[name]["parameters"]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [2, 3])
def test_every_value_type_in_both_byte_orders(order, version):
    values = {
        "general.architecture": "llama",
        "a": Typed(U8, 200),
        "b": Typed(I8, -3),
        "c": Typed(U64, 1 << 63),
        "d": Typed(I64, -(1 << 62)),
        "e": Typed(F32, 0.5),
        "f": Typed(F64, 0.1),
        "g": Typed(BOOL, True),
        "h": "Grüße",
        "i": [1, 2, 3],
        "j": [0.25, 0.5],
        "k": ["x", "yz"],
        "l": [],
    }
    header = read(gguf_bytes(values, ONE_TENSOR, order=order, version=version))
    assert (header.problem, header.version, header.big_endian) == (None, version, order == ">")
    wanted = {key: value.value if isinstance(value, Typed) else value for key, value in values.items()}
    wanted.update(i=(1, 2, 3), j=(0.25, 0.5), l=())
    del wanted["k"]
    assert header.values == wanted
    assert header.lengths == {"i": 3, "j": 2, "k": 2, "l": 0}
    assert header.tensors[0].shape == (32, 2)


def test_a_vocabulary_is_stepped_over_across_the_pieces_that_are_read():
    words = [f"word{index}" * (index % 7) for index in range(60_000)]
    values = {**PLAIN, "tokenizer.ggml.tokens": words, "tokenizer.ggml.scores": [0.0] * 60_000, "after": "here"}
    data = gguf_bytes(values, ONE_TENSOR)
    assert len(data) > 2 * CHUNK
    header = read(data)
    assert header.problem is None
    assert header.lengths == {"tokenizer.ggml.tokens": 60_000, "tokenizer.ggml.scores": 60_000}
    assert header.values["after"] == "here"


def test_a_string_longer_than_a_piece_inside_an_array():
    words = ["a" * (3 * CHUNK), "b", "c" * CHUNK, ""]
    header = read(gguf_bytes({**PLAIN, "tokenizer.ggml.tokens": words, "after": 1}, ONE_TENSOR))
    assert (header.problem, header.values["after"]) == (None, 1)


def test_a_text_too_long_to_keep_is_stepped_over():
    header = read(gguf_bytes({**PLAIN, "long": "x" * (3 << 20), "after": 1}, ONE_TENSOR))
    assert header.problem is None
    assert "long" not in header.values
    assert header.values["after"] == 1


def test_invalid_utf8_becomes_a_replacement_character():
    data = gguf_bytes({**PLAIN, "bad": Typed(STRING, gguf_string(b"\xff\xfe!"))}, ONE_TENSOR)
    assert read(data).values["bad"] == "\ufffd\ufffd!"
    key = gguf_bytes({"k" * 3: 1}, ONE_TENSOR).replace(b"kkk", b"k\xffk")
    assert list(read(key).values) == ["k\ufffdk"]


HUGE = struct.pack("<Q", 1 << 60)
HOSTILE = {
    "not gguf": (b"GGUX" + bytes(60), "does not begin with GGUF"),
    "too short": (b"GGUF\x03", "ends inside it, at byte 5"),
    "version 0": (b"GGUF" + bytes(60), "version 0 is not known"),
    "version 1": (gguf_bytes(PLAIN, ONE_TENSOR, version=1), "no longer supported by llama.cpp"),
    "version 99": (gguf_bytes(PLAIN, ONE_TENSOR, version=99), "version 99 is not known"),
    "2^60 keys": (gguf_bytes(PLAIN, keys=1 << 60), "1152921504606846976 keys"),
    "2^60 tensors": (gguf_bytes(PLAIN, count=1 << 60), "1152921504606846976 tensors"),
    "more keys than bytes": (gguf_bytes(PLAIN, keys=60), "60 keys"),
    "key of 2^60 bytes": (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + HUGE + bytes(60), "1152921504606846976 bytes"),
    "long key": (gguf_bytes({"k" * 70_000: 1}), "longer than 65535"),
    "value of 2^60 bytes": (gguf_bytes({"k": Typed(STRING, HUGE)}) + bytes(60), "1152921504606846976 bytes"),
    "2^60 strings": (
        gguf_bytes({"k": Typed(ARRAY, struct.pack("<I", STRING) + HUGE)}) + bytes(60),
        "1152921504606846976 strings of 'k'",
    ),
    "2^60 numbers": (
        gguf_bytes({"k": Typed(ARRAY, struct.pack("<I", F32) + HUGE)}) + bytes(60),
        "beyond the end of the file",
    ),
    "2^64-1 numbers": (
        gguf_bytes({"k": Typed(ARRAY, struct.pack("<IQ", F64, (1 << 64) - 1))}) + bytes(60),
        "beyond the end of the file",
    ),
    "string of 2^64-1 in an array": (
        gguf_bytes({"k": Typed(ARRAY, struct.pack("<IQQ", STRING, 2, (1 << 64) - 1))}) + bytes(60),
        "beyond the end of the file",
    ),
    "strings that run out": (
        gguf_bytes({"k": Typed(ARRAY, struct.pack("<IQ", STRING, 3) + bytes(17))}, data=False),
        "ends inside",
    ),
    "arrays of arrays": (gguf_bytes({"k": Typed(ARRAY, struct.pack("<IQ", ARRAY, 1))}) + bytes(60), "array of arrays"),
    "array of nothing": (gguf_bytes({"k": Typed(ARRAY, struct.pack("<IQ", 77, 1))}) + bytes(60), "type 77"),
    "value of nothing": (gguf_bytes({"k": Typed(77, b"")}) + bytes(60), "type 77"),
    "alignment 0": (gguf_bytes({**PLAIN, "general.alignment": 0}), "general.alignment is 0"),
    "alignment 24": (gguf_bytes({**PLAIN, "general.alignment": 24}), "general.alignment is 24"),
    "alignment of words": (gguf_bytes({**PLAIN, "general.alignment": "x" * 500}), "general.alignment is 'xxx"),
    "five dimensions": (gguf_bytes(PLAIN, [("t", (32, 1, 1, 1, 1), 0)]), "5 dimensions"),
    "2^32 dimensions": (
        gguf_bytes(PLAIN, ONE_TENSOR).replace(b"\x02\0\0\0\x20\0", b"\xff\xff\xff\xff\x20\0"),
        "4294967295 dimensions",
    ),
    "negative dimension": (gguf_bytes(PLAIN, [("t", (32, -1), 0)], data=False) + bytes(60), "impossible shape"),
    "dimensions that overflow": (
        gguf_bytes(PLAIN, [("t", (1 << 40, 1 << 40), 0)], data=False) + bytes(60),
        "impossible shape",
    ),
    "same tensor twice": (gguf_bytes(PLAIN, ONE_TENSOR * 2), "'token_embd.weight' is there twice"),
    "odd rows": (gguf_bytes(PLAIN, [("t", (48, 1), 2)]), "rows of 48 elements, Q4_0 needs multiples of 32"),
    "overlapping tensors": (
        gguf_bytes(PLAIN, [("a", (32,), 0), ("b", (32,), 0)], offsets={"b": 0}),
        "'b' lies at 0 instead of 128",
    ),
    "far tensor": (gguf_bytes(PLAIN, ONE_TENSOR, offsets={"token_embd.weight": 1 << 60}), "instead of 0"),
    "removed type": (gguf_bytes(PLAIN, [("t", (32, 1), 31)]), "type Q4_0_4_4, which llama.cpp no longer reads"),
    "future type": (gguf_bytes(PLAIN, [("t", (32, 1), 4711)]), "type number 4711, which is not known"),
    "long tensor name": (gguf_bytes(PLAIN, [("n" * 300, (32,), 0)]), "longer than 256"),
    "tensor name of 64 bytes": (gguf_bytes(PLAIN, [("n" * 64, (32,), 0)]), "llama.cpp allows 63"),
    "name with line breaks": (
        gguf_bytes(PLAIN, [("a\nb\x1b[31m", (32, -1), 0)], data=False) + bytes(60),
        r"a\nb\x1b[31m",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers_get_one_clear_line_at_once(name):
    data, words = HOSTILE[name]
    started = time.process_time()
    problem = read(data).problem
    assert time.process_time() - started < 0.5
    assert words in problem
    assert "\n" not in problem
    assert len(problem) < 250


def test_many_small_arrays_do_not_fill_the_memory():
    data = gguf_bytes({f"k{index}": Typed(ARRAY, struct.pack("<IQ", U8, 1000) + bytes(1000)) for index in range(2000)})
    assert "more than 64 MiB" in read(data).problem


def test_the_same_key_twice():
    data = gguf_bytes({"aa": 1, "bb": 2})
    assert "'aa' is there twice" in read(data.replace(b"bb", b"aa")).problem


def test_what_was_read_before_the_damage_is_kept():
    header = read(gguf_bytes({**PLAIN, "k": Typed(77, b"")}) + bytes(60))
    assert header.values == PLAIN
    assert header.data_offset is None


def test_endless_arrays_of_empty_strings_in_a_sparse_file_stop_soon(tmp_path):
    # Zeros are strings of no length: without a limit a hole of 64 GB would be 8 billion of them.
    path = tmp_path / "zeros.gguf"
    path.write_bytes(
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + gguf_string("k") + struct.pack("<IIQ", ARRAY, STRING, 1 << 33)
    )
    os.truncate(path, 1 << 36)
    started = time.process_time()
    with open(path, "rb") as stream:
        header = read_header(stream, 1 << 36)
    assert f"more than {MAX_STRINGS} strings" in header.problem
    assert time.process_time() - started < 2


def test_strings_far_apart_in_a_sparse_file_stop_soon(tmp_path):
    # Each string is longer than what is read at once, so each costs a read.
    path = tmp_path / "far.gguf"
    count, step = 2000, 2 << 20
    start = b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + gguf_string("k") + struct.pack("<IIQ", ARRAY, STRING, count)
    with open(path, "wb") as stream:
        stream.write(start)
        for index in range(count):
            stream.seek(len(start) + index * (step + 8))
            stream.write(struct.pack("<Q", step))
    os.truncate(path, 1 << 36)
    started = time.process_time()
    with open(path, "rb") as stream:
        header = read_header(stream, 1 << 36)
    assert "larger than 256 MiB" in header.problem
    assert time.process_time() - started < 3


def test_a_file_that_shrinks_while_it_is_read(tmp_path):
    words = ["token"] * 200_000
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes({**PLAIN, "tokenizer.ggml.tokens": words}, ONE_TENSOR))
    size = os.path.getsize(path)
    with open(path, "rb", buffering=0) as stream:
        os.truncate(path, size // 2)
        header = read_header(stream, size)
    assert "ends inside it" in header.problem or "beyond the end" in header.problem


def test_a_disk_that_fails():
    class Broken(io.BytesIO):
        def read(self, size=-1):
            raise OSError(5, "Input/output error")

    assert "Input/output error" in read_header(Broken(), 1000).problem


LLAMA = header_of("llama-3.1-8b-q4_k_m")
EDIT = st.tuples(st.integers(0, 600), st.binary(min_size=1, max_size=9))
FAR_EDIT = st.tuples(st.integers(0, len(LLAMA)), st.sampled_from([b"\xff" * 8, bytes(8), b"\x7f", b"\x09\0\0\0", HUGE]))


@settings(max_examples=150, deadline=2000)
@given(st.lists(st.one_of(EDIT, FAR_EDIT), min_size=1, max_size=6), st.integers(0, len(LLAMA)), st.booleans())
def test_any_damage_gives_an_answer(edits, length, cut):
    data = bytearray(LLAMA)
    for place, new in edits:
        data[place : place + len(new)] = new
    size = INDEX["llama-3.1-8b-q4_k_m"]["file_bytes"]
    if cut:
        del data[length:]
        size = len(data)
    header = read(bytes(data), size)
    assert header.problem is None or ("\n" not in header.problem and len(header.problem) < 400)
