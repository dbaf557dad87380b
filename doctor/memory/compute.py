"""Compute buffers: what a step needs besides weights and caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.memory.kv import caches
from doctor.memory.result import Refusal, Row

if TYPE_CHECKING:
    from doctor.memory.defaults import Settings
    from doctor.memory.model import Model
    from doctor.memory.placement import Placement

MIB = 1 << 20


class Compute(NamedTuple):
    """Rows of the compute buffers; `exact`: from a graph known for this architecture."""

    rows: tuple[Row, ...]
    exact: bool


def compute_rows(model: Model, settings: Settings, place: Placement) -> Compute | Refusal:
    """The compute buffer of each card and of the host."""
    wide = 2 if settings.flash else 4
    masks = sum({cache.window: cache.cells * settings.ubatch * wide for cache in caches(model, settings)}.values())
    host = 4 * 4 * model.embedding * settings.ubatch + masks
    ff = max(model.per_block("feed_forward_length"), default=0)
    card = masks + 4 * settings.ubatch * (3 * ff + 4 * model.embedding)
    rows = [Row(device.name, "compute", card, 64 * MIB, "estimated") for device in place.devices]
    return Compute((*rows, Row(place.pinned, "compute", host, MIB, "inputs and masks")), False)
