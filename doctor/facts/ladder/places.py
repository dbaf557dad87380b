"""Where else the same port may be open when the address in use does not answer: other loopback, host of a container, WSL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.urls import is_loopback
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.facts.urls import Address
    from doctor.outside import Outside

LOOPBACKS = ("127.0.0.1", "::1")
CONTAINER_HOST = "host.docker.internal"
SECONDS = 0.5


def elsewhere(outside: Outside, address: Address) -> str:
    """A host on which this very port is open, "" when there is none."""
    for host in _candidates(outside, address.host):
        if host != address.host and outside.port_open(host, address.port, SECONDS):
            return host
    return ""


def _candidates(outside: Outside, host: str) -> list[str]:
    if is_loopback(host):
        # localhost is tried under all its addresses, so the others are only news for a number.
        other = [each for each in LOOPBACKS if host != "localhost"]
        inside = outside.exists("/.dockerenv") or outside.exists("/run/.containerenv")
        wsl = "microsoft" in outside.uname()[1].lower()
        gateway = _gateway(outside) if inside or wsl else ""
        named = [CONTAINER_HOST] if inside and outside.resolve(CONTAINER_HOST) else []
        return [*other, *named, *([gateway] if gateway else [])]
    return ["127.0.0.1"] if host in own_addresses(outside) else []


def own_addresses(outside: Outside) -> set[str]:
    """The addresses of this machine in its networks."""
    try:
        found = outside.psutil().net_if_addrs()
    except Exception:
        return set()
    return {str(entry.address).partition("%")[0] for entries in found.values() for entry in entries}


def _gateway(outside: Outside) -> str:
    """The default gateway: from a container the host that runs it, in WSL2 the Windows side. "" when unknown."""
    try:
        lines = outside.read_text("/proc/net/route", 1 << 16).splitlines()[1:]
    except OutsideError:
        return ""
    for line in lines:
        fields = line.split()
        if len(fields) > 2 and fields[1] == "00000000" and len(fields[2]) == 8:
            number = int(fields[2], 16)
            return ".".join(str(number >> shift & 255) for shift in (0, 8, 16, 24))
    return ""
