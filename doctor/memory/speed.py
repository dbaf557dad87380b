"""The speed no set-up can exceed: each token reads the weights in use once, and a card reads only so fast."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from doctor.memory.model import Model
    from doctor.memory.result import Budget
    from doctor.memory.rooms import Room


def active_share(model: Model) -> float:
    """The part of the weights on cards that one token reads: of the experts only those that are used."""
    used, count = model.number("expert_used_count"), model.number("expert_count")
    whole = active = 0.0
    for name, tensor in model.tensors.items():
        if name.startswith(("token_embd.", "per_layer_token_embd.")):
            continue
        size = tensor.bytes or 0
        whole += size
        active += size * used / count if count and "_exps" in name else size
    return active / whole if whole else 1.0


def most_tokens_per_second(model: Model, found: Budget, rooms: tuple[Room, ...]) -> float | None:
    """Tokens a second without drafting and with an empty context, at most; None where layers lie on the host.

    Cards work one after the other. Measured speeds reach some 60 to 80 % of it.
    """
    cards = {room.device.name: room.bandwidth for room in rooms}
    if not cards or found.gpu_layers < found.all_layers:
        return None
    seconds = 0.0
    for row in found.rows:
        if row.kind != "weights":
            continue
        bandwidth = cards.get(row.device)
        if bandwidth:
            seconds += row.bytes * active_share(model) / (bandwidth * 1e9)
        elif row.device in cards:
            return None
    return 1 / seconds if seconds else None
