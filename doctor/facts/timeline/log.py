"""The timeline of a pasted log: its requests held against what its own sizes and cards allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.facts.record import Fact, known
from doctor.facts.timeline.record import Timeline
from doctor.facts.timeline.sums import timeline_of
from doctor.logs.turns import MOST_TURNS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doctor.facts.log import Log
    from doctor.facts.speed import Speed
    from doctor.facts.timeline.record import Turn
    from doctor.outside import Outside


def of_log(outside: Outside, turns: tuple[Turn, ...], log: Log, speed: Fact[Speed]) -> Timeline | None:
    """The timeline, None where the log holds no request."""
    if not turns:
        return None
    from doctor.engine.load import read_table, rules_folder

    table = read_table(outside, rules_folder(outside), "speed")
    expected = known(speed)
    bound = known(expected.kv_ms_per_1000) if expected is not None else _printed_bound(outside, log, table)
    low = known(expected.decode_low) if expected is not None else None
    return timeline_of(
        turns,
        complete=len(turns) < MOST_TURNS,
        kv_ms_per_1000=bound,
        expected_ms=1000 / low if low else None,
        drafting=table["draft"],
    )


def _printed_bound(outside: Outside, log: Log, table: Mapping[str, Any]) -> float | None:
    """The same from the buffers a log prints and the cards it names, where it does both."""
    from doctor.facts.budget.record import card_table

    tokens, buffers = known(log.n_ctx), known(log.buffers)
    caches = [buffer for buffer in buffers or () if buffer.kind == "kv"]
    if not tokens or not caches:
        return None
    cards = card_table(outside)
    names = {device.name: known(device.description) for device in known(log.devices) or ()}
    cache = "kv_plain" if known(log.flash_attn) in ("0", "disabled", "off") else "kv_flash"
    seconds = 0.0
    for buffer in caches:
        name = names.get(buffer.device)
        card = cards.of_memory(name) if name else None
        if card is None:
            return None
        rate = table["decode"]["card"]
        seconds += buffer.bytes / tokens / (card.bandwidth * 1e9 * rate[cache] * rate["spread_low"])
    return seconds * 1e6
