"""Ladders of the clients found on this machine: the cheap rungs for `check`, all of them for `verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.ladder.climb import climb_ladder
from doctor.facts.ladder.target import of_client
from doctor.facts.record import known
from doctor.facts.server import record as servers
from doctor.facts.urls import is_loopback, parse_address

if TYPE_CHECKING:
    from collections.abc import Collection

    from doctor.facts.clients.record import Client
    from doctor.facts.ladder.record import Ladder
    from doctor.facts.ladder.target import Target
    from doctor.facts.server.record import Server
    from doctor.outside import Outside
    from doctor.secrets import Vault

MOST_CLIENTS = 8
"""Clients that are climbed for in one run."""


def local_ladders(
    outside: Outside,
    vault: Vault,
    clients: tuple[Client, ...],
    server: Server | None,
    *,
    named: Collection[str] = (),
    far: bool = False,
) -> tuple[Ladder, ...]:
    """The cheap rungs for every client that asks this machine; others are not asked about unasked.

    Asked about are those of these names, and with `far` all: their keys go along only to where they were meant for.
    """
    found = []
    asked = [server] if server is not None else []
    for client in clients[:MOST_CLIENTS]:
        target = of_client(client, vault, model=None, key=None, named=client.name in named)
        if target is None or not (far or target.named or is_loopback(parse_address(target.base).host)):
            continue
        there = next((one for one in asked if same_place(one.url, target.base)), None)
        if there is None:
            there = server_of(outside, vault, target)
            asked.append(there)
        same = server is not None and same_place(server.url, target.base)
        found.append(climb_ladder(outside, target, there, same_server=same, server_url=known_url(server)))
    return tuple(found)


def known_url(server: Server | None) -> str:
    """Where a llama.cpp server is known to answer, "" when none is."""
    if server is None or known(server.state) not in ("ok", "loading", "unauthorised"):
        return ""
    return server.url.rstrip("/")


def server_of(outside: Outside, vault: Vault, target: Target) -> Server:
    """The record of the server a target asks; its key is sent along to llama.cpp servers."""
    token = vault.put(target.keys[0].value.removeprefix("Bearer ")) if target.keys else None
    source = f"the settings of {target.name}" if target.client else target.source
    return servers.collect(outside, vault, url=target.base, url_source=source, key_token=token)


def same_place(one: str, other: str) -> bool:
    """Whether two URLs name the same host, port and prefix. localhost counts as 127.0.0.1."""
    first, second = parse_address(one), parse_address(other)
    hosts = [address.host.replace("localhost", "127.0.0.1") for address in (first, second)]
    return hosts[0] == hosts[1] and (first.scheme, first.port, first.prefix) == (
        second.scheme,
        second.port,
        second.prefix,
    )


def has_address(client: Client) -> bool:
    """Whether a client is pointed somewhere by its own settings."""
    return known(client.base_url) is not None
