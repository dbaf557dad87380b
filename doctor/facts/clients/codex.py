"""Codex: config.toml of the user, the system and trusted projects. The base URL belongs to a model provider there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from doctor.facts.clients.assemble import Configured, Kind, client
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Found, Places, as_number, at
from doctor.facts.clients.program import Program, folders_above, separators
from doctor.facts.clients.record import Writable, writable
from doctor.facts.clients.toml_file import read_toml
from doctor.facts.record import Fact, Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client, Credential
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Measured with 0.171.0, but for /etc/codex and the window, which developers.openai.com tells.
KIND = Kind(
    id="codex",
    name="Codex",
    program=Program(("codex",), "@openai/codex", ("openai.chatgpt",)),
    wire_api="openai-responses",
    proxies=("http", "https", "all"),
    first_request=4_522,
    default_base="https://api.openai.com/v1",
)
ASSUMED_WINDOW = 272_000
"""Tokens it assumes for a model id it does not know."""
# Providers of its own that need no table, with the base URL they have.
BUILT_IN = {
    "oss": "http://localhost:11434/v1",
    "ollama": "http://localhost:11434/v1",
    "lmstudio": "http://localhost:1234/v1",
}
HEADERS = {"authorization": "authorization", "x-api-key": "x-api-key"}
SETTINGS = ("model_provider", "model_auto_compact_token_limit", "model_max_output_tokens", "model_reasoning_effort")
# stream_idle_timeout_ms counts between the events of an answer, not until the first (0.171.0: 1000 survives 2 s of silence).
PROVIDER_SETTINGS = ("wire_api", "request_max_retries", "stream_max_retries", "stream_idle_timeout_ms")


def collect(outside: Outside, vault: Vault) -> Client:
    """Codex as it would run in the current folder."""
    join = separators(outside).join
    home = outside.environ.get("CODEX_HOME", "").strip() or join(outside.home(), ".codex")
    user = read_toml(outside, join(home, "config.toml"))
    folders = folders_above(outside)
    paths = [join(folder, ".codex", "config.toml") for folder in folders]
    projects = [file for file in (read_toml(outside, path) for path in paths if path != user.path) if file.found]
    files = [user] if outside.platform == "win32" else [user, read_toml(outside, "/etc/codex/config.toml")]
    trusted = any(user.get("projects", folder, "trust_level") == "trusted" for folder in folders)
    places = Places(outside, vault, [*projects, *files] if trusted else files)
    found = _configured(places, read_json(outside, join(home, "auth.json")))
    found = found._replace(writable=_writable(places, user.path, found.base is None))
    if projects and not trusted:
        untrusted = places.record(Found("trust_level", "untrusted", projects[0].path, 1))
        found = found._replace(settings=(*found.settings, untrusted))
    return client(places, KIND, found)


def _configured(places: Places, login: DataFile) -> Configured:
    provider = places.first(places.key("model_provider"))
    name = provider.value.strip() if provider else "openai"
    table: tuple[Key, ...] = ("model_providers", name)
    own = any(isinstance(file.get(*table), dict) for file in places.files)
    if name == "openai":
        # The variable is not read: only the key of the settings file is.
        places.loses(*places.variable("OPENAI_BASE_URL"))
        base = places.setting(places.key("openai_base_url"))
    elif own:
        base = places.setting(places.key(*table, "base_url"))
    else:
        default = (
            [Found(f"model_provider={name}", BUILT_IN.get(name, ""), provider.source, provider.line)]
            if provider
            else []
        )
        base = places.setting(places.variable("CODEX_OSS_BASE_URL") if name in BUILT_IN else [], default)
    window = as_number(places.setting(places.key("model_context_window")))
    return Configured(
        base=base,
        credentials=_own_keys(places, login) if name == "openai" else _provider_keys(places, table),
        model=places.setting(places.key("model")),
        context_window=window or ASSUMED_WINDOW,
        settings=places.settings(
            *(places.key(key) for key in SETTINGS),
            *(places.key(*table, key) for key in PROVIDER_SETTINGS),
            [] if own or name in BUILT_IN else _defined(places),
        ),
        unusable=_unusable(places, name, table, own),
        logged_in=_logged_in(login),
    )


def _writable(places: Places, user: str, no_base: bool) -> tuple[Writable, ...]:
    """Where it is set, else the user's file; a provider of the user's own where there is only the built-in one."""
    chosen = places.first(places.key("model_provider"))
    name = chosen.value.strip() if chosen and chosen.value.strip() != "openai" else "llamacpp"
    table: tuple[Key, ...] = ("model_providers", name)
    own = next((file.path for file in places.files if isinstance(file.get(*table), dict)), user)

    def at_top(setting: str, key: str, kind: str = "text") -> Writable:
        found = places.key(key)
        return writable(setting, found[0].source if found else user, key, kind=kind)

    return (
        at_top("model", "model"),
        at_top("context_window", "model_context_window", "number"),
        at_top("max_output", "model_max_output_tokens", "number"),
        at_top("provider", "model_provider"),
        at_top("profile", "profile"),
        *((writable("base_url", own, *table, "base_url"),) if no_base else ()),
        writable("provider_name", own, *table, "name"),
        writable("key", own, *table, "experimental_bearer_token"),
        writable("key_variable", own, *table, "env_key"),
    )


def _defined(places: Places) -> list[Found]:
    """The providers that have a table, for one who names another."""
    return [
        Found("model_providers", str(name), file.path, file.line("model_providers", name))
        for file in places.files
        for name, _ in file.items("model_providers")
    ][:1]


def _unusable(places: Places, name: str, table: tuple[Key, ...], own: bool) -> str | None:
    if places.key("profile"):
        return "profile-key"
    if any(file.get("model_providers", "openai") is not None for file in places.files):
        return "provider-reserved"
    if name != "openai" and not own and name not in BUILT_IN:
        return "provider-unknown"
    wire = places.first(places.key(*table, "wire_api"))
    return "wire-chat" if wire is not None and wire.value.strip() == "chat" else None


def _own_keys(places: Places, login: DataFile) -> tuple[Credential, ...]:
    """The keys of the built-in provider. OPENAI_API_KEY is not among them: 0.171.0 sends no header for it."""
    return places.credential("authorization", places.variable("CODEX_API_KEY"), at(login, "OPENAI_API_KEY"))


def _provider_keys(places: Places, table: tuple[Key, ...]) -> tuple[Credential, ...]:
    """What a provider's table sends: the variable that env_key names, a token, headers of its own."""
    groups: dict[str, list[Found]] = {"authorization": [], "x-api-key": []}
    for named in places.key(*table, "env_key")[:1]:
        groups["authorization"] += _variable(places, named)
    groups["authorization"] += places.key(*table, "experimental_bearer_token")
    for file in places.files:
        for block in ("http_headers", "env_http_headers"):
            headers: Any = file.get(*table, block)
            for header in headers if isinstance(headers, dict) else ():
                kind = HEADERS.get(header.lower())
                for found in at(file, *table, block, header) if kind else ():
                    groups[kind or ""] += _variable(places, found) if block.startswith("env") else [_bare(found)]
    return tuple(key for header, found in groups.items() for key in places.credential(header, found))


def _bare(found: Found) -> Found:
    """A header's value without the word that belongs to the header."""
    return found._replace(value=re.sub(r"^Bearer ", "", found.value))


def _variable(places: Places, named: Found) -> list[Found]:
    name = named.value.strip()
    there = [found for found in places.variable(name)[:1] if found.value]  # an empty one counts as missing
    return there or [Found(name, "", named.source, named.line, unset=True)]


def _logged_in(login: DataFile) -> Fact[bool]:
    if login.problem:
        return Unknown(login.problem)
    return isinstance(login.get("tokens", "access_token"), str)
