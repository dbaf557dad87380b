"""RWKV 7: time mix and channel mix (rwkv7-base.cpp)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.memory.graph.state import load

if TYPE_CHECKING:
    from doctor.memory.graph.step import Step
    from doctor.memory.graph.tensors import Node


def rwkv7(step: Step, block: int, x: Node, *, last: bool) -> Node:
    """One block: each token is mixed with the one before it, then goes through the state and a network."""
    graph, wide, slots = step.graph, step.model.embedding, step.slots
    length = step.tokens // slots
    x = graph.reshape(x, wide, length, slots)
    stored, shift = load(step, block, "r")
    shift = graph.reshape(shift, wide, 2, slots)
    of_time = graph.show(shift, (wide, 1, slots), strided=True)
    of_channel = graph.show(shift, (wide, 1, slots), start=False, strided=True)
    normed = step.block_norm(block, "attn_norm", x)
    cur = _time_mix(step, block, normed, _previous(step, of_time, normed))
    x = step.same("add", cur, x)
    again = step.block_norm(block, "attn_norm_2", x)
    before = _previous(step, of_channel, again)
    ends = [graph.show(part, (wide, 1, slots), start=False, strided=True) for part in (normed, again)]
    graph.expand(graph.write(graph.op("concat", (wide, 2, slots), *ends), stored))
    x, again, before = (graph.reshape(part, wide, step.tokens) for part in (x, again, before))
    if last:
        x, again, before = step.rows(x), step.rows(again), step.rows(before)
    mixed = _lerp(step, again, before, step.weight(block, "channel_mix_lerp_k.weight"))
    hidden = step.linear(block, "channel_mix_key", mixed)
    hidden = step.same("sqr", step.same("unary", hidden))
    return step.same("add", step.linear(block, "channel_mix_value", hidden), x)


def _previous(step: Step, first: Node, x: Node) -> Node:
    """Each token's predecessor."""
    rest = step.graph.show(x, (x.shape[0], max(0, x.shape[1] - 1), x.shape[2]), strided=True)
    return step.graph.op("concat", x.shape, first, rest)


def _lerp(step: Step, a: Node, b: Node, weight: Node | None) -> Node:
    return step.same("add", step.same("mul", step.same("sub", b, a), weight), a)


def _low_rank(step: Step, block: int, name: str, x: Node, *, inner: bool) -> Node:
    """Two narrow matrices one after the other, an activation between them."""
    cur = step.linear(block, f"time_mix_{name}1", x)
    return step.linear(block, f"time_mix_{name}2", step.same("unary", cur) if inner else cur)


def _time_mix(step: Step, block: int, x: Node, before: Node) -> Node:
    graph, wide, tokens, slots = step.graph, step.model.embedding, step.tokens, step.slots
    head = max(1, step.model.number("wkv.head_size", 64))
    shape = (head, wide // head, tokens)
    gated = step.weight(block, "time_mix_g1.weight") is not None
    count = 6 if gated else 5
    change = step.same("sub", before, x)
    many = graph.op("repeat", (wide, tokens, count), change)
    many = step.same("mul", many, step.weight(block, "time_mix_lerp_fused.weight"))
    many = step.same("add", many, x)
    parts = [graph.show(many, (wide, tokens), start=at == 0, strided=True) for at in range(count)]
    r = step.linear(block, "time_mix_receptance", parts[0])
    w = step.same("add", _low_rank(step, block, "w", parts[1], inner=True), step.weight(block, "time_mix_w0.weight"))
    k = step.linear(block, "time_mix_key", parts[2])
    v = step.linear(block, "time_mix_value", parts[3])
    if step.first_value is None:
        step.first_value = v
    else:
        share = step.same(
            "add", _low_rank(step, block, "v", parts[3], inner=False), step.weight(block, "time_mix_v0.weight")
        )
        v = step.same("add", v, step.same("mul", step.same("sub", step.first_value, v), step.same("unary", share)))
    gate = _low_rank(step, block, "g", parts[5], inner=True) if gated else None
    a = step.same("add", _low_rank(step, block, "a", parts[4], inner=False), step.weight(block, "time_mix_a0.weight"))
    a = step.same("unary", a)
    kk = graph.reshape(step.same("mul", k, step.weight(block, "time_mix_k_k.weight")), *shape)
    kk = step.same("l2_norm", kk)
    ka = step.same("mul", k, step.weight(block, "time_mix_k_a.weight"))
    k = step.same("add", k, step.same("sub", step.same("mul", a, ka), ka))
    r, k, a = (graph.reshape(part, *shape) for part in (r, k, a))
    stored, state = load(step, block, "s")
    size = wide * head * slots
    out = graph.op("wkv7", (wide * tokens + size,), r, w, k, v, step.same("unary", kk), step.same("mul", kk, a), state)
    graph.expand(graph.write(graph.show(out, (size,), start=False), stored))
    cur = graph.show(out, shape)
    norm = step.weight(block, "time_mix_ln.weight")
    if norm is not None:
        cur = graph.reshape(step.same("norm", cur), wide, tokens)
        cur = step.same("add", step.same("mul", cur, norm), step.weight(block, "time_mix_ln.bias"))
    else:
        cur = graph.reshape(cur, wide, tokens)
    product = step.same("mul", step.same("mul", k, r), step.weight(block, "time_mix_r_k.weight"))
    weight = graph.op("sum_rows", (1, *shape[1:]), product)
    extra = step.same("mul", graph.reshape(v, *shape), weight)
    cur = step.same("add", cur, graph.reshape(extra, wide, tokens))
    if gate is not None:
        cur = step.same("mul", cur, gate)
    return graph.reshape(step.linear(block, "time_mix_output", cur), wide, tokens // slots, slots)
