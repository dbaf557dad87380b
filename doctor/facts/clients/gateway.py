"""A gateway as variables name it: NAME_BASE_URL, NAME_API_KEY and NAME_MODEL, as TaoToken-like services tell to set.

Such services have one address for Anthropic's protocol (https://HOST/api) and one for OpenAI's (https://HOST/api/v1).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import Configured, Kind, client
from doctor.facts.clients.env_file import read_env
from doctor.facts.clients.places import Places
from doctor.facts.clients.program import Program, separators

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Third-party pages about such services; not run.
KIND = Kind("gateway", "Gateway", Program(), "openai-chat", proxies=("http", "https", "all"))
OTHERS = {
    "OPENAI",
    "ANTHROPIC",
    "GEMINI",
    "GOOGLE",
    "GOOGLE_GEMINI",
    "OLLAMA",
    "CODEX_OSS",
    "AZURE_OPENAI",
    "AIDER_OPENAI",
    "COPILOT_PROVIDER",
}
"""Prefixes that belong to clients with a module of their own."""
MOST = 4
_BASE = re.compile(r"([A-Z][A-Z0-9_]{0,60})_(?:BASE_URL|API_BASE)")


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """A record for every name that has both an address and a key."""
    env = [read_env(outside, separators(outside).join(outside.folder(), ".env"))]
    names = [match[1] for name in (*outside.environ, *env[0].data) if (match := _BASE.fullmatch(name))]
    made: list[Client] = []
    for name in dict.fromkeys(names):
        places = Places(outside, vault, (), env)
        keys = places.variable(f"{name}_API_KEY", f"{name}_AUTH_TOKEN")
        if name in OTHERS or not keys or len(made) >= MOST:
            continue
        base = places.setting(places.variable(f"{name}_BASE_URL", f"{name}_API_BASE"))
        found = Configured(
            base=base,
            credentials=places.credential("authorization", keys),
            model=places.setting(places.variable(f"{name}_MODEL", f"{name}_MODEL_NAME")),
            label=name.lower(),
        )
        made.append(client(places, KIND, found))
    return tuple(made)
