"""The collector on real files: models, parts of models, and what lies there instead of one."""

import json
import os
import shutil
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.facts.gguf.record import Gguf, TypeShare, collect
from doctor.facts.record import Unknown, from_json, to_json
from doctor.outside import Outside
from tests.gguf.headers import INDEX, header_of, model_file
from tests.gguf.raw import gguf_bytes
from tests.models import (
    SHA256,
    STRICT_TEMPLATE,
    html_page,
    json_error,
    lfs_pointer,
    pytorch_zip,
    safetensors,
    tiny_llama,
    truncate,
)


def facts(path, **options) -> Gguf:
    found = collect(Outside(), str(path), **options)
    assert from_json(Gguf, json.loads(json.dumps(to_json(found)))) == found
    return found


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return tiny_llama(tmp_path_factory.mktemp("tiny") / "tiny.gguf", ctx_train=2048)


def copy(path, folder, name=None):
    return folder / shutil.copy(path, folder / (name or path.name))


# --- models -----------------------------------------------------------------------------------------------------------


def test_a_tiny_model(tiny):
    found = facts(tiny)
    size = os.path.getsize(tiny)
    assert (found.kind, found.problem, found.gguf_version, found.big_endian) == ("model", None, 3, False)
    assert (found.size_bytes, found.expected_bytes, found.missing_bytes, found.truncated) == (size, size, 0, False)
    assert (found.architecture, found.name, found.file_type, found.quantization) == ("llama", "tiny", "F16", "F16")
    assert (found.block_count, found.context_length, found.embedding_length, found.vocab_size) == (2, 2048, 64, 320)
    assert (found.head_count, found.head_count_kv, found.key_length, found.value_length) == ((4, 4), (2, 2), 16, 16)
    assert (found.attention_layers, found.recurrent_layers, found.mtp_layers, found.mla) == (2, 0, 0, False)
    assert (found.sliding_window, found.sliding_window_layers) == (None, 0)
    assert found.kv_bytes_per_token_f16 == 2 * 2 * (2 * 16 + 2 * 16)
    assert (found.tokenizer_model, found.tokenizer_pre) == ("llama", "default")
    assert (found.chat_template, found.strict_system_message) == (True, False)
    assert (found.split_index, found.split_count, found.split_missing, found.split_problem) == (None, None, (), None)
    assert found.unknown_types == ()
    assert sum(share.tensors for share in found.types) == found.tensor_count == 21
    assert sum(share.bytes for share in found.types) == found.weights_bytes
    assert isinstance(found.sha256, Unknown)
    assert found.unfinished is None


@pytest.mark.parametrize("name", INDEX)
def test_large_models(tmp_path, name):
    known = INDEX[name]
    found = facts(model_file(tmp_path, name))
    assert (found.kind, found.problem, found.missing_bytes) == ("model", None, 0)
    assert found.size_bytes == found.expected_bytes == known["file_bytes"]
    assert (found.architecture, found.parameters) == (known["architecture"], known["parameters"])
    assert {share.type: share.tensors for share in found.types} == known["types"]
    assert found.attention_layers == known["attention_layers"]
    assert found.sliding_window_layers == known["window_layers"]
    assert found.kv_bytes_per_token_f16 == known["kv_bytes_per_token_f16"]


def test_quantisation_is_the_type_with_most_bytes(tmp_path):
    found = facts(model_file(tmp_path, "gpt-oss-20b-mxfp4"))
    assert (found.file_type, found.quantization) == ("MXFP4_MOE", "MXFP4")
    assert found.types[0] == TypeShare("MXFP4", 10_152_345_600, 72)
    assert (found.expert_count, found.expert_used_count) == (32, 4)
    nemotron = facts(model_file(tmp_path, "nemotron-3-nano-30b-a3b-q4_k_m"))
    assert (nemotron.file_type, nemotron.quantization) == ("Q4_K_M", "Q5_0")


def test_templates(tmp_path):
    strict = facts(tiny_llama(tmp_path / "strict.gguf", chat_template=STRICT_TEMPLATE))
    assert (strict.chat_template, strict.strict_system_message) == (True, True)
    none = facts(tiny_llama(tmp_path / "none.gguf", chat_template=None))
    assert (none.chat_template, none.strict_system_message) == (False, None)
    named = facts(tiny_llama(tmp_path / "n.gguf", extra={"tokenizer.chat_template.tool_use": STRICT_TEMPLATE}))
    assert named.strict_system_message is True


def test_names_of_strangers_are_one_line(tmp_path):
    found = facts(tiny_llama(tmp_path / "m.gguf", name="a\nb\x1b[31m" + "c" * 5000))
    assert found.name.startswith("a b[31mccc")
    assert len(found.name) == 160


@pytest.mark.parametrize(
    ("values", "tensors", "kind"),
    [
        ({"general.architecture": "clip", "clip.has_vision_encoder": True}, [("v.blk.0.x", (32,), 0)], "mmproj"),
        ({"general.type": "mmproj", "general.architecture": "clip"}, [("v.blk.0.x", (32,), 0)], "mmproj"),
        ({"general.type": "adapter", "general.architecture": "llama"}, [("blk.0.a.lora_a", (32,), 0)], "lora"),
        ({"adapter.type": "lora", "general.architecture": "llama"}, [("blk.0.a.lora_a", (32,), 0)], "lora"),
        ({"general.type": "imatrix"}, [("blk.0.a.in_sum2", (32,), 0)], "imatrix"),
        ({"general.architecture": "llama", "tokenizer.ggml.model": "gpt2", "llama.block_count": 2}, [], "vocab"),
        (
            {"general.architecture": "eagle3", "eagle3.block_count": 1},
            [("blk.0.attn_q.weight", (32,), 0)],
            "draft-part",
        ),
        (
            {"general.architecture": "qwen35", "qwen35.block_count": 65, "qwen35.nextn_predict_layers": 1},
            [("blk.64.nextn.eh_proj.weight", (32,), 0)],
            "draft-part",
        ),
        ({"general.architecture": "flux"}, [("double_blocks.0.x", (32,), 0)], "gguf-other"),
        ({}, [], "gguf-other"),
    ],
)
def test_kinds(tmp_path, values, tensors, kind):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes(values, tensors))
    found = facts(path)
    assert found.kind == kind
    assert found.truncated is False


def test_big_endian(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes({"general.architecture": "llama"}, [("t", (32, 2), 0)], order=">"))
    assert (facts(path).big_endian, facts(path).problem) == (True, None)


def test_types_nobody_knows(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes({"general.architecture": "llama"}, [("a", (256, 9), 0), ("b", (256, 90), 138)]))
    found = facts(path)
    assert found.unknown_types == (138,)
    assert found.quantization == "type 138"
    assert isinstance(found.expected_bytes, Unknown)
    assert isinstance(found.weights_bytes, Unknown)
    assert "138" in found.problem


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", [1, 33, 100_000])
def test_truncated(tiny, tmp_path, missing):
    found = facts(truncate(copy(tiny, tmp_path), missing))
    assert (found.missing_bytes, found.truncated) == (missing, True)
    assert found.problem is None
    assert found.architecture == "llama"


def test_truncated_in_the_header(tiny, tmp_path):
    found = facts(truncate(copy(tiny, tmp_path), os.path.getsize(tiny) - 2000))
    assert found.truncated is True
    assert "beyond the end of the file" in found.problem
    assert isinstance(found.missing_bytes, Unknown)
    assert (found.kind, found.architecture, found.block_count) == ("model", "llama", 2)
    # What comes after the cut is not known, it is not absent.
    assert isinstance(found.expert_count, Unknown)
    assert isinstance(found.tensor_count, Unknown)
    assert isinstance(found.kv_bytes_per_token_f16, Unknown)


def test_nothing_but_the_magic(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    found = facts(path)
    assert (found.kind, found.truncated) == ("model", True)
    assert isinstance(found.architecture, Unknown)


def test_an_unfinished_download(tiny, tmp_path):
    assert facts(copy(tiny, tmp_path, "tiny.gguf.part")).unfinished == "the name ends in .part"
    assert facts(copy(tiny, tmp_path, "x.gguf.downloadInProgress")).unfinished == "the name ends in .downloadinprogress"
    whole = copy(tiny, tmp_path)
    assert facts(whole).unfinished is None
    (tmp_path / "tiny.gguf.aria2").write_bytes(b"\0\1")
    assert facts(whole).unfinished == "tiny.gguf.aria2 lies beside it"


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lfs_pointer, "lfs-pointer"),
        (html_page, "html"),
        (json_error, "json"),
        (safetensors, "safetensors"),
        (pytorch_zip, "pytorch"),
    ],
)
def test_no_gguf_at_all(tmp_path, make, kind):
    found = facts(make(tmp_path / "m.gguf"))
    assert found.kind == kind
    assert found.problem.startswith("this is a")
    assert found.size_bytes == os.path.getsize(tmp_path / "m.gguf")
    assert found.block_count == Unknown(found.problem)


def test_an_lfs_pointer_tells_what_should_be_there(tmp_path):
    found = facts(lfs_pointer(tmp_path / "m.gguf"))
    assert (found.sha256_expected, found.sha256_source) == (SHA256, "the Git LFS pointer")
    assert found.expected_bytes == 16_536_457_408
    assert found.missing_bytes == 16_536_457_408 - found.size_bytes


def test_folders(tiny, tmp_path):
    assert facts(tmp_path).problem == "this is a folder, not a model file"
    safetensors(tmp_path / "model.safetensors")
    assert facts(tmp_path).kind == "safetensors"
    copy(tiny, tmp_path)
    found = facts(tmp_path)
    assert found.kind == "folder"
    assert "tiny.gguf" in found.problem


def test_no_file(tmp_path):
    found = facts(tmp_path / "no.gguf")
    assert found.kind is None
    assert "no such file" in found.problem
    assert isinstance(found.size_bytes, Unknown)
    assert facts("a\0b").problem is not None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = facts(tmp_path / "pipe")
    assert isinstance(found.kind, Unknown)
    assert "not a regular file" in found.problem


# --- any damage -------------------------------------------------------------------------------------------------------

LLAMA = header_of("llama-3.1-8b-q4_k_m")


@settings(max_examples=80, deadline=3000)
@given(
    st.lists(st.tuples(st.integers(0, 900), st.binary(min_size=1, max_size=9)), max_size=5),
    st.integers(0, len(LLAMA) * 2),
)
def test_any_damage_gives_facts(tmp_path_factory, edits, size):
    data = bytearray(LLAMA)
    for place, new in edits:
        data[place : place + len(new)] = new
    path = tmp_path_factory.getbasetemp() / "damaged.gguf"
    path.write_bytes(data)
    os.truncate(path, size)
    started = time.process_time()
    found = facts(path)
    assert time.process_time() - started < 1
    assert found.problem is None or "\n" not in found.problem
