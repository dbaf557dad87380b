"""The rungs that make the model work: a plain reply, a stream, a tool call. Short, capped, one at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from doctor.facts.ladder.ask import Answer
from doctor.facts.ladder.sse import Streamed, read_stream
from doctor.facts.ladder.state import Climb, Step, failed, not_tried, passed, warned
from doctor.facts.ladder.wire import TOOL_NAME, USER, Reply, reading, request, tool
from doctor.facts.record import known

if TYPE_CHECKING:
    from doctor.outside import StreamReply

REPLY_TOKENS = 16
STREAM_TOKENS = 24
TOOL_TOKENS = 256
"""A thinking model may think before it calls."""
HELLO = ((USER, "Say hello in one word."),)
CALL = ((USER, f"Call the tool {TOOL_NAME} with ok = true."),)


def reply(climb: Climb) -> Step:
    """A plain question gets a plain answer."""
    body = request(climb.target.wire_api, climb.model, HELLO, max_tokens=REPLY_TOKENS)
    answer = climb.asker.work(climb.target.request_url, climb.headers, body)
    trouble = no_reply(climb, answer)
    if trouble:
        return trouble
    found = reading(climb.target.wire_api, answer.data)
    if found.problem:
        return failed(found.problem, what_came(found, answer))
    if not found.text.strip() and found.thinking:
        return passed(f"answers (the first {REPLY_TOKENS} tokens are thinking)")
    if not found.text.strip():
        return warned("empty-answer", "the answer is empty")
    return passed("answers" + (f", {found.usage.prompt} tokens read" if found.usage.prompt else ""))


def no_reply(climb: Climb, answer: Answer) -> Step | None:
    """The step of an answer that holds no reply at all, None when it may."""
    if answer.trouble:
        reason = {"too-large": "endless", "timeout": "too-slow"}.get(answer.trouble, "no-answer")
        busy = known(climb.server.slots_busy)
        waited = f"; all {busy} slots were at work before" if busy and busy == known(climb.server.slots) else ""
        return failed(reason, answer.words + waited)
    climb.found["status"] = answer.status
    if answer.headers.get("content-encoding", "identity").lower() not in ("", "identity"):
        return failed(
            "encoded", f"the answer is packed ({answer.headers['content-encoding']}), though none was asked for"
        )
    if answer.status >= 300:
        return failed("answer-error", f"HTTP {answer.status}: {answer.message}")
    if answer.is_html:
        return failed("html", "a web page comes instead of an answer")
    if answer.broken_text:
        return failed("not-json", "the answer holds bytes that are no UTF-8")
    return None


def what_came(found: Reply, answer: Answer) -> str:
    """Why an answer is no reply, in words."""
    if found.problem == "error-body":
        return f"HTTP {answer.status} with an error in it: {answer.message}"
    if found.problem == "not-json":
        return f"the answer is no JSON: {answer.words[:80] or 'empty'}"
    return f"the answer holds no choices: {answer.words[:80]}"


def stream(climb: Climb) -> Step:
    """The same as a stream: it begins early, is well formed and ends as it should."""
    streamed = ask_stream(climb, HELLO, STREAM_TOKENS)
    if isinstance(streamed, Step):
        return streamed
    climb.found["first_token_ms"] = streamed.first_ms
    if streamed.problem:
        reason = {"silent": "too-slow", "error": "stream-error", "encoded": "encoded"}.get(streamed.problem)
        return failed(reason or f"stream-{streamed.problem}", streamed.detail)
    if streamed.buffered:
        return warned("stream-buffered", "all pieces came at once at the end: something on the way holds them back")
    if not streamed.pieces:
        return warned("empty-answer", "the stream holds no text")
    first = f", the first after {streamed.first_ms:.0f} ms" if streamed.first_ms is not None else ""
    return passed(f"{streamed.pieces} pieces{first}")


def ask_stream(climb: Climb, messages: tuple[tuple[str, str], ...], max_tokens: int) -> Streamed | Step:
    """A streamed answer, or the failed step when there is none."""
    body = request(climb.target.wire_api, climb.model, messages, max_tokens=max_tokens, stream=True)
    got = climb.asker.stream(climb.target.request_url, climb.headers, body)
    if isinstance(got, Answer):
        return failed("too-slow" if got.trouble == "timeout" else "no-answer", got.words)
    if got.status >= 300:
        climb.found["status"] = got.status
        return failed("answer-error", f"HTTP {got.status}: {_message(got)}")
    return read_stream(got, climb.target.wire_api)


def _message(got: StreamReply) -> str:
    from doctor.facts.ladder.ask import short
    from doctor.facts.server.kinds import parse_json

    text = got.body().decode("utf-8", "replace")
    return Answer(got.status, got.headers, text, parse_json(text), "", short(text)).message


def tools(climb: Climb) -> Step:
    """Asked to call a tool, the model calls it, and the call can be read."""
    if not climb.target.tools:
        return not_tried(f"{climb.target.name} uses no tools")
    wire = climb.target.wire_api
    body = request(wire, climb.model, CALL, max_tokens=TOOL_TOKENS, tools=(tool(),), force_tool=True)
    answer = climb.asker.work(climb.target.request_url, climb.headers, body)
    if answer.status in (400, 422, 500, 501) and "tool" in answer.message.lower():
        climb.found["status"] = answer.status
        return failed("tools-refused", f"HTTP {answer.status}: {answer.message}")
    trouble = no_reply(climb, answer)
    if trouble:
        return trouble
    found = reading(wire, answer.data)
    if found.problem:
        return failed(found.problem, what_came(found, answer))
    if not found.calls:
        return _no_call(climb, found)
    name, arguments = found.calls[0]
    try:
        read = json.loads(arguments)
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        return failed("tool-call-broken", f"the arguments of the call are no JSON object: {arguments[:60]!r}")
    return passed(f"{name}({', '.join(f'{key}={value}' for key, value in list(read.items())[:3])})"[:80])


def _no_call(climb: Climb, found: Reply) -> Step:
    """Text came instead: the call itself, unread by the server, or something else altogether."""
    shown = repr(" ".join(found.text.split())[:60])
    sure = failed if climb.target.client else warned  # an address alone may serve chats without tools
    if TOOL_NAME in found.text:
        return sure("tool-call-as-text", f"the call came as text: {shown}")
    if found.usage.completion is not None and found.usage.completion >= TOOL_TOKENS:
        return warned("tool-call-missing", f"no call within {TOOL_TOKENS} tokens, only text: {shown}")
    return sure("tool-call-missing", f"text instead of a tool call: {shown}")
