"""Blocks that keep a recurrent state: gated delta net, Mamba 1 and 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.memory.recurrent import state

if TYPE_CHECKING:
    from doctor.memory.graph.step import Step
    from doctor.memory.graph.tensors import Node


def load(step: Step, block: int, part: str) -> tuple[Node, Node]:
    """(the stored state, its rows of this step's sequences): build_rs."""
    stored = cleared(step, block, part)
    got = step.graph.op("get_rows", (stored.shape[0], step.slots), stored, step.copies())
    step.graph.expand(got)
    rest(step, stored)
    return stored, got


def cleared(step: Step, block: int, part: str) -> Node:
    """The stored state. One row is cleared in place first, where the state lies, and so does what follows in the order."""
    graph = step.graph
    kept = state(step.model)
    stored = step.state(block, part, kept.r if part == "r" else kept.s)
    graph.expand(graph.write(graph.show(stored, (stored.shape[0],), strided=True), stored))
    return stored


def rest(step: Step, stored: Node) -> None:
    """The states of sequences that are not in this step are moved where they belong: none in the largest step."""
    graph = step.graph
    graph.expand(graph.write(graph.op("get_rows", (stored.shape[0], 0), stored, step.copies()), stored))


def convolved(step: Step, block: int, x: Node, channels: int) -> Node:
    """A short convolution over time: the last columns of before, then those of this step."""
    graph, slots = step.graph, step.slots
    length = step.tokens // slots
    taps = max(1, step.model.number("ssm.conv_kernel", 4))
    stored, before = load(step, block, "r")
    turned = graph.show(x, (length, channels, slots), strided=True)
    joined = graph.op(
        "concat", (taps - 1 + length, channels, slots), graph.reshape(before, taps - 1, channels, slots), turned
    )
    for _ in range(1 + step.settings.rs_copies):
        last = graph.show(joined, (taps - 1, channels, slots), start=False, strided=True)
        graph.expand(graph.write(last, stored))
    weight = step.weight(block, "ssm_conv1d.weight")
    return graph.op("ssm_conv", (channels, length, slots), joined, weight)


def delta_net(step: Step, block: int, x: Node) -> Node:
    """Gated delta net (qwen35, qwen3next): delta-net-base.cpp."""
    graph, model, slots = step.graph, step.model, step.slots
    length = step.tokens // slots
    inner, size = model.number("ssm.inner_size"), max(1, model.number("ssm.state_size", 1))
    k_heads, v_heads = max(1, model.number("ssm.group_count", 1)), max(1, model.number("ssm.time_step_rank", 1))
    channels = inner + 2 * k_heads * size
    mixed = graph.reshape(step.linear(block, "attn_qkv", x), channels, length, slots)
    z = step.linear(block, "attn_gate", x)
    beta = step.same("unary", graph.reshape(step.linear(block, "ssm_beta", x), 1, v_heads, length, slots))
    alpha = graph.reshape(step.linear(block, "ssm_alpha", x), v_heads, length, slots)
    alpha = step.same("unary", step.same("add", alpha, step.weight(block, "ssm_dt.bias")))
    decay = graph.reshape(step.same("mul", alpha, step.weight(block, "ssm_a")), 1, v_heads, length, slots)
    joined = convolved(step, block, mixed, channels)
    stored, before = load(step, block, "s")
    conv = step.same("unary", joined)

    def part(heads: int, at: int) -> Node:
        return graph.show(conv, (size, heads, length, slots), start=at == 0, strided=True)

    q = step.same("l2_norm", part(k_heads, 0))
    k = step.same("l2_norm", part(k_heads, 1))
    v = part(v_heads, 2)
    copies = 1 + step.settings.rs_copies
    states = state(model).s * slots * copies
    out = graph.op(
        "gated_delta_net", (inner * step.tokens + states,), q, k, v, decay, beta, graph.reshape(before, *before.shape)
    )
    said = graph.show(out, (size, v_heads, length, slots))
    graph.expand(graph.write(graph.show(out, (states,), start=False), stored))
    gate = graph.reshape(z, size, v_heads, length, slots)
    cur = step.norm(said, step.weight(block, "ssm_norm.weight"))
    cur = step.same("mul", cur, step.same("unary", gate))
    cur = graph.reshape(cur, inner, length, slots)
    return graph.reshape(step.linear(block, "ssm_out", cur), model.embedding, step.tokens)


def mamba1(step: Step, block: int, x: Node) -> Node:
    """Mamba: mamba-base.cpp, build_mamba_layer."""
    graph, model, slots = step.graph, step.model, step.slots
    length = step.tokens // slots
    inner, size, rank = (
        max(1, model.number(f"ssm.{key}", 1)) for key in ("inner_size", "state_size", "time_step_rank")
    )
    both = step.linear(block, "ssm_in", graph.reshape(x, model.embedding, length, slots))
    z = graph.show(both, (inner, length, slots), start=False, strided=True)
    cur = convolved(step, block, graph.show(both, (inner, length, slots), strided=True), inner)
    cur = step.same("unary", step.same("add", cur, step.weight(block, "ssm_conv1d.bias")))
    mixed = step.linear(block, "ssm_x", cur)
    dt = graph.show(mixed, (rank, length, slots), strided=True)
    b = graph.show(mixed, (size, 1, length, slots), start=False, strided=True)
    c = graph.show(mixed, (size, 1, length, slots), start=False, strided=True)
    if model.values.get(f"{model.arch}.ssm.dt_b_c_rms") or model.arch == "jamba":
        dt, b, c = (step.norm(part, None) for part in (dt, b, c))
    dt = step.linear(block, "ssm_dt", dt)
    cur = graph.reshape(cur, 1, inner, length, slots)
    stored = cleared(step, block, "s")
    scanned = (inner * step.tokens + size * inner * slots,)
    out = graph.op(
        "ssm_scan",
        scanned,
        stored,
        cur,
        dt,
        step.weight(block, "ssm_a"),
        b,
        c,
        step.copies(),
    )
    return _scanned(step, block, out, cur, z, (inner, length, slots), stored, None)


def mamba2(step: Step, block: int, x: Node) -> Node:
    """Mamba 2: mamba-base.cpp, build_mamba2_layer."""
    graph, model, slots = step.graph, step.model, step.slots
    length = step.tokens // slots
    inner, size, heads, groups = (
        max(1, model.number(f"ssm.{key}", 1)) for key in ("inner_size", "state_size", "time_step_rank", "group_count")
    )
    channels = inner + 2 * groups * size
    whole = step.linear(block, "ssm_in", graph.reshape(x, model.embedding, length, slots))
    z = graph.show(whole, (inner, length, slots), strided=True)
    dt = graph.show(whole, (heads, length, slots), start=False, strided=True)
    mixed = graph.show(whole, (channels, length, slots), start=False, strided=True)
    cur = convolved(step, block, mixed, channels)
    cur = step.same("unary", step.same("add", cur, step.weight(block, "ssm_conv1d.bias")))
    head = max(1, inner // heads)
    value = graph.show(cur, (head, heads, length, slots), strided=True)
    b = graph.show(cur, (size, groups, length, slots), start=False, strided=True)
    c = graph.show(cur, (size, groups, length, slots), start=False, strided=True)
    dt = step.same("add", graph.op("cont", (heads, length, slots), dt), step.weight(block, "ssm_dt.bias"))
    stored = cleared(step, block, "s")
    scanned = (inner * step.tokens + size * inner * slots,)
    out = graph.op(
        "ssm_scan",
        scanned,
        stored,
        value,
        dt,
        step.weight(block, "ssm_a"),
        b,
        c,
        step.copies(),
    )
    return _scanned(step, block, out, value, z, (inner, length, slots), stored, groups)


def _scanned(
    step: Step, block: int, out: Node, x: Node, z: Node, shape: tuple[int, int, int], stored: Node, groups: int | None
) -> Node:
    """What follows a scan: keep the state, add the skip, gate, (norm,) project."""
    graph = step.graph
    graph.expand(out)
    rest(step, stored)
    graph.expand(graph.write(graph.show(out, (stored.shape[0] * step.slots,), start=False), stored))
    said = graph.show(out, x.shape)
    skip = step.weight(block, "ssm_d")
    cur = step.same("add", said, step.same("mul", x, skip) if skip is not None else None)
    cur = graph.op("glu", shape, graph.op("cont", shape, z), graph.reshape(cur, *shape))
    weight = step.weight(block, "ssm_norm.weight")
    if weight is not None and groups:
        apart = graph.reshape(cur, shape[0] // groups, groups, shape[1], shape[2])
        cur = graph.reshape(step.norm(apart, weight), *shape)
    return graph.reshape(step.linear(block, "ssm_out", cur), step.model.embedding, step.tokens)
