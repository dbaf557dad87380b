"""What a plan can be made for, and what each goal takes to be enough."""

from __future__ import annotations

from typing import NamedTuple

SHORTEST = 4096
"""Tokens below which a server is of no use; the automatic fit of llama.cpp stops there too."""


class Goal(NamedTuple):
    """What a profile is for.

    `kv` are the cache types it takes, the one it wants first; one further down only to reach `enough` tokens. Where the
    whole trained length fits, a better type than the first is taken. `mtp`: draft with the model's own extra blocks.
    Layers or experts go to the host only when `enough` tokens would not fit otherwise.
    """

    name: str
    enough: int
    kv: tuple[str, ...]
    mtp: bool = False


GOALS = {
    "speed": Goal("speed", 16384, ("q8_0", "q4_0"), mtp=True),
    "balanced": Goal("balanced", 32768, ("q8_0", "q4_0")),
    "context": Goal("context", 65536, ("q4_0",)),
    "quality": Goal("quality", 32768, ("f16",)),
}
"""An agent's first request takes some 12,000 tokens: 16384 is the least that works, 32768 leaves room for a few files."""
PROFILES = ("speed", "balanced", "context")
