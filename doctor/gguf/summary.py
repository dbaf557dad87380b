"""From a header and the list of tensors to the facts of `doctor.facts.gguf.record.Gguf`: names, counts, shares, layers."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from doctor.facts.record import Unknown
from doctor.gguf.header import Header, Tensor, tensor_type
from doctor.gguf.identify import one_line
from doctor.gguf.layers import read_layers
from doctor.gguf.parts import Parts
from doctor.gguf.types import FILE_TYPES, REMOVED_TYPES

GUESSED = 1024
STRICT_WORDS = "System message must be at the beginning"
"""What the templates of Qwen3.5 and later raise when a system message is not the first."""
DRAFT_ARCHITECTURES = frozenset({"dflash", "dspark", "eagle3", "gemma4-assistant"})
_KINDS = {"mmproj": "mmproj", "adapter": "lora", "vocab": "vocab", "imatrix": "imatrix"}


def kind_of(header: Header, tensors: tuple[Tensor, ...]) -> str:
    """What a GGUF holds, a word of `Gguf.kind`. One whose header broke off before it said is taken for a model."""
    declared = _KINDS.get(header.text("general.type") or "")
    arch = header.text("general.architecture") or ""
    if declared:
        return declared
    if arch == "clip":
        return "mmproj"
    if "adapter.type" in header.values:
        return "lora"
    if "imatrix.chunk_count" in header.values or "imatrix.datasets" in header.lengths:
        return "imatrix"
    if arch in DRAFT_ARCHITECTURES or _only_mtp(header, tensors, arch):
        return "draft-part"
    if not tensors and header.data_offset is not None and "tokenizer.ggml.model" in header.values:
        return "vocab"
    if header.number("split.no") or header.data_offset is None:
        return "model"  # the later parts of a split model do not say what they are of
    return "model" if f"{arch}.block_count" in header.values else "gguf-other"


def _only_mtp(header: Header, tensors: tuple[Tensor, ...], arch: str) -> bool:
    """Blocks for multi-token prediction without the model they belong to."""
    count, extra = header.number(f"{arch}.block_count"), header.number(f"{arch}.nextn_predict_layers")
    if not count or not extra or header.number("split.count"):
        return False
    blocks = {tensor.name.split(".", 2)[1] for tensor in tensors if tensor.name.startswith("blk.")}
    return bool(blocks) and "0" not in blocks and str(count - 1) in blocks


def describe(header: Header, parts: Parts) -> dict[str, Any]:
    """The facts that the header and the tensors of all parts give. Field names as in `Gguf`."""
    arch = header.text("general.architecture") or ""
    lost = Unknown(header.problem or "the header could not be read to its end")
    whole_header = header.data_offset is not None
    if parts.number is not None and parts.number > 1:
        lost = Unknown("this part does not say, the first part does")
        whole_header = False

    def absent(value: Any) -> Any:
        """A value that is not there is absent only when the header was read to its end, and is the model's own."""
        return lost if value is None and not whole_header else value

    def text(key: str) -> Any:
        found = header.text(key)
        return absent(None if found is None else one_line(found.encode("utf-8", "replace")))

    def number(key: str) -> Any:
        return absent(header.number(f"{arch}.{key}"))

    templates = [
        value
        for key, value in header.values.items()
        if key.startswith("tokenizer.chat_template") and isinstance(value, str)
    ]
    vocabulary = header.lengths.get("tokenizer.ggml.tokens", header.number(f"{arch}.vocab_size"))
    facts: dict[str, Any] = {
        "gguf_version": header.version or None,
        "big_endian": header.big_endian if header.version else Unknown(header.problem or ""),
        "architecture": text("general.architecture"),
        "name": text("general.name"),
        "file_type": absent(_file_type(header)),
        "context_length": number("context_length"),
        "embedding_length": number("embedding_length"),
        "block_count": number("block_count"),
        "expert_count": number("expert_count"),
        "expert_used_count": number("expert_used_count"),
        "vocab_size": absent(vocabulary),
        "tokenizer_model": text("tokenizer.ggml.model"),
        "tokenizer_pre": text("tokenizer.ggml.pre"),
        "chat_template": absent(bool(templates) or (False if whole_header else None)),
        "strict_system_message": absent(any(STRICT_WORDS in item for item in templates) if templates else None),
    }
    facts.update(_layer_facts(header, parts, arch, lost if not whole_header else None))
    facts.update(_tensor_facts(header, parts))
    return facts


def _file_type(header: Header) -> str | None:
    found = header.number("general.file_type")
    return None if found is None else FILE_TYPES.get(found & ~GUESSED, f"type {found}")


_LAYER_FIELDS = (
    "head_count", "head_count_kv", "key_length", "value_length", "sliding_window", "sliding_window_layers",
    "attention_layers", "recurrent_layers", "mla", "mtp_layers", "kv_bytes_per_token_f16",
)  # fmt: skip
_TENSOR_FIELDS = ("parameters", "quantization", "types", "unknown_types", "weights_bytes", "tensor_count")


def _layer_facts(header: Header, parts: Parts, arch: str, lost: Unknown | None) -> dict[str, Any]:
    layers = read_layers(header, parts.tensors, arch)
    if isinstance(layers, str):
        return dict.fromkeys(_LAYER_FIELDS, Unknown(layers) if lost is None else lost)
    doubt = _doubt(header, parts)
    unsure = doubt or layers.unknown
    return {
        "head_count": layers.heads,
        "head_count_kv": layers.heads_kv,
        "key_length": layers.key_length,
        "value_length": layers.value_length,
        "sliding_window": layers.window or None,
        "sliding_window_layers": _unless(unsure, layers.windowed),
        "attention_layers": _unless(doubt, layers.attention),
        "recurrent_layers": _unless(doubt, layers.recurrent),
        "mla": layers.mla,
        "mtp_layers": _unless(doubt, layers.mtp),
        "kv_bytes_per_token_f16": _unless(unsure, 2 * layers.kv_elements()),
    }


def _tensor_facts(header: Header, parts: Parts) -> dict[str, Any]:
    """Sums over the tensors: shares of the parts there are, totals of a whole model. `types` holds plain tuples."""
    if header.data_offset is None:
        return dict.fromkeys(_TENSOR_FIELDS, Unknown(header.problem or "the header could not be read to its end"))
    counts: dict[int, int] = defaultdict(int)
    elements: dict[int, int] = defaultdict(int)
    sizes: dict[int, int] = defaultdict(int)
    unsized = False
    for tensor in parts.tensors:
        unsized = unsized or tensor.bytes is None
        counts[tensor.type] += 1
        elements[tensor.type] += tensor.elements
        sizes[tensor.type] += tensor.bytes or 0
    weight = elements if unsized else sizes
    order = sorted(counts, key=lambda kind: (-weight[kind], kind))
    doubt = _doubt(header, parts)
    return {
        "parameters": _unless(doubt, sum(elements.values())),
        "quantization": _type_name(order[0]) if order else None,
        "types": tuple((_type_name(kind), sizes[kind], counts[kind]) for kind in order),
        "unknown_types": tuple(kind for kind in sorted(counts) if tensor_type(kind) is None),
        "weights_bytes": _unless(
            doubt or ("the size of a tensor type is not known" if unsized else None), sum(sizes.values())
        ),
        "tensor_count": _unless(doubt, len(parts.tensors)),
    }


def _type_name(kind: int) -> str:
    known = tensor_type(kind)
    return known.name if known else REMOVED_TYPES.get(kind, f"type {kind}")


def _doubt(header: Header, parts: Parts) -> str | None:
    """Why nothing can be said about all tensors of the model; None when they are all there."""
    if parts.whole:
        return None
    if parts.missing:
        return f"parts of the model are missing: {', '.join(parts.missing[:3])}"
    if parts.trouble:
        return parts.trouble.words
    return header.problem or "the header could not be read to its end"


def _unless(doubt: str | None, value: Any) -> Any:
    return value if doubt is None else Unknown(doubt)
