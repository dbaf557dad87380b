"""One streamed request, and what its pieces and their times say."""

from __future__ import annotations

import json
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.ladder.sse import MANY_EVENTS, MOST_EVENTS, event_data, lines_of, no_stream, read_stream
from doctor.facts.ladder.target import CHAT
from doctor.facts.ladder.wire import USER, request
from doctor.facts.server.answers import pace, whole
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside, StreamReply

_UNENDED = {
    "timeout": "the answer did not end within {seconds} s",
    "cut": "the connection broke off in the middle of the answer",
    "limit": "the answer does not end",
}
COMPLETION = "completion"
"""llama-server's own API: takes a bare text, ignores the end token on request, and counts everything."""


class Sample(NamedTuple):
    """A request that was answered. Tokens: `read` of the prompt, `cached` of it (None: not told), `written`.

    Milliseconds since the request: `first` piece of text (which holds `first_tokens` tokens) and `last`. `server` are the
    server's own (prefill, generation) in tokens a second. `problem`: "" or why there is nothing.
    """

    read: int = 0
    cached: int | None = None
    written: int = 0
    first: float | None = None
    first_tokens: int = 1
    last: float | None = None
    server: tuple[float | None, float | None] = (None, None)
    drafted: int = 0
    accepted: int = 0
    text: str = ""
    problem: str = ""

    def decode_per_second(self) -> float | None:
        """Generation by our clock: what came after the first piece over the time it took."""
        if self.first is None or self.last is None or self.last <= self.first or self.written - self.first_tokens < 4:
            return None
        return 1000 * (self.written - self.first_tokens) / (self.last - self.first)

    def prefill_per_second(self, overhead: float) -> float | None:
        """Reading by our clock: `overhead` milliseconds are what any request takes. None where they are most of it."""
        if self.first is None or self.first <= 2 * overhead or self.read < 32:
            return None
        return 1000 * self.read / (self.first - overhead)


class Asker(NamedTuple):
    """Whom to ask: `base` without /v1, what to send along, and how long to wait for one request in seconds.

    `end`: when all of it has to be over, by the monotonic clock.
    """

    outside: Outside
    base: str
    headers: dict[str, str]
    model: str
    wire_api: str
    timeout: float
    end: float = inf

    def ask(self, prompt: str, tokens: int) -> Sample:
        """An answer of so many tokens to a prompt (fewer where the model ends by itself)."""
        path = "/completion" if self.wire_api == COMPLETION else "/v1/chat/completions"
        timeout = min(self.timeout, self.end - self.outside.monotonic())
        if timeout < 1:
            return Sample(problem="no time left: the answers before took too long")
        try:
            reply = self.outside.http_stream(
                "POST",
                self.base.rstrip("/") + path,
                headers={"Content-Type": "application/json", **self.headers},
                body=json.dumps(self._body(prompt, tokens)).encode(),
                timeout=timeout,
            )
        except OutsideError as error:
            return Sample(problem=str(error))
        if reply.status >= 300:
            words = " ".join(reply.body()[:4096].decode("utf-8", "replace").split())[:160]
            moved = reply.headers.get("location", "")[:160]
            if 300 <= reply.status < 400 and moved:
                words = f"it leads on to {moved}, and no redirect is followed"
            return Sample(problem=f"HTTP {reply.status}: {words or 'nothing more is said'}")
        if reply.ended in _UNENDED:
            return Sample(problem=_UNENDED[reply.ended].format(seconds=round(timeout)))
        return _of_completion(reply) if self.wire_api == COMPLETION else _of_chat(reply)

    def _body(self, prompt: str, tokens: int) -> dict[str, Any]:
        if self.wire_api != COMPLETION:
            return request(CHAT, self.model, ((USER, prompt),), max_tokens=tokens, stream=True)
        body: dict[str, Any] = {"prompt": prompt, "n_predict": tokens, "ignore_eos": True, "cache_prompt": True}
        return {**body, "stream": True, "temperature": 0, "model": self.model}

    def overhead(self) -> float | None:
        """Milliseconds of a request that makes the server do nothing; the lesser of two."""
        times = []
        for _ in range(2):
            try:
                times.append(self.outside.http("GET", self.base.rstrip("/") + "/health", timeout=5.0).milliseconds)
            except OutsideError:
                continue
        return min(times, default=None)


def _of_completion(reply: StreamReply) -> Sample:
    _, problem = no_stream(reply)
    if problem:
        return Sample(problem=problem)
    events: list[tuple[float, dict[str, Any]]] = []
    for at, text in _events(reply):
        data, problem = event_data(text)
        if problem or len(events) >= MOST_EVENTS:
            return Sample(problem=problem or MANY_EVENTS)
        events.append((at, data))
        if data.get("error"):
            return Sample(problem=" ".join(str(data["error"]).split())[:160])
    if not events or not isinstance(events[-1][1].get("timings"), dict):
        return Sample(problem="the answer does not end with timings, as llama-server's do")
    timings = events[-1][1]["timings"]
    times = [at for at, _ in events]
    first = sum(1 for at in times[:-1] if at == times[0])  # a last event tells, and brings no token
    return Sample(
        read=whole(timings.get("prompt_n")) or 0,
        cached=whole(timings.get("cache_n")),
        written=whole(timings.get("predicted_n")) or 0,
        first=times[0],
        first_tokens=max(1, first),
        last=times[-1],
        server=(pace(timings.get("prompt_per_second")), pace(timings.get("predicted_per_second"))),
        drafted=whole(timings.get("draft_n")) or 0,
        accepted=whole(timings.get("draft_n_accepted")) or 0,
        text="".join(str(data.get("content") or "") for _, data in events),
    )


def _of_chat(reply: StreamReply) -> Sample:
    found = read_stream(reply, CHAT)
    if found.problem:
        return Sample(problem=found.detail or found.problem)
    prompt, cached = found.usage.prompt or 0, found.usage.cached
    return Sample(
        read=max(0, prompt - (cached or 0)),
        cached=cached,
        written=found.usage.completion or found.pieces,
        first=found.first_ms,
        last=found.last_ms,
        server=found.speeds,
        text=found.text,
    )


def _events(reply: StreamReply) -> list[tuple[float, str]]:
    """(when its end came, data) of each event; of too many only the first."""
    found = ((at, line[5:].strip()) for at, line in lines_of(reply.pieces) if line.startswith(b"data:"))
    told = ((at, data.decode("utf-8", "replace")) for at, data in found if data != b"[DONE]")
    return list(islice(told, MOST_EVENTS + 1))
