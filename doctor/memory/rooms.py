"""What a plan is made for: cards with the memory a program gets on them, and what the user wants kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from doctor.memory.budget import budget
from doctor.memory.options import Options
from doctor.memory.result import Budget, Device, Refusal

if TYPE_CHECKING:
    from doctor.memory.model import Model

CARD_BACKENDS = frozenset({"cuda", "rocm", "vulkan", "sycl", "metal"})


class Room(NamedTuple):
    """A card to plan for. Bytes: `usable` is what a plan may fill, the driver's context included.

    `least` is what is left of it when a desktop or a browser grows, `most` on a machine that does nothing else.
    `margin` of the usable is left free by all that is proposed; what is asked for is held against the whole.
    `name` is the card's, "" where only its memory was given; `bandwidth` of its memory in GB/s, None where not known.
    """

    device: Device
    usable: int
    least: int
    most: int
    name: str = ""
    bandwidth: int | None = None
    margin: int = 0


@dataclass(frozen=True)
class Abilities:
    """What a build of llama.cpp can be told. `kv_types` are cache types worth offering, best first."""

    build: int
    flash: bool = True
    kv_types: tuple[str, ...] = ("f16", "q8_0", "q4_0")
    experts_on_host: bool = True
    mtp: bool = True
    prompt_cache: bool = True
    checkpoints: bool = True
    mmproj_offload: bool = True


@dataclass(frozen=True)
class Wish:
    """What is asked for. `options` are the user's own where a launch command was given.

    `ctx` is the context of one slot in tokens, None: as the plan sees fit. `ram` are bytes of host memory the server may
    take, None where not known.
    """

    model: Model
    abilities: Abilities
    rooms: tuple[Room, ...]
    options: Options = field(default_factory=Options)
    ctx: int | None = None
    slots: int = 1
    ram: int | None = None
    draft: Model | None = None
    mmproj: Model | None = None

    @property
    def trained(self) -> int:
        """Tokens the model was trained for; 4096 where the header does not say."""
        return self.model.number("context_length") or 4096


class Outcome(NamedTuple):
    """A set of options weighed. `spare` are bytes left on the fullest card beside the margin (negative: missing),
    `host_spare` of RAM.
    """

    options: Options
    budget: Budget | None
    refusal: str
    spare: int
    host_spare: int

    @property
    def fits(self) -> bool:
        return self.budget is not None and self.spare >= 0 and self.host_spare >= 0


_NOTHING = 1 << 62
"""Spare bytes where nothing limits them."""


class Scales:
    """Weighs options for a wish; the same options are weighed once."""

    def __init__(self, wish: Wish) -> None:
        self.wish = wish
        self.count = 0
        self._devices = tuple(room.device for room in wish.rooms)
        self._seen: dict[Options, Outcome] = {}

    def weigh(self, options: Options) -> Outcome:
        """What the options need, and what that leaves."""
        found = self._seen.get(options)
        if found is None:
            self.count += 1
            wish = self.wish
            needed = budget(wish.model, options, wish.abilities.build, self._devices, wish.draft, wish.mmproj)
            found = self._seen[options] = self._outcome(options, needed)
        return found

    def _outcome(self, options: Options, needed: Budget | Refusal) -> Outcome:
        if isinstance(needed, Refusal):
            return Outcome(options, None, needed.message, -_NOTHING, -_NOTHING)
        spare = min(
            (room.usable - room.margin - needed.total(room.device.name) for room in self.wish.rooms), default=_NOTHING
        )
        host = _NOTHING if self.wish.ram is None else self.wish.ram - host_bytes(needed, self.wish.rooms)
        return Outcome(options, needed, "", spare, host)


def host_bytes(needed: Budget, rooms: tuple[Room, ...], *, optional: bool = False) -> int:
    """Bytes of host memory: everything that lies on no card."""
    cards = {room.device.name for room in rooms}
    return sum(needed.total(device, optional=optional) for device in needed.devices() if device not in cards)
