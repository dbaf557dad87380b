"""Where the server is, and which key it is asked with: named by the user, the launch command or a client's settings."""

from __future__ import annotations

import urllib.parse
from typing import TYPE_CHECKING, Any

from doctor.facts.record import Unknown, known
from doctor.facts.urls import listening_url

if TYPE_CHECKING:
    from doctor.facts.launch.record import Launch

DEFAULT_URL = "http://127.0.0.1:8080"
GIVEN, FROM_LAUNCH, DEFAULT = "the address given", "the launch command", "the default address"
"""Where the address of a server is known from, where that is no client's settings."""
_EVERYWHERE = frozenset({"0.0.0.0", "::", "[::]", ""})


def server_url(option: str | None, started: Launch | None, clients: tuple[Any, ...]) -> tuple[str, str]:
    """(address of the server, where that address comes from)."""
    if option:
        return option, GIVEN
    if started is not None and not (known(started.source) == "folder" and not _on_this_machine(started)):
        port = known(started.published_port) or known(started.port) or 8080
        return listening_url(known(started.host) or "", port, known(started.api_prefix) or ""), FROM_LAUNCH
    local = [client for client in clients if (base := known(client.base_url)) and is_loopback(base.value)]
    # A client whose server answers says more than one whose server may be long gone.
    for client in sorted(local, key=lambda client: known(client.port_open) is not True):
        return client.base_url.value, f"the settings of {client.name}"
    return DEFAULT_URL, DEFAULT


def _on_this_machine(started: Launch) -> bool:
    host = known(started.host) or ""
    return host in _EVERYWHERE or is_loopback(f"http://{host}")


def is_loopback(url: str) -> bool:
    """Whether an address is this very machine, by its name alone: only `localhost` and loopback numbers are."""
    import ipaddress

    try:
        host = urllib.parse.urlsplit(url if "://" in url else f"http://{url}").hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def key_token(named: str | None, url: str, started: Launch | None, clients: tuple[Any, ...]) -> str | None:
    """The key to try: the one named, else the launch command's (on this machine only), else the client's for this very address."""
    if named:
        return named
    if started is not None and is_loopback(url):
        token = known(started.api_key_token)
        if token:
            return token
    for client in clients:
        base = known(client.base_url)
        credentials = known(client.credentials)
        if base is not None and credentials and credentials[0].token and _origin(base.value) == _origin(url):
            return str(credentials[0].token)
    return None


def port_of(url: str | None) -> int | None:
    """The port of an address the user named."""
    try:
        return urllib.parse.urlsplit(url if "://" in url else f"http://{url}").port if url else None
    except ValueError:
        return None


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urllib.parse.urlsplit(url if "://" in url else f"http://{url}")
        return parts.scheme, parts.netloc.replace("localhost", "127.0.0.1")
    except ValueError:
        return "", url


def asked_for(server: Any, url: str, source: str, only_planned: bool) -> Any:
    """A server nobody asked about, or whose launch command is only being looked at, need not be there."""
    if isinstance(server, Unknown):
        return server
    if source == DEFAULT and known(server.state) not in ("ok", "loading", "unauthorised"):
        return Unknown(f"no llama-server is running, and none answers at {url}: name its address with --server URL")
    if source == FROM_LAUNCH and only_planned and known(server.state) == "refused":
        return Unknown(f"nothing answers at {url}: the launch command given is not running")
    return server
