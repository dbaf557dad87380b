"""The whole graph of a step: embedding, blocks, output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.gguf.layers import Layer
from doctor.memory.graph.attention import attend
from doctor.memory.graph.feedforward import feed_forward
from doctor.memory.graph.mla import latent_attention
from doctor.memory.graph.rwkv import rwkv7
from doctor.memory.graph.state import delta_net, mamba1, mamba2
from doctor.memory.graph.tensors import HOST
from doctor.memory.placement import CPU

if TYPE_CHECKING:
    from doctor.memory.graph.step import Step
    from doctor.memory.graph.tensors import Node

SCALED_EMBEDDING = frozenset(
    {"gemma", "gemma2", "gemma3", "gemma3n", "gemma4", "granite", "granitehybrid", "granitemoe", "minicpm"}
)
"""Architectures that multiply the embedding by a number."""
SCALED_QUERY = frozenset({"gemma", "gemma2", "gemma3", "phi2", "phi3"})
"""Architectures that scale Q itself, not the product with K."""
NO_ROPE = frozenset({"nemotron_h", "nemotron_h_moe", "jamba"})
"""Architectures whose attention knows no positions."""
KNOWN = frozenset({
    "deepseek2", "falcon_h1", "gemma", "gemma2", "gemma3", "gemma4", "glm4", "glm4moe", "gpt-oss", "granite",
    "granitehybrid", "granitemoe", "llama", "llama4", "mamba", "mamba2", "mistral3", "nemotron_h", "nemotron_h_moe",
    "phi3", "phimoe", "qwen2", "qwen2moe", "qwen2vl", "qwen3", "qwen35", "qwen35moe", "qwen3moe", "qwen3next",
    "qwen3vl", "qwen3vlmoe", "rwkv7", "seed_oss", "smollm3",
})  # fmt: skip
"""Architectures whose graph is built from parts that are known here; others are built by analogy from their tensors."""
EMBEDDING_INPUTS = 10000
"""From about this build on (between b9400 of May 2026, whose public logs show two embeddings of a step on the host, and
b11434, which has four)."""
NORMED_VALUE = frozenset({"gemma3n", "gemma4"})
"""Architectures that normalise V."""
EVERY_FOURTH_PLAIN = frozenset({"llama4"})
RESIDUAL_FIRST = frozenset({"phi3", "phimoe"})
"""Architectures that add what the network says to what went in, not the other way round: it is written over the latter."""
NORM_AT_ONCE = frozenset({"qwen35", "qwen35moe", "qwen3next"})
"""Architectures that put the norm of a block in order before what the block mixes, and with it all of the block before."""

DRAFTING = Layer(attention=True, window=False, recurrent=False)
"""What a block for multi-token prediction keeps."""


def build(step: Step, blocks: list[int]) -> None:
    """Put the graph of the given blocks together."""
    cur = embed(step)
    for at, block in enumerate(blocks):
        cur = one_block(step, block, cur, last=at == len(blocks) - 1)
    finish(step, cur)


def embed(step: Step) -> Node:
    """The embedding of the tokens, looked up on the host; beside it the branch for embeddings given as they are.

    Both branches are in the graph, one is computed. The result of the other has no consumer and is never freed, which
    costs one embedding of the step on the backend of the first block. b11434 has two more inputs and three more
    operations here than the source of summer 2026: one on the host, and one more input of that size that both branches
    need. This is inferred: it explains the size of every host buffer, the copies on one and on two cards, and the
    number of nodes and inputs that the log prints.
    """
    graph = step.graph
    table = step.outer("token_embd.weight", CPU)
    cur = graph.op("get_rows", (step.model.embedding, step.tokens), table, graph.input(step.tokens))
    factor, given = (graph.input(step.model.embedding, step.tokens) for _ in range(2))
    if step.settings.build >= EMBEDDING_INPUTS:
        found = step.same("choose", cur)
        found.backend = HOST
        cur = step.same("mul", found, factor)
        graph.expand(cur)
        graph.expand(step.same("choose", given, factor))
    else:
        graph.expand(cur)
        graph.expand(given)
    cur = step.same("scale", cur) if step.model.arch in SCALED_EMBEDDING else cur
    norm = step.outer("token_embd_norm.weight", CPU)
    return step.norm(cur, norm, step.outer("token_embd_norm.bias", CPU), "norm") if norm is not None else cur


def finish(step: Step, cur: Node) -> None:
    """Norm and logits."""
    place = step.place.output
    weight = step.outer("output_norm.weight", place)
    cur = step.norm(cur, weight, step.outer("output_norm.bias", place))
    matrix = step.outer("output.weight", place) or step.outer("token_embd.weight", place)
    if matrix is not None:
        cur = step.mul_mat(matrix, cur)
    cur.output = True
    step.graph.expand(cur)


def one_block(step: Step, block: int, x: Node, *, last: bool) -> Node:
    """Attention or a recurrent state, then the feed-forward network; norms in front of (and behind) each."""
    model = step.model
    tensors = model.blocks[block]
    if "time_mix_lerp_fused.weight" in tensors and "channel_mix_key.weight" in tensors:
        return rwkv7(step, block, x, last=last)
    kind = model.layers.layers[block] if block < model.main_count else DRAFTING
    cur = step.block_norm(block, "attn_norm", x)
    if model.arch in NORM_AT_ONCE:
        step.graph.expand(cur)
    mixed = True
    if kind.recurrent and "ssm_beta.weight" in tensors:
        cur = delta_net(step, block, cur)
    elif kind.recurrent and "ssm_x.weight" in tensors:
        cur = mamba1(step, block, cur)
    elif kind.recurrent and "ssm_in.weight" in tensors:
        cur = mamba2(step, block, cur)
    elif kind.attention and model.layers.mla:
        cur = latent_attention(step, block, cur)
    elif step.source(block) is not None and ("attn_q.weight" in tensors or kind.attention):
        cur = self_attention(step, block, cur)
    else:
        mixed = False
    alone = "ffn_norm.weight" not in tensors and "post_attention_norm.weight" not in tensors
    if not mixed:
        cur = feed_forward(step, block, cur)
    if last:
        cur, x = step.rows(cur), step.rows(x)
    if alone:
        return _residual(step, block, cur, x)
    sandwich = "ffn_norm.weight" in tensors
    if sandwich:
        cur = step.block_norm(block, "post_attention_norm", cur)
    x = step.same("add", cur, x)
    cur = step.block_norm(block, "ffn_norm" if sandwich else "post_attention_norm", x)
    cur = feed_forward(step, block, cur)
    if sandwich:
        cur = step.block_norm(block, "post_ffw_norm", cur)
    return _residual(step, block, cur, x)


def _residual(step: Step, block: int, cur: Node, x: Node) -> Node:
    """What a block says added to what went in. The sum is written over its first operand.

    With shared experts that is what went in, although the source has the other order: so it explains the sizes of all
    models that have them, on one card and with experts on the host.
    """
    shared = step.weight(block, "ffn_up_shexp.weight") is not None
    if shared or step.model.arch in RESIDUAL_FIRST:
        return step.same("add", x, cur)
    return step.same("add", cur, x)


def self_attention(step: Step, block: int, x: Node) -> Node:
    """Q, K and V from x, positions, attention, output projection."""
    arch = step.model.arch
    q, k, v, gate = projections(step, block, x)
    q = step.block_norm(block, "attn_q_norm", q)
    if k is not None:
        k = step.block_norm(block, "attn_k_norm", k)
    if v is not None and arch in NORMED_VALUE:
        v = step.norm(v, None)
    if arch not in NO_ROPE and not (arch in EVERY_FOURTH_PLAIN and not step.cache(block).window):
        factors = step.outer("rope_freqs.weight", step.place.blocks[block])
        q = step.same("rope", q, step.positions, factors)
        k = step.same("rope", k, step.positions, factors) if k is not None else None
        if arch in EVERY_FOURTH_PLAIN and k is not None and step.model.number("expert_count") != 128:
            q, k = step.norm(q, None), step.norm(k, None)
    elif arch in EVERY_FOURTH_PLAIN:
        q = step.same("mul", q, step.temperature())
    if arch in SCALED_QUERY:
        q = step.same("scale", q)
    cur = attend(step, block, q, k, v, sinks=step.weight(block, "attn_sinks.weight"))
    if gate is not None:
        cur = step.same("mul", cur, step.same("unary", gate))
    return step.linear(block, "attn_output", cur)


def projections(step: Step, block: int, x: Node) -> tuple[Node, Node | None, Node | None, Node | None]:
    """Q, K and V as (head, heads, tokens), from three matrices or one; a gate where Q's matrix has twice the rows.

    K and V are None in a block that looks into the cache of an earlier one. Without a matrix of its own V is K.
    """
    graph, cache, tokens = step.graph, step.cache(block), step.tokens
    heads, heads_kv = step.model.layers.heads[block], step.model.layers.heads_kv[block]
    head_k, head_v = cache.head_k, cache.head_v or cache.head_k
    if step.weight(block, "attn_qkv.weight") is not None:
        whole = step.linear(block, "attn_qkv", x)
        parts = ((head_k, heads), (head_k, heads_kv), (head_v, heads_kv))
        q, *rest = (
            graph.show(whole, (size, count, tokens), start=at == 0, strided=True)
            for at, (size, count) in enumerate(parts)
        )
        return q, rest[0], rest[1], None
    both = step.linear(block, "attn_q", x)
    k: Node | None = None
    v: Node | None = None
    if block in step.caches and step.weight(block, "attn_k.weight") is not None:
        k = v = graph.reshape(step.linear(block, "attn_k", x), head_k, heads_kv, tokens)
        if step.weight(block, "attn_v.weight") is not None:
            v = graph.reshape(step.linear(block, "attn_v", x), head_v, heads_kv, tokens)
    if both.shape[0] != 2 * head_k * heads:
        return graph.reshape(both, head_k, heads, tokens), k, v, None
    q = graph.show(both, (head_k, heads, tokens), strided=True)
    beside = graph.show(both, (head_k, heads, tokens), start=False, strided=True)
    return q, k, v, graph.op("cont", (head_k * heads, tokens), beside)
