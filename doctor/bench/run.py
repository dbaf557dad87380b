"""The steps of a measurement, sized by a first small request so that all of them end in time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

from doctor.bench.ask import Sample
from doctor.facts.bench import Measurement

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.bench.ask import Asker

WARM_LETTERS, WARM_TOKENS = 600, 8
LONGEST_PROMPT, SHORTEST_PROMPT = 4096, 96
MOST_TOKENS, FEWEST_TOKENS = 96, 16
PREFILL_SHARE, DECODE_SHARE = 0.14, 0.08
"""Of the seconds allowed, what one long prompt and one answer may take."""
MOST_PULSES, PULSE_SHARE = 6, 0.15
ROOM = 64
"""Tokens of a slot left free."""
_LINE = "Entry {number}: the lamp in room {number} was checked and found in order. "


class Sizes(NamedTuple):
    """Tokens of the prompts and of the answers, letters a token."""

    short: int
    long: int
    answer: int
    letters: float


class Together(NamedTuple):
    """Two requests at once: what they wrote together a second; whether the second had to wait for the first."""

    per_second: float
    queued: bool


class Outcome(NamedTuple):
    """All that was measured. `problem`: "" or why nothing was. `samples` are those of `measurements`, in order.

    `pulses` are short requests one after the other: of each kind of work the best of them is what the server can do, whatever
    else the machine does in between.
    """

    measurements: tuple[Measurement, ...] = ()
    samples: tuple[Sample, ...] = ()
    pulses: tuple[Sample, ...] = ()
    together: Together | None = None
    cache_hit: float | None = None
    skipped: tuple[str, ...] = ()
    problem: str = ""


def measure(
    asker: Asker,
    *,
    seconds: float,
    n_ctx: int | None,
    slots: int | None,
    progress: Callable[[str], None],
) -> Outcome:
    """Warm up, read and write at two depths, go on with the second turn, then two requests at once.

    Ends after about `seconds`; what no longer fits is told in `skipped`.
    """
    outside = asker.outside
    started = outside.monotonic()

    def left() -> float:
        return seconds - (outside.monotonic() - started)

    progress("warm-up")
    first = _text(WARM_LETTERS, outside.now(), "warm")
    warm = asker.ask(first, WARM_TOKENS)
    if warm.problem:
        return Outcome(problem=warm.problem)
    overhead = _overhead(asker, first)
    sizes = sizes_for(warm, overhead, seconds, n_ctx)
    if sizes is None:
        return Outcome(problem="a slot is too small to measure in")
    done: list[tuple[Measurement, Sample]] = []
    skipped: list[str] = []
    prompt = ""
    for name, tokens in (("short", sizes.short), ("long", sizes.long)):
        if left() < seconds * (PREFILL_SHARE + DECODE_SHARE):
            skipped.append(f"{name}: no time left of {seconds:g} s")
            continue
        progress(f"{name} prompt, {tokens} tokens")
        prompt = _text(tokens * sizes.letters, outside.now(), name)
        sample = asker.ask(prompt, sizes.answer)
        if sample.problem:
            skipped.append(f"{name}: {sample.problem}")
            continue
        done.append((measurement(name, sample, overhead), sample))
    hit = _second_turn(asker, prompt, done, overhead, skipped, progress) if left() > 0.1 * seconds else None
    pulses = _pulses(asker, sizes, min(PULSE_SHARE * seconds, left() / 3), progress)
    together = None
    if slots == 1:
        skipped.append("two at once: the server has one slot")
    elif left() < 0.15 * seconds:
        skipped.append(f"two at once: no time left of {seconds:g} s")
    else:
        progress("two requests at once")
        together = _together(asker, sizes, skipped)
    return Outcome(
        tuple(item for item, _ in done), tuple(one for _, one in done), pulses, together, hit, tuple(skipped)
    )


def _overhead(asker: Asker, prompt: str) -> float:
    """Milliseconds before a first token that are not reading: the same prompt again, which the cache holds; the lesser of two."""
    found = []
    for _ in range(2):
        again = asker.ask(prompt, WARM_TOKENS)
        speed = again.decode_per_second()
        if again.problem or not again.cached or again.read > 4 or again.first is None or speed is None:
            break
        found.append(again.first - 1000 * again.read / speed)
    return max(asker.overhead() or 0.0, min(found, default=0.0))


def sizes_for(warm: Sample, overhead: float, seconds: float, n_ctx: int | None) -> Sizes | None:
    """Sizes that end in time by the speeds of a first request; None where a slot is too small."""
    counted = warm.read + (warm.cached or 0)
    letters = WARM_LETTERS / counted if counted else 3.0
    reading = warm.server[0] or warm.prefill_per_second(overhead) or 50.0
    writing = warm.server[1] or warm.decode_per_second() or 5.0
    answer = int(max(FEWEST_TOKENS, min(MOST_TOKENS, writing * seconds * DECODE_SHARE)))
    room = (n_ctx or LONGEST_PROMPT * 2) - 2 * answer - ROOM
    longest = min(LONGEST_PROMPT, room, reading * seconds * PREFILL_SHARE)
    if longest < SHORTEST_PROMPT:
        if room < SHORTEST_PROMPT:
            return None
        longest = SHORTEST_PROMPT  # so slow that it takes longer than planned: still the least that says anything
    return Sizes(max(SHORTEST_PROMPT // 2, int(longest / 4)), int(longest), answer, letters)


def measurement(name: str, sample: Sample, overhead: float) -> Measurement:
    """The record of a request."""
    whole = sample.read + (sample.cached or 0)
    return Measurement(
        name=name,
        prompt_tokens=sample.read,
        cached_tokens=sample.cached,
        prefill_per_second=_round(sample.prefill_per_second(overhead)),
        server_prefill_per_second=_round(sample.server[0]),
        decoded_tokens=sample.written,
        decode_per_second=_round(sample.decode_per_second()),
        server_decode_per_second=_round(sample.server[1]),
        depth=int(whole + sample.written / 2),
        first_token_ms=_round(sample.first),
    )


def _pulses(asker: Asker, sizes: Sizes, seconds: float, progress: Callable[[str], None]) -> tuple[Sample, ...]:
    progress("short bursts")
    clock = asker.outside.monotonic
    started, found = clock(), []
    for at in range(MOST_PULSES):
        begun = clock()
        prompt = _text(sizes.letters * SHORTEST_PROMPT, asker.outside.now(), f"burst {at}")
        found.append(asker.ask(prompt, FEWEST_TOKENS))
        if found[-1].problem or clock() - started + (clock() - begun) > seconds:
            break
    return tuple(sample for sample in found if not sample.problem)


def _second_turn(
    asker: Asker,
    prompt: str,
    done: list[tuple[Measurement, Sample]],
    overhead: float,
    skipped: list[str],
    progress: Callable[[str], None],
) -> float | None:
    """The part of the last prompt that is found in the cache when the conversation goes on."""
    if not done:
        return None
    progress("second turn")
    before = done[-1][1]
    first = before.read + (before.cached or 0)
    sample = asker.ask(prompt + before.text + "\nAnd which one comes last?", FEWEST_TOKENS)
    if sample.problem or sample.cached is None:
        skipped.append(f"second turn: {sample.problem or 'the server does not tell what came from the cache'}")
        return None
    done.append((measurement("second-turn", sample, overhead), sample))
    return round(min(1.0, sample.cached / first), 3) if first else None


def _together(asker: Asker, sizes: Sizes, skipped: list[str]) -> Together | None:
    results: dict[int, tuple[Sample, float, float]] = {}
    clock = asker.outside.monotonic

    def work(at: int) -> None:
        begun = clock()
        sample = asker.ask(_text(sizes.letters * SHORTEST_PROMPT, asker.outside.now(), f"pair {at}"), sizes.answer)
        results[at] = (sample, begun, clock())

    threads = [threading.Thread(target=work, args=(at,), daemon=True) for at in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(asker.timeout + 1)
    if len(results) < 2 or any(sample.problem for sample, _, _ in results.values()):
        skipped.append("two at once: " + next((s.problem for s, _, _ in results.values() if s.problem), "no answer"))
        return None
    spans = sorted(
        (begun + (sample.first or 0) / 1000, begun + (sample.last or 0) / 1000, sample.written)
        for sample, begun, _ in results.values()
    )
    queued = spans[1][0] >= spans[0][1]
    took = max(end for _, end, _ in spans) - spans[0][0]
    return Together(round(sum(written for _, _, written in spans) / took, 2), queued) if took > 0 else None


def _text(letters: float, now: float, name: str) -> str:
    """A text that no cache has seen: it begins with the time."""
    lines = [f"Log of {name} at {int(now * 1000)}. "]
    size = len(lines[0])
    while size < letters:
        lines.append(_LINE.format(number=len(lines)))
        size += len(lines[-1])
    return "".join(lines)[: int(letters)]


def _round(value: float | None) -> float | None:
    return round(value, 2) if value is not None else None
