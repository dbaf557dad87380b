"""AnythingLLM: the .env file of its desktop program's storage, or of a copy of its repository."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.clients.assemble import WIRES, Configured, Kind, client
from doctor.facts.clients.env_file import read_env
from doctor.facts.clients.places import Places, as_number
from doctor.facts.clients.program import Program, separators
from doctor.facts.clients.record import writable

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# server/utils/AiProviders/genericOpenAi/index.js of github.com/Mintplex-Labs/anything-llm (01cf2fed1) and its .env.example;
# not run. Its chat brings no tools; its agents do.
KIND = Kind("anythingllm", "AnythingLLM", Program(), "openai-chat", tools=False)
ASSUMED_WINDOW = 4096
"""Tokens where no limit is set."""


class Provider(NamedTuple):
    """A value of LLM_PROVIDER: how its variables begin, and the wire."""

    prefix: str
    wire_api: str


PROVIDERS = {
    "generic-openai": Provider("GENERIC_OPEN_AI", "openai-chat"),
    "localai": Provider("LOCAL_AI", "openai-chat"),
    "ollama": Provider("OLLAMA", "ollama"),
}
DESKTOP = "anythingllm-desktop"


def collect(outside: Outside, vault: Vault) -> Client:
    """AnythingLLM with the first of its .env files that names a provider with an address."""
    join, here = separators(outside).join, outside.folder()
    desktop = join(_programs(outside), DESKTOP, "storage", ".env")
    paths = [desktop, join(here, "server", ".env"), join(here, "docker", ".env")]
    files = [read_env(outside, path) for path in paths]
    file = next((file for file in files if file.get("LLM_PROVIDER") in PROVIDERS), None)
    if file is None:
        return client(Places(outside, vault, [], [one for one in files if one.problem]), KIND)
    places = Places(outside, vault, [], [file])
    provider = PROVIDERS[str(file.get("LLM_PROVIDER"))]
    prefix = provider.prefix
    window = f"{prefix}_MODEL_TOKEN_LIMIT"
    return client(
        places,
        KIND,
        Configured(
            base=places.setting(places.variable(f"{prefix}_BASE_PATH")),
            credentials=places.credential(WIRES[provider.wire_api].header, places.variable(f"{prefix}_API_KEY")),
            model=places.setting(places.variable(f"{prefix}_MODEL_PREF")),
            wire_api=provider.wire_api,
            context_window=as_number(places.setting(places.variable(window))) or ASSUMED_WINDOW,
            settings=places.settings(places.variable("LLM_PROVIDER")),
            output_limit=places.setting(places.variable(f"{prefix}_MAX_TOKENS")),
            writable=(
                writable("context_window", file.path, window),
                writable("max_output", file.path, f"{prefix}_MAX_TOKENS"),
                writable("key", file.path, f"{prefix}_API_KEY"),
            ),
        ),
    )


def _programs(outside: Outside) -> str:
    """Where desktop programs keep their data."""
    join, home = separators(outside).join, outside.home()
    if outside.platform == "win32":
        return outside.environ.get("APPDATA", "").strip() or str(join(home, "AppData", "Roaming"))
    if outside.platform == "darwin":
        return str(join(home, "Library", "Application Support"))
    return outside.environ.get("XDG_CONFIG_HOME", "").strip() or str(join(home, ".config"))
