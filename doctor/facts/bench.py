"""A short measurement of a running server through its API: reading prompts, writing, the cache, two requests at once."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact


@dataclass(frozen=True)
class Measurement:
    """One request. Tokens a second by our own clock, and by the server's (absent when it does not tell).

    `prompt_tokens` were read, `cached_tokens` of the prompt came from the cache; `depth` is the context in the middle of
    the answer. `name`: short, long, second-turn.
    """

    name: str
    prompt_tokens: int
    cached_tokens: Fact[int]
    prefill_per_second: Fact[float]
    server_prefill_per_second: Fact[float]
    decoded_tokens: int
    decode_per_second: Fact[float]
    server_decode_per_second: Fact[float]
    depth: int
    first_token_ms: Fact[float]


@dataclass(frozen=True)
class Change:
    """A figure of this run beside that of a saved one; `change` is 0.1 for a tenth more.

    `tokens_before` and `tokens_now` are the prompt or the depth at which each was measured, absent where they are alike:
    a slower server is asked shorter prompts.
    """

    name: str
    before: float
    now: float
    change: float
    tokens_before: Fact[int] = None
    tokens_now: Fact[int] = None


@dataclass(frozen=True)
class Bench:
    """What was measured at `url` in `seconds` seconds, all requests together. Prefill and generation are kept apart.

    `wire_api` is completion (llama.cpp's own, exact counts) or openai-chat. `model` is the id asked for. `problem`: why
    nothing could be measured, absent when it could; `skipped` are parts that were left out, each with the reason.
    `prefill_per_second` is that of the longest prompt, `decode_per_second` that of the shallowest context,
    `deep_decode_per_second` that of the deepest; `ms_per_1000` what each 1000 tokens of context add to a token.
    `cache_hit` is the part of the first turn (0 to 1) that the second turn found in the cache. `together_per_second` is
    what two requests write together, `together_gain` that over one alone; `queued`: the second had to wait for the first.
    `slots_busy_before` are slots at work before we began. `busy_threads` are threads of the server at work while it wrote
    (this machine only). `prompt_over_decode` is how many times faster reading is than writing. `agreement` is the largest
    deviation from the server's own figures (0.02: two per cent). `server_cores` to `stalled_share` are as in Watch, over
    the whole measurement (this machine only): what quota, memory and other programs did to the server meanwhile.
    `of_expected` is generation over the least to expect. `regressed` are figures that are more than a tenth worse than in
    the run it was compared with (`changes`), `before_model` and
    `before_build` those of that run where they were others.
    """

    url: str
    model: Fact[str]
    build_info: Fact[str]
    wire_api: Fact[str]
    seconds: Fact[float]
    problem: Fact[str]
    skipped: Fact[tuple[str, ...]]
    measurements: Fact[tuple[Measurement, ...]]
    prefill_per_second: Fact[float]
    decode_per_second: Fact[float]
    deep_decode_per_second: Fact[float]
    ms_per_1000: Fact[float]
    first_token_ms: Fact[float]
    cache_hit: Fact[float]
    together_per_second: Fact[float]
    together_gain: Fact[float]
    queued: Fact[bool]
    slots_busy_before: Fact[int]
    busy_threads: Fact[int]
    prompt_over_decode: Fact[float]
    draft_acceptance: Fact[float]
    agreement: Fact[float]
    server_cores: Fact[float]
    others_cores: Fact[float]
    waited_share: Fact[float]
    throttled_share: Fact[float]
    held_back_share: Fact[float]
    major_faults_per_second: Fact[float]
    refaults_per_second: Fact[float]
    read_bytes_per_second: Fact[float]
    swap_in_per_second: Fact[float]
    stalled_share: Fact[float]
    of_expected: Fact[float]
    changes: Fact[tuple[Change, ...]]
    regressed: Fact[tuple[str, ...]]
    before_model: Fact[str]
    before_build: Fact[str]
