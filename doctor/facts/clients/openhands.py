"""OpenHands: agent_settings.json of its terminal program, settings.json of its web page, config.toml of older versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.clients.aider import PREFIXES
from doctor.facts.clients.assemble import WIRES, Configured, Kind, client, renamed
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Places, as_number
from doctor.facts.clients.program import Program, separators
from doctor.facts.clients.record import Setting, writable
from doctor.facts.clients.toml_file import read_toml
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Source of github.com/OpenHands/OpenHands-CLI (stores/agent_store.py, locations.py) and of github.com/OpenHands/OpenHands
# (config.template.toml, storage/data_models/settings.py 26e2720d8); requests are LiteLLM's,
# as aider's are; not run.
KIND = Kind("openhands", "OpenHands", Program(("openhands",)), "openai-chat", proxies=("http", "https", "all"))
WIRE_OF = {**PREFIXES, "ollama/": "ollama", "ollama_chat/": "ollama"}
"""What LiteLLM takes off the model id, and the wire it then speaks."""
KNOWN = ("gpt-", "claude-", "o1", "o3", "o4")
"""How model ids begin whose provider LiteLLM knows without a prefix."""
VARIABLES = ("LLM_BASE_URL", "LLM_API_KEY", "LLM_MODEL")
OF_OPENHANDS = ("core", "sandbox", "agent")
"""Tables that tell its config.toml from those of other programs."""


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """A record for each of its programs that is set up here."""
    join = separators(outside).join
    home = join(outside.home(), ".openhands")
    terminal = read_json(outside, join(home, "agent_settings.json"))
    page = read_json(outside, join(home, "settings.json"))
    older = read_toml(outside, join(outside.folder(), "config.toml"))
    made = []
    if terminal.found:
        made.append(_record(Places(outside, vault, [terminal]), terminal, ("llm",), "terminal"))
    if page.found:
        newer = isinstance(page.get("agent_settings", "llm"), dict)
        made.append(_record(Places(outside, vault, [page]), page, ("agent_settings", "llm") if newer else (), "web"))
    if isinstance(older.get("llm"), dict) and any(isinstance(older.get(name), dict) for name in OF_OPENHANDS):
        made.append(_record(Places(outside, vault, [older]), older, ("llm",), "config.toml"))
    return tuple(made) or (client(Places(outside, vault), KIND),)


def _record(places: Places, file: DataFile, table: tuple[Key, ...], label: str) -> Client:
    """One program. The variables beat config.toml; the terminal program reads them with --override-with-envs alone."""
    prefix = "" if table else "llm_"
    base_found, key_found, model_found = (places.variable(name) if label == "config.toml" else [] for name in VARIABLES)
    if label == "terminal":
        for name in VARIABLES:
            places.loses(*places.variable(name))
    base = places.setting(base_found, places.key(*table, f"{prefix}base_url"))
    credentials = places.credential("authorization", key_found, places.key(*table, f"{prefix}api_key"))
    model = places.setting(model_found, places.key(*table, f"{prefix}model"))
    wire = _wire(model)
    if wire == "anthropic-messages":
        credentials = places.credential("x-api-key", key_found, places.key(*table, f"{prefix}api_key"))
    appends = "/v1/messages" if wire == "anthropic-messages" else WIRES[wire].appends
    window = as_number(places.setting(places.key(*table, "max_input_tokens"))) if table else None
    return client(
        places,
        KIND,
        Configured(
            base=base,
            credentials=credentials,
            model=_sent(model),
            wire_api=wire,
            appends=appends,
            appends_v1=appends.startswith("/v1/"),
            context_window=window
            or Unknown("no max_input_tokens is set: LiteLLM takes the window from a table of names"),
            timeout=places.setting(places.key(*table, "timeout")) if table else None,
            output_limit=places.setting(places.key(*table, "max_output_tokens")) if table else None,
            unusable="model-prefix" if base is not None and _lacks_prefix(model) else None,
            label=label,
            writable=(
                writable("key", file.path, *table, f"{prefix}api_key"),
                *(
                    (
                        writable("context_window", file.path, *table, "max_input_tokens", kind="number"),
                        writable("max_output", file.path, *table, "max_output_tokens", kind="number"),
                    )
                    if table
                    else ()
                ),
            ),
        ),
    )


def _prefix(model: Setting | None) -> str:
    value = model.value.strip() if model is not None else ""
    return next((prefix for prefix in WIRE_OF if value.startswith(prefix)), "")


def _wire(model: Setting | None) -> str:
    return WIRE_OF.get(_prefix(model), KIND.wire_api)


def _sent(model: Setting | None) -> Setting | None:
    prefix = _prefix(model)
    return renamed(model, model.value.strip()[len(prefix) :]) if model is not None and prefix else model


def _lacks_prefix(model: Setting | None) -> bool:
    """Whether LiteLLM would know no provider: an id alone, or one whose first part is the name of an organisation."""
    value = model.value.strip() if model is not None else ""
    if not value or _prefix(model) or value.startswith(KNOWN):
        return False
    return "/" not in value or value.partition("/")[0] != value.partition("/")[0].lower()
