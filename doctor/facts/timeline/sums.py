"""What the requests of a log show together: the change of speed, the cache, drafting, requests side by side, prompts."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from doctor.facts.record import Fact, Unknown, known
from doctor.facts.timeline.record import Timeline, Turn
from doctor.speed.trend import STEEP, Point, trend

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from doctor.speed.trend import Trend

FEW_TOKENS = 12
"""Written tokens below which a request's speed of generation is noise."""
LONG_PROMPT = 256
"""Tokens read from which on a speed of reading means something."""
LOOK_BACK = 6
"""Earlier requests among which the one is looked for that a conversation goes on from."""
GOES_ON = 1.03
"""A prompt that goes on from an earlier request holds all of its context; a template may drop a few tokens of it (thinking)."""
LOST = 256
"""Tokens read again that are worth telling."""
BOUND_UNKNOWN = Unknown("neither the log nor --model says what reading the KV cache takes on this card")


def timeline_of(
    turns: tuple[Turn, ...],
    *,
    complete: bool,
    kv_ms_per_1000: float | None = None,
    expected_ms: float | None = None,
    drafting: Mapping[str, Any] | None = None,
) -> Timeline | None:
    """The record; None without a request. `kv_ms_per_1000`: milliseconds that reading 1000 tokens of KV cache takes at most,
    `expected_ms` those of a token with an empty context at most, None where not known. `drafting` is [draft] of the table.
    """
    if not turns:
        return None
    writing = [turn for turn in turns if (known(turn.decoded_tokens) or 0) >= FEW_TOKENS and _speed(turn) > 0]
    alone = [turn for turn in writing if known(turn.together) == 1]
    base = alone if len(alone) * 2 >= len(writing) else writing
    found = trend([_point(turn) for turn in base])
    prompts = [turn for turn in turns if (known(turn.prompt_tokens) or 0) >= LONG_PROMPT and _reading(turn) > 0]
    return Timeline(
        turns=turns,
        complete=complete,
        requests=len(turns),
        **_decoding(base, found, kv_ms_per_1000),
        **_step(turns, base, found),
        **_cache(turns),
        **_drafts(turns, drafting),
        **_side_by_side(writing, alone, turns),
        **_prompts(turns, prompts, base),
        of_expected=_of_expected(base, expected_ms, kv_ms_per_1000),
    )


def _speed(turn: Turn) -> float:
    return known(turn.decoded_per_second) or 0.0


def _reading(turn: Turn) -> float:
    return known(turn.prompt_per_second) or 0.0


def _point(turn: Turn) -> Point:
    middle = max(0.0, (known(turn.depth) or 0) - (known(turn.decoded_tokens) or 0) / 2)
    return Point(middle, 1000 / _speed(turn) * (known(turn.mean_length) or 1.0))


def _decoding(base: Sequence[Turn], found: Trend | None, bound: float | None) -> dict[str, Any]:
    slope = 1000 * found.slope if found is not None and found.slope is not None else None
    times = slope / bound if slope is not None and slope > 0 and bound else None
    kind = found.kind if found is not None else None
    if kind == "decay" and times is not None and times > STEEP:
        kind = "steep"
    speeds = [_speed(turn) for turn in base]
    return {
        "pattern": kind,
        "first_per_second": speeds[0] if speeds else None,
        "last_per_second": speeds[-1] if speeds else None,
        "best_per_second": max(speeds, default=None),
        "first_depth": known(base[0].depth) if base else None,
        "last_depth": known(base[-1].depth) if base else None,
        "ms_per_1000": round(slope, 4) if slope is not None else None,
        "kv_ms_per_1000": round(bound, 4) if bound is not None else BOUND_UNKNOWN,
        "times_kv": round(times, 1) if times is not None else (None if bound is not None else BOUND_UNKNOWN),
    }


def _step(turns: tuple[Turn, ...], base: Sequence[Turn], found: Trend | None) -> dict[str, Any]:
    if found is None or found.kind not in ("step", "slow-first"):
        return dict.fromkeys(("step_turn", "step_cause", "before_per_second", "after_per_second"))
    at = found.at if found.at is not None else 1
    before, after = median(map(_speed, base[:at])), median(map(_speed, base[at:]))
    cause = _step_cause(turns, base[at - 1], base[at:]) if found.kind == "step" else None
    number = turns.index(base[at]) + 1
    return {
        "step_turn": number,
        "step_cause": cause,
        "before_per_second": round(before, 2),
        "after_per_second": round(after, 2),
    }


def _step_cause(turns: tuple[Turn, ...], last_good: Turn, after: Sequence[Turn]) -> str:
    """What else changed where the speed did, the surest first."""
    first = after[0]
    between = turns[turns.index(last_good) + 1 : turns.index(first) + 1]
    events = {event for turn in between for event in turn.events}
    if (known(first.together) or 1) > (known(last_good.together) or 1):
        return "parallel"
    if "context-shift" in events:
        return "context-shift"
    if _reuse(last_good) > 0.5 and max(map(_reuse, after)) < 0.5 * _reuse(last_good):
        return "graphs"
    if known(first.slot) is not None and known(first.slot) != known(last_good.slot):
        return "other-slot"
    if "full-reprocess" in events:
        return "cache-lost"
    return "none"


def _reuse(turn: Turn) -> float:
    """What part of the steps took the graph of the step before."""
    steps = (known(turn.decoded_tokens) or 0) / (known(turn.mean_length) or 1.0)
    return (known(turn.graphs_reused) or 0) / steps if steps else 0.0


def _cache(turns: tuple[Turn, ...]) -> dict[str, Any]:
    """Requests that go on from an earlier one and still read what it had left in the cache."""
    lost: list[tuple[int, float, str]] = []
    for at, turn in enumerate(turns):
        read, cached = known(turn.prompt_tokens), known(turn.cached_tokens)
        if read is None or cached is None:
            continue
        whole = read + cached
        earlier = turns[max(0, at - LOOK_BACK) : at]
        before = [one for one in earlier if 0.5 * whole <= (known(one.depth) or 0) <= GOES_ON * whole]
        if not before:
            continue
        again = min(known(before[-1].depth) or 0, whole) - cached
        if again < max(LOST, 0.5 * whole):
            continue
        cause = "forced" if "full-reprocess" in turn.events else "prefix"
        if cause == "prefix" and (before[-1] is not earlier[-1] or known(before[-1].slot) != known(turn.slot)):
            cause = "other"
        lost.append((again, again / (_reading(turn) or 1e9), cause))
    causes = [cause for _, _, cause in lost]
    return {
        "reread_turns": len(lost),
        "reread_tokens": sum(tokens for tokens, _, _ in lost),
        "reread_seconds": round(sum(seconds for _, seconds, _ in lost), 2),
        "reread_cause": max(set(causes), key=causes.count) if causes else None,
    }


def _drafts(turns: tuple[Turn, ...], table: Mapping[str, Any] | None) -> dict[str, Any]:
    drafted = sum(known(turn.drafted) or 0 for turn in turns)
    accepted = sum(known(turn.accepted) or 0 for turn in turns)
    nothing = {"draft_acceptance": None, "draft_gain_low": None, "draft_gain_high": None}
    if drafted < 20:
        return nothing
    steps = sum(
        (known(turn.accepted) or 0) / (length - 1) for turn in turns if (length := known(turn.mean_length) or 0) > 1
    )
    found: dict[str, Any] = {**nothing, "draft_acceptance": round(accepted / drafted, 4)}
    if steps and table is not None:
        depth, kept = drafted / steps, accepted / steps
        found["draft_gain_low"] = round((1 + kept) / (1 + depth * table["cost_high"]), 2)
        found["draft_gain_high"] = round((1 + kept) / (1 + depth * table["cost_low"]), 2)
    return found


def _side_by_side(writing: Sequence[Turn], alone: Sequence[Turn], turns: tuple[Turn, ...]) -> dict[str, Any]:
    beside = [turn for turn in writing if (known(turn.together) or 1) > 1]
    return {
        "together_most": max((known(turn.together) or 1 for turn in turns), default=1),
        "alone_per_second": round(median(map(_speed, alone)), 2) if alone else None,
        "together_per_second": round(median(map(_speed, beside)), 2) if beside else None,
    }


def _prompts(turns: tuple[Turn, ...], prompts: Sequence[Turn], base: Sequence[Turn]) -> dict[str, Any]:
    reading = sum((known(turn.prompt_tokens) or 0) / (_reading(turn) or 1e12) for turn in turns)
    writing = sum((known(turn.decoded_tokens) or 0) / (_speed(turn) or 1e12) for turn in turns)
    speed = median(map(_reading, prompts)) if prompts else None
    # The best of each: what else the machine does hits now one, now the other.
    fastest, decode = max(map(_reading, prompts), default=0.0), max(map(_speed, base), default=0.0)
    return {
        "prompt_per_second": round(speed, 2) if speed is not None else None,
        "prompt_over_decode": round(fastest / decode, 2) if fastest and decode else None,
        "prompt_seconds": round(reading, 2),
        "decode_seconds": round(writing, 2),
        "prompt_share": round(reading / (reading + writing), 3) if reading + writing > 0 else None,
    }


def _of_expected(base: Sequence[Turn], expected_ms: float | None, bound: float | None) -> Fact[float]:
    if expected_ms is None:
        return Unknown("the speed to expect is not known: name the model with --model")
    ratios = [(expected_ms + (bound or 0.0) * _point(turn).depth / 1000) / _point(turn).ms for turn in base]
    return round(max(ratios), 3) if ratios else None
