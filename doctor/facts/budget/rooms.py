"""The cards of this machine as places to plan for: what is free on them, and who holds the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.record import known, value_or
from doctor.memory.cards import MIB
from doctor.memory.result import Device
from doctor.memory.rooms import Room

if TYPE_CHECKING:
    from doctor.facts.build.record import Build
    from doctor.facts.gpu.record import Gpu
    from doctor.memory.cards import CardTable

DRIFT = (64 * MIB, 128 * MIB, 768 * MIB)
"""What may go from the free memory found before the server has started: least, planned, with a desktop at work."""


class Holder(NamedTuple):
    """A program that holds memory of a card."""

    device: str
    program: str
    pid: int
    bytes: int


class Rooms(NamedTuple):
    """The cards. `source`: gpu, vram, found, device (their memory is not known), none.

    `holders` are the programs that already hold memory of cards found, the largest first.
    """

    rooms: tuple[Room, ...]
    source: str
    holders: tuple[Holder, ...] = ()

    @property
    def measured(self) -> bool:
        """Whether it is known how much memory the cards have."""
        return self.source in ("gpu", "vram", "found")


def found_rooms(gpu: Gpu | None, table: CardTable, *, own: int | None = None) -> Rooms:
    """The cards of this machine as NVML reports them, with what is free now.

    `own` is the process of the server that is planned for: what it holds will be free when it starts again.
    """
    rooms: list[Room] = []
    holders: list[Holder] = []
    for device in (known(gpu.devices) if gpu is not None else None) or ():
        free, total = known(device.memory_free_bytes), known(device.memory_total_bytes)
        if free is None or total is None:
            continue
        name = value_or(device.name, "") or ""
        processes = known(device.processes) or ()
        free += sum(known(process.memory_bytes) or 0 for process in processes if process.pid == own)
        card = table.of_memory(name)
        least, planned, most = DRIFT
        label = f"CUDA{len(rooms)}"
        rooms.append(
            Room(
                Device(label, "cuda", total, free),
                max(0, free - planned),
                max(0, free - most),
                max(0, free - least),
                name,
                card.bandwidth if card else None,
            )
        )
        for process in processes:
            held = known(process.memory_bytes)
            if held and process.pid != own:
                holders.append(Holder(label, value_or(process.name, "") or "a program", process.pid, held))
    holders.sort(key=lambda holder: -holder.bytes)
    return Rooms(tuple(rooms), "found" if rooms else "none", tuple(holders))


BACKENDS = {"CUDA": "cuda", "Vulkan": "vulkan", "ROCm": "rocm", "MTL": "metal", "SYCL": "sycl"}
"""What llama.cpp calls its devices (with a number behind), and the backend each belongs to."""
ENDLESS = 1 << 50
"""Bytes of a card whose memory is not known."""


def is_card(name: str) -> bool:
    """Whether a device of a log is a card: "CUDA0", not "CUDA_Host" or "CPU"."""
    return name.rstrip("0123456789") in BACKENDS and name[-1:].isdigit()


def device_room(name: str, total: int | None, free: int | None) -> Room:
    """A card as llama.cpp names it. What is not known of its memory limits nothing."""
    size = free if free is not None else total if total is not None else ENDLESS
    backend = BACKENDS.get(name.rstrip("0123456789"), "cuda")
    return Room(Device(name, backend, total, free), size, size, size)


def listed_rooms(build: Build | None, gpu: Gpu | None) -> Rooms:
    """The cards where NVML tells of none: those the build lists, one of unknown memory where there may be one."""
    devices = known(build.devices) if build is not None else None
    if devices:
        rooms = tuple(
            device_room(device.name, known(device.memory_total_bytes), known(device.memory_free_bytes))
            for device in devices
            if is_card(device.name)
        )
        if rooms:
            return Rooms(rooms, "found")
    without = gpu is not None and gpu.hardware is False
    if without or devices == () or (build is not None and build.gpu_backend is False):
        return Rooms((), "none")
    return Rooms((device_room("CUDA0", None, None),), "device")
