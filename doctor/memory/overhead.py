"""What the driver takes for itself on each card: measured, not computed, so with a wide range."""

from __future__ import annotations

from typing import NamedTuple

MIB = 1 << 20


class Overhead(NamedTuple):
    """Bytes of the driver's context and the backend's own pools: `low` on a machine that does nothing else, `high`."""

    low: int
    high: int


OVERHEADS: dict[str, Overhead] = {
    "cuda": Overhead(250 * MIB, 650 * MIB),
    "rocm": Overhead(250 * MIB, 650 * MIB),
    "vulkan": Overhead(20 * MIB, 400 * MIB),
    "sycl": Overhead(100 * MIB, 600 * MIB),
    "metal": Overhead(0, 50 * MIB),
}
"""From public logs of 2025 and 2026 ("unaccounted" in the memory breakdown): RTX 4090 x3 on a clean Linux 451 to 456
MiB (the best measure of a bare CUDA context), MI50 253, RX 9060 XT (Vulkan) 17, M5 0. Larger values there include
a desktop and other programs, which `free` memory already accounts for."""


def overhead(backend: str) -> tuple[int, int]:
    """(bytes, plus or minus) of one card."""
    known = OVERHEADS.get(backend, OVERHEADS["cuda"])
    return (known.low + known.high) // 2, (known.high - known.low) // 2
