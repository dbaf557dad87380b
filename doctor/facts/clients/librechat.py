"""LibreChat: the custom endpoints of librechat.yaml, each with a server, and variables of .env for what they name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import WIRES, Configured, Kind, client
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.env_file import read_env
from doctor.facts.clients.places import Places, as_number, at
from doctor.facts.clients.program import Program, separators
from doctor.facts.clients.record import writable
from doctor.facts.clients.yaml_file import read_yaml
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# www.librechat.ai/docs/configuration/librechat_yaml/object_structure/custom_endpoint; not run. It adds what the SDKs of OpenAI
# and Anthropic add.
KIND = Kind("librechat", "LibreChat", Program(), "openai-chat", tools=False)
LIST: tuple[Key, ...] = ("endpoints", "custom")
ASKED = "user_provided"
"""In place of a value that each of its users enters."""
MOST = 8
_REFERENCE = re.compile(r"\$\{([A-Za-z_]\w*)\}")


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """A record for every custom endpoint whose address stands in the file."""
    join = separators(outside).join
    file = read_yaml(
        outside, outside.environ.get("CONFIG_PATH", "").strip() or join(outside.folder(), "librechat.yaml")
    )
    env = [read_env(outside, join(outside.folder(), ".env"))]
    entries = [place for place, entry in file.items(*LIST) if entry.get("baseURL") not in (None, "", ASKED)][:MOST]
    made = [_endpoint(Places(outside, vault, [file], env), file, place, len(entries) > 1) for place in entries]
    named = "librechat" in file.path.lower()
    # CONFIG_PATH is a name that other programs use too.
    return tuple(made) or (client(Places(outside, vault, [file] if named else []), KIND),)


def _endpoint(places: Places, file: DataFile, place: Key, several: bool) -> Client:
    table = (*LIST, place)
    wire = "anthropic-messages" if file.get(*table, "provider") == "anthropic" else KIND.wire_api
    appends = "/v1/messages" if wire == "anthropic-messages" else WIRES[wire].appends
    if file.get(*table, "directEndpoint") is True:
        appends = ""
    model = places.setting(at(file, *table, "models", "default", 0), at(file, *table, "models", "default", 0, "name"))
    title = places.setting(at(file, *table, "titleModel"))
    window: tuple[Key, ...] = (*table, "tokenConfig", model.value if model else "", "context")
    keys = at(file, *table, "apiKey")
    asked = any(found.value == ASKED for found in keys)
    return client(
        places,
        KIND,
        Configured(
            base=places.setting(places.resolved(at(file, *table, "baseURL"), _REFERENCE)),
            credentials=Unknown("each user of LibreChat enters a key")
            if asked
            else places.credential(WIRES[wire].header, places.resolved(keys, _REFERENCE)),
            model=model,
            small_model=title if title is not None and title.value != "current_model" else None,
            wire_api=wire,
            appends=appends,
            appends_v1=appends.startswith("/v1/"),
            context_window=as_number(places.setting(at(file, *window)))
            or Unknown("no context is set for this model in tokenConfig"),
            output_limit=places.setting(at(file, *table, "addParams", "max_tokens")),
            settings=places.settings(at(file, *table, "directEndpoint"), at(file, *table, "models", "fetch")),
            label=str(file.get(*table, "name") or place)[:60] if several else "",
            writable=(writable("key", file.path, *table, "apiKey"),),
        ),
    )
