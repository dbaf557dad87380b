import pytest

from doctor.memory.quants import kind_of, sizes
from tests.memory.planning import model

# Bytes of published files of Llama 3.1 8B Instruct in 10^9, as their publishers list them.
LLAMA = {
    "Q8_0": 8.54,
    "Q6_K": 6.60,
    "Q5_K_M": 5.73,
    "Q5_K_S": 5.60,
    "Q4_K_M": 4.92,
    "Q4_K_S": 4.69,
    "IQ4_XS": 4.45,
    "Q3_K_M": 4.02,
    "Q2_K": 3.18,
}


@pytest.mark.parametrize("kind", LLAMA)
def test_sizes_are_those_of_published_files(kind):
    found = {size.name: size.file / 1e9 for size in sizes(model("llama-3.1-8b-q4_k_m"))}
    assert found[kind] == pytest.approx(LLAMA[kind], rel=0.035)


@pytest.mark.parametrize("name", ["qwen3.6-27b-mtp-q4_k_m", "qwen3.6-35b-a3b-mtp-q4_k_m", "gemma-3-27b-q4_k_m"])
def test_they_come_largest_first_and_the_own_one_is_exact(name):
    found = sizes(model(name))
    assert [size.file for size in found] == sorted((size.file for size in found), reverse=True)
    own = next(size for size in found if size.name == kind_of(model(name)))
    assert own.file == sum(tensor.bytes for tensor in model(name).tensors.values())
    assert all(0 < size.card <= size.file for size in found)


def test_a_model_trained_in_its_own_type_has_no_others():
    assert sizes(model("gpt-oss-20b-mxfp4")) == ()
