"""The recurrent state: one per slot whatever the context, always f32, on the device of its block."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from doctor.memory.cells import pad
from doctor.memory.placement import CPU
from doctor.memory.weights import CARD_ALIGNMENT

if TYPE_CHECKING:
    from doctor.memory.defaults import Settings
    from doctor.memory.model import Model
    from doctor.memory.placement import Placement


class State(NamedTuple):
    """Elements (f32) that one slot keeps in one block: `r` for the convolution or token shift, `s` the state itself."""

    r: int
    s: int


def state(model: Model) -> State:
    """n_embd_r() and n_embd_s() of llama.cpp's hyper-parameters."""
    heads = model.number("wkv.head_size")
    if heads:
        return State(model.number("token_shift_count", 2) * model.embedding, model.embedding * heads)
    taps = model.number("shortconv.l_cache")
    if taps:
        return State(model.embedding * (taps - 1), 0)
    linear = model.number("kda.head_dim")
    if linear:  # Kimi: three convolutions, one square state a head
        count = max(model.layers.heads, default=0)
        return State(3 * (model.number("ssm.conv_kernel", 4) - 1) * linear * count, linear * linear * count)
    size, inner, groups = (model.number(f"ssm.{key}") for key in ("state_size", "inner_size", "group_count"))
    return State(max(0, model.number("ssm.conv_kernel") - 1) * (inner + 2 * groups * size), size * inner)


def recurrent_rows(model: Model, settings: Settings, place: Placement) -> dict[str, int]:
    """Buffer -> bytes of the recurrent state of all slots, the copies for drafted tokens included."""
    sizes: dict[str, int] = defaultdict(int)
    kept = state(model)
    count = settings.slots * (1 + settings.rs_copies)
    for index, layer in enumerate(model.layers.layers):
        if layer.recurrent:
            where = place.blocks[index] if settings.options.kv_offload else CPU
            sizes[where] += sum(pad(4 * elements * count, CARD_ALIGNMENT) for elements in kept)
    return dict(sizes)
