"""Sums of a budget as facts: need against what is free, what would fit instead, a log's sizes beside the computed ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from doctor.facts.budget.record import BudgetCard, BudgetRow, MemoryBudget, PrintedSize
from doctor.facts.record import Fact, Unknown, known, not_collected

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.facts.budget.rooms import Rooms
    from doctor.facts.log import Log
    from doctor.memory.planner import Planner
    from doctor.memory.result import Budget
    from doctor.memory.rooms import Outcome, Wish

FIT_SINCE = 7407
"""--fit, on by default: what the command leaves open is shrunk until it fits."""
CLOSE = 64 << 20
"""Bytes by which a log's buffer may differ from the computed one and still be the same."""


def reckon(wish: Wish, rooms: Rooms, ram: int | None, free: str | None) -> MemoryBudget:
    """The record of a wish's own options. `free` says where the free memory is known from."""
    from doctor.memory.planner import Planner

    planner = Planner(wish)
    start = planner.scales.weigh(wish.options)
    sources = ("the file's header", "the launch command", f"b{wish.abilities.build}", *((free,) if free else ()))
    if start.budget is None:
        empty = not_collected(MemoryBudget, "llama-server would refuse this command")
        return replace(empty, sources=sources, refused=start.refusal)
    fixes = _fixes(planner, start) if start.spare < 0 else {}
    return _record(wish, start.budget, rooms, ram, sources, fixes)


def _record(
    wish: Wish, found: Budget, rooms: Rooms, ram: int | None, sources: tuple[str, ...], fixes: dict[str, object]
) -> MemoryBudget:
    from doctor.memory.rooms import host_bytes

    cards = tuple(_card(found, room.device.name, room.usable) for room in wish.rooms)
    worst = max(cards, key=lambda card: known(card.over_bytes) or -1 << 60, default=None)
    over = known(worst.over_bytes) if worst is not None else None
    holder = next((item for item in rooms.holders if worst is not None and item.device == worst.device), None)
    need, at_most = (host_bytes(found, wish.rooms, optional=grown) for grown in (False, True))
    free_text = wish.options.ngl in (None, "auto") and wish.options.fit is not False and not wish.options.overrides
    nothing = Unknown("the command fits, or it is not known what is free")
    no_ram = Unknown("it is not known how much RAM is available")
    record = MemoryBudget(
        sources=sources,
        refused=None,
        rows=tuple(
            BudgetRow(row.device, row.kind, row.bytes, row.plus_minus, row.why, row.optional) for row in found.rows
        ),
        cards=cards,
        n_ctx=found.n_ctx,
        n_ctx_slot=found.n_ctx_seq,
        slots=found.slots,
        layers_on_cards=found.gpu_layers,
        layers=found.all_layers,
        weights_bytes=_sum(found, "weights"),
        kv_bytes=_sum(found, "kv"),
        compute_bytes=_sum(found, "compute"),
        card_need_bytes=sum(card.need_bytes for card in cards),
        over_bytes=over if worst is not None else None,
        over_device=worst.device if worst is not None else None,
        doubt_bytes=worst.plus_minus_bytes if worst is not None else None,
        weights_over_bytes=_weights_over(cards),
        fit_shrinks=free_text and wish.abilities.build >= FIT_SINCE,
        ram_need_bytes=need,
        ram_at_most_bytes=at_most,
        ram_over_bytes=no_ram if ram is None else need - ram,
        ram_at_most_over_bytes=no_ram if ram is None else at_most - ram,
        holder=holder.program if holder else None,
        holder_pid=holder.pid if holder else None,
        holder_bytes=holder.bytes if holder else None,
        holder_is_enough=None if holder is None or over is None else 0 < over <= holder.bytes,
        kv_that_fits=nothing,
        ctx_that_fits=nothing,
        ctx_q8_that_fits=nothing,
        layers_that_fit=nothing,
        cpu_moe_that_fits=nothing,
        printed=Unknown("no log was given"),
    )
    return replace(record, **fixes)  # type: ignore[arg-type]


def _card(found: Budget, name: str, usable: int) -> BudgetCard:
    def part(*kinds: str) -> int:
        return sum(row.bytes for row in found.rows if row.device == name and row.kind in kinds)

    need = found.total(name)
    known_free = usable < 1 << 49
    unknown = Unknown("the free memory of the card is not known")
    return BudgetCard(
        device=name,
        need_bytes=need,
        plus_minus_bytes=found.plus_minus(name),
        weights_bytes=part("weights", "draft-weights", "mmproj"),
        kv_bytes=part("kv", "draft-kv"),
        compute_bytes=part("compute", "draft-compute", "mmproj-compute"),
        free_bytes=usable if known_free else unknown,
        over_bytes=need - usable if known_free else unknown,
    )


def _weights_over(cards: Sequence[BudgetCard]) -> Fact[int]:
    over = [card.weights_bytes - free for card in cards if (free := known(card.free_bytes)) is not None]
    return max(over) if over else None


def _sum(found: Budget, kind: str) -> int:
    return sum(row.bytes for row in found.rows if row.kind == kind)


def _fixes(planner: Planner, start: Outcome) -> dict[str, object]:
    """What would fit instead: field name -> value."""
    from doctor.memory.remedies import remedies

    fixes: dict[str, object] = dict.fromkeys(
        ("kv_that_fits", "ctx_that_fits", "ctx_q8_that_fits", "layers_that_fit", "cpu_moe_that_fits")
    )
    for step in remedies(planner, start, free=False):
        value, _, kind = step.value.partition(" ")
        if not step.fits:
            continue
        if step.name == "kv":
            fixes["kv_that_fits"] = value
        elif step.name == "context" and kind in ("", "q8_0"):
            # A command's -c is of all slots together.
            slots = 1 if start.budget is None or start.budget.unified else start.budget.slots
            fixes["ctx_q8_that_fits" if kind else "ctx_that_fits"] = int(value) * slots
        elif step.name == "layers":
            fixes["layers_that_fit"] = int(value)
        elif step.name == "experts":
            fixes["cpu_moe_that_fits"] = int(value)
    return fixes


def printed(rows: tuple[BudgetRow, ...], log: Log) -> tuple[PrintedSize, ...]:
    """The buffers of a log that differ from the computed ones by more than rounding and one part in twenty."""
    # The draft's context prints lines of its own, in the same words.
    kinds = {
        "model": ("weights",),
        "kv": ("kv", "draft-kv"),
        "rs": ("recurrent", "draft-recurrent"),
        "compute": ("compute", "draft-compute"),
    }
    seen: dict[tuple[str, str], tuple[int, int]] = {}
    for buffer in known(log.buffers) or ():
        if buffer.kind in kinds:
            before = seen.get((buffer.device, buffer.kind), (0, buffer.line))
            seen[buffer.device, buffer.kind] = (before[0] + buffer.bytes, before[1])
    different = []
    for (device, kind), (size, line) in seen.items():
        computed = sum(row.bytes for row in rows if row.device == device and row.kind in kinds[kind])
        if computed and abs(size - computed) > max(CLOSE, size // 20):
            different.append(PrintedSize(device, kind, size, computed, line))
    return tuple(different)
