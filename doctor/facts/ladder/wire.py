"""The three wire APIs: requests as the clients build them, and what their answers say."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from doctor.facts.ladder.target import CHAT, MESSAGES
from doctor.facts.server.answers import whole
from doctor.facts.server.kinds import items

USER, ASSISTANT, SYSTEM = "user", "assistant", "system"
TOOL_NAME = "report_status"
_TOOL = {
    "type": "object",
    "properties": {"ok": {"type": "boolean", "description": "true when all is well"}},
    "required": ["ok"],
}
_WHAT = "Report whether you are ready."


class Tool(NamedTuple):
    """A tool as the model is told of it."""

    name: str
    description: str
    parameters: dict[str, Any]


class Usage(NamedTuple):
    """Tokens of a request: the whole prompt, those of it that came from the cache, the answer. None where not told."""

    prompt: int | None
    cached: int | None
    completion: int | None


class Reply(NamedTuple):
    """An answer of the model. `problem`: "" or what keeps a client from reading it (see `reading`)."""

    text: str
    thinking: str
    calls: tuple[tuple[str, str], ...]
    usage: Usage
    problem: str


def tool() -> Tool:
    """A tool with one yes-or-no argument: the shortest call there is."""
    return Tool(TOOL_NAME, _WHAT, _TOOL)


def request(
    wire_api: str,
    model: str,
    messages: tuple[tuple[str, str], ...],
    *,
    max_tokens: int = 0,
    stream: bool = False,
    tools: tuple[Tool, ...] = (),
    force_tool: bool = False,
) -> dict[str, Any]:
    """The body of a request. `max_tokens` 0: none is named."""
    if wire_api == CHAT:
        body = _chat(messages, tools, stream)
        limit, forced = "max_tokens", "required"
    elif wire_api == MESSAGES:
        body = _messages(messages, tools)
        limit, forced = "max_tokens", {"type": "any"}  # type: ignore[assignment]
    else:
        body = _responses(messages, tools)
        limit, forced = "max_output_tokens", "required"
    body = {"model": model, **body}
    if max_tokens:
        body[limit] = max_tokens
        body["temperature"] = 0
        body["stream"] = stream
    if force_tool:
        body["tool_choice"] = forced
    return body


def _chat(messages: tuple[tuple[str, str], ...], tools: tuple[Tool, ...], stream: bool) -> dict[str, Any]:
    body: dict[str, Any] = {"messages": [{"role": role, "content": text} for role, text in messages]}
    if tools:
        body["tools"] = [{"type": "function", "function": each._asdict()} for each in tools]
    if stream:
        body["stream_options"] = {"include_usage": True}
    return body


def _messages(messages: tuple[tuple[str, str], ...], tools: tuple[Tool, ...]) -> dict[str, Any]:
    body: dict[str, Any] = {"messages": [{"role": role, "content": text} for role, text in messages]}
    if tools:
        body["tools"] = [
            {"name": each.name, "description": each.description, "input_schema": each.parameters} for each in tools
        ]
    return body


def _responses(messages: tuple[tuple[str, str], ...], tools: tuple[Tool, ...]) -> dict[str, Any]:
    roles = {SYSTEM: "developer"}
    entries = [
        {
            "type": "message",
            "role": roles.get(role, role),
            "content": [{"type": "output_text" if role == ASSISTANT else "input_text", "text": text}],
        }
        for role, text in messages
    ]
    # As Codex does: its instructions become a system message in front, so a developer message is a late one.
    body: dict[str, Any] = {"instructions": "Be helpful.", "input": entries}
    if tools:
        body["tools"] = [{"type": "function", **each._asdict()} for each in tools]
    return body


def reading(wire_api: str, data: Any) -> Reply:
    """What a client makes of an answer. Problems: not-json, error-body, no-choices (empty or missing)."""
    nothing = Reply("", "", (), Usage(None, None, None), "")
    if not isinstance(data, dict):
        return nothing._replace(problem="not-json")
    if data.get("error"):
        return nothing._replace(problem="error-body")
    read = {CHAT: _read_chat, MESSAGES: _read_messages}.get(wire_api, _read_responses)
    reply = read(data)
    return reply if reply is not None else nothing._replace(problem="no-choices")


def _read_chat(data: dict[str, Any]) -> Reply | None:
    choices = items(data, "choices")
    message = choices[0].get("message") if choices else None
    if not isinstance(message, dict):
        return None
    calls = []
    for call in items(message, "tool_calls"):
        function = call.get("function")
        if isinstance(function, dict):
            calls.append((str(function.get("name")), str(function.get("arguments"))))
    return Reply(_text(message.get("content")), _text(message.get("reasoning_content")), tuple(calls), usage(data), "")


def _read_messages(data: dict[str, Any]) -> Reply | None:
    if not isinstance(data.get("content"), list):
        return None
    blocks = items(data, "content")
    calls = tuple(
        (str(block.get("name")), json.dumps(block.get("input"))) for block in blocks if block.get("type") == "tool_use"
    )
    text = "".join(_text(block.get("text")) for block in blocks)
    thinking = "".join(_text(block.get("thinking")) for block in blocks)
    return Reply(text, thinking, calls, usage(data), "")


def _read_responses(data: dict[str, Any]) -> Reply | None:
    if not isinstance(data.get("output"), list):
        return None
    text, thinking, calls = "", "", []
    for entry in items(data, "output"):
        words = "".join(_text(part.get("text")) for part in items(entry, "content"))
        if entry.get("type") == "function_call":
            calls.append((str(entry.get("name")), str(entry.get("arguments"))))
        elif entry.get("type") == "reasoning":
            thinking += words
        else:
            text += words
    return Reply(text, thinking, tuple(calls), usage(data), "")


def usage(data: dict[str, Any]) -> Usage:
    """The tokens an answer (or an event of a stream) tells, in whichever of the three shapes."""
    found = data.get("usage")
    if not isinstance(found, dict):
        return Usage(None, None, None)
    cached = whole(found.get("cache_read_input_tokens"))
    prompt = whole(found.get("prompt_tokens"))
    if prompt is None:
        prompt = whole(found.get("input_tokens"))
        if prompt is not None and cached is not None:  # the Messages API counts only what was not cached
            prompt += cached
    for name in ("prompt_tokens_details", "input_tokens_details"):
        details = found.get(name)
        if isinstance(details, dict) and cached is None:
            cached = whole(details.get("cached_tokens"))
    completion = whole(found.get("completion_tokens"))
    return Usage(prompt, cached, completion if completion is not None else whole(found.get("output_tokens")))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
