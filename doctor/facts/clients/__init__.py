"""The coding agents that are looked at. A new one is a new module here and its name in `CLIENTS`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from doctor.facts.record import known

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

CLIENTS = ("claude_code",)
"""Modules of this package with `collect(outside, vault) -> Client`, in the order in which they are shown."""


def collect_all(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """Every client that is installed or configured here."""
    found = [importlib.import_module(f"{__name__}.{name}").collect(outside, vault) for name in CLIENTS]
    return tuple(client for client in found if is_in_use(client))


def is_in_use(client: Client) -> bool:
    """Whether there is any sign of a client: the program, a base URL, or something in its own files.

    A key in the environment is none: other programs read the same variables.
    """
    if known(client.installed) or known(client.base_url) or known(client.problems):
        return True
    places = [known(client.model), known(client.small_model), *(known(client.credentials) or ())]
    places += known(client.settings) or ()
    return any(place is not None and place.source != "environment" for place in places)
