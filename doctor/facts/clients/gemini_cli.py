"""Gemini CLI: it can be pointed elsewhere, but only at what speaks Google's protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import Configured, Kind, client
from doctor.facts.clients.env_file import read_env
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Places
from doctor.facts.clients.program import Program, separators

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Measured with 0.61.0: base URL, key, header, path. llama-server answers 404 to that path.
KIND = Kind(
    id="gemini-cli",
    name="Gemini CLI",
    program=Program(("gemini",), "@google/gemini-cli"),
    wire_api="google-genai",
    proxies=("http", "https"),
    default_base="https://generativelanguage.googleapis.com",
)
SYSTEM = {
    "win32": "C:\\ProgramData\\gemini-cli\\settings.json",
    "darwin": "/Library/Application Support/GeminiCli/settings.json",
}


def collect(outside: Outside, vault: Vault) -> Client:
    """Gemini CLI as it would run in the current folder."""
    join = separators(outside).join
    user, project = join(outside.home(), ".gemini"), join(outside.folder(), ".gemini")
    paths = [
        SYSTEM.get(outside.platform, "/etc/gemini-cli/settings.json"),
        join(project, "settings.json"),
        join(user, "settings.json"),
    ]
    envs = [join(project, ".env"), join(outside.folder(), ".env"), join(user, ".env"), join(outside.home(), ".env")]
    env = next((file for file in (read_env(outside, path) for path in dict.fromkeys(envs)) if file.found), None)
    files = [read_json(outside, path, comments=True) for path in dict.fromkeys(paths)]
    places = Places(outside, vault, files, [env] if env else [])
    return client(
        places,
        KIND,
        Configured(
            base=places.setting(places.variable("GOOGLE_GEMINI_BASE_URL")),
            credentials=places.credential("x-goog-api-key", places.variable("GEMINI_API_KEY", "GOOGLE_API_KEY")),
            model=places.setting(places.variable("GEMINI_MODEL"), places.key("model", "name")),
            settings=places.settings(places.key("security", "auth", "selectedType")),
        ),
    )
