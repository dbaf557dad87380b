"""Programs that use OpenAI's SDK, as far as the environment points them somewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import Configured, Kind, client
from doctor.facts.clients.env_file import read_env
from doctor.facts.clients.places import Places
from doctor.facts.clients.program import Program, separators

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Measured with openai 3.57.0 (Python) and 6.49.0 (npm, which obeys no proxy variables). OPENAI_API_BASE is not read.
KIND = Kind(
    "openai-sdk",
    "OpenAI SDK",
    Program(),
    "openai-chat",
    proxies=("http", "https", "all"),
    default_base="https://api.openai.com/v1",
)


def collect(outside: Outside, vault: Vault) -> Client:
    """What a program without settings of its own would use. Many programs read a .env file first."""
    places = Places(outside, vault, (), [read_env(outside, separators(outside).join(outside.folder(), ".env"))])
    base = places.setting(places.variable("OPENAI_BASE_URL"))
    if base is None:
        places.loses(*places.variable("OPENAI_API_BASE"))
    return client(
        places,
        KIND,
        Configured(
            base=base,
            credentials=places.credential("authorization", places.variable("OPENAI_API_KEY")),
            model=places.setting(places.variable("OPENAI_MODEL")),
        ),
    )
