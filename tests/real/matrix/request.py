"""A stand-in's request: sent as the client sends it, its answer read as the client reads it."""

import json
import ssl
import urllib.error
import urllib.parse
import urllib.request

from tests.real.matrix.clients import NoRequest

TOOLS = {
    "openai-chat": lambda tool: {"type": "function", "function": tool},
    "openai-responses": lambda tool: {"type": "function", **tool},
    "anthropic-messages": lambda tool: {
        "name": tool["name"],
        "description": tool["description"],
        "input_schema": tool["parameters"],
    },
}
READ = {"name": "read_file", "description": "Read a file.", "parameters": {"type": "object", "properties": {}}}
# Tokens of the first request of an empty project as measured, and the letters of our text to one of the matrix's tokens.
SIZES = {"claude-code": 12_166, "codex": 4_522, "opencode": 7_612, "cline": 5_612}
LETTERS = 3.0

PATIENCE = 4
"""Seconds a stand-in waits for the next bytes."""


class Failed(Exception):
    """The request failed; the text is what a client would have to tell."""


def ask(setup, full=False):
    """The text of the answer. Raises Failed or NoRequest."""
    client = setup.client
    sent, late = client.reads(setup.home, {**client.shell(), **setup.env})
    text = "You are a coding agent. " * (int(SIZES[client.id] * LETTERS) // 24 if full else 10)
    body = json.dumps(BODIES[client.wire](sent.model, text, late)).encode()
    headers = {"Content-Type": "application/json", **sent.headers}
    if any(not value.isprintable() or not value.isascii() for value in headers.values()):
        raise NoRequest("TypeError: Headers: invalid header value")
    try:
        request = urllib.request.Request(sent.url, body, headers)
        with _opener(client, setup).open(request, timeout=PATIENCE * (8 if full else 1)) as reply:
            kind, raw = reply.headers.get("content-type", ""), reply.read()
    except urllib.error.HTTPError as error:
        raise Failed(f"HTTP {error.code} {error.read().decode('utf-8', 'replace')[:400]}") from None
    except (OSError, ValueError) as error:
        raise Failed(f"{type(error).__name__}: {error}") from None
    except Exception as error:
        raise Failed(f"{type(error).__name__}: {error}") from None
    return _read(client.wire, kind, raw.decode("utf-8", "replace"))


def _opener(client, setup):
    env = {**setup.env}
    for data in setup.files.values():
        if isinstance(data, dict) and isinstance(data.get("env"), dict):
            env |= data["env"]
    spared = (env.get("no_proxy") or env.get("NO_PROXY") or "").split(",")
    proxy = next((env[name] for name in client.proxies if env.get(name)), "")
    host = urllib.parse.urlsplit(client.reads(setup.home, env)[0].url).hostname
    table = {"http": proxy.replace("socks5://", "http://")} if proxy and host not in spared else {}
    context = ssl.create_default_context(cafile=env.get(client.trust) or None)
    return urllib.request.build_opener(urllib.request.ProxyHandler(table), urllib.request.HTTPSHandler(context=context))


def _chat(model, text, _):
    messages = [{"role": "system", "content": text}, {"role": "user", "content": "Hello"}]
    more = {"stream_options": {"include_usage": True}, "tools": [TOOLS["openai-chat"](READ)]}
    return {"model": model, "messages": messages, "max_tokens": 200, "stream": True, **more}


def _messages(model, text, late):
    messages = [{"role": "user", "content": "Hello"}]
    if late:
        messages.append({"role": "system", "content": "Be brief."})
    tools = [TOOLS["anthropic-messages"](READ)]
    return {
        "model": model,
        "system": [{"type": "text", "text": text}],
        "messages": messages,
        "tools": tools,
        "max_tokens": 200,
        "stream": True,
    }


def _responses(model, text, _):
    def entry(role, words):
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": words}]}

    entries = [entry("developer", "Be brief."), entry("user", "Hello")]
    tools = [TOOLS["openai-responses"](READ)]
    return {
        "model": model,
        "instructions": text,
        "input": entries,
        "tools": tools,
        "max_output_tokens": 200,
        "stream": True,
    }


BODIES = {"openai-chat": _chat, "anthropic-messages": _messages, "openai-responses": _responses}
ENDS = {"openai-chat": "[DONE]", "anthropic-messages": "message_stop", "openai-responses": "response.completed"}


def _read(wire, kind, raw):
    if "event-stream" not in kind:
        raise Failed(f"no stream but {kind or 'nothing'}: {raw[:300]}")
    text, ended = "", False
    for line in raw.splitlines():
        data = line.removeprefix("data:").strip() if line.startswith("data:") else ""
        ended = ended or ENDS[wire] in line
        if not data or data == "[DONE]":
            continue
        event = json.loads(data)
        if event.get("error"):
            raise Failed(f"an error in the stream: {data[:300]}")
        text += _words(wire, event)
    if not ended:
        raise Failed("stream disconnected before completion")
    if not text:
        raise Failed(f"no text in the answer: {raw[:200]}")
    return text


def _words(wire, event):
    if wire == "openai-chat":
        delta = (event.get("choices") or [{}])[0].get("delta", {})
        return (delta.get("content") or "") + (delta.get("reasoning_content") or "")
    delta = event.get("delta")
    return delta if isinstance(delta, str) else (delta or {}).get("text", "")
