"""Compute buffers: what a step needs besides weights and caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.memory.cells import pad
from doctor.memory.graph.build import build
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
    sizes = schedule(
        step.graph,
        len(place.devices),
        op_offload=settings.options.op_offload,
        tokens=tokens,
        copies=PIPELINE_COPIES if pipelined(model, settings, place) else 1,
    )
    rows = [
        Row(device.name, "compute", size, MIB, "graph of a step")
        for device, size in zip(place.devices, sizes.cards, strict=True)
    ]
    return Compute((*rows, Row(place.pinned, "compute", sizes.host, MIB, "inputs and masks")), True)


def pipelined(model: Model, settings: Settings, place: Placement) -> bool:
    """Whether several cards work on several steps at a time: all layers on cards and nothing moved elsewhere."""
    options = settings.options
    whole = settings.gpu_layers > model.main_count and options.kv_offload and not place.moved
    return len(place.devices) > 1 and place.split_mode == "layer" and whole
