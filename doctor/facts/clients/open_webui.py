"""Open WebUI as its environment sets it up. After its first start its database counts, which is not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import Configured, Kind, client
from doctor.facts.clients.env_file import read_env
from doctor.facts.clients.places import Found, Places
from doctor.facts.clients.program import Program, separators

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# docs.openwebui.com, env-configuration; not run.
KIND = Kind("open-webui", "Open WebUI", Program(("open-webui",)), "openai-chat")
SETTINGS = ("ENABLE_PERSISTENT_CONFIG", "AIOHTTP_CLIENT_TIMEOUT", "AIOHTTP_CLIENT_TIMEOUT_MODEL_LIST", "DEFAULT_MODELS")
MOST = 4


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """A record for every address of the list."""
    env = [read_env(outside, separators(outside).join(outside.folder(), ".env"))]
    places = Places(outside, vault, (), env)
    bases = _split(places.variable("OPENAI_API_BASE_URLS", "OPENAI_API_BASE_URL"))
    keys = _split(places.variable("OPENAI_API_KEYS", "OPENAI_API_KEY"))
    made = []
    for place, base in enumerate(bases[:MOST]):
        mine = Places(outside, vault, (), env)
        key = keys[place : place + 1]
        made.append(
            client(
                mine,
                KIND,
                Configured(
                    base=mine.setting([base]),
                    credentials=mine.credential("authorization", key) if key and key[0].value else (),
                    settings=mine.settings(*(mine.variable(name) for name in SETTINGS)),
                    label=str(place + 1) if len(bases) > 1 else "",
                ),
            )
        )
    return tuple(made) or (client(places, KIND),)


def _split(found: list[Found]) -> list[Found]:
    """The values of a list with ";" between them, of the variable that counts."""
    first = next((item for item in found if item.value.strip()), None)
    if first is None:
        return []
    return [first._replace(value=part.strip()) for part in first.value.split(";")]
