"""The requests of a log one after the other, and what their speeds show together."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact


@dataclass(frozen=True)
class Turn:
    """One request. Speeds in tokens a second, `line` where its timings stand.

    `prompt_tokens` were read for it, `cached_tokens` were found in the cache; `depth` is the context at its end.
    `together` is how many requests were at work at most while it was. `similarity` (0 to 1) is how much of its prompt the
    chosen slot held already. `graphs_reused` are steps that took the graph of the step before. `mean_length` is tokens a step when
    drafting, `drafted` and `accepted` count drafted tokens. `events`: context-shift, full-reprocess, slot-by-age (no slot
    held a like prompt), no-space (the cache was full), cancelled.
    """

    line: int
    slot: Fact[int]
    task: Fact[int]
    prompt_tokens: Fact[int]
    cached_tokens: Fact[int]
    prompt_per_second: Fact[float]
    decoded_tokens: Fact[int]
    decoded_per_second: Fact[float]
    depth: Fact[int]
    together: Fact[int]
    similarity: Fact[float]
    graphs_reused: Fact[int]
    mean_length: Fact[float]
    drafted: Fact[int]
    accepted: Fact[int]
    events: tuple[str, ...]


@dataclass(frozen=True)
class Timeline:
    """What a row of requests shows. Prefill (reading prompts) and generation are never mixed. Absent: the log cannot show it.

    `turns` are the last requests of the log (`complete`: all of them). `pattern` is how generation changes: steady; decay
    (evenly slower with a deeper context); steep (the same, more than reading the KV cache explains); step (at once, from
    request `step_turn` on, counted from 1); slow-first (only the first); rising; mixed; absent with too few requests.
    `first_per_second` and `last_per_second` are the first and the last speed of generation, `best_per_second` the
    highest; for a step `before_per_second` and `after_per_second` are the middle speeds of both sides.
    `ms_per_1000` are milliseconds that each 1000 tokens of context add to a token, `kv_ms_per_1000` the most that reading
    the cache explains, `times_kv` the first over the second.
    `step_cause`: parallel (other requests at work), context-shift, no-space, cache-lost, graphs (steps no longer reuse their
    graph), other-slot, none (the log shows nothing that would explain it).
    Cache: `reread_turns` requests read again what an earlier one had left in the cache, `reread_tokens` tokens of it in
    `reread_seconds` seconds. `reread_cause`: prefix (the beginning of the prompt changed), forced (the model's cache
    cannot go back), other (another request took the slot in between), absent when nothing was reread.
    Drafting: `draft_acceptance` (0 to 1) over all requests, `draft_gain_low` and
    `draft_gain_high` what it multiplies generation by.
    `alone_per_second` and `together_per_second` are middle speeds of generation of requests alone and beside others,
    `together_most` how many were at work at once at most.
    `prompt_per_second` is the middle speed over prompts of at least 256 tokens read, `prompt_over_decode` how many times
    faster than generation the fastest of them is; `prompt_seconds` and `decode_seconds` are sums, `prompt_share` the part of both
    that went into prompts. `of_expected` is the best speed of generation over the least to expect there (1: just reached).
    """

    turns: Fact[tuple[Turn, ...]]
    complete: Fact[bool]
    requests: Fact[int]
    pattern: Fact[str]
    first_per_second: Fact[float]
    last_per_second: Fact[float]
    best_per_second: Fact[float]
    first_depth: Fact[int]
    last_depth: Fact[int]
    ms_per_1000: Fact[float]
    kv_ms_per_1000: Fact[float]
    times_kv: Fact[float]
    step_turn: Fact[int]
    step_cause: Fact[str]
    before_per_second: Fact[float]
    after_per_second: Fact[float]
    reread_turns: Fact[int]
    reread_tokens: Fact[int]
    reread_seconds: Fact[float]
    reread_cause: Fact[str]
    draft_acceptance: Fact[float]
    draft_gain_low: Fact[float]
    draft_gain_high: Fact[float]
    together_most: Fact[int]
    alone_per_second: Fact[float]
    together_per_second: Fact[float]
    prompt_per_second: Fact[float]
    prompt_over_decode: Fact[float]
    prompt_seconds: Fact[float]
    decode_seconds: Fact[float]
    prompt_share: Fact[float]
    of_expected: Fact[float]
