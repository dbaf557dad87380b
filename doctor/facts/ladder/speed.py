"""Two turns of one talk: does the second find the first in the prompt cache, and how fast is reading and writing?"""

from __future__ import annotations

from doctor.facts.ladder.deep import ask_stream
from doctor.facts.ladder.sse import Streamed
from doctor.facts.ladder.state import Climb, Step, failed, not_tried, passed, warned
from doctor.facts.ladder.wire import ASSISTANT, USER
from doctor.facts.record import known

PROMPT_LETTERS = 2400
"""About 600 tokens: enough to measure, read in seconds even on a CPU."""
LEAST_LETTERS = 200
ROOM = 400
"""Tokens of a slot kept free for the template, the answers and the second question."""
FIRST_TOKENS, SECOND_TOKENS = 16, 48
HIT_SHARE = 0.5
"""Of the first prompt this much must come from the cache on the second turn."""
PATIENCE = 60.0
"""Seconds: the shortest time-out on the way is that of reverse proxies (nginx proxy_read_timeout)."""
_LINE = "Entry {number}: the lamp in room {number} was checked and found in order. "


def cache(climb: Climb) -> Step:
    """What was read on the first turn is not read again on the second."""
    letters = _letters(climb)
    if letters < LEAST_LETTERS:
        return not_tried("a slot is too small to measure in")
    question = (USER, _text(letters, climb.outside.now()) + "Which entry comes first?")
    first = ask_stream(climb, (question,), FIRST_TOKENS)
    if isinstance(first, Step):
        return first
    if first.problem:
        return failed("too-slow" if first.problem == "silent" else f"stream-{first.problem}", first.detail)
    talk = (question, (ASSISTANT, first.text.strip() or "Entry 1."), (USER, "And which one comes last?"))
    second = ask_stream(climb, talk, SECOND_TOKENS)
    if isinstance(second, Step):
        return second
    _measure(climb, first, second)
    return _verdict(climb, first, second)


def _verdict(climb: Climb, first: Streamed, second: Streamed) -> Step:
    prompt, cached = first.usage.prompt, second.usage.cached
    climb.found |= {"prompt_tokens": second.usage.prompt, "cached_tokens": cached}
    if cached is None or not prompt:
        return not_tried("the server does not tell what came from the cache")
    said = f"{cached} of {second.usage.prompt or prompt} tokens came from the cache on the second turn"
    return passed(said) if cached >= HIT_SHARE * prompt else failed("cache-missed", said)


def _measure(climb: Climb, first: Streamed, second: Streamed) -> None:
    """Tokens per second: the server's own numbers, else from the clock."""
    prefill, decode = first.speeds[0], second.speeds[1]
    read = (first.usage.prompt or 0) - (first.usage.cached or 0)
    if prefill is None and read >= 50 and first.first_ms:
        prefill = read / first.first_ms * 1000
    written = second.usage.completion or second.pieces
    if decode is None and written >= 8 and second.first_ms is not None and second.last_ms is not None:
        took = second.last_ms - second.first_ms
        decode = (written - 1) / took * 1000 if took > 1 else None
    needed = climb.target.context_needed
    climb.found |= {
        "prefill": round(prefill, 1) if prefill else None,
        "decode": round(decode, 1) if decode else None,
        "first_request_seconds": round(needed / prefill, 1) if needed and prefill else None,
    }


def speed(climb: Climb) -> Step:
    """How fast it reads and writes, and what that means for the client's first request."""
    prefill, decode = climb.found.get("prefill"), climb.found.get("decode")
    if prefill is None and decode is None:
        return not_tried("too little came to measure")
    parts = [f"reads {prefill:.0f} tokens/s"] if prefill else []
    parts += [f"writes {decode:.1f} tokens/s"] if decode else []
    seconds = climb.found.get("first_request_seconds")
    if seconds:
        parts.append(f"{climb.target.name}'s first request takes {_duration(seconds)} to read")
    said = "; ".join(parts)
    patience = climb.target.patience
    if seconds and patience and seconds > patience:
        return failed("prefill-above-timeout", "; ".join([said, f"it waits {_duration(patience)}"]))
    return warned("prefill-slow", said) if seconds and seconds > PATIENCE else passed(said)


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"


def _letters(climb: Climb) -> int:
    """Letters of the text to read: in the worst tokenizer each of them is a token."""
    n_ctx = known(climb.server.n_ctx)
    return PROMPT_LETTERS if n_ctx is None else min(PROMPT_LETTERS, n_ctx - ROOM)


def _text(letters: int, now: float) -> str:
    """A text that no cache has seen: it begins with the time."""
    lines = [f"Log of {int(now * 1000)}. "]
    while sum(map(len, lines)) < letters - 100:
        lines.append(_LINE.format(number=len(lines)))
    return "".join(lines)
