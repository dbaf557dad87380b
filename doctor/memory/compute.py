"""Compute buffers: what a step needs besides weights and caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.memory.cells import pad
from doctor.memory.graph.build import KNOWN, build
from doctor.memory.graph.scheduler import schedule
from doctor.memory.graph.step import Step
from doctor.memory.kv import caches
from doctor.memory.result import Refusal, Row

if TYPE_CHECKING:
    from doctor.memory.defaults import Settings
    from doctor.memory.model import Model
    from doctor.memory.placement import Placement

MIB = 1 << 20
PIPELINE_COPIES = 4
"""GGML_SCHED_MAX_COPIES: how many steps several cards work on at a time, each with inputs of its own."""


class Compute(NamedTuple):
    """Rows of the compute buffers; `exact`: from a graph known for this architecture."""

    rows: tuple[Row, ...]
    exact: bool


def compute_rows(model: Model, settings: Settings, place: Placement) -> Compute | Refusal:
    """The compute buffer of each card and of the host."""
    kept = {cache.block: cache for cache in caches(model, settings)}
    tokens = pad(settings.ubatch, settings.slots)
    step = Step(model, settings, place, kept, tokens, min(settings.outputs, tokens))
    build(step, list(range(model.main_count)))
    crowded = _too_many_nodes(model, step)
    if crowded is not None:
        return crowded
    sizes = schedule(
        step.graph,
        len(place.devices),
        op_offload=settings.options.op_offload,
        copies=PIPELINE_COPIES if pipelined(model, settings, place) else 1,
    )
    exact = model.arch in KNOWN
    if not place.devices:
        doubt = 96 * MIB  # what the processor's own kernels set aside is not modelled
    elif place.on_cards == model.block_count + 1 and not place.moved and settings.options.kv_offload:
        doubt = MIB
    else:
        doubt = 16 * MIB
    rows = [
        Row(device.name, "compute", size, max(doubt, 0 if exact else size // 4), "graph of a step")
        for device, size in zip(place.devices, sizes.cards, strict=True)
    ]
    host = Row(
        place.pinned, "compute", sizes.host, max(doubt, 0 if exact else sizes.host // 4), "inputs, masks, host steps"
    )
    return Compute((*rows, host), exact)


HASH_SIZES = (1031, 2053, 4099, 8209, 16411, 32771, 65537, 131101)
"""ggml's sizes of hash tables: the scheduler takes the first that is no smaller than the budget of nodes."""
MANY_NODES = frozenset({"kimi-linear", "qwen35", "qwen35moe", "qwen3next"})
"""Architectures with a budget of 32 nodes a tensor instead of 8."""


def _too_many_nodes(model: Model, step: Step) -> Refusal | None:
    """llama.cpp aborts when the operations and leafs of a step do not fit the scheduler's table (ggml-impl.h).

    The graph here leaves out views that take no memory: three in a block that attends, five with several caches.
    """
    if model.arch in MANY_NODES:
        return None
    budget = max(1024, 8 * len(model.tensors))
    size = next((item for item in HASH_SIZES if item >= budget), HASH_SIZES[-1])
    views = len(step.caches) * (3 if step.streams == 1 else 5)
    count = len(step.graph.nodes) + len(step.graph.leafs) + views
    if count <= size:
        return None
    return Refusal(
        "graph",
        f"llama.cpp aborts (graph node budget): a step has about {count} nodes, {size} are allowed for this model's "
        f"{len(model.tensors)} tensors; -np 1, --kv-unified or an f16 cache need fewer",
    )


def pipelined(model: Model, settings: Settings, place: Placement) -> bool:
    """Whether several cards work on several steps at a time: all layers on cards and nothing moved elsewhere."""
    options = settings.options
    whole = settings.gpu_layers > model.main_count and options.kv_offload and not place.moved
    return len(place.devices) > 1 and place.split_mode == "layer" and whole
