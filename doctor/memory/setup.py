"""Options of a plan: the user's own, with what decides over memory set anew."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from doctor.memory.options import Options

if TYPE_CHECKING:
    from doctor.memory.rooms import Wish

ALL = 999
"""-ngl for everything: larger than any model; `all` is known to builds since b7553 only."""
MTP_DRAFT = 2
"""Tokens drafted at once. A report measured 55, 63 and 60 tokens/s with 1, 2 and 3 (27B on an RTX 3090); each costs one
copy of the recurrent state a slot, so 2 is better and smaller than the default of 3."""


class Setup(NamedTuple):
    """What a plan decides. `layers` and `experts` count blocks on the cards, None: all of them."""

    ctx: int
    kv: str
    mtp: bool = False
    layers: int | None = None
    experts: int | None = None
    ubatch: int | None = None


def options_of(wish: Wish, setup: Setup) -> Options:
    """The options that a server started as `setup` says would have."""
    kept = wish.options
    others = tuple(kind for kind in kept.spec_types if kind not in ("draft-mtp", "none"))
    spec = (*others, "draft-mtp") if setup.mtp else others
    blocks = wish.model.block_count
    return replace(
        kept,
        ctx=setup.ctx * wish.slots,
        parallel=wish.slots,
        unified=None,
        ngl=0 if not wish.rooms else ALL if setup.layers is None else setup.layers,
        flash=None if not wish.abilities.flash else "on" if has_kernel(wish) else "off",
        type_k=setup.kv,
        type_v=setup.kv,
        swa_full=False,
        kv_offload=True,
        op_offload=True,
        overrides=(),
        cpu_moe=None if setup.experts is None else blocks - setup.experts,
        cpu_ffn=None,
        ubatch=setup.ubatch if setup.ubatch is not None else kept.ubatch,
        spec_types=spec,
        draft_n_max=MTP_DRAFT if setup.mtp else kept.draft_n_max if spec else None,
        draft_type_k=None if setup.mtp else kept.draft_type_k,
        draft_type_v=None if setup.mtp else kept.draft_type_v,
    )


def kv_types(wish: Wish) -> tuple[str, ...]:
    """Cache types that this model and build take without a penalty, best first.

    Only pairs of equal types: mixed ones have no kernel in default builds, or are turned into f16 for every step.
    """
    layers = wish.model.layers
    if not layers.attention:
        return ("f16",)
    if not wish.abilities.flash:
        return ("f16",)
    lengths = (layers.key_length,) if layers.mla else (layers.key_length, layers.value_length)
    fits = all(length % 32 == 0 for length in lengths)
    return tuple(kind for kind in wish.abilities.kv_types if kind == "f16" or (fits and has_kernel(wish)))


FLASH_HEADS = frozenset({40, 64, 72, 80, 96, 112, 128, 256, 512})
FLASH_PAIRS = frozenset({(192, 128), (320, 256), (576, 512)})
"""Head sizes of K and V with a flash attention kernel on CUDA (b11434); 576/512 is MLA. 40, 72 and 512 with some limits."""


def has_kernel(wish: Wish) -> bool:
    """Whether CUDA computes flash attention for these heads; without, a quantised V would put it on the processor."""
    if not any(room.device.backend == "cuda" for room in wish.rooms):
        return True
    layers = wish.model.layers
    if layers.mla:
        return True
    k, v = layers.key_length, layers.value_length
    return (k == v and k in FLASH_HEADS) or (k, v) in FLASH_PAIRS


def has_mtp(wish: Wish) -> bool:
    """Whether the file has blocks for multi-token prediction and the build can use them."""
    return wish.model.layers.mtp > 0 and wish.abilities.mtp
