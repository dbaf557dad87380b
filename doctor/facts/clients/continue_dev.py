"""Continue: the models of config.yaml (or the older config.json), each with a server of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import WIRES, Configured, Kind, client
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.env_file import read_env
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Places, as_number
from doctor.facts.clients.program import Program, separators
from doctor.facts.clients.record import writable
from doctor.facts.clients.yaml_file import read_yaml
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Measured with cn 1.5.47. The extension posts to {apiBase}/completion for the provider llama.cpp (source d0a3c0b626).
KIND = Kind(
    id="continue",
    name="Continue",
    program=Program(("cn",), "@continuedev/cli", ("continue.continue",)),
    wire_api="openai-chat",
    proxies=("http", "https"),
    first_request=1_743,
)
WIRE_OF = {"anthropic": "anthropic-messages", "ollama": "ollama", "gemini": "google-genai"}
MOST_MODELS = 8
_SECRET = re.compile(r"\$\{\{\s*(?:secrets|inputs)\.([A-Za-z_]\w*)\s*\}\}")
_WINDOWS = (("defaultCompletionOptions", "contextLength"), ("contextLength",))
_LIMITS = (("defaultCompletionOptions", "maxTokens"), ("completionOptions", "maxTokens"), ("requestOptions", "timeout"))


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """A record for every model that has an address; one without address where none has."""
    join = separators(outside).join
    folder = outside.environ.get("CONTINUE_GLOBAL_DIR", "").strip() or join(outside.home(), ".continue")
    file = read_yaml(outside, join(folder, "config.yaml"))
    if not file.found:
        file = read_json(outside, join(folder, "config.json"), comments=True)
    env = [read_env(outside, path) for path in (join(outside.folder(), ".env"), join(folder, ".env"))]
    models = [place for place, model in file.items("models") if model.get("apiBase")][:MOST_MODELS]
    made = [_model(Places(outside, vault, [file], env), file, place, len(models) > 1) for place in models]
    return tuple(made) or (client(Places(outside, vault, [file], env), KIND),)


def _window_at(file: DataFile, table: tuple[Key, ...]) -> tuple[Key, ...]:
    """Where the window stands, or belongs in this kind of file."""
    used = [path for path in _WINDOWS if file.get(*table, *path) is not None]
    return (used or [_WINDOWS[1] if file.path.endswith(".json") else _WINDOWS[0]])[0]


def _model(places: Places, file: DataFile, place: Key, several: bool) -> Client:
    table: tuple[Key, ...] = ("models", place)
    provider = str(file.get(*table, "provider") or "openai").strip()
    wire = WIRE_OF.get(provider, KIND.wire_api)
    window = as_number(places.setting(*(places.key(*table, *path) for path in _WINDOWS)))
    label = file.get(*table, "name") or file.get(*table, "title") or place
    return client(
        places,
        KIND,
        Configured(
            base=places.setting(places.resolved(places.key(*table, "apiBase"), _SECRET)),
            credentials=places.credential(WIRES[wire].header, places.resolved(places.key(*table, "apiKey"), _SECRET)),
            model=places.setting(places.key(*table, "model")),
            wire_api=wire,
            context_window=window or Unknown("no contextLength is set for this model"),
            settings=places.settings(places.key(*table, "provider"), *(places.key(*table, *path) for path in _LIMITS)),
            label=str(label)[:60] if several else "",
            writable=(
                writable("context_window", file.path, *table, *_window_at(file, table), kind="number"),
                writable("key", file.path, *table, "apiKey"),
            ),
        ),
    )
