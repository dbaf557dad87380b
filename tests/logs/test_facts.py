"""Numbers out of logs, in the wordings of old and new builds."""

import time

import pytest

from doctor.logs.paste import Paste

MIB = 1 << 20


def facts(text):
    paste = Paste([text.encode()])
    list(paste)
    return paste.log


@pytest.mark.parametrize(
    ("line", "field", "expected"),
    [
        ("load_tensors: offloaded 64/65 layers to GPU", "layers_offloaded", 64),
        ("llm_load_tensors: offloaded 33/33 layers to GPU", "layers_total", 33),
        ("build: 9093 (abcdef0) with GNU 11.4.0 for Linux x86_64", "build_number", 9093),
        ("version: 0.1.0 (build 10434, commit 7e4c0a9)", "build_number", 10434),
        ("version: 6143 (abc1234)", "build_number", 6143),
        ("main: build = 2406 (48358b2e)", "build_number", 2406),
        ('{"tid":"1","build":2406,"commit":"48358b2e"}', "build_number", 2406),
        ('"build_info":"b11434-7e4c0a9"', "build_number", 11434),
        ("cmake --build build -j 8", "build_number", None),
        ("version: 0.1.0 (build 1, commit 7e4c0a9)", "build_number", None),
        ("print_info: n_ctx_train           = 32768", "n_ctx_train", 32768),
        ("llama_context: n_ctx_seq (4096) < n_ctx_train (131072) -- the full capacity will not be utilized", "n_ctx_train", 131072),
        ("llama_context: n_ctx         = 131072", "n_ctx", 131072),
        ("srv    load_model: initializing, n_slots = 4, n_ctx_slot = 2048, kv_unified = 'false'", "n_ctx_slot", 2048),
        ("srv    load_model: initializing, n_slots = 4, n_ctx_slot = 2048, kv_unified = 'false'", "slots", 4),
        ("graph: nodes = 1200, splits = 130", "graph_splits", 130),
        ("system_info: n_threads = 16 (n_threads_batch = 16) / 32 | CUDA : ARCHS = 860 |", "threads_total", 32),
        ("request (1524 tokens) exceeds the available context size (512 tokens), try increasing it", "request_tokens", 1524),
        ("request (1524 tokens) exceeds the available context size (512 tokens), try increasing it", "request_limit", 512),
        ("draft acceptance rate = 0.57576 (  171 accepted /   297 generated)", "draft_acceptance", 0.57576),
        ('"draft_n": 347,\n"draft_n_accepted": 65', "draft_acceptance", 65 / 347),
        ("n_drafted = 730\nn_accept  = 526", "draft_acceptance", 526 / 730),
        ('"draft_n": 4,\n"draft_n_accepted": 0', "draft_acceptance", None),
        ("system_info: n_threads = 16 / 12 | AVX = 1 |", "threads_total", 12),
        ("郦" * 40, "repeated_character", "郦"),
        ("> " + "?" * 30, "repeated_character", "?"),
        ("=" * 80, "repeated_character", None),
        ("─" * 80, "repeated_character", None),
        ("A" * 80, "repeated_character", None),
        ("哈哈哈哈", "repeated_character", None),
        ("llama_context: flash_attn    = enabled", "flash_attn", "enabled"),
        ("allocating 8192.00 MiB on device 1: cudaMalloc failed: out of memory", "alloc_failed_bytes", 8192 * MIB),
        ("allocating 8192.00 MiB on device 1: cudaMalloc failed: out of memory", "alloc_failed_device", "CUDA1"),
        ("ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 137438953504", "alloc_failed_device", "CPU"),
        ("llama_kv_cache: size = 2304.00 MiB (131072 cells,  16 layers,  1/1 seqs), K (q4_0): 1152.00 MiB", "kv_bytes", 2304 * MIB),
        ("main: server is listening on http://127.0.0.1:8080", "loaded", True),
        ("hello", "loaded", None),
        ("n_ctx = 99999999999999999999999999999", "n_ctx", None),
    ],
)  # fmt: skip
def test_single(line, field, expected):
    assert getattr(facts(line), field) == expected


def test_buffers_by_place():
    log = facts(
        "load_tensors:        CUDA0 model buffer size = 15088.00 MiB\n"
        "load_tensors:   CPU_Mapped model buffer size =   682.00 MiB\n"
        "llama_kv_cache:      CUDA0 KV buffer size =  2304.00 MiB\n"
        "llama_context:      CUDA0 compute buffer size =   740.31 MiB\n"
        "llm_load_tensors:      CUDA1 buffer size =  4095.05 MiB\n"
    )
    assert [(b.device, b.kind, b.line) for b in log.buffers] == [
        ("CUDA0", "model", 1), ("CPU_Mapped", "model", 2), ("CUDA0", "kv", 3), ("CUDA0", "compute", 4), ("CUDA1", "model", 5),
    ]  # fmt: skip
    assert log.gpu_model_bytes == int(15088 * MIB) + int(4095.05 * MIB) and log.host_model_bytes == 682 * MIB


def test_devices_are_put_together():
    log = facts(
        "  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes, VRAM: 24124 MiB\n"
        "llama_prepare_model_devices: using device CUDA0 (NVIDIA GeForce RTX 3090) (0000:01:00.0) - 23811 MiB free\n"
    )
    (device,) = log.devices
    assert (device.name, device.compute_capability) == ("CUDA0", "8.6")
    assert (device.memory_total_bytes, device.memory_free_bytes) == (24124 * MIB, 23811 * MIB)


def test_timings_pair_up():
    log = facts(
        "slot print_timing: id  0 | task 0 | prompt eval time =   23790.85 ms /   724 tokens (   32.86 ms per token,    30.43 tokens per second)\n"
        "slot print_timing: id  0 | task 0 |        eval time =    1526.50 ms /    12 tokens (  138.77 ms per token,     7.21 tokens per second)\n"
        "llama_print_timings:        eval time =    1526.50 ms /    3 runs   (  138.77 ms per token,     9.99 tokens per second)\n"
    )
    assert [(t.prompt_tokens, t.prompt_per_second, t.decoded_tokens, t.decoded_per_second) for t in log.timings] == [
        (724, 30.43, 12, 7.21), (None, None, 3, 9.99),
    ]  # fmt: skip
    assert log.decode_speeds == (7.21,) and log.prompt_speeds == (30.43,)


@pytest.mark.parametrize(
    "line",
    [
        "draft acceptance rate = .",
        "draft acceptance rate = 1.2.3",
        "offloaded " + "9" * 5000 + "/" + "9" * 5000 + " layers",
        "Device 0: x, compute capability 8.6, VRAM: " + "9" * 5000 + " MiB",
        "using device CUDA0 (x) - " + "9" * 5000 + " MiB free",
        "CUDA0: x (" + "9" * 5000 + " MiB, 1 MiB free)",
        "allocating 1.2.3 MiB on device 0: cudaMalloc failed",
        "eval time = . ms / " + "9" * 5000 + " runs ( . tokens per second)",
    ],
)
def test_numbers_that_are_none_are_survived(line):
    assert facts(line).lines == 1


@pytest.mark.parametrize(
    "line",
    ["build " + "\u3000" * 30, "eval time = 1 ms / 1 runs (" + "." * 8100, "buffer size = " * 300 + "[a]" * 1300,
     "using device a (" * 500, "Device 0: a, compute capability 1 " * 240, ("build" + " " * 27) * 250],
)  # fmt: skip
def test_hostile_lines_are_read_quickly(line):
    started = time.process_time()
    facts("\n".join([line[:8192]] * 5))
    assert time.process_time() - started < 1
