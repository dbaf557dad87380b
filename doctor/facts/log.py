"""What a pasted log says in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact


@dataclass(frozen=True)
class Buffer:
    """A buffer line: `device` (CUDA0, CPU, CUDA_Host), `kind` (model, kv, rs, compute, output), size in bytes."""

    device: str
    kind: str
    bytes: int
    line: int


@dataclass(frozen=True)
class Timing:
    """One request's timings. Speeds in tokens per second."""

    prompt_tokens: Fact[int]
    prompt_per_second: Fact[float]
    decoded_tokens: Fact[int]
    decoded_per_second: Fact[float]
    line: int


@dataclass(frozen=True)
class LogDevice:
    """A GPU named in the log, with the memory printed there."""

    name: str
    description: Fact[str]
    compute_capability: Fact[str]
    memory_total_bytes: Fact[int]
    memory_free_bytes: Fact[int]


@dataclass(frozen=True)
class Log:
    """Facts of a log. Absent means the log has no such line; unknown that a log of this verbosity cannot have it: default
    logs of newer builds (`verbosity` 3) lack devices, offload and sizes.

    `alloc_failed_bytes` is the first allocation that failed, on `alloc_failed_device`. `n_ctx_slot` is the context of one
    slot. `request_tokens` / `request_limit` come from "request (N tokens) exceeds the available context size (M tokens)".
    `draft_acceptance` is the part of the drafted tokens that was accepted (0 to 1). `repeated_character` is what a line
    repeats at least 24 times in a row, where it cannot be a ruler: an answer that is stuck.
    `decode_speeds` and `prompt_speeds` are tokens per second in order of appearance (requests of at least 8 tokens).
    """

    lines: int
    build_number: Fact[int]
    verbosity: Fact[int]
    devices: Fact[tuple[LogDevice, ...]]
    layers_offloaded: Fact[int]
    layers_total: Fact[int]
    buffers: Fact[tuple[Buffer, ...]]
    gpu_model_bytes: Fact[int]
    host_model_bytes: Fact[int]
    kv_bytes: Fact[int]
    n_ctx: Fact[int]
    n_ctx_train: Fact[int]
    n_ctx_slot: Fact[int]
    slots: Fact[int]
    n_ubatch: Fact[int]
    flash_attn: Fact[str]
    graph_splits: Fact[int]
    threads: Fact[int]
    threads_total: Fact[int]
    alloc_failed_bytes: Fact[int]
    alloc_failed_device: Fact[str]
    request_tokens: Fact[int]
    request_limit: Fact[int]
    draft_acceptance: Fact[float]
    repeated_character: Fact[str]
    timings: Fact[tuple[Timing, ...]]
    decode_speeds: Fact[tuple[float, ...]]
    prompt_speeds: Fact[tuple[float, ...]]
    loaded: Fact[bool]
