"""Factory's Droid: customModels of its settings files (or custom_models of the older config.json), each with a server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.clients.assemble import Configured, Kind, client
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Found, Places, at
from doctor.facts.clients.program import Program, separators
from doctor.facts.clients.record import writable
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# docs.factory.ai, cli/byok/overview and cli/configuration/settings (github.com/Factory-AI/factory 09032e3df, 3381cee26); not run.
KIND = Kind("droid", "Droid", Program(("droid",), "droid"), "openai-chat")


class Wire(NamedTuple):
    """What a `provider` stands for: its wire, what is added to the base URL, and the header of the key."""

    wire_api: str
    appends: str
    header: str


PROVIDERS = {
    "generic-chat-completion-api": Wire("openai-chat", "/chat/completions", "authorization"),
    "openai": Wire("openai-responses", "/responses", "authorization"),
    "anthropic": Wire("anthropic-messages", "/v1/messages", "x-api-key"),
}


class Names(NamedTuple):
    """What the keys are called in one kind of file. `expands`: a key may name a variable."""

    models: str
    base: str
    key: str
    limit: str
    label: str
    expands: bool


NEWER = Names("customModels", "baseUrl", "apiKey", "maxOutputTokens", "displayName", True)
OLDER = Names("custom_models", "base_url", "api_key", "max_tokens", "model_display_name", False)
MOST = 8
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """A record for every model of the user's own, the one sessions begin with first."""
    join = separators(outside).join
    folders = [join(folder, ".factory") for folder in dict.fromkeys((outside.folder(), outside.home()))]
    paths = [join(folder, name) for folder in folders for name in ("settings.local.json", "settings.json")]
    files = [read_json(outside, path, comments=True) for path in paths]
    older = read_json(outside, join(folders[-1], "config.json"), comments=True)
    places = Places(outside, vault, [*files, older])
    chosen = places.first(places.key("sessionDefaultSettings", "model"))
    wanted = chosen.value if chosen else ""
    entries = _entries([*((file, NEWER) for file in files), (older, OLDER)])
    entries.sort(key=lambda entry: entry[0].get(*entry[2], "id") != wanted)
    several = len(entries) > 1
    made = [_model(Places(outside, vault, [*files, older]), *entry, several) for entry in entries[:MOST]]
    return tuple(made) or (client(places, KIND, Configured(model=places.setting([chosen] if chosen else []))),)


def _entries(files: list[tuple[DataFile, Names]]) -> list[tuple[DataFile, Names, tuple[Key, ...]]]:
    """The entries with an address; of those that say the same model and name the one of the higher file."""
    found: dict[tuple[str, str], tuple[DataFile, Names, tuple[Key, ...]]] = {}
    for file, names in files:
        for place, entry in file.items(names.models):
            same = str(entry.get("model")), str(entry.get(names.label) or place)
            if entry.get(names.base):
                found.setdefault(same, (file, names, (names.models, place)))
    return list(found.values())


def _model(places: Places, file: DataFile, names: Names, table: tuple[Key, ...], several: bool) -> Client:
    kind = places.first(at(file, *table, "provider"))
    wire = PROVIDERS.get(kind.value.strip() if kind else "", PROVIDERS["generic-chat-completion-api"])
    bearer = file.get(*table, "authMode") == "bearer"
    label = file.get(*table, names.label) or file.get(*table, "model") or table[-1]
    return client(
        places,
        KIND,
        Configured(
            base=places.setting(at(file, *table, names.base)),
            credentials=places.credential(
                "authorization" if bearer else wire.header, _keys(places, file, names, table)
            ),
            model=places.setting(at(file, *table, "model")),
            wire_api=wire.wire_api,
            appends=wire.appends,
            appends_v1=wire.appends.startswith("/v1/"),
            context_window=Unknown("Droid's documentation names no setting for the window of a custom model"),
            settings=places.settings(at(file, *table, "provider"), places.key("sessionDefaultSettings", "model")),
            output_limit=places.setting(at(file, *table, names.limit)),
            label=str(label)[:60] if several else "",
            writable=(
                writable("key", file.path, *table, names.key),
                writable("max_output", file.path, *table, names.limit, kind="number"),
            ),
        ),
    )


def _keys(places: Places, file: DataFile, names: Names, table: tuple[Key, ...]) -> list[Found]:
    """The key; one that is missing is empty, because Droid wants some text there."""
    if isinstance(file.get(*table, "apiKeyHelper"), str):
        return [Found("apiKeyHelper", "$(apiKeyHelper)", file.path, file.line(*table, "apiKeyHelper"))]
    missing = Found(".".join(map(str, (*table, names.key))), "", file.path, file.line(*table))
    found = at(file, *table, names.key) or [missing]
    return places.resolved(found, _REFERENCE) if names.expands else found
