"""Which blocks keep what: llama.cpp's own counts for real headers, and one small header for each pattern."""

import pytest

from doctor.gguf.header import read_header
from doctor.gguf.layers import Layers, read_layers
from tests.gguf.headers import INDEX, header_of
from tests.gguf.raw import gguf_bytes, model_header

ATTENTION = ("attn_q", "attn_k", "attn_v")
FUSED = ("attn_qkv", "attn_output")
MLA = ("attn_q_a", "attn_kv_a_mqa", "attn_k_b", "attn_v_b")
MAMBA = ("ssm_in", "ssm_out")
DELTA_NET = ("attn_qkv", "attn_gate", "ssm_conv1d", "ssm_out")
FEED_FORWARD = ("ffn_up", "ffn_down")
HEADS = {"embedding_length": 64, "attention.head_count": 4, "attention.head_count_kv": 2}


def layers_of(data: bytes, arch: str, size: int | None = None) -> Layers:
    import io

    header = read_header(io.BytesIO(data), size or len(data))
    assert header.problem is None
    found = read_layers(header, header.tensors, arch)
    assert isinstance(found, Layers)
    return found


def small(arch, blocks, **values):
    keys = {key.replace("__", "."): value for key, value in values.items()}
    return layers_of(model_header(arch, blocks, {**HEADS, **keys}), arch)


@pytest.mark.parametrize("name", INDEX)
def test_real_models_have_the_cache_llama_cpp_gives_them(name):
    known = INDEX[name]
    found = layers_of(header_of(name), known["architecture"], known["file_bytes"])
    assert found.unknown is None
    assert found.attention == known["attention_layers"]
    assert found.windowed == known["window_layers"]
    assert 2 * found.kv_elements() == known["kv_bytes_per_token_f16"]


@pytest.mark.parametrize(
    ("name", "recurrent", "mtp", "mla", "window"),
    [
        ("qwen3.6-27b-mtp-q4_k_m", 48, 1, False, 0),
        ("qwen3.6-35b-a3b-mtp-q4_k_m", 30, 1, False, 0),
        ("gemma-3-27b-q4_k_m", 0, 0, False, 1024),
        ("gpt-oss-20b-mxfp4", 0, 0, False, 128),
        ("llama-4-scout-q4_k_m", 0, 0, False, 8192),
        ("deepseek-v2-lite-q4_k_m", 0, 0, True, 0),
        ("nemotron-3-nano-30b-a3b-q4_k_m", 23, 0, False, 0),
        ("falcon-mamba-7b-q4_k_m", 64, 0, False, 0),
        ("rwkv7-2.9b-q4_k_m", 32, 0, False, 0),
        ("phi-4-q4_k_m", 0, 0, False, 0),
    ],
)
def test_what_real_models_are(name, recurrent, mtp, mla, window):
    found = layers_of(header_of(name), INDEX[name]["architecture"], INDEX[name]["file_bytes"])
    assert (found.recurrent, found.mtp, found.mla, found.window) == (recurrent, mtp, mla, window)


@pytest.mark.parametrize(
    ("arch", "full"),
    [
        ("gemma2", [1, 3, 5, 7]),
        ("gemma3", [5]),
        ("gpt-oss", [1, 3, 5, 7]),
        ("cohere2", [3, 7]),
        ("gemma3n", [4]),
        ("olmo2", [3, 7]),
        ("plamo3", [7]),
        ("smallthinker", [0, 4]),
        ("llama", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("phi3", [0, 1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_window_patterns(arch, full):
    found = small(arch, [ATTENTION] * 8, attention__sliding_window=512)
    assert [index for index, layer in enumerate(found.layers) if not layer.window] == full
    assert found.unknown is None


def test_a_window_of_zero_or_none_is_no_window():
    assert small("gemma3", [ATTENTION] * 6).windowed == 0
    assert small("gemma3", [ATTENTION] * 6, attention__sliding_window=0).windowed == 0
    assert small("llama4", [ATTENTION] * 4, attention__sliding_window=0).windowed == 0
    assert small("llama4", [ATTENTION] * 4).windowed == 3


def test_a_pattern_in_the_header_counts_more_than_the_architecture():
    array = small(
        "gemma4", [ATTENTION] * 4, attention__sliding_window=8, attention__sliding_window_pattern=[True, False] * 2
    )
    assert [layer.window for layer in array.layers] == [True, False, True, False]
    period = small("cohere2", [ATTENTION] * 4, attention__sliding_window=8, attention__sliding_window_pattern=2)
    assert [layer.window for layer in period.layers] == [True, False, True, False]
    short = small(
        "newarch", [ATTENTION] * 5, attention__sliding_window=8, attention__sliding_window_pattern=[True, True, False]
    )
    assert [layer.window for layer in short.layers] == [True, True, False, True, True]


def test_an_architecture_nobody_knows_gets_no_guess_about_its_windows():
    found = small("newarch", [ATTENTION] * 4, attention__sliding_window=8)
    assert "newarch" in found.unknown
    assert small("newarch", [ATTENTION] * 4).unknown is None


def test_heads_in_an_array_and_sizes_of_their_own():
    # Gemma 4: 16 heads of 256 in the window, 4 heads of 512 over everything.
    found = small(
        "gemma4",
        [ATTENTION] * 6,
        attention__head_count=32,
        attention__head_count_kv=[16, 16, 16, 16, 16, 4],
        attention__key_length=512,
        attention__value_length=512,
        attention__sliding_window=1024,
        attention__sliding_window_pattern=[True] * 5 + [False],
    )
    assert (found.attention, found.windowed, found.kv_elements() * 2) == (6, 5, 8192)


def test_shared_caches_are_counted_once():
    shared = small("gemma4", [ATTENTION] * 6, attention__shared_kv_layers=2)
    assert [layer.attention for layer in shared.layers] == [True] * 4 + [False] * 2
    assert small("gemma3n", [ATTENTION] * 24, attention__sliding_window=8).attention == 20


def test_hybrids():
    granite = small("granitehybrid", [MAMBA, MAMBA, ATTENTION, MAMBA], attention__head_count_kv=[0, 0, 2, 0])
    assert (granite.attention, granite.recurrent, granite.kv_elements()) == (1, 3, 2 * (16 + 16))
    nemotron = small(
        "nemotron_h", [MAMBA, FEED_FORWARD, ATTENTION, FEED_FORWARD], attention__head_count_kv=[0, 0, 2, 0]
    )
    assert (nemotron.attention, nemotron.recurrent) == (1, 1)
    qwen = small("qwen35", [DELTA_NET, DELTA_NET, DELTA_NET, ATTENTION], full_attention_interval=4)
    assert (qwen.attention, qwen.recurrent) == (1, 3)
    both = small("falcon-h1", [ATTENTION + MAMBA] * 3)
    assert (both.attention, both.recurrent) == (3, 3)
    kimi = small("kimi-linear", [(*ATTENTION, "ssm_conv1d_q"), MLA], attention__head_count_kv=[0, 1])
    assert (kimi.attention, kimi.recurrent) == (1, 1)
    liquid = small("lfm2", [("shortconv.conv",), ATTENTION], attention__head_count_kv=[0, 2])
    assert (liquid.attention, liquid.recurrent) == (1, 1)


def test_blocks_for_multi_token_prediction_are_apart():
    found = small("glm4moe", [FUSED, ATTENTION, (*ATTENTION, "nextn.eh_proj")], nextn_predict_layers=1)
    assert (len(found.layers), found.attention, found.mtp) == (2, 2, 1)
    stripped = small("glm4moe", [ATTENTION, ATTENTION], nextn_predict_layers=0)
    assert (len(stripped.layers), stripped.mtp) == (2, 0)


def test_mla_keeps_one_row_and_old_files_keep_all_heads():
    mla = {"attention__key_length": 576, "attention__value_length": 512, "attention__head_count_kv": 1}
    new = small("deepseek2", [MLA], attention__key_length_mla=192, attention__value_length_mla=128, **mla)
    assert (new.mla, new.kv_elements()) == (True, 576)
    old = small("deepseek2", [MLA], attention__key_length=192, attention__value_length=128, attention__head_count_kv=4)
    assert (old.mla, old.kv_elements()) == (False, 4 * 320)


def test_encoders_have_no_cache():
    assert small("bert", [FUSED, FUSED]).attention == 0


def test_caches_that_are_not_understood_are_not_counted():
    assert small("deepseek4", [ATTENTION]).unknown
    assert small("glm-dsa", [MLA], attention__indexer__key_length=128).unknown


def test_a_block_without_tensors_is_told():
    data = gguf_bytes(
        {"general.architecture": "llama", "llama.block_count": 3, "llama.attention.head_count": 2},
        [("blk.0.attn_k.weight", (32, 1), 0), ("blk.2.attn_k.weight", (32, 1), 0), ("blk.9999.x", (32,), 0)],
    )
    assert "block 1" in layers_of(data, "llama").unknown


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({}, "does not say how many blocks"),
        ({"block_count": 1 << 31}, "2147483648 blocks"),
        ({"block_count": "many"}, "does not say how many blocks"),
        ({"block_count": 2, "attention.head_count": -4}, "make no sense"),
        ({"block_count": 2, "attention.head_count": 4, "attention.key_length": 1 << 30}, "make no sense"),
        ({"block_count": 2, "attention.head_count": 4, "attention.head_count_kv": [2]}, "make no sense"),
        ({"block_count": 2, "attention.head_count": 4, "attention.head_count_kv": [1.5, 2.5]}, "make no sense"),
    ],
)
def test_nonsense_in_the_header(values, words):
    import io

    data = gguf_bytes({f"llama.{key}": value for key, value in values.items()}, [("t", (32,), 0)])
    header = read_header(io.BytesIO(data), len(data))
    assert words in read_layers(header, header.tensors, "llama")
