"""Which cards `doctor plan` plans for: the ones named, the memory given, or those of this machine."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from doctor.exits import UsageError
from doctor.facts.budget.rooms import Rooms
from doctor.memory.cards import MIB, Card, CardTable, choose
from doctor.memory.result import Device
from doctor.memory.rooms import Room

if TYPE_CHECKING:
    import argparse

GIB = 1 << 30
MOST_CARDS = 16
PREFIX = {"cuda": "CUDA", "vulkan": "Vulkan", "rocm": "ROCm", "metal": "MTL", "sycl": "SYCL"}


def rooms_of(options: argparse.Namespace, table: CardTable) -> Rooms | None:
    """The cards that the options name, None when they name none. Raises UsageError."""
    backend, count = _device(options.device)
    if backend == "cpu":
        return Rooms((), "none")
    if options.gpu is not None:
        cards = [_named(table, name) for name in _items(options.gpu, "--gpu")]
        cards *= count if len(cards) == 1 else 1
        return Rooms(tuple(_card_room(table, card, backend, at) for at, card in enumerate(cards)), "gpu")
    if options.vram is not None:
        sizes = [_gib(text, "--vram") for text in _items(options.vram, "--vram")]
        sizes *= count if len(sizes) == 1 else 1
        return Rooms(tuple(_memory_room(table, size, backend, at) for at, size in enumerate(sizes) if size), "vram")
    if options.device is not None:
        return Rooms(tuple(_endless(backend, at) for at in range(count)), "device")
    return None


def _device(text: str | None) -> tuple[str, int]:
    found = re.fullmatch(r"(cuda|vulkan|rocm|metal|sycl|cpu)(?::(\d{1,2}))?", (text or "cuda").strip().lower())
    if not found or not 1 <= int(found[2] or 1) <= MOST_CARDS:
        raise UsageError(f"--device {text}: wants cuda, vulkan, rocm, metal, sycl or cpu, cuda:2 for two cards")
    return found[1], int(found[2] or 1)


def _items(text: str, option: str) -> list[str]:
    items = [item.strip() for item in text.split(",")]
    if not all(items) or len(items) > MOST_CARDS:
        raise UsageError(f"{option} wants one item a card, with commas between, at most {MOST_CARDS}")
    return items


def _named(table: CardTable, text: str) -> Card:
    found = choose(table, text)
    if isinstance(found, str):
        raise UsageError(f"--gpu: {found}")
    return found


def _gib(text: str, option: str) -> int:
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?)\s*(?:g|gb|gib)?", text.strip().lower())
    size = float(found[1]) if found else math.nan
    if not 0 <= size <= 65536:
        raise UsageError(f"{option} {text[:40]}: wants a number of GiB, such as 24")
    return int(size * GIB)


def ram_of(text: str) -> int:
    """Bytes of RAM that a server may take on a machine with so much: the system keeps a tenth, 1.5 GiB at least."""
    total = _gib(text, "--ram")
    return max(0, total - max(total // 10, 3 * GIB // 2))


def _card_room(table: CardTable, card: Card, backend: str, at: int) -> Room:
    room = _memory_room(table, card.memory_mib * MIB, backend, at)
    return room._replace(name=card.name, bandwidth=card.bandwidth)


def _memory_room(table: CardTable, size: int, backend: str, at: int) -> Room:
    kept = table.reserve(size // MIB)
    device = Device(f"{PREFIX[backend]}{at}", backend, size, size - kept.plan)
    return Room(device, size - kept.plan, size - kept.high, size - kept.low)


def with_margin(rooms: Rooms, table: CardTable, text: str | None) -> Rooms:
    """The same, a part of each card left free: so many GiB, or as is sensible for such a card. Raises UsageError."""
    if not rooms.measured:
        return rooms
    wanted = _gib(text, "--margin") if text is not None else None

    def margin(room: Room) -> int:
        return table.margin(room.device.total or room.usable) if wanted is None else min(wanted, room.usable)

    return rooms._replace(rooms=tuple(room._replace(margin=margin(room)) for room in rooms.rooms))


def _endless(backend: str, at: int) -> Room:
    return Room(Device(f"{PREFIX[backend]}{at}", backend), 1 << 50, 1 << 50, 1 << 50)
