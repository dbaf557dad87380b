"""The KV cache: cells and bytes of each block, on the device of the block."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from doctor.memory.cells import pad, window_cells
from doctor.memory.defaults import SWA_CACHE
from doctor.memory.placement import CPU
from doctor.memory.types import CACHE_TYPES
from doctor.memory.weights import CARD_ALIGNMENT, ROW

if TYPE_CHECKING:
    from doctor.memory.defaults import Settings
    from doctor.memory.model import Model
    from doctor.memory.placement import Placement


class BlockCache(NamedTuple):
    """The cache of one block: elements of K and V per token and of one head, cells per stream. v is 0 with MLA."""

    block: int
    cells: int
    k: int
    v: int
    window: bool
    head_k: int
    head_v: int


def caches(model: Model, settings: Settings) -> tuple[BlockCache, ...]:
    """One for each block that attends and keeps a cache of its own."""
    layers = model.layers
    small = cells_of(model, settings)
    wide_v = 0 if layers.mla else max((size[1] for size in map(model.kv_size, range(model.main_count))), default=0)
    found = []
    for index, layer in enumerate(layers.layers):
        if not layer.attention:
            continue
        k, v = model.kv_size(index)
        heads = layers.heads_kv[index]
        head_k, head_v = k // heads, v // heads
        if not settings.flash and v:
            v = wide_v  # the transposed V of every block is as wide as that of the widest
        found.append(BlockCache(index, small if layer.window else settings.ctx_seq, k, v, layer.window, head_k, head_v))
    return tuple(found)


def cells_of(model: Model, settings: Settings) -> int:
    """Cells of the blocks with a sliding window, per stream."""
    if settings.options.swa_full or settings.build < SWA_CACHE:
        return settings.ctx_seq
    return window_cells(
        settings.ctx_seq, model.layers.window, settings.ubatch, settings.slots if settings.unified else 1
    )


def kv_rows(model: Model, settings: Settings, place: Placement) -> dict[str, int]:
    """Buffer -> bytes of the KV cache."""
    sizes: dict[str, int] = defaultdict(int)
    for cache in caches(model, settings):
        where = place.blocks[cache.block] if settings.options.kv_offload else CPU
        sizes[where] += cache_bytes(cache, settings.type_k, settings.type_v, settings.streams, where != CPU)
    return dict(sizes)


def cache_bytes(cache: BlockCache, type_k: str, type_v: str, streams: int, on_card: bool) -> int:
    """Bytes of the K and V tensors of one block."""
    return sum(
        _tensor(kind, elements, cache.cells * streams, on_card)
        for kind, elements in ((type_k, cache.k), (type_v, cache.v))
        if elements
    )


def _tensor(kind: str, elements: int, rows: int, on_card: bool) -> int:
    known = CACHE_TYPES[kind]
    size = known.row(elements) * rows
    if on_card and known.block > 1 and elements % ROW:
        size += known.row(ROW - elements % ROW)
    return pad(size, CARD_ALIGNMENT)
