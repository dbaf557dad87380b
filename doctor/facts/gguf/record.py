"""The model file: what it really is, what its header says, and whether it is whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

from doctor.facts.record import Fact, Unknown, not_collected

if TYPE_CHECKING:
    from doctor.gguf.header import Header
    from doctor.gguf.parts import Parts
    from doctor.gguf.remote import RemoteHeader
    from doctor.outside import Outside


@dataclass(frozen=True)
class TypeShare:
    """How many bytes of the weights are of one tensor type ("Q4_K")."""

    type: str
    bytes: int
    tensors: int


@dataclass(frozen=True)
class Gguf:
    """Facts of one model file (the first part when it is split). Sizes in bytes.

    `kind`: model, mmproj, lora, vocab, imatrix, draft-part (a GGUF that only drafts for another model: eagle3, dflash,
    MTP blocks alone), gguf-other (no language model); or what lies there instead: lfs-pointer, html, json, safetensors,
    pytorch, ggml-old, archive, folder, empty, not-gguf; None when nothing is there.
    `problem` is one line: why this is no GGUF, or what llama.cpp refuses in its header.
    `expected_bytes` is the end of the last tensor, `missing_bytes` how much of it the file lacks (0 when whole), both
    for this part only and unknown when the header itself is cut off; `truncated` is true in either case. `unfinished`
    is the sign of a download that has not ended.
    `quantization` is the type with most bytes; `file_type` the name in the header ("Q4_K_M"). `unknown_types` are
    numbers of tensor types that llama.cpp does not read (any more).
    Parameters, weights and tensors are of all parts, unknown while a part is missing. Per-layer facts have one entry a
    block. `attention_layers` / `recurrent_layers` count blocks with a KV cache / a recurrent state, without MTP blocks.
    `kv_bytes_per_token_f16` is for one token over all full-attention layers at f16 (SWA layers not counted).
    `strict_system_message`: the chat template raises unless the system message comes first; None without a template.
    `split_index` counts from 1; None for a model in one file. `split_missing` are names. `split_trouble` is not-first,
    renamed, joined (parts put together with cat), damaged (another part), mixed (parts of several models) or piece (cut
    by size, to be joined with cat); `split_problem` is that in one line. `needs_build` is the first build that knows
    everything in the file, `needs_because` what is the newest of it ("the architecture qwen35"), `last_build` the last
    build that knows it all, None while the newest does. `sha256_source`: where the digest stands.
    """

    path: str
    kind: Fact[str]
    problem: Fact[str]
    gguf_version: Fact[int]
    big_endian: Fact[bool]
    size_bytes: Fact[int]
    expected_bytes: Fact[int]
    missing_bytes: Fact[int]
    truncated: Fact[bool]
    unfinished: Fact[str]
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
    split_trouble: Fact[str]
    split_problem: Fact[str]
    needs_build: Fact[int]
    needs_because: Fact[str]
    last_build: Fact[int]
    sha256: Fact[str]
    sha256_expected: Fact[str]
    sha256_source: Fact[str]


def collect(
    outside: Outside, path: str, *, want_hash: bool = False, progress: Callable[[int, int], None] | None = None
) -> Gguf:
    """The facts of the file at `path`. Reads its header only, and the whole file when `want_hash` is set.

    `progress` is told how many bytes of how many have been hashed.
    """
    from doctor.facts.gguf.model_needs import needs_of
    from doctor.outside import OutsideError

    try:
        info = outside.stat(path)
        if info.is_dir:
            return _folder(outside, path)
        with outside.open(path) as stream:
            found = _file(outside, path, stream, info.size)
        found = replace(found, **needs_of(outside, found))
        return replace(found, **_hashes(outside, path, info.size, found, want_hash, progress))
    except OutsideError as error:
        kind = None if error.kind == "missing" else Unknown(str(error))
        return _no_gguf(path, kind, str(error))


def _no_gguf(path: str, kind: Fact[str], problem: str, **facts: Any) -> Gguf:
    """Facts of something that has no GGUF header: all others are unknown because of that."""
    return replace(not_collected(Gguf, problem), path=path, kind=kind, problem=problem, **facts)


def _folder(outside: Outside, path: str) -> Gguf:
    names = outside.list_folder(path)
    models = [name for name in names if name.lower().endswith(".gguf")]
    if models:
        return _no_gguf(
            path, "folder", f"this is a folder, not a model file: give one of its files, such as {models[0]}"
        )
    if any(name.endswith(".safetensors") for name in names):
        return _no_gguf(
            path, "safetensors", "this is a folder of safetensors files, which must be converted to GGUF first"
        )
    return _no_gguf(path, "folder", "this is a folder, not a model file")


def _file(outside: Outside, path: str, stream: IO[bytes], size: int) -> Gguf:
    from doctor.gguf.header import MAGIC, read_header
    from doctor.gguf.identify import HEAD, identify
    from doctor.gguf.splits import is_raw_piece
    from doctor.outside import OutsideError

    try:
        head = stream.read(HEAD) or b""
        stream.seek(0)
    except (OSError, ValueError) as error:
        raise OutsideError("failed", f"{path}: cannot be read ({error})") from None
    joined = (
        f"{os.path.basename(path)} is one piece of a file: all pieces are joined with cat"
        if is_raw_piece(path)
        else None
    )
    unfinished = _unfinished(outside, path)
    if head.startswith(MAGIC):
        return _model(outside, path, stream, size, read_header(stream, size), joined, unfinished)
    found = identify(head, size)
    facts: dict[str, Any] = {"size_bytes": size, "unfinished": unfinished, "split_problem": joined}
    facts["split_trouble"] = "piece" if joined else None
    if found.length is not None:
        facts.update(expected_bytes=found.length, missing_bytes=max(0, found.length - size))
    if found.sha256 is not None:
        facts.update(sha256_expected=found.sha256, sha256_source="the Git LFS pointer")
    return _no_gguf(path, found.kind, f"this is {found.words}", **facts)


def _unfinished(outside: Outside, path: str) -> str | None:
    from doctor.gguf.splits import unfinished_name

    ending = unfinished_name(path)
    if ending:
        return f"the name ends in {ending}"
    # aria2 sets the whole size aside at once and keeps this file until all pieces have come.
    return f"{os.path.basename(path)}.aria2 lies beside it" if outside.exists(f"{path}.aria2") else None


def _model(
    outside: Outside,
    path: str,
    stream: IO[bytes],
    size: int,
    header: Header,
    joined: str | None,
    unfinished: str | None,
) -> Gguf:
    from doctor.gguf.parts import read_parts

    return _described(path, size, header, read_parts(outside, path, header, stream, size), joined, unfinished)


def of_remote(outside: Outside, remote: RemoteHeader) -> Gguf:
    """The facts of a model on the network (`doctor.gguf.remote.read_remote`): `path` is its address."""
    from doctor.facts.gguf.model_needs import needs_of

    facts = _described(remote.url, remote.size, remote.header, remote.parts, None, None)
    facts = replace(facts, **needs_of(outside, facts))
    unhashed = Unknown("the file has not been downloaded")
    return replace(facts, sha256=unhashed, sha256_expected=unhashed, sha256_source=unhashed)


def _described(path: str, size: int, header: Header, parts: Parts, joined: str | None, unfinished: Fact[str]) -> Gguf:
    from doctor.gguf.parts import end_of_tensors
    from doctor.gguf.summary import describe, kind_of

    end = end_of_tensors(header)
    lost = Unknown(header.problem or "the last tensor has a type of unknown size")
    if end is None and header.data_offset is not None and not header.tensors:
        end = min(size, header.data_offset)  # no tensors: nothing can be missing
    facts = describe(header, parts)
    facts["types"] = (
        tuple(TypeShare(*row) for row in facts["types"]) if isinstance(facts["types"], tuple) else facts["types"]
    )
    return replace(
        not_collected(Gguf, "not looked at"),
        path=path,
        kind=kind_of(header, header.tensors),
        problem=header.problem,
        size_bytes=size,
        expected_bytes=lost if end is None else end,
        missing_bytes=lost if end is None else max(0, end - size),
        truncated=header.cut_off or (lost if end is None else end > size),
        unfinished=unfinished,
        split_index=parts.number,
        split_count=parts.total,
        split_missing=parts.missing,
        split_trouble=parts.trouble.kind if parts.trouble else ("piece" if joined else None),
        split_problem=parts.trouble.words if parts.trouble else joined,
        **facts,
    )


def _hashes(
    outside: Outside, path: str, size: int, found: Gguf, want: bool, progress: Callable[[int, int], None] | None
) -> dict[str, Any]:
    """The digest when it is wanted, and the one the file should have."""
    from doctor.gguf.checksums import expected_sha256, sha256_of
    from doctor.outside import OutsideError

    facts: dict[str, Any] = {"sha256": Unknown("hashing reads the whole file and was not asked for")}
    if want:
        try:
            facts["sha256"] = sha256_of(outside, path, size, progress)
        except OutsideError as error:
            facts["sha256"] = Unknown(str(error))
    if found.kind != "lfs-pointer":
        facts["sha256_expected"], facts["sha256_source"] = expected_sha256(outside, path) or (None, None)
    return facts
