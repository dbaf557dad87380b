"""Server addresses as people write them: where to send a request, and whether a proxy would take it."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

# What gets pasted as a base URL although the client appends it itself; longest first.
_ENDPOINTS = (
    "/v1/chat/completions",
    "/v1/messages/count_tokens",
    "/v1/embeddings",
    "/v1/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1/models",
    "/v1/health",
    "/chat/completions",
    "/completion",
    "/responses",
    "/health",
    "/models",
    "/props",
    "/slots",
    "/v1",
)
_PORTS = {"http": 80, "https": 443}
# A server that listens on every address is asked on this machine; "0.0.0.0" is no address to connect to on Windows.
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}


class Address(NamedTuple):
    """Where a server is asked.

    `root` is what "/health" or "/v1/models" is appended to, with the API prefix and without credentials; `host` has no
    brackets. `problem` says why nothing can be asked there, "" when it can. `userinfo` is what stands before "@".
    """

    root: str
    scheme: str
    host: str
    port: int
    prefix: str
    userinfo: str
    problem: str


def listening_url(host: str, port: int, prefix: str) -> str:
    """Where a server is asked that listens at `host` ("" and "0.0.0.0": everywhere), on the machine it runs on."""
    host = _EVERYWHERE.get(host.strip("[]"), host) or "127.0.0.1"
    host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    prefix = prefix.strip("/")
    return f"http://{host}:{port}" + (f"/{prefix}" if prefix else "")


def parse_address(text: str) -> Address:
    """An address from a URL with or without scheme, trailing slash, /v1 or a whole endpoint."""
    text = text.strip().strip("\"'").strip()
    split = _split(text)
    if split is None:
        return _bad(text, "not a valid URL")
    try:
        port = split.port
    except ValueError:
        return _bad(text, "the port must be a number from 0 to 65535")
    if split.scheme not in _PORTS:
        return _bad(text, f"the scheme {split.scheme}:// is neither http:// nor https://")
    host = split.hostname or ""
    if not host or any(character.isspace() or ord(character) < 33 for character in host):
        return _bad(text, "there is no host name in it")
    host = _EVERYWHERE.get(host, host)
    prefix = _prefix(split.path)
    shown = f"[{host}]" if ":" in host else host
    place = f"{split.scheme}://{shown}" + ("" if port is None else f":{port}")
    userinfo = split.netloc.rpartition("@")[0]
    return Address(place + prefix, split.scheme, host, port or _PORTS[split.scheme], prefix, userinfo, "")


def _split(text: str) -> SplitResult | None:
    if "://" not in text:
        text = f"http://{text.lstrip('/')}"
    try:
        return urlsplit(text)
    except ValueError:
        return None


def _bad(text: str, problem: str) -> Address:
    return Address(text, "", "", 0, "", "", problem)


def _prefix(path: str) -> str:
    path = path.rstrip("/")
    for ending in _ENDPOINTS:
        # "/v1/v1" is pasted too: once an endpoint is off, a /v1 before it can follow.
        if path == ending or path.endswith(ending):
            return _prefix(path.removesuffix(ending))
    return path


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine."""
    host = host.strip("[]").lower().rstrip(".")
    if host == "localhost" or host.endswith(".localhost") or host in _EVERYWHERE:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_local(url: str) -> bool:
    """Whether a URL leads to this machine or into a private network."""
    host = parse_address(url).host
    try:
        return is_loopback(host) or ipaddress.ip_address(host).is_private
    except ValueError:
        return False


def same_server(url: str, base: str) -> bool:
    """Whether a request to `url` reaches the server at `base`: the same machine and port, below its path."""
    asked, server = _bare(url), _bare(base)
    return bool(asked.host) and asked[:2] == server[:2] and (asked.path + "/").startswith(server.path.rstrip("/") + "/")


class _Bare(NamedTuple):
    host: str
    port: int
    path: str


def _bare(url: str) -> _Bare:
    """Host, port and path; this machine has one name here."""
    address, split = parse_address(url), _split(url.strip())
    host = "localhost" if is_loopback(address.host) else address.host.lower()
    return _Bare(host, address.port, split.path if split is not None else "")


def spares(no_proxy: str, host: str, port: int) -> bool:
    """Whether a NO_PROXY value keeps requests to this host away from the proxy.

    Names match themselves and, with or without a leading dot, their sub-domains; "*" matches all; address ranges count.
    """
    host = host.lower()
    for entry in no_proxy.lower().replace(",", " ").split():
        name, _, number = entry.rpartition(":") if entry.count(":") == 1 else (entry, "", "")
        name = name.strip("[]").removeprefix("*").lstrip(".")
        if entry == "*" or ((name == host or (name and host.endswith("." + name))) and number in ("", str(port))):
            return True
        if "/" in entry and _in_range(host, entry):
            return True
    return False


def _in_range(host: str, network: str) -> bool:
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
