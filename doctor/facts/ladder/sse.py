"""A stream of server-sent events as a client reads it: what came, when, and what would make a client stumble."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.ladder.target import CHAT, MESSAGES
from doctor.facts.ladder.wire import Usage, usage
from doctor.facts.server.answers import pace
from doctor.facts.server.kinds import items

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doctor.outside import StreamReply

MOST_EVENTS = 10_000
MANY_EVENTS = f"the stream has more than {MOST_EVENTS} events"
BUFFERED_SHARE = 0.9
BUFFERED_MS = 1500.0
"""A stream of several events is held back when none of them came before this share of so long a time."""
_LAST = {CHAT: "[DONE]", MESSAGES: "message_stop"}
_LAST_ELSE = "response.completed"


class Streamed(NamedTuple):
    """A stream. `problem`: "" or not-sse, cut, broken, encoded, error, endless, silent; `detail` says it in words.

    `pieces` counts the pieces of text; `first_ms` and `last_ms` are when the first and the last came. `speeds` are the
    server's own (prefill, decode) in tokens per second, None where it does not tell.
    """

    text: str
    pieces: int
    first_ms: float | None
    last_ms: float | None
    usage: Usage
    speeds: tuple[float | None, float | None]
    problem: str
    detail: str
    buffered: bool


class _Event(NamedTuple):
    at: float
    name: str
    data: str


def read_stream(reply: StreamReply, wire_api: str) -> Streamed:
    """What a client makes of a streamed answer with status 200."""
    nothing = Streamed("", 0, None, None, Usage(None, None, None), (None, None), "", "", False)
    problem, detail = no_stream(reply)
    if problem:
        return nothing._replace(problem=problem, detail=detail)
    found = _read(_events(reply), wire_api)
    if found.problem:
        return found
    problem, detail = _end(reply, found, wire_api)
    return found._replace(problem=problem, detail=detail, buffered=_buffered(reply, found))


def no_stream(reply: StreamReply) -> tuple[str, str]:
    """(problem, detail) of an answer that no client could read as a stream, ("", "") for one that can be looked into."""
    encoding = reply.headers.get("content-encoding", "identity").lower()
    if encoding not in ("", "identity"):
        return "encoded", f"the stream is packed ({encoding[:40]}), though none was asked for"
    kind = reply.headers.get("content-type", "")
    if "event-stream" not in kind.lower():
        return "not-sse", f"the answer is {kind[:80] or 'of no stated type'}, no event stream"
    body = reply.body()
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        if reply.ended == "whole" or error.end < len(body) - 4:
            return "broken", "the stream holds bytes that are no UTF-8"
    return "", ""


def event_data(text: str) -> tuple[dict[str, Any], str]:
    """(the object in an event's data, ""), or ({}, what is wrong with it)."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return {}, f"an event is no JSON: {text[:80]!r}"
    return (data, "") if isinstance(data, dict) else ({}, f"an event is no object: {text[:80]!r}")


def _events(reply: StreamReply) -> list[_Event]:
    """The events in order, each with the time its last byte came."""
    found: list[_Event] = []
    name = ""
    data: list[str] = []
    for at, raw in lines_of(reply.pieces):
        line = raw.rstrip(b"\r").decode("utf-8", "replace")
        if line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("data:"):
            data.append(line[5:].strip())
        elif not line and data:
            found.append(_Event(at, name, "\n".join(data)))
            name, data = "", []
        if len(found) >= MOST_EVENTS:
            return found
    return found


def lines_of(pieces: Iterable[tuple[float, bytes]]) -> Iterator[tuple[float, bytes]]:
    """Each line that has ended, with the time its end came.

    One that has not is joined once: a long line that drips in would otherwise cost quadratic time.
    """
    rest: list[bytes] = []
    for at, piece in pieces:
        if b"\n" not in piece:
            rest.append(piece)
            continue
        *lines, tail = b"".join((*rest, piece)).split(b"\n")
        rest = [tail]
        for line in lines:
            yield at, line


def _read(events: list[_Event], wire_api: str) -> Streamed:
    texts: list[str] = []
    first: float | None = None
    last: float | None = None
    used, problem, detail = Usage(None, None, None), "", ""
    speeds: tuple[float | None, float | None] = (None, None)
    for event in events:
        if event.data == "[DONE]":
            continue
        data, detail = event_data(event.data)
        if detail:
            problem = "broken"
            break
        if data.get("error") or event.name == "error":
            problem, detail = "error", f"an error in the middle of the stream: {event.data[:160]}"
            break
        words = _piece(data, wire_api)
        if words:
            texts.append(words)
            last = event.at
            first = event.at if first is None else first
        used = _merge(used, data)
        speeds = _speeds(data) or speeds
    if not problem and len(events) >= MOST_EVENTS:
        problem, detail = "endless", MANY_EVENTS
    return Streamed("".join(texts), len(texts), first, last, used, speeds, problem, detail, False)


def _piece(data: dict[str, Any], wire_api: str) -> str:
    """The text in an event, thinking included."""
    if wire_api == CHAT:
        for choice in items(data, "choices")[:1]:
            delta = choice.get("delta")
            if isinstance(delta, dict):
                return _words(delta.get("content")) + _words(delta.get("reasoning_content"))
        return ""
    delta = data.get("delta")
    if wire_api == MESSAGES:
        return _words(delta.get("text")) + _words(delta.get("thinking")) if isinstance(delta, dict) else ""
    return _words(delta)


def _words(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _merge(before: Usage, data: dict[str, Any]) -> Usage:
    """The tokens told so far and those of an event, which may tell only some."""
    inner = next((data[name] for name in ("message", "response") if isinstance(data.get(name), dict)), data)
    now = usage(inner)
    return Usage(*(new if new is not None else old for old, new in zip(before, now, strict=True)))


def _speeds(data: dict[str, Any]) -> tuple[float | None, float | None] | None:
    timings = data.get("timings")
    if not isinstance(timings, dict):
        return None
    return pace(timings.get("prompt_per_second")), pace(timings.get("predicted_per_second"))


def _end(reply: StreamReply, found: Streamed, wire_api: str) -> tuple[str, str]:
    """("", "") when the stream came to its end, else (problem, detail)."""
    tail = reply.body()[-4096:].decode("utf-8", "replace")
    last = _LAST.get(wire_api, _LAST_ELSE)
    if last in tail or (wire_api == CHAT and '"finish_reason":"' in tail.replace(" ", "")):
        return "", ""
    if reply.ended == "limit":
        return "endless", "the stream does not end"
    if reply.ended == "timeout":
        seconds = reply.pieces[-1][0] / 1000 if reply.pieces else 0
        said = f"nothing more came after {seconds:.0f} s" if found.pieces else "no text came in time"
        return "silent", said
    return "cut", f"the stream ends without its last event ({last})"


def _buffered(reply: StreamReply, found: Streamed) -> bool:
    """Whether the pieces were held back and came all at once at the end."""
    if found.pieces < 4 or not reply.pieces or found.first_ms is None or found.last_ms is None:
        return False
    total = reply.pieces[-1][0]
    together = found.last_ms - found.first_ms < (1 - BUFFERED_SHARE) * total
    decode = found.speeds[1]
    # By the server's own speed the pieces took their time: only then were they held back on the way.
    took = 1000 * found.pieces / decode if decode else 0.0
    return together and total > BUFFERED_MS and took > 0.3 * total
