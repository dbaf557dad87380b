"""The coding agents that are looked at. A new one is a new module here and its name in `CLIENTS`."""

from __future__ import annotations

import dataclasses
import importlib
from typing import TYPE_CHECKING

from doctor.facts.clients.env_file import PROFILES, PROFILES_WINDOWS
from doctor.facts.record import known
from doctor.facts.urls import is_loopback, parse_address

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

CLIENTS = (
    "claude_code",
    "codex",
    "opencode",
    "qwen_code",
    "cline",
    "continue_dev",
    "aider",
    "gemini_cli",
    "roo_code",
    "kilo_code",
    "zed",
    "crush",
    "goose",
    "droid",
    "pi_agent",
    "openhands",
    "copilot_cli",
    "deerflow",
    "open_webui",
    "librechat",
    "anything_llm",
    "claude_code_router",
    "litellm_proxy",
    "openai_sdk",
    "anthropic_sdk",
    "gateway",
)
"""Modules of this package with `collect(outside, vault) -> Client` or several, in the order in which they are shown."""
SHARED = {
    "OPENAI_BASE_URL": ("openai-sdk",),
    "OPENAI_API_BASE": ("aider",),
    "ANTHROPIC_BASE_URL": ("claude-code", "anthropic-sdk"),
}
"""Variables that several programs read, and the client that is shown where there is no sign of any other: the first for a
variable of the environment, the last for one of a .env file."""
SHARED_PLACES = ("environment", ".env", *PROFILES, *PROFILES_WINDOWS)
"""How places end that every program reads."""
PORT_SECONDS = 0.3
MOST_PORTS = 8


def collect_all(outside: Outside, vault: Vault, named: str | None = None) -> tuple[Client, ...]:
    """Every client that is installed or configured here. One that is `named` (its id) needs no more than an address."""
    found: list[Client] = []
    for name in CLIENTS:
        made = importlib.import_module(f"{__name__}.{name}").collect(outside, vault)
        found += made if isinstance(made, tuple) else (made,)
    meant = (named or "").lower().replace("_", "-").replace(" ", "-")
    kept = [
        client for client in found if is_in_use(client) or (client.id == meant and known(client.base_url) is not None)
    ]
    return _with_ports(outside, kept)


def names_of(clients: Iterable[Client], wanted: str) -> set[str]:
    """Names of the clients that a user means by an id or a name."""
    return {client.name for client in clients if wanted.lower() in (client.id.lower(), client.name.lower())}


def unconfigured(outside: Outside, vault: Vault, client_id: str) -> Client | None:
    """The record of a client of which there need be no sign here; None when no client has this id."""
    for name in CLIENTS:
        made = importlib.import_module(f"{__name__}.{name}").collect(outside, vault)
        for client in made if isinstance(made, tuple) else (made,):
            if client.id == client_id:
                return client  # type: ignore[no-any-return]
    return None


def at_address(client: Client, url: str) -> Client:
    """The client as if its base URL were this one."""
    from doctor.facts.clients.assemble import request
    from doctor.facts.clients.record import Setting

    model = known(client.model)
    return dataclasses.replace(
        client,
        base_url=Setting("URL", url, "the address given", None),
        request_url=request(url, known(client.appends) or "", model.value if model else ""),
    )


def is_in_use(client: Client) -> bool:
    """Whether there is any sign of a client: the program, a base URL of its own, or something in its own files.

    A key in the environment is none: other programs read the same variables.
    """
    if known(client.installed) or known(client.problems):
        return True
    base = known(client.base_url)
    if base is not None:
        owners = SHARED.get(base.name, (client.id,))
        if client.id == (owners[0] if base.source == "environment" else owners[-1]):
            return True
    own = [known(client.model), known(client.small_model), *(known(client.credentials) or ())]
    own += known(client.settings) or ()
    own += known(client.overridden) or ()
    return any(place is not None and not place.source.endswith(SHARED_PLACES) for place in (base, *own))


def _with_ports(outside: Outside, clients: list[Client]) -> tuple[Client, ...]:
    """The clients with whether anything listens where they are pointed at: on this machine only."""
    is_open: dict[tuple[str, int], bool] = {}
    made = []
    for client in clients:
        address = parse_address(known(client.request_url) or "") if known(client.base_url) else None
        if address is not None and not address.problem and is_loopback(address.host):
            place = address.host, address.port
            if place not in is_open and len(is_open) < MOST_PORTS:
                is_open[place] = outside.port_open(*place, PORT_SECONDS)
            client = dataclasses.replace(client, port_open=is_open.get(place))
        made.append(client)
    return tuple(made)
