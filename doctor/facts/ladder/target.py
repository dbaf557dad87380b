"""Whom the climb stands in for: a client with its settings, or a bare address asked as an OpenAI client would."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.record import known
from doctor.facts.urls import is_loopback, parse_address

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client, Credential, Setting
    from doctor.secrets import Vault

CHAT, MESSAGES, RESPONSES = "openai-chat", "anthropic-messages", "openai-responses"
PATHS = {CHAT: "/chat/completions", MESSAGES: "/messages", RESPONSES: "/responses"}
"""What stands after /v1 in the request of each wire API."""
WANTED_CONTEXT = 32_768
"""Tokens a slot should have for any coding agent: the largest first request measured is 12,166, and then the work begins."""
# Settings that name further models a client asks for by itself.
MORE_MODELS = (
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "weak_model",
    "small_model",
    "editor_model",
)
# Clients that put a system (or developer) message behind the first place: recorded runs of 2.1.332 and 0.171.0.
LATE_SYSTEM = {"claude-code": "-mid_conv_system", "codex": ""}
"""Client -> the text in a setting that stops it, "" when nothing does."""
DEFAULT_MODEL = {"claude-code": "claude-opus-5-5"}
"""Client -> what it asks for when no model is set (recorded: no-model)."""
BACKGROUND_MODEL = {"claude-code": "claude-haiku-5-5"}
"""What a client asks for in the background when no small model is set (recorded: haiku-small-fast)."""


KEY_NAME = "--key-env"


class Key(NamedTuple):
    """A credential as it would be sent: `value` is the whole header value."""

    name: str
    source: str
    header: str
    value: str


class Target(NamedTuple):
    """Who asks, where, with what.

    `base` is the base URL as written, `request_url` what is asked in the end. `keys` are the headers that are sent,
    the one the server looks at first in front; `unknown_key` says why the key cannot be known, "" when it can.
    `models` are the names asked for, the main one first; `late_system` is whether it sends late system messages,
    `tools` whether it cannot do without tools; `patience` are the seconds it waits for an answer, None for its own.
    """

    client: str
    name: str
    base: str
    source: str
    request_url: str
    wire_api: str
    appends_v1: bool
    keys: tuple[Key, ...]
    unknown_key: str
    models: tuple[str, ...]
    context_needed: int | None
    late_system: bool
    proxy: Setting | None
    named: bool
    tools: bool = True
    patience: float | None = None


def of_client(
    client: Client, vault: Vault, *, model: str | None, key: str | None, named: bool, key_name: str = KEY_NAME
) -> Target | None:
    """The target of a client; None when it has no address of its own to ask. `named`: the user asked for this client."""
    base, request_url = known(client.base_url), known(client.request_url)
    if base is None:
        return None
    credentials = known(client.credentials) or ()
    keys = tuple(_key(item, vault) for item in credentials if item.token and "rejected" not in item.problems)
    helper = any(item.name == "apiKeyHelper" and not item.token for item in credentials)
    host = parse_address(base.value).host
    unknown = "only running apiKeyHelper would tell the key" if helper and not keys else ""
    if key:
        keys, unknown = (Key(key_name, "option", keys[0].header if keys else "authorization", _sent(key, keys)),), ""
    elif keys and not is_loopback(host) and not named and any(item.source != base.source for item in credentials):
        keys, unknown = (), "key and address come from different places: it is not sent to another machine unasked"
    return Target(
        client=client.id,
        name=client.name,
        base=base.value.strip(),
        source=base.source,
        request_url=request_url or "",
        wire_api=client.wire_api,
        appends_v1=client.appends_v1,
        keys=_one_a_header(keys),
        unknown_key=unknown,
        models=(model,) if model else _models(client),
        context_needed=known(client.context_needed),
        late_system=_sends_late_system(client),
        proxy=known(client.proxy),
        named=named,
        tools=known(client.uses_tools) is not False,
        patience=known(client.timeout_seconds),
    )


def of_url(url: str, *, model: str | None, key: str | None, source: str, key_name: str = KEY_NAME) -> Target:
    """The target of a bare address: what an OpenAI client makes of it, or the endpoint it names itself."""
    text = url.strip().strip("\"'").strip()
    text = text if "://" in text else f"http://{text.lstrip('/')}"
    bare = text.rstrip("/")
    wire = next((wire for wire, path in PATHS.items() if bare.endswith(path)), CHAT)
    if not bare.endswith(PATHS[wire]):
        has_path = bare.partition("://")[2].partition("/")[2]
        bare += PATHS[wire] if has_path else f"/v1{PATHS[wire]}"
    return Target(
        client="",
        name="an OpenAI client" if wire == CHAT else "a client of this API",
        base=text,
        source=source,
        request_url=bare,
        wire_api=wire,
        appends_v1=False,
        keys=(Key(key_name, "option", "authorization", f"Bearer {key}"),) if key else (),
        unknown_key="",
        models=(model,) if model else (),
        context_needed=None,
        late_system=False,
        proxy=None,
        named=True,
    )


def headers_of(keys: tuple[Key, ...], wire_api: str) -> dict[str, str]:
    """The headers of a request with these keys."""
    names = {"authorization": "Authorization"}
    found = {names.get(key.header, key.header): key.value for key in keys}
    if wire_api == MESSAGES:
        found["anthropic-version"] = "2023-06-01"
    return {"Content-Type": "application/json", **found}


def _key(item: Credential, vault: Vault) -> Key:
    secret = vault.get(item.token)
    value = f"Bearer {secret}" if item.header == "authorization" else secret
    return Key(item.name, item.source, item.header, value)


def _sent(key: str, keys: tuple[Key, ...]) -> str:
    return key if keys and keys[0].header != "authorization" else f"Bearer {key}"


def _one_a_header(keys: tuple[Key, ...]) -> tuple[Key, ...]:
    first: dict[str, Key] = {}
    for key in keys:
        first.setdefault(key.header, key)
    return tuple(first.values())


def _models(client: Client) -> tuple[str, ...]:
    main, small = known(client.model), known(client.small_model)
    more = [item for item in known(client.settings) or () if item.name in MORE_MODELS]
    names = [main.value.strip() if main else DEFAULT_MODEL.get(client.id, "")]
    names += [item.value.strip() for item in (small, *more) if item is not None]
    if small is None and client.id in BACKGROUND_MODEL:
        names.append(BACKGROUND_MODEL[client.id])
    return tuple(dict.fromkeys(name for name in names if name))


def _sends_late_system(client: Client) -> bool:
    if client.id not in LATE_SYSTEM:
        return False
    off = LATE_SYSTEM[client.id]
    return not (off and any(off in item.value for item in known(client.settings) or ()))
