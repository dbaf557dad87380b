"""A stand-in's request: sent as the client sends it, its answer read as the client reads it."""

import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
import zlib

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
BILLING = "x-anthropic-billing-header: cc_version=2.1.332.{mark:03x}; cc_entrypoint=sdk-cli;"

PATIENCE = 3
"""Seconds a stand-in waits for the next bytes, unless its settings say less."""
LENGTH = 2_000
"""Letters of an answer beyond which it is taken for one without end."""
ORIGIN = "http://localhost:3000"
"""Where the page of a browser comes from."""


class Failed(Exception):
    """The request failed; the message is what a client would have to tell, `text` what had come of the answer."""

    def __init__(self, message, text=""):
        super().__init__(message)
        self.text = text


def ask(setup, full=False, question="Hello"):
    """The text of the answer. Raises Failed or NoRequest."""
    client = setup.client
    sent = client.reads(setup.home, {**client.shell(), **setup.env})
    text = "You are a coding agent. " * (int(SIZES[client.id] * LETTERS) // 24 if full else 10)
    body = json.dumps(BODIES[sent.wire](sent, text, question)).encode()
    headers = {"Content-Type": "application/json", "Accept-Encoding": "gzip", **sent.headers}
    if any(not value.isprintable() or not value.isascii() for value in headers.values()):
        raise NoRequest("TypeError: Headers: invalid header value")
    patience = min(sent.patience or PATIENCE, PATIENCE) * (8 if full else 1)
    opener = _opener(client, setup, sent)
    if client.id == "browser":
        _preflight(opener, sent)
    try:
        with opener.open(urllib.request.Request(sent.url, body, headers), timeout=patience) as reply:
            kind, raw = reply.headers.get("content-type", ""), _body(reply)
    except urllib.error.HTTPError as error:
        raise Failed(f"HTTP {error.code} {error.read().decode('utf-8', 'replace')[:400]}") from None
    except Exception as error:
        raise Failed(f"{type(error).__name__}: {error}") from None
    return _read(sent.wire, kind, raw.decode("utf-8", "replace"))


def _body(reply):
    """All that comes, unpacked."""
    raw = reply.read()
    return zlib.decompress(raw, 31) if reply.headers.get("content-encoding") == "gzip" else raw


def _opener(client, setup, sent):
    env = {**setup.env}
    for data in setup.files.values():
        if isinstance(data, dict) and isinstance(data.get("env"), dict):
            env |= data["env"]
    spared = (env.get("no_proxy") or env.get("NO_PROXY") or "").split(",")
    proxy = next((env[name] for name in client.proxies if env.get(name)), "")
    host = urllib.parse.urlsplit(sent.url).hostname
    table = {"http": proxy.replace("socks5://", "http://")} if proxy and host not in spared else {}
    context = ssl.create_default_context(cafile=env.get(client.trust) or None)
    return urllib.request.build_opener(urllib.request.ProxyHandler(table), urllib.request.HTTPSHandler(context=context))


def _preflight(opener, sent):
    """The browser's own question before a page may ask."""
    asked = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    asked["Access-Control-Request-Headers"] = "authorization,content-type"
    try:
        with opener.open(urllib.request.Request(sent.url, headers=asked, method="OPTIONS"), timeout=PATIENCE) as reply:
            allowed, names = (reply.headers.get(f"access-control-allow-{what}", "") for what in ("origin", "headers"))
    except OSError as error:
        raise Failed(f"TypeError: Failed to fetch ({error})") from None
    if allowed not in ("*", ORIGIN) or (names != "*" and "authorization" not in names.lower()):
        raise Failed("TypeError: Failed to fetch (blocked by CORS policy)")


def _limited(sent, name):
    return {name: sent.limit} if sent.limit else {}


def _chat(sent, text, question):
    messages = [{"role": "system", "content": text}, {"role": "user", "content": question}]
    more = {"stream_options": {"include_usage": True}}
    if sent.tools:
        more["tools"] = [TOOLS["openai-chat"](READ)]
    return {"model": sent.model, "messages": messages, "stream": True, **_limited(sent, "max_tokens"), **more}


def _messages(sent, text, question):
    messages = [{"role": "user", "content": question}]
    if sent.late:
        messages.append({"role": "system", "content": "Be brief."})
    tools = [TOOLS["anthropic-messages"](READ)]
    mark = BILLING.format(mark=sum(question.encode()) % 4096)
    system = [{"type": "text", "text": line} for line in ([mark, text] if sent.billing else [text])]
    more = {"tools": tools, "max_tokens": sent.limit, "stream": True}
    return {"model": sent.model, "system": system, "messages": messages, **more}


def _responses(sent, text, question):
    def entry(role, words):
        return {"type": "message", "role": role, "content": [{"type": "input_text", "text": words}]}

    entries = [entry("developer", "Be brief."), entry("user", question)]
    more = {"tools": [TOOLS["openai-responses"](READ)], "stream": True, **_limited(sent, "max_output_tokens")}
    return {"model": sent.model, "instructions": text, "input": entries, **more}


BODIES = {"openai-chat": _chat, "anthropic-messages": _messages, "openai-responses": _responses}
ENDS = {"openai-chat": "[DONE]", "anthropic-messages": "message_stop", "openai-responses": "response.completed"}
CUT = ('"finish_reason":"length"', '"stop_reason":"max_tokens"', '"response.incomplete"', '"status":"incomplete"')
"""How the wires say that an answer was cut off."""


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
    if len(text) > LENGTH:
        raise Failed(f"it does not come to an end: {text[:80]}", text)
    if any(word in raw.replace(" ", "") for word in CUT):
        raise Failed(f"the answer was cut off at its limit of tokens: {text[:80]}")
    if not ended:
        raise Failed("stream disconnected before completion")
    if not text:
        raise Failed(f"no text in the answer: {raw[:200]}")
    if "PONG" not in text:
        raise Failed(f"half an answer: {text[:80]}", text)
    return text


def _words(wire, event):
    if wire == "openai-chat":
        delta = (event.get("choices") or [{}])[0].get("delta", {})
        return (delta.get("content") or "") + (delta.get("reasoning_content") or "")
    delta = event.get("delta")
    return delta if isinstance(delta, str) else (delta or {}).get("text", "")
