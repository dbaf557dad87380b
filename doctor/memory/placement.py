"""Which device each block, the output layer and the input embeddings lie on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from doctor.memory.result import Device, Refusal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.memory.defaults import Settings
    from doctor.memory.model import Model

CPU = "CPU"
PINNED = {"cuda": "CUDA_Host", "rocm": "ROCm_Host", "vulkan": "Vulkan_Host", "sycl": "SYCL_Host"}
"""Name of the host memory a backend pins for its copies. Metal shares memory with the processor and has none."""
_EXPERTS = r"\.ffn_(up|down|gate|gate_up)_(ch|)exps"
_FEED_FORWARD = r"\.ffn_(up|down|gate|gate_up)\.weight"
_PATTERN_LIMIT = 1000


@dataclass(frozen=True)
class Placement:
    """`blocks[i]` is the device of block i, "CPU" for the host; `output` that of the output layer.

    `devices` are the cards in use. `host` names where weights on the host are accounted, `pinned` the buffer of inputs
    and of what is computed on the host. `moved` are (pattern, place) of tensors that lie elsewhere; the first match counts.
    """

    blocks: tuple[str, ...]
    output: str
    devices: tuple[Device, ...]
    host: str
    pinned: str
    moved: tuple[tuple[re.Pattern[str], str], ...]
    split_mode: str

    def place_of(self, name: str, home: str) -> str:
        """Where a tensor lies whose layer is on `home`."""
        for pattern, place in self.moved:
            if pattern.search(name):
                return place
        return home

    @property
    def on_cards(self) -> int:
        """Blocks and the output layer that lie on cards."""
        return sum(place != CPU for place in (*self.blocks, self.output))


def place(model: Model, settings: Settings, devices: Sequence[Device]) -> Placement | Refusal:
    """The placement that llama.cpp chooses: the last `gpu_layers` layers on the cards, in order, by their share."""
    options = settings.options
    if options.devices is not None:
        wanted = {name.lower() for name in options.devices}
        devices = [device for device in devices if device.name.lower() in wanted]
    mode = options.split_mode or "layer"
    if mode == "none" and devices:
        devices = [devices[options.main_gpu if 0 <= options.main_gpu < len(devices) else 0]]
    count = model.block_count
    on_cards = min(settings.gpu_layers, count + 1) if devices else 0
    first = count + 1 - on_cards
    shares = _shares(options.tensor_split, devices)

    def home(index: int) -> str:
        if index < first:
            return CPU
        part = (index - first) / on_cards
        return devices[next((at for at, share in enumerate(shares) if part < share), len(devices) - 1)].name

    moved = _moved(model, settings, devices)
    if isinstance(moved, Refusal):
        return moved
    backend = devices[0].backend if devices else ""
    pinned = PINNED.get(backend, CPU)
    host = CPU if options.no_host else pinned
    homes = tuple(home(index) for index in range(count + 1))
    return Placement(homes[:-1], homes[-1], tuple(devices), host, pinned, moved, mode)


def _shares(split: tuple[float, ...], devices: Sequence[Device]) -> list[float]:
    """Upper end of each device's part of the layers, from 0 to 1: as asked for, else by free memory."""
    wanted = [split[at] if at < len(split) else 0.0 for at in range(len(devices))]
    if not any(wanted):
        wanted = [float(device.free or 0) for device in devices]
        if not all(wanted):
            wanted = [1.0] * len(devices)
    whole = sum(wanted)
    return [upper / whole for upper in accumulate(wanted)]


def _moved(
    model: Model, settings: Settings, devices: Sequence[Device]
) -> tuple[tuple[re.Pattern[str], str], ...] | Refusal:
    options = settings.options
    rules = []
    names = {device.name.lower(): device.name for device in devices} | {"cpu": CPU}
    for text, where in options.overrides:
        if where.lower() not in names and where not in PINNED.values():
            return Refusal(
                "option", f"-ot {text[:60]}={where[:40]}: unknown buffer type, known are {', '.join(names.values())}"
            )
        try:
            if len(text) > _PATTERN_LIMIT or _SLOW.search(text):
                raise re.error("too long or too deep to be tried here")
            rules.append((re.compile(text), names.get(where.lower(), CPU)))
        except (re.error, OverflowError, RecursionError) as error:
            return Refusal("option", f"-ot {text[:60]!r}: the pattern cannot be read ({error})")
    for limit, pattern in ((options.cpu_moe, _EXPERTS), (options.cpu_ffn, _FEED_FORWARD)):
        if limit is not None and limit > 0:
            blocks = "|".join(str(index) for index in range(min(limit, model.block_count)))
            rules.append((re.compile(rf"blk\.({blocks}){pattern}"), CPU))
    return tuple(rules)


_SLOW = re.compile(r"[+*}]\)?[+*{]|\([^()]*[+*][^()]*\)[+*{]|\\[1-9]")
"""Shapes of patterns that could take long: a repeat in a repeat, and references back."""
