"""The model file: what it really is, what its header says, and whether it is whole."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact


@dataclass(frozen=True)
class TypeShare:
    """How many bytes of the weights are of one tensor type ("Q4_K")."""

    type: str
    bytes: int
    tensors: int


@dataclass(frozen=True)
class Gguf:
    """Facts of one model file (the first part when it is split). Sizes in bytes.

    `kind`: model, mmproj, lora, vocab, draft-part (a GGUF without attention weights), gguf-other; or what lies there instead:
    lfs-pointer, html, json, safetensors, ggml-old, empty, not-gguf. `problem` is one line on why the header cannot be read.
    `expected_bytes` is the end of the last tensor, `missing_bytes` how much of it the file lacks (0 when whole).
    `quantization` is the type with most bytes; `file_type` the name in the header ("Q4_K_M"). Per-layer facts have one
    entry a block. `attention_layers` / `recurrent_layers` count blocks with a KV cache / a recurrent state.
    `kv_bytes_per_token_f16` is for one token over all full-attention layers at f16 (SWA layers not counted).
    `strict_system_message`: the chat template raises unless the system message comes first.
    """

    path: str
    kind: Fact[str]
    problem: Fact[str]
    gguf_version: Fact[int]
    size_bytes: Fact[int]
    expected_bytes: Fact[int]
    missing_bytes: Fact[int]
    architecture: Fact[str]
    name: Fact[str]
    parameters: Fact[int]
    file_type: Fact[str]
    quantization: Fact[str]
    types: Fact[tuple[TypeShare, ...]]
    unknown_types: Fact[tuple[int, ...]]
    weights_bytes: Fact[int]
    tensor_count: Fact[int]
    block_count: Fact[int]
    context_length: Fact[int]
    embedding_length: Fact[int]
    head_count: Fact[tuple[int, ...]]
    head_count_kv: Fact[tuple[int, ...]]
    key_length: Fact[int]
    value_length: Fact[int]
    sliding_window: Fact[int]
    sliding_window_layers: Fact[int]
    attention_layers: Fact[int]
    recurrent_layers: Fact[int]
    mla: Fact[bool]
    mtp_layers: Fact[int]
    expert_count: Fact[int]
    expert_used_count: Fact[int]
    kv_bytes_per_token_f16: Fact[int]
    vocab_size: Fact[int]
    tokenizer_model: Fact[str]
    tokenizer_pre: Fact[str]
    chat_template: Fact[bool]
    strict_system_message: Fact[bool]
    split_index: Fact[int]
    split_count: Fact[int]
    split_missing: Fact[tuple[str, ...]]
    split_problem: Fact[str]
    sha256: Fact[str]
    sha256_expected: Fact[str]
