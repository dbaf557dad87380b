"""Zed: language_models in its settings. Keys are in the system's keychain or in variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.clients.assemble import WIRES, Configured, Kind, client
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Places, as_number, at
from doctor.facts.clients.program import Program, separators
from doctor.facts.clients.record import writable
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# zed.dev/docs/ai; not run. Where it lives on Windows was not seen.
KIND = Kind("zed", "Zed", Program(("zed", "zeditor"), places=("/Applications/Zed.app",)), "openai-chat")


class Provider(NamedTuple):
    """A provider of language_models: its wire, what it adds to api_url, and the variable of its key."""

    wire_api: str
    appends: str
    key: str


PROVIDERS = {
    "llama.cpp": Provider("openai-chat", "/v1/chat/completions", "LLAMACPP_API_KEY"),
    "lmstudio": Provider("openai-chat", "/chat/completions", "LMSTUDIO_API_KEY"),
    "ollama": Provider("ollama", "/api/chat", "OLLAMA_API_KEY"),
    "openai": Provider("openai-chat", "/chat/completions", "OPENAI_API_KEY"),
    "anthropic": Provider("anthropic-messages", "/v1/messages", "ANTHROPIC_API_KEY"),
}
MOST = 8


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """A record for every provider with an address."""
    join = separators(outside).join
    roaming = outside.environ.get("APPDATA", "").strip() or join(outside.home(), "AppData", "Roaming")
    config = outside.environ.get("XDG_CONFIG_HOME", "").strip() or join(outside.home(), ".config")
    folder = join(roaming, "Zed") if outside.platform == "win32" else join(config, "zed")
    file = read_json(outside, join(folder, "settings.json"), comments=True)
    tables: list[tuple[tuple[Key, ...], Provider]] = [
        (("language_models", name), provider) for name, provider in PROVIDERS.items()
    ]
    for name, _ in file.items("language_models", "openai_compatible"):
        key = re.sub(r"\W+", "_", str(name)).upper() + "_API_KEY"
        tables.append(
            (("language_models", "openai_compatible", name), Provider(KIND.wire_api, "/chat/completions", key))
        )
    wanted = [(table, provider) for table, provider in tables if at(file, *table, "api_url")][:MOST]
    made = [
        _provider(Places(outside, vault, [file]), file, table, provider, len(wanted) > 1) for table, provider in wanted
    ]
    return tuple(made) or (client(Places(outside, vault, [file]), KIND),)


def _provider(places: Places, file: DataFile, table: tuple[Key, ...], provider: Provider, several: bool) -> Client:
    models = [(*table, "available_models", place) for place, _ in file.items(*table, "available_models")]
    chosen = places.setting(at(file, "agent", "default_model", "model"))
    used = chosen if chosen and file.get("agent", "default_model", "provider") == table[-1] else None
    first = models[0] if models else table
    window = as_number(places.setting(at(file, *first, "max_tokens")))
    return client(
        places,
        KIND,
        Configured(
            base=places.setting(at(file, *table, "api_url")),
            credentials=places.credential(WIRES[provider.wire_api].header, places.variable(provider.key))
            or Unknown("Zed keeps keys in the system's keychain, which is not read"),
            model=used or (places.setting(at(file, *first, "name")) if models else None),
            wire_api=provider.wire_api,
            appends=provider.appends,
            appends_v1=provider.appends.startswith("/v1/"),
            context_window=window or Unknown("no max_tokens is set for this model"),
            settings=places.settings(at(file, *first, "max_output_tokens")),
            label=str(table[-1]) if several else "",
            writable=(writable("context_window", file.path, *first, "max_tokens", kind="number"),) if models else (),
        ),
    )
