"""Types a KV cache can have, and rows of elements in bytes."""

from __future__ import annotations

from typing import NamedTuple


class CacheType(NamedTuple):
    """`block` elements take `bytes` bytes."""

    block: int
    bytes: int

    def row(self, elements: int) -> int:
        """Bytes of a row; the block size divides it, or llama.cpp refuses the type."""
        return -(-elements // self.block) * self.bytes


CACHE_TYPES: dict[str, CacheType] = {
    "f32": CacheType(1, 4),
    "f16": CacheType(1, 2),
    "bf16": CacheType(1, 2),
    "q8_0": CacheType(32, 34),
    "q4_0": CacheType(32, 18),
    "q4_1": CacheType(32, 20),
    "iq4_nl": CacheType(32, 18),
    "q5_0": CacheType(32, 22),
    "q5_1": CacheType(32, 24),
}
"""What --cache-type-k and --cache-type-v take (a closed list since b4317)."""
