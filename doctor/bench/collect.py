"""The record of a measurement: whom to ask, what came out, against what is expected and against an earlier run."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from doctor.bench.ask import COMPLETION, Asker
from doctor.bench.run import Outcome, measure
from doctor.facts.bench import Bench, Change, Measurement
from doctor.facts.ladder.target import CHAT
from doctor.facts.process.threads import ThreadWatch
from doctor.facts.record import Fact, Unknown, known, not_collected
from doctor.facts.watch.host import Host

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.facts.server.record import Server
    from doctor.facts.speed import Speed
    from doctor.facts.watch.sample import HostSample
    from doctor.outside import Outside

FIRST_SECONDS = 30.0
"""The first request may wait for a model to load: so long is it waited for, whatever --seconds says."""
LEAST_TOKENS = 24
"""Tokens of an answer from which on two clocks can be held against each other."""
WORSE = 0.1
"""A figure this much worse than before is a regression: runs of the same thing differ by some per cent."""
_NO_SPEED = "no speed can be told: the answers count too few tokens, or none at all"
FIGURES = ("prefill_per_second", "decode_per_second", "deep_decode_per_second", "together_per_second", "cache_hit")
"""What is compared between runs; more is better in all of them."""
ALIKE = 1.25
"""Lengths up to this many times apart are one and the same for a comparison."""
FULL_BATCH = 512
"""Tokens of a micro-batch of llama.cpp by default: shorter prompts are read slower than longer ones."""


def bench(
    outside: Outside,
    server: Server,
    *,
    model: str | None,
    key: str | None,
    pid: int | None,
    seconds: float,
    progress: Callable[[str], None],
) -> Bench:
    """Measure the server, process `pid` of this machine, for about `seconds` seconds.

    Never raises: `problem` says why there is nothing.
    """
    nothing = replace(not_collected(Bench, "nothing was measured"), url=server.url, problem=None)
    if known(server.state) not in ("ok", "not-llama.cpp") and known(server.kind) in (None, "unknown"):
        return replace(nothing, problem=known(server.detail) or f"the server is not ready ({known(server.state)})")
    ids = known(server.model_ids) or ()
    name = model or (ids[0] if ids else "")
    wire = COMPLETION if known(server.kind) == "llama.cpp" else CHAT
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    # What is planned after the first request takes `seconds`.
    longest = max(FIRST_SECONDS, seconds)
    asker = Asker(outside, server.url, headers, name, wire, longest, outside.monotonic() + longest + seconds)
    watched: list[int | None] = []
    started = outside.monotonic()
    threads, host = ThreadWatch(outside, pid), Host(outside, lambda: pid)
    host.sample(started, 0.0)

    def tell(step: str) -> None:
        progress(step)
        if step.startswith("long"):
            _watch_soon(outside, pid, watched)

    found = measure(asker, seconds=seconds, n_ctx=known(server.n_ctx), slots=known(server.slots), progress=tell)
    progress("")
    ended = outside.monotonic()
    strain = host.sample(ended, ended - started)
    record = replace(
        nothing,
        model=name or None,
        build_info=server.build_info,
        wire_api=wire,
        seconds=round(ended - started, 1),
        slots_busy_before=server.slots_busy,
    )
    busy = next((count for count in (*watched, threads.look().busy) if count is not None), None)
    record = replace(record, problem=found.problem) if found.problem else _filled(record, found)
    if not found.problem and known(record.prefill_per_second) is None and known(record.decode_per_second) is None:
        told = found.skipped[0] if found.skipped and not found.measurements else _NO_SPEED
        record = replace(record, problem=told)
    record = replace(record, busy_threads=busy if busy is not None else Unknown("the server's threads cannot be seen"))
    return _strained(record, strain, local=pid is not None)


def _strained(record: Bench, host: HostSample, *, local: bool) -> Bench:
    """The record with what happened to the server's process meanwhile."""
    unseen = Unknown("the server's process cannot be seen from here")

    def fact(value: float | None, digits: int = 4) -> Fact[float]:
        return round(value, digits) if value is not None else None if local else unseen

    return replace(
        record,
        server_cores=fact(host.server_cores, 2),
        others_cores=fact(host.others_cores, 2),
        waited_share=fact(host.waited),
        throttled_share=fact(host.throttled),
        held_back_share=fact(host.held_back),
        major_faults_per_second=fact(host.major_faults_per_second, 1),
        refaults_per_second=fact(host.refaults_per_second, 1),
        read_bytes_per_second=fact(host.read_bytes_per_second, 0),
        swap_in_per_second=fact(host.swap_in_per_second, 0),
        stalled_share=fact(host.stalled),
    )


def _watch_soon(outside: Outside, pid: int | None, watched: list[int | None]) -> None:
    """Count the busy threads while the long request is at work: from its beginning, for two seconds."""

    def work() -> None:
        fresh = ThreadWatch(outside, pid)
        threading.Event().wait(2.0)
        watched.append(fresh.look().busy)

    threading.Thread(target=work, daemon=True).start()


def _filled(record: Bench, found: Outcome) -> Bench:
    turns = {item.name: item for item in found.measurements}
    short, deep = turns.get("short"), turns.get("long")
    first, last = short or deep, deep or short
    drafted = sum(sample.drafted for sample in found.samples)
    prefill = _best(last.prefill_per_second, last.server_prefill_per_second) if last else None
    decode = _best(first.decode_per_second, first.server_decode_per_second) if first else None
    deeper = _best(deep.decode_per_second, deep.server_decode_per_second) if deep else None
    together = found.together
    return replace(
        record,
        skipped=found.skipped,
        measurements=found.measurements,
        prefill_per_second=prefill,
        decode_per_second=decode,
        deep_decode_per_second=deeper,
        ms_per_1000=_slope(short, deep),
        first_token_ms=first.first_token_ms if first else None,
        cache_hit=found.cache_hit,
        together_per_second=together.per_second if together else None,
        together_gain=round(together.per_second / decode, 2) if together and decode else None,
        queued=together.queued if together else None,
        prompt_over_decode=_over_decode(found),
        draft_acceptance=round(sum(s.accepted for s in found.samples) / drafted, 4) if drafted >= 20 else None,
        agreement=_agreement(found.measurements),
        of_expected=Unknown("the speed to expect is not known: it needs the model file and the launch command"),
        changes=None,
        regressed=None,
        before_model=None,
        before_build=None,
    )


def _over_decode(found: Outcome) -> float | None:
    """How many times faster reading is than writing, the best of each: other programs slow now one, now the other."""
    samples = [one for item, one in zip(found.measurements, found.samples, strict=True) if item.name != "second-turn"]
    samples += found.pulses
    reading = [sample.server[0] or sample.prefill_per_second(0.0) or 0.0 for sample in samples]
    writing = [sample.server[1] or sample.decode_per_second() or 0.0 for sample in samples]
    best = max(writing, default=0.0)
    return round(max(reading) / best, 2) if best and max(reading) else None


def _best(own: Fact[float], server: Fact[float]) -> float | None:
    """Our own figure; the server's where ours is missing."""
    return known(own) if known(own) is not None else known(server)


def _slope(short: Measurement | None, deep: Measurement | None) -> float | None:
    if short is None or deep is None or deep.depth - short.depth < 100:
        return None
    first, second = known(short.decode_per_second), known(deep.decode_per_second)
    if not first or not second:
        return None
    return round((1000 / second - 1000 / first) / (deep.depth - short.depth) * 1000, 4)


def _agreement(measurements: tuple[Measurement, ...]) -> float | None:
    """The largest deviation from the server's own figures, where both clocks had something to measure."""
    off = []
    for item in measurements:
        pairs = [(item.decode_per_second, item.server_decode_per_second)] if item.decoded_tokens >= LEAST_TOKENS else []
        if item.prompt_tokens >= 4 * LEAST_TOKENS:
            pairs.append((item.prefill_per_second, item.server_prefill_per_second))
        for own, theirs in pairs:
            mine, other = known(own), known(theirs)
            if mine and other:
                off.append(abs(mine / other - 1))
    return round(max(off), 4) if off else None


def against(record: Bench, speed: Fact[Speed]) -> Bench:
    """The record held against what is expected of this model on this card."""
    expected, measured = known(speed), known(record.decode_per_second)
    low = known(expected.decode_low) if expected is not None else None
    if low is None or expected is None or measured is None or not known(record.measurements):
        return record
    depth = (known(record.measurements) or ())[0].depth
    slowest = 1000 / low + (known(expected.kv_ms_per_1000) or 0.0) * depth / 1000
    return replace(record, of_expected=round(measured * slowest / 1000, 3))


def _size(record: Bench, name: str) -> int | None:
    """Tokens of the prompt, or of the context, that a figure was measured with."""
    found = known(record.measurements) or ()
    fresh = [item for item in found if item.name != "second-turn"]
    if name == "prefill_per_second":
        return max((item.prompt_tokens for item in fresh), default=None)
    if name == "decode_per_second":
        return min((item.depth for item in fresh), default=None)
    return max((item.depth for item in fresh), default=None) if name == "deep_decode_per_second" else None


def _alike(before: int | None, now: int | None) -> bool:
    return not before or not now or max(before, now) <= ALIKE * min(before, now)


def _says_something(change: Change) -> bool:
    """Whether worse is worse: less in a deeper context, or with a prompt of other length, may be that alone."""
    before, now = known(change.tokens_before), known(change.tokens_now)
    if before is None or now is None:
        return True
    return now < before and (change.name != "prefill_per_second" or now >= FULL_BATCH)


def compared(record: Bench, before: Bench) -> Bench:
    """The record beside that of an earlier run."""
    changes = []
    for name in FIGURES:
        then, now = known(getattr(before, name)), known(getattr(record, name))
        if then and now is not None:
            sizes = (_size(before, name), _size(record, name))
            sizes = (None, None) if _alike(*sizes) else sizes
            changes.append(Change(name, then, now, round(now / then - 1, 4), *sizes))
    worse = tuple(change.name for change in changes if change.change < -WORSE and _says_something(change))
    return replace(
        record,
        changes=tuple(changes),
        regressed=worse,
        before_model=before.model if known(before.model) != known(record.model) else None,
        before_build=before.build_info if known(before.build_info) != known(record.build_info) else None,
    )
