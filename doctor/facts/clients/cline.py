"""Cline: the command line and newer releases of the VS Code extension keep their settings under ~/.cline/data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import WIRES, Configured, Kind, client
from doctor.facts.clients.data_file import Key
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Places, as_number, at
from doctor.facts.clients.program import Program, separators
from doctor.facts.clients.record import writable
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Measured with the command line 3.0.65.
KIND = Kind(
    id="cline",
    name="Cline CLI",
    program=Program(("cline",), "cline"),
    wire_api="openai-chat",
    proxies=("http", "https"),
    first_request=5_612,
)
# From its source (21cb8d2525: storage.md, state-keys.ts); not run.
EXTENSION = Kind("cline-vscode", "Cline (VS Code)", Program(extensions=("saoudrizwan.claude-dev",)), "openai-chat")
WIRE_OF = {"anthropic": "anthropic-messages", "openai-native": "openai-responses", "ollama": "ollama"}
# Variables of the command line that hold a key, by provider.
KEY_VARIABLES = {
    "openai": "OPENAI_API_KEY",
    "openai-compatible": "OPENAI_API_KEY",
    "openai-native": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
}
# The extension's providers: keys of base URL, model, window (globalState.json) and API key (secrets.json).
PROVIDERS: dict[str, tuple[str, str, str, str]] = {
    "openai": ("openAiBaseUrl", "ModeOpenAiModelId", "ModeOpenAiModelInfo", "openAiApiKey"),
    "anthropic": ("anthropicBaseUrl", "ModeApiModelId", "", "apiKey"),
    "ollama": ("ollamaBaseUrl", "ModeOllamaModelId", "", "ollamaApiKey"),
    "lmstudio": ("lmStudioBaseUrl", "ModeLmStudioModelId", "", ""),
    "litellm": ("liteLlmBaseUrl", "ModeLiteLlmModelId", "ModeLiteLlmModelInfo", "liteLlmApiKey"),
}


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """The command line and the extension."""
    join = separators(outside).join
    moved = outside.environ.get("CLINE_DATA_DIR", "").strip()
    folder = outside.environ.get("CLINE_DIR", "").strip() or join(outside.home(), ".cline")
    data = moved or join(folder, "data")
    return _command_line(outside, vault, data), _extension(outside, vault, data)


def _command_line(outside: Outside, vault: Vault, data: str) -> Client:
    join = separators(outside).join
    places = Places(outside, vault, [read_json(outside, join(data, "settings", "providers.json"))])
    chosen = places.first(places.key("lastUsedProvider"))
    provider = chosen.value.strip() if chosen else ""
    if not provider:
        return client(places, KIND)
    wire = WIRE_OF.get(provider, KIND.wire_api)
    table: tuple[Key, ...] = ("providers", provider, "settings")
    variable = KEY_VARIABLES.get(provider)
    return client(
        places,
        KIND,
        Configured(
            base=places.setting(places.key(*table, "baseUrl")),
            credentials=places.credential(
                WIRES[wire].header,
                places.key(*table, "apiKey"),
                places.variable(variable) if variable else [],
            ),
            model=places.setting(places.key(*table, "model")),
            wire_api=wire,
            settings=places.settings(places.key("lastUsedProvider"), places.key(*table, "timeout")),
            writable=(writable("key", places.files[0].path, *table, "apiKey"),),
        ),
    )


def _extension(outside: Outside, vault: Vault, data: str) -> Client:
    join = separators(outside).join
    state, secrets = read_json(outside, join(data, "globalState.json")), read_json(outside, join(data, "secrets.json"))
    places = Places(outside, vault, [state, secrets])
    chosen = places.first(at(state, "actModeApiProvider"), at(state, "planModeApiProvider"))
    names = PROVIDERS.get(chosen.value.strip() if chosen else "")
    if chosen is None or names is None:
        unseen = Unknown("its settings are kept by VS Code, which is not read")
        return client(places, EXTENSION, Configured(base=None if chosen else unseen))
    wire = WIRE_OF.get(chosen.value.strip(), EXTENSION.wire_api)
    base, model, info, key = names
    window = as_number(places.setting(at(state, f"act{info}", "contextWindow")))
    act = places.setting(at(state, f"act{model}"))
    plan = places.setting(at(state, f"plan{model}"))
    return client(
        places,
        EXTENSION,
        Configured(
            base=places.setting(at(state, base)),
            credentials=places.credential(WIRES[wire].header, at(secrets, key)) if key else (),
            model=act or plan,
            other_models=(plan,) if act and plan and plan.value != act.value else (),
            wire_api=wire,
            context_window=window or Unknown("no context window is set for this model"),
            settings=places.settings(at(state, "actModeApiProvider"), at(state, "requestTimeoutMs")),
            writable=(writable("context_window", state.path, f"act{info}", "contextWindow", kind="number"),)
            if info
            else (),
        ),
    )
