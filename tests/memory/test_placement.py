"""Where layers and single tensors go."""

from __future__ import annotations

from doctor.memory.budget import budget
from doctor.memory.result import Budget
from tests.memory.oracle import BUILD, cards, model, options

LLAMA = "llama-3.1-8b-q4_k_m"


def weights(arguments, count=1, name=LLAMA):
    found = budget(model(name), options(arguments), BUILD, cards(count))
    assert isinstance(found, Budget)
    return {device: part["model"] for device, part in found.breakdown().items()}


def test_the_output_layer_goes_first_then_the_last_blocks():
    tensors = model(LLAMA).tensors
    alone = weights("-ngl 1")["CUDA0"]
    assert abs(alone - tensors["output.weight"].bytes) < 1 << 16
    block = sum(tensor.bytes for tensor in model(LLAMA).blocks[31].values())
    assert abs(weights("-ngl 2")["CUDA0"] - alone - block) < 1 << 16


def test_a_pattern_moves_tensors_to_the_host():
    all_up = sum(block["ffn_up.weight"].bytes for block in model(LLAMA).blocks)
    before, after = weights(""), weights("-ot ffn_up=CPU")
    assert before["CUDA0"] - after["CUDA0"] == all_up
    assert after["CUDA_Host"] - before["CUDA_Host"] == all_up


def test_proportions_share_blocks_out():
    found = weights("-ts 3,1", 2)
    assert 2 < found["CUDA0"] / found["CUDA1"] < 3.5


def test_without_cards_everything_is_on_the_host():
    assert not any(device.startswith("CUDA") for device in weights("", 0))


def test_experts_of_the_first_blocks_stay_on_the_host():
    name = "qwen3-coder-30b-a3b-q4_k_m"
    some, all_of_them = weights("--n-cpu-moe 24", 1, name), weights("--cpu-moe", 1, name)
    assert weights("", 1, name)["CUDA0"] > some["CUDA0"] > all_of_them["CUDA0"]
