"""Bytes of the weights in each buffer."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from doctor.gguf.header import tensor_type
from doctor.memory.cells import pad
from doctor.memory.placement import CPU

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.gguf.header import Tensor
    from doctor.memory.defaults import Settings
    from doctor.memory.model import Model
    from doctor.memory.placement import Placement

CARD_ALIGNMENT = 128
"""ggml-cuda's; that of the others differs by bytes."""
HOST_ALIGNMENT = 32
ROW = 512
"""ggml-cuda pads quantised rows to a multiple of this many elements (MATRIX_ROW_PADDING)."""

_INPUT = frozenset({"token_embd", "token_embd_norm", "token_types", "position_embd", "per_layer_token_embd"})
"""Tensors of the input layer, always on the host."""

REPACKED = frozenset({"Q4_0", "Q4_K", "Q2_K", "Q5_K", "Q6_K", "Q8_0", "IQ4_NL", "MXFP4"})
"""Types a processor may lay out anew at load (CPU_REPACK); which of them depends on the processor."""


def weight_rows(model: Model, settings: Settings, place: Placement) -> dict[str, int]:
    """Buffer -> bytes of weights of the main context."""
    sizes: dict[str, int] = defaultdict(int)
    cards = {device.name: device.backend for device in place.devices}
    used = settings_blocks(model, settings)
    for tensor, home in _with_homes(model, place, used):
        where = place.place_of(tensor.name, home)
        if where in cards:
            sizes[where] += pad(card_bytes(tensor, cards[where]), CARD_ALIGNMENT)
        elif not cards and settings.options.repack and _is_repacked(tensor):
            sizes["CPU_REPACK"] += pad(tensor.bytes or 0, HOST_ALIGNMENT)
        else:
            sizes[place.host] += pad(tensor.bytes or 0, HOST_ALIGNMENT)
    return dict(sizes)


def settings_blocks(model: Model, settings: Settings) -> int:
    """Blocks whose weights are loaded: those for multi-token prediction only with draft-mtp."""
    return model.block_count if settings.mtp else model.main_count


def _with_homes(model: Model, place: Placement, used: int) -> Iterator[tuple[Tensor, str]]:
    """Every tensor that is loaded, with the device of its layer."""
    for name, tensor in model.tensors.items():
        if name.startswith("blk."):
            continue
        stem = name.removesuffix(".weight").removesuffix(".bias")
        if stem in _INPUT:
            yield tensor, CPU
        elif stem.startswith("rope_"):
            # One copy for each device that has blocks.
            for home in dict.fromkeys(place.blocks):
                yield tensor, home
        else:
            yield tensor, place.output
    for index, block in enumerate(model.blocks[:used]):
        for tensor in block.values():
            yield tensor, place.blocks[index]
    embedding = model.tensors.get("token_embd.weight")
    if model.tied and embedding is not None and (place.output != CPU or model.arch in TWICE):
        yield embedding, place.output


TWICE = frozenset({"gemma4"})
"""Architectures that ask for the output layer before the embedding, and so keep tied embeddings twice even on the host."""


def card_bytes(tensor: Tensor, backend: str) -> int:
    """Bytes of a tensor on a card."""
    size = tensor.bytes or 0
    kind = tensor_type(tensor.type)
    short = tensor.shape[0] % ROW if tensor.shape else 0
    if backend not in ("cuda", "rocm") or kind is None or kind.block == 1 or not short:
        return size
    return size + -(-(ROW - short) // kind.block) * kind.bytes


def _is_repacked(tensor: Tensor) -> bool:
    kind = tensor_type(tensor.type)
    return (
        kind is not None
        and kind.name in REPACKED
        and len(tensor.shape) > 1
        and tensor.shape[1] % 8 == 0
        and not tensor.name.startswith(("token_embd.", "per_layer_token_embd."))
    )
