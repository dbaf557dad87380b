"""Roo Code: VS Code keeps its settings; only the file it imports at each start can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import WIRES, Configured, Kind, client
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Places, as_number, at
from doctor.facts.clients.program import Program
from doctor.facts.clients.record import writable
from doctor.facts.clients.vscode import user_settings
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# From its source (cb83656718: provider-settings.ts, package.json); not run.
KIND = Kind("roo-code", "Roo Code", Program(extensions=("rooveterinaryinc.roo-cline",)), "openai-chat")
IMPORT = "roo-cline.autoImportSettingsPath"
# Provider -> keys of base URL, API key and model.
PROVIDERS = {
    "openai": ("openAiBaseUrl", "openAiApiKey", "openAiModelId"),
    "anthropic": ("anthropicBaseUrl", "apiKey", "apiModelId"),
    "ollama": ("ollamaBaseUrl", "ollamaApiKey", "ollamaModelId"),
    "lmstudio": ("lmStudioBaseUrl", "", "lmStudioModelId"),
    "litellm": ("litellmBaseUrl", "litellmApiKey", "litellmModelId"),
}
WIRE_OF = {"anthropic": "anthropic-messages", "ollama": "ollama"}


def collect(outside: Outside, vault: Vault) -> Client:
    """The profile that the imported file makes the current one."""
    settings = user_settings(outside)
    imported = next((found for file in settings for found in at(file, IMPORT)), None)
    if imported is None:
        unseen = Unknown("its settings are kept by VS Code, which is not read")
        return client(Places(outside, vault), KIND, Configured(base=unseen))
    file = read_json(outside, outside.real_path(imported.value))
    return client(Places(outside, vault, [file]), KIND, _configured(Places(outside, vault, [file]), file, settings))


def _configured(places: Places, file: DataFile, settings: list[DataFile]) -> Configured:
    current = file.get("providerProfiles", "currentApiConfigName")
    table: tuple[Key, ...] = ("providerProfiles", "apiConfigs", current if isinstance(current, str) else "default")
    provider = str(file.get(*table, "apiProvider") or "")
    base, key, model = PROVIDERS.get(provider, ("", "", ""))
    wire = WIRE_OF.get(provider, KIND.wire_api)
    window = as_number(places.setting(at(file, *table, "openAiCustomModelInfo", "contextWindow")))
    return Configured(
        base=places.setting(at(file, *table, base)),
        credentials=places.credential(WIRES[wire].header, at(file, *table, key)),
        model=places.setting(at(file, *table, model)),
        wire_api=wire,
        appends="/v1/messages" if provider == "anthropic" else None,
        appends_v1=provider == "anthropic",
        context_window=window or Unknown("no context window is set for this model"),
        settings=places.settings(*(at(item, "roo-cline.apiRequestTimeout") for item in settings)),
        writable=(
            writable("context_window", file.path, *table, "openAiCustomModelInfo", "contextWindow", kind="number"),
        ),
    )
