"""Programs that use Anthropic's SDK, as far as the environment points them somewhere."""

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

# Measured with anthropic 2.14.0 (Python) and 1.14.0 (npm): both variables travel as Authorization, the key wins.
KIND = Kind(
    "anthropic-sdk",
    "Anthropic SDK",
    Program(),
    "anthropic-messages",
    proxies=("http", "https", "all"),
    default_base="https://api.anthropic.com",
)


def collect(outside: Outside, vault: Vault) -> Client:
    """What a program without settings of its own would use. Many programs read a .env file first."""
    places = Places(outside, vault, (), [read_env(outside, separators(outside).join(outside.folder(), ".env"))])
    return client(
        places,
        KIND,
        Configured(
            base=places.setting(places.variable("ANTHROPIC_BASE_URL")),
            credentials=places.credential(
                "authorization", places.variable("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
            ),
            model=places.setting(places.variable("ANTHROPIC_MODEL")),
            appends="/v1/messages",
            appends_v1=True,
        ),
    )
