"""Attention over a cache (llm_graph_context::build_attn and build_attn_mha)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.memory.graph.tensors import HOST
from doctor.memory.types import CACHE_TYPES

if TYPE_CHECKING:
    from doctor.memory.graph.step import Step
    from doctor.memory.graph.tensors import Node

F16_SCRATCH = 9500
"""From about this build on (June 2026, "cuda: reserve space for quantize kv-cache at startup") ggml-cuda sets aside the
f16 copies that flash attention makes of a cache of another type behind its result; before, they came from a pool."""

VECTOR_HEAD = 256
"""The largest head that kernel can do."""


def attend(
    step: Step,
    block: int,
    q: Node,
    k: Node | None,
    v: Node | None,
    *,
    sinks: Node | None = None,
    soft_cap: bool = False,
    v_mla: Node | None = None,
) -> Node:
    """Store k and v, attend with q (head, heads, tokens); a (head * heads, tokens) result."""
    graph, settings = step.graph, step.settings
    cache = step.cache(block)
    block = cache.block
    masks = step.masks(cache.window)
    if masks.k_turn is not None:
        q = turned(step, q, masks.k_turn)
        k = turned(step, k, masks.k_turn) if k is not None else None
    if masks.v_turn is not None and v is not None:
        v = turned(step, v, masks.v_turn)
    graph.expand(q)
    if v is not None:
        graph.expand(v)
    if k is not None:
        graph.expand(k)
    keys, values = _stored(step, block)
    if k is not None:
        graph.expand(graph.write(graph.reshape(k, cache.k, step.tokens), keys, masks.k_index))
    if v is not None and values is not keys:
        if not settings.flash and v.elements < cache.v * step.tokens:
            v = graph.op("pad", (cache.v, step.tokens), graph.reshape(v, v.elements // step.tokens, step.tokens))
        graph.expand(graph.write(graph.reshape(v, v.elements // step.tokens, step.tokens), values, masks.v_index))
    q_view = graph.show(q, (q.shape[0], step.tokens // step.streams, q.shape[1], step.streams), strided=True)
    k_view = graph.show(keys, keys.shape, strided=True, size=keys.bytes)
    v_view = graph.show(values, values.shape, strided=True, size=values.bytes)
    heads, tokens = q.shape[1], step.tokens
    width = cache.head_v or _mla_width(step)
    if settings.flash:
        extra = _scratch(step, block)
        cur = graph.op("flash_attn", (width, heads, tokens), q_view, k_view, v_view, masks.mask, sinks, extra=extra)
        if v_mla is not None:
            wide = graph.show(cur, (width, tokens, heads), strided=True)
            cur = graph.op("mul_mat", (v_mla.shape[1], tokens, heads), v_mla, wide)
            cur = graph.show(cur, (v_mla.shape[1], heads, tokens), strided=True)
            cur = graph.op("cont", (v_mla.shape[1], heads, tokens), cur)
        cur = graph.show(cur, (cur.shape[0] * heads, tokens))
    else:
        kq = graph.op("mul_mat", (cache.cells, tokens, heads), k_view, q_view)
        if soft_cap:
            for name in ("scale", "unary", "scale"):
                kq = step.same(name, kq)
        kq = step.same("soft_max", kq, masks.mask, sinks)
        if values is keys:
            # The rows of MLA are not stored transposed, as V must be without flash attention.
            v_view = graph.stored_copy(width * cache.cells * step.streams * 2, v_view)
        cur = graph.op("mul_mat", (width, tokens, heads), v_view, kq)
        if v_mla is not None:
            cur = graph.op("mul_mat", (v_mla.shape[1], tokens, heads), v_mla, cur)
        cur = graph.show(cur, (cur.shape[0], heads, tokens), strided=True)
        cur = graph.op("cont", (cur.shape[0] * heads, tokens), cur)
        if not settings.options.kv_offload:
            cur.backend = HOST
    graph.expand(cur)
    if masks.v_turn is not None:
        cur = turned(step, cur, masks.v_turn)
    return cur


def turned(step: Step, x: Node, turn: Node) -> Node:
    """x with a rotation applied to each piece of its columns."""
    size = turn.shape[0]
    flat = step.graph.reshape(x, size, x.elements // size)
    return step.graph.reshape(step.mul_mat(turn, flat), *x.shape)


def _stored(step: Step, block: int) -> tuple[Node, Node]:
    """The cache's tensors of K and V."""
    cache, settings, graph = step.caches[block], step.settings, step.graph
    key = f"cache{block}"
    found = step.stores.get(key)
    if found is None:
        home = step.cache_home(block)
        rows = cache.cells * step.streams

        def leaf(kind: str, elements: int) -> Node:
            return graph.stored(home, (elements, rows), CACHE_TYPES[kind].row(elements) * rows, weight=False)

        keys = leaf(settings.type_k, cache.k)
        found = keys, leaf(settings.type_v, cache.v) if cache.v else keys
        step.stores[key] = found
    return found


def _mla_width(step: Step) -> int:
    return step.model.number("attention.kv_lora_rank")


def _scratch(step: Step, block: int) -> int:
    """Bytes of the f16 copies of one block's whole cache, where ggml-cuda makes them."""
    cache, settings = step.caches[block], step.settings
    cuda = any(device.backend in ("cuda", "rocm") for device in step.place.devices)
    if not cuda or settings.build < F16_SCRATCH:
        return 0
    if step.tokens == 1 and max(cache.head_k, cache.head_v) <= VECTOR_HEAD:
        return 0  # one token is computed by a kernel that reads the cache as it is (not on Volta)
    rows = cache.cells * step.streams
    # With MLA, V is a part of K's rows and there is one copy, unless each was copied to the card by itself.
    v = cache.v or (_mla_width(step) if step.cache_home(block) == HOST else 0)
    return 2 * rows * ((settings.type_k != "f16") * cache.k + (settings.type_v != "f16") * v)
