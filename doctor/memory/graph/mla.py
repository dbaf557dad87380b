"""Multi-head latent attention (deepseek2): one compressed row a token serves as K and V."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.memory.graph.attention import attend

if TYPE_CHECKING:
    from doctor.memory.graph.step import Step
    from doctor.memory.graph.tensors import Node


def latent_attention(step: Step, block: int, x: Node) -> Node:
    """Queries are brought into the compressed space (wk_b), results back out of it (wv_b)."""
    graph, model, tokens = step.graph, step.model, step.tokens
    heads = model.layers.heads[block]
    rank = model.number("attention.kv_lora_rank")
    turned = model.number("rope.dimension_count")
    plain = max(1, model.number("attention.key_length_mla") - turned)
    if step.weight(block, "attn_q_a.weight") is not None:
        q = step.block_norm(block, "attn_q_a_norm", step.linear(block, "attn_q_a", x))
        q = step.linear(block, "attn_q_b", q)
    else:
        q = step.linear(block, "attn_q", x)
    q_plain = graph.show(q, (plain, heads, tokens), strided=True)
    q_turned = graph.show(q, (turned, heads, tokens), start=False, strided=True)
    kv = step.linear(block, "attn_kv_a_mqa", x)
    row = graph.show(kv, (rank, tokens), strided=True)
    k_turned = graph.show(kv, (turned, 1, tokens), start=False, strided=True)
    q_turned = step.same("rope", q_turned, step.positions)
    k_turned = step.same("rope", k_turned, step.positions)
    row = step.block_norm(block, "attn_kv_a_norm", row)
    wk_b, wv_b = step.weight(block, "attn_k_b.weight"), step.weight(block, "attn_v_b.weight")
    into = graph.show(q_plain, (plain, tokens, heads), strided=True)
    inside = graph.op("mul_mat", (rank, tokens, heads), wk_b, into)
    inside = graph.show(inside, (rank, heads, tokens), strided=True)
    query = graph.op("concat", (rank + turned, heads, tokens), inside, q_turned)
    row3 = graph.reshape(row, rank, 1, tokens)
    key = graph.op("concat", (rank + turned, 1, tokens), row3, k_turned)
    cur = attend(step, block, query, key, row3, v_mla=wv_b)
    return step.linear(block, "attn_output", cur)
