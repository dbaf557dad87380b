"""Feed-forward networks: dense and with experts (build_ffn and build_moe_ffn)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doctor.memory.graph.step import Step
    from doctor.memory.graph.tensors import Node

SQUARED = frozenset({"arcee", "nemotron", "nemotron_h", "nemotron_h_moe"})
"""Architectures whose activation is a squared ReLU without a gate."""
WEIGHTS_FIRST = frozenset({"llama4"})
"""Architectures that weigh what goes into the experts, not what comes out."""


def feed_forward(step: Step, block: int, x: Node) -> Node:
    """The experts and the shared one where the block has them, else the dense network."""
    if step.weight(block, "ffn_gate_inp.weight") is None:
        return dense(step, block, x)
    cur = experts(step, block, x)
    if step.weight(block, "ffn_up_shexp.weight") is None:
        return cur
    shared = dense(step, block, x, "_shexp")
    gate = step.weight(block, "ffn_gate_inp_shexp.weight")
    if gate is not None:
        shared = step.same("mul", shared, step.same("unary", step.mul_mat(gate, x)))
    return step.same("add", cur, shared)


def dense(step: Step, block: int, x: Node, suffix: str = "") -> Node:
    """up, gate (apart, or one matrix with up), activation, down. `suffix` "_shexp" is the shared expert."""
    up, gate = f"ffn_up{suffix}", f"ffn_gate{suffix}"
    graph = step.graph
    wide = step.linear(block, up, x)
    if step.weight(block, f"{gate}.weight") is not None:
        narrow = step.linear(block, gate, x)
        cur = graph.op("glu", narrow.shape, narrow, wide)
    else:
        down = step.weight(block, f"ffn_down{suffix}.weight")
        inner = down.shape[0] if down is not None else wide.shape[0]
        cur = graph.op("glu", (inner, *wide.shape[1:]), wide) if inner * 2 == wide.shape[0] else _plain(step, wide)
    return step.linear(block, f"ffn_down{suffix}", cur)


def _plain(step: Step, x: Node) -> Node:
    """An activation without a gate."""
    cur = step.same("unary", x)
    return step.same("sqr", cur) if step.model.arch in SQUARED else cur


def experts(step: Step, block: int, x: Node) -> Node:
    """Choose the experts of each token, run them, add up what they say."""
    graph, tokens, model = step.graph, x.shape[-1], step.model
    wide = model.embedding
    count = max(1, model.number("expert_count", 1))
    used = max(1, min(model.number("expert_used_count", 1), count, 1024))
    chosen, weights = _choose(step, block, x, count, used)
    cur = graph.reshape(x, wide, 1, tokens)
    if model.arch in WEIGHTS_FIRST:
        cur = step.same("mul", graph.op("repeat", (wide, used, tokens), cur), weights)
    hidden = _hidden(step, block, cur, chosen, used)
    out = _by_id(step, block, "ffn_down_exps", hidden, chosen, used)
    if model.arch not in WEIGHTS_FIRST:
        out = step.same("mul", out, weights)
    parts = []
    for at in range(used):
        part = graph.show(out, (wide, tokens), start=at == 0, strided=True)
        graph.expand(part)
        parts.append(part)
    total = parts[0]
    for part in parts[1:]:
        total = graph.op("add", (wide, tokens), total, part)
        graph.expand(total)
    return graph.op("cont", (wide, tokens), total) if used == 1 else total


def _choose(step: Step, block: int, x: Node, count: int, used: int) -> tuple[Node, Node]:
    """(numbers of the chosen experts, their weights)."""
    graph, tokens = step.graph, x.shape[-1]
    probs = step.same("soft_max", step.linear(block, "ffn_gate_inp", x))
    bias = step.weight(block, "exp_probs_b.bias")
    ranked = step.same("add", probs, bias) if bias is not None else probs
    order = graph.op("argsort", (count, tokens), ranked)
    chosen = graph.show(order, (used, tokens), strided=True)
    weights = graph.op("get_rows", (1, used, tokens), graph.reshape(probs, 1, count, tokens), chosen)
    flat = graph.reshape(weights, used, tokens)
    weights = graph.reshape(step.same("div", flat, graph.op("sum_rows", (1, tokens), flat)), 1, used, tokens)
    graph.expand(weights)
    return chosen, weights


def _by_id(step: Step, block: int, name: str, x: Node, chosen: Node, used: int) -> Node:
    """The chosen experts' matrices times x, plus their biases."""
    weight, bias = step.weight(block, f"{name}.weight"), step.weight(block, f"{name}.bias")
    if weight is None or len(weight.shape) < 2:
        return x
    cur = step.graph.op("mul_mat_id", (weight.shape[1], used, x.shape[-1]), weight, x, chosen)
    return cur if bias is None else step.same("add_id", cur, bias, chosen)


def _hidden(step: Step, block: int, x: Node, chosen: Node, used: int) -> Node:
    """up, gate and activation of the chosen experts."""
    if step.weight(block, "ffn_gate_up_exps.weight") is not None:
        both = _by_id(step, block, "ffn_gate_up_exps", x, chosen, used)
        half = (both.shape[0] // 2, *both.shape[1:])
        gate = step.graph.show(both, half, strided=True)
        up = step.graph.show(both, half, start=False, strided=True)
        return step.graph.op("glu", half, gate, up)
    up = _by_id(step, block, "ffn_up_exps", x, chosen, used)
    if step.weight(block, "ffn_gate_exps.weight") is None:
        return _plain(step, up)
    return step.graph.op("glu", up.shape, _by_id(step, block, "ffn_gate_exps", x, chosen, used), up)
