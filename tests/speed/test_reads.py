"""Bytes a token reads, held against sums over the header made another way."""

import pytest

from doctor.memory.placement import CPU
from doctor.memory.result import Refusal
from doctor.speed.reads import reads
from tests.memory.oracle import cards, header, model, options


def read(name, flags="-c 8192 -np 1", count=1):
    found = reads(model(name), options(flags), None, cards(count))
    assert not isinstance(found, Refusal)
    return {part.device: part for part in found.parts}


def file_bytes(name, without):
    return sum(tensor.bytes for tensor in header(name).tensors if not tensor.name.startswith(without))


def test_a_dense_model_reads_all_but_the_input_table():
    parts = read("llama-3.1-8b-q4_k_m")
    assert set(parts) == {"CUDA0"} and parts["CUDA0"].blocks == 32
    assert parts["CUDA0"].weights == file_bytes("llama-3.1-8b-q4_k_m", "token_embd.")
    assert parts["CUDA0"].kv == 131072


def test_of_experts_only_those_in_use_are_read():
    name = "qwen3-coder-30b-a3b-q4_k_m"
    whole = file_bytes(name, "token_embd.")
    part = read(name)["CUDA0"]
    assert 0.09 < part.weights / whole < 0.13  # 8 of 128 experts, and all the rest
    assert part.sparse == part.blocks == 48


def test_experts_in_ram_are_read_there_and_cross_over():
    name = "qwen3-coder-30b-a3b-q4_k_m"
    before, parts = read(name)["CUDA0"], read(name, "-c 8192 -np 1 --n-cpu-moe 36")
    assert parts[CPU].crossings == 36 and parts[CPU].blocks == 0
    assert parts[CPU].weights + parts["CUDA0"].weights == pytest.approx(before.weights)


def test_a_hybrid_model_keeps_a_cache_in_every_fourth_block():
    part = read("qwen3.6-27b-mtp-q4_k_m")["CUDA0"]
    assert part.kv == 65536 and part.recurrent == 48 and part.state > 0
    assert read("qwen3.6-27b-mtp-q4_k_m", "-c 8192 -np 1 -ctk q4_0 -ctv q4_0")["CUDA0"].kv == 65536 * 18 / 64


def test_windows_end_what_is_read():
    part = read("gemma-3-27b-q4_k_m")["CUDA0"]
    assert part.kv_bytes(100_000) - part.kv_bytes(50_000) == pytest.approx(part.kv * 50_000)
    assert part.kv_bytes(1000) > part.kv * 1000


def test_layers_and_cache_in_ram():
    parts = read("llama-3.1-8b-q4_k_m", "-c 8192 -np 1 -ngl 17")
    assert parts[CPU].blocks == 16 and parts["CUDA0"].blocks == 16 and parts[CPU].kv == parts["CUDA0"].kv
    parts = read("llama-3.1-8b-q4_k_m", "-c 8192 -np 1 --no-kv-offload")
    assert parts[CPU].kv == 131072 and parts[CPU].weights == 0
    assert set(read("llama-3.1-8b-q4_k_m", count=0)) == {CPU}
