"""Drafting: the extra context of multi-token prediction, and a second model that drafts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from doctor.memory.cells import pad
from doctor.memory.defaults import settle
from doctor.memory.graph.build import finish, one_block
from doctor.memory.graph.scheduler import schedule
from doctor.memory.graph.step import Step
from doctor.memory.kv import BlockCache, cache_bytes
from doctor.memory.placement import CPU, place
from doctor.memory.result import Refusal, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.memory.defaults import Settings
    from doctor.memory.model import Model
    from doctor.memory.options import Options
    from doctor.memory.placement import Placement
    from doctor.memory.result import Device

SMALL = 64 << 10
MIB = 1 << 20


def mtp_rows(model: Model, settings: Settings, where: Placement) -> list[Row]:
    """The draft context of the model's own blocks for multi-token prediction: a cache and a compute buffer."""
    first = model.main_count
    options = settings.options
    settings = replace(
        settings, type_k=options.draft_type_k or "f16", type_v=options.draft_type_v or "f16", rs_copies=0
    )
    k, v = model.kv_size(first)
    heads = model.layers.heads_kv[first]
    if not heads or not model.layers.heads[first]:
        return []
    caches = {
        block: BlockCache(block, settings.ctx_seq, k, v, False, k // heads, v // heads)
        for block in range(first, first + model.layers.mtp)
    }
    rows = []
    for block, cache in caches.items():
        home = where.blocks[block] if options.kv_offload else CPU
        size = cache_bytes(cache, settings.type_k, settings.type_v, settings.streams, home != CPU)
        rows.append(Row(home, "draft-kv", size, SMALL, "cache of the drafting block"))
    step = Step(model, settings, where, caches, pad(settings.ubatch, settings.slots), settings.slots)
    _build(step, first)
    sizes = schedule(step.graph, len(where.devices), op_offload=options.op_offload)
    rows += [
        Row(device.name, "draft-compute", size, MIB, "a step of the drafting block")
        for device, size in zip(where.devices, sizes.cards, strict=True)
    ]
    return [*rows, Row(where.pinned, "draft-compute", sizes.host, MIB, "inputs of the drafting block")]


def _build(step: Step, block: int) -> None:
    """The hidden state of before and the embedding of the token, each normed, side by side through one block."""
    graph, wide = step.graph, step.model.embedding
    table = step.outer("token_embd.weight", CPU)
    tokens = graph.op("get_rows", (wide, step.tokens), table, graph.input(step.tokens))
    hidden = graph.input(wide, step.tokens)
    left = step.block_norm(block, "nextn.enorm", tokens)
    right = step.block_norm(block, "nextn.hnorm", hidden)
    both = graph.op("concat", (2 * wide, step.tokens), left, right)
    cur = step.linear(block, "nextn.eh_proj", both)
    finish(step, step.rows(one_block(step, block, cur, last=False)))


def model_rows(
    draft: Model, options: Options, settings: Settings, devices: Sequence[Device]
) -> tuple[list[Row], Refusal | None]:
    """A second model that drafts: its own weights, cache and buffers, with options of its own."""
    from doctor.memory.compute import compute_rows
    from doctor.memory.kv import kv_rows
    from doctor.memory.recurrent import recurrent_rows
    from doctor.memory.weights import weight_rows

    own = replace(
        options,
        ctx=options.draft_ctx or settings.ctx,
        ngl=options.draft_ngl if options.draft_ngl is not None else "all",
        type_k=options.draft_type_k,
        type_v=options.draft_type_v,
        overrides=(),
        cpu_moe=None,
        cpu_ffn=None,
        spec_types=(),
        draft_model=False,
    )
    inner = settle(draft, own, settings.build)
    if isinstance(inner, Refusal):
        return [], Refusal("draft", f"the draft model: {inner.message}")
    where = place(draft, inner, devices)
    if isinstance(where, Refusal):
        return [], Refusal("draft", f"the draft model: {where.message}")
    compute = compute_rows(draft, inner, where)
    if isinstance(compute, Refusal):
        return [], Refusal("draft", f"the draft model: {compute.message}")
    parts = (("weights", weight_rows), ("kv", kv_rows), ("recurrent", recurrent_rows))
    rows = [
        Row(name, f"draft-{kind}", size, SMALL, f"{kind} of the draft model")
        for kind, function in parts
        for name, size in function(draft, inner, where).items()
    ]
    return [*rows, *(replace(row, kind="draft-compute") for row in compute.rows)], None
