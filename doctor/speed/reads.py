"""What one token reads: weights in use, KV cache and recurrent state, on the device where each lies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from doctor.memory.defaults import NEWEST, settle
from doctor.memory.kv import caches
from doctor.memory.placement import CPU, place
from doctor.memory.recurrent import state
from doctor.memory.result import Refusal
from doctor.memory.types import CACHE_TYPES
from doctor.memory.weights import settings_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.memory.defaults import Settings
    from doctor.memory.model import Model
    from doctor.memory.options import Options
    from doctor.memory.placement import Placement
    from doctor.memory.result import Device

_ROWS_ONLY = ("token_embd.", "per_layer_token_embd.", "token_types.", "position_embd.")
"""Tables of which a token reads one row."""


@dataclass(frozen=True)
class Part:
    """What a token reads on one device (or "CPU"). Bytes; `kv` per token of context, `window_kv` up to `window` tokens.

    `state` is read and written once a token. `blocks` are those that are computed here, `sparse` of them have experts,
    `recurrent` keep a state instead of a cache. `crossings` are blocks of another device whose experts are computed here.
    """

    device: str
    weights: float = 0.0
    kv: float = 0.0
    window_kv: float = 0.0
    window: int = 0
    state: float = 0.0
    blocks: int = 0
    sparse: int = 0
    recurrent: int = 0
    crossings: int = 0

    def kv_bytes(self, depth: float) -> float:
        """Bytes of KV cache that a token reads with `depth` tokens before it."""
        return self.kv * depth + self.window_kv * min(depth, self.window)


@dataclass(frozen=True)
class Reads:
    """The parts of all devices. `flash`: attention reads K and V where they lie, without copies in between.

    `active` counts the parameters one token uses, `ubatch` the tokens of one step of a prompt.
    """

    parts: tuple[Part, ...]
    flash: bool
    active: float
    ubatch: int

    def on_host(self) -> float:
        """The part of the bytes (weights alone) that lies in RAM, 0 to 1."""
        whole = sum(part.weights for part in self.parts)
        return sum(part.weights for part in self.parts if part.device == CPU) / whole if whole else 0.0

    def kv_per_token(self) -> float:
        """Bytes of KV cache that each token of context adds, on all devices, windows left out."""
        return sum(part.kv for part in self.parts)


def reads(model: Model, options: Options, build: int | None = None, devices: Sequence[Device] = ()) -> Reads | Refusal:
    """What a token reads when llama-server is started like this, or why it would not start."""
    settings = settle(model, options, NEWEST if build is None else build)
    if isinstance(settings, Refusal):
        return settings
    where = place(model, settings, devices)
    if isinstance(where, Refusal):
        return where
    sums = _Sums(where)
    _weights(sums, model, settings, where)
    _caches(sums, model, settings, where)
    return Reads(tuple(sums.parts.values()), settings.flash, sums.active, settings.ubatch)


class _Sums:
    """Adds up what is read on each device; anything that is no card's is the host's."""

    def __init__(self, where: Placement) -> None:
        self._cards = {device.name for device in where.devices}
        self.parts: dict[str, Part] = {}
        self.active = 0.0

    def add(self, device: str, **more: float) -> None:
        name = device if device in self._cards else CPU
        part = self.parts.get(name) or Part(name)
        changed = {key: getattr(part, key) + value for key, value in more.items() if key != "window"}
        self.parts[name] = replace(part, **changed, window=max(part.window, int(more.get("window", 0))))


def _weights(sums: _Sums, model: Model, settings: Settings, where: Placement) -> None:
    used, count = model.number("expert_used_count"), model.number("expert_count")
    kept = min(settings_blocks(model, settings), model.main_count)  # a drafting block is not read for a token as such
    tied = model.tied
    for name, tensor in model.tensors.items():
        if name.startswith("blk."):
            continue
        if name.startswith(_ROWS_ONLY) and not (tied and name == "token_embd.weight"):
            continue
        sums.add(where.output, weights=float(tensor.bytes or 0))
        sums.active += _elements(tensor.shape)
    for index, block in enumerate(model.blocks[:kept]):
        home, experts, moved = where.blocks[index], False, set()
        for tensor in block.values():
            share = used / count if count and used and "_exps" in tensor.name else 1.0
            experts = experts or share < 1
            lies_on = where.place_of(tensor.name, home)
            moved |= {lies_on} - {home}
            sums.add(lies_on, weights=(tensor.bytes or 0) * share)
            sums.active += _elements(tensor.shape) * share
        sums.add(home, blocks=1, sparse=int(experts), recurrent=int(model.layers.layers[index].recurrent))
        for other in moved:
            sums.add(other, crossings=1)


def _elements(shape: tuple[int, ...]) -> float:
    found = 1.0
    for side in shape:
        found *= side
    return found


def _caches(sums: _Sums, model: Model, settings: Settings, where: Placement) -> None:
    on_host = not settings.options.kv_offload
    for cache in caches(model, settings):
        home = CPU if on_host else where.blocks[cache.block]
        size = sum(
            CACHE_TYPES[kind].row(elements)
            for kind, elements in ((settings.type_k, cache.k), (settings.type_v, cache.v))
        )
        if cache.window:
            sums.add(home, window_kv=float(size), window=model.layers.window)
        else:
            sums.add(home, kv=float(size))
    kept = state(model)
    for index, layer in enumerate(model.layers.layers):
        if layer.recurrent:
            sums.add(CPU if on_host else where.blocks[index], state=8.0 * sum(kept))
