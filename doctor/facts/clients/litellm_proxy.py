"""LiteLLM's proxy: a server of its own in front of the models of its config.yaml."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.facts.clients.aider import PREFIXES
from doctor.facts.clients.assemble import WIRES, Configured, Kind, client, renamed
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.places import Places, at
from doctor.facts.clients.program import Program, separators
from doctor.facts.clients.yaml_file import read_yaml

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# docs.litellm.ai/docs/proxy/configs; the library 1.110.2 was run, the proxy was not.
KIND = Kind("litellm-proxy", "LiteLLM proxy", Program(("litellm",)), "openai-chat", proxies=("http", "https", "all"))
LISTENS = "http://127.0.0.1:4000"
FILES = ("litellm_config.yaml", "litellm-config.yaml", "litellm.yaml", "config.yaml")
"""Names people give it, in the current folder; the path is an argument of the proxy."""
MOST_MODELS = 8
_REFERENCE = re.compile(r"os\.environ/([A-Za-z_]\w*)")


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """A record for every model that has an address."""
    join = separators(outside).join
    named = outside.environ.get("CONFIG_FILE_PATH", "").strip()
    paths = ([named] if named else []) + [join(outside.folder(), name) for name in FILES]
    for path in paths:
        file = read_yaml(outside, path)
        # config.yaml is a name that many programs use.
        if file.items("model_list") or (file.problem and "litellm" in path.lower()):
            break
    else:
        return (client(Places(outside, vault), KIND),)
    models = [
        place
        for place, entry in file.items("model_list")
        if file.get("model_list", place, "litellm_params", "api_base")
    ]
    made = [_model(Places(outside, vault, [file]), file, place, len(models) > 1) for place in models[:MOST_MODELS]]
    return tuple(made) or (client(Places(outside, vault, [file]), KIND, Configured(listens=LISTENS)),)


def _model(places: Places, file: DataFile, place: Key, several: bool) -> Client:
    params: tuple[Key, ...] = ("model_list", place, "litellm_params")
    places.credential("authorization", at(file, "general_settings", "master_key"))  # hidden: the key of its own clients
    model = places.setting(at(file, *params, "model"))
    prefix = next((prefix for prefix in PREFIXES if model and model.value.startswith(prefix)), "")
    wire = PREFIXES.get(prefix, KIND.wire_api)
    return client(
        places,
        KIND,
        Configured(
            base=places.setting(places.resolved(at(file, *params, "api_base"), _REFERENCE)),
            credentials=places.credential(
                WIRES[wire].header, places.resolved(at(file, *params, "api_key"), _REFERENCE)
            ),
            model=renamed(model, model.value[len(prefix) :]) if model else None,
            wire_api=wire,
            appends="/v1/messages" if wire == "anthropic-messages" else None,
            appends_v1=wire == "anthropic-messages",
            settings=places.settings(at(file, "model_list", place, "model_name"), at(file, *params, "timeout")),
            timeout=places.setting(at(file, *params, "timeout")),
            listens=LISTENS,
            unusable=None if prefix or model is None or "/" in model.value else "model-prefix",
            label=str(file.get("model_list", place, "model_name"))[:60] if several else "",
        ),
    )
