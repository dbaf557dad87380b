"""The ports of a container that lead out of it, and the neighbours that look for its server at the wrong address."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doctor.launch.words import Word

_PORT = re.compile(
    r"(?:(?P<address>\[[0-9A-Fa-f:.]{2,45}\]|[\w.-]{1,100}):)?(?P<host>\d{1,5}):(?P<inside>\d{1,5})(?:/tcp)?"
)
_LOOPBACK_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0):(?P<port>\d{1,5})(?P<path>/[^\s,;'\"]*)?"
)
_FOR_A_MODEL = re.compile(r"OPENAI|OLLAMA|LLM|LLAMA|ANTHROPIC|MODEL|EMBED|COMPLETION|CHAT|INFERENCE|API_BASE")
_ADDRESS = re.compile(r"URL|URI|BASE|HOST|ENDPOINT|SERVER")
_FOR_A_BROWSER = re.compile(r"PUBLIC|WEBUI_URL|ORIGIN|CORS|REDIRECT|CALLBACK|FRONTEND")
EVERYWHERE = "0.0.0.0"
HOST_NETWORK = "host"


class Published(NamedTuple):
    """A port of the container (`inside`) that leads to `host`, a port of this machine, at `address`.

    `address`: that of the mapping, 0.0.0.0 where it names none; "host" where the container has the machine's own network,
    nothing is published and the server's --host decides.
    """

    host: int
    inside: int
    address: str = EVERYWHERE
    line: int = 0
    file: str = ""


class Neighbour(NamedTuple):
    """Where another service of the same file looks for a model server: a variable, its URL, and where it is set."""

    service: str
    variable: str
    url: str
    line: int
    file: str


def published(word: Word) -> Published | None:
    """A mapping as `docker -p` and the ports of compose have it; None for one without a fixed port of this machine."""
    found = _PORT.fullmatch(word.text)
    if found is None:
        return None
    address = (found["address"] or EVERYWHERE).strip("[]")
    return Published(int(found["host"]), int(found["inside"]), address, word.line, word.file)


def looked_for(service: str, variable: str, value: str, line: int, file: str) -> Iterator[Neighbour]:
    """The addresses on its own loopback where a service expects a model server; what a browser is told is not among them."""
    name = variable.upper()
    if _FOR_A_MODEL.search(name) and _ADDRESS.search(name) and not _FOR_A_BROWSER.search(name):
        for found in _LOOPBACK_URL.finditer(value[:2000]):
            yield Neighbour(service, variable, found.group(0), line, file)


def meant_for(
    neighbours: Sequence[Neighbour], ports: Sequence[Published], inside: int, name: str | None
) -> Iterator[tuple[Neighbour, str]]:
    """The neighbours that mean the server of service `name`, by the port they look for, and the address that leads to it."""
    own = {inside} | {port.host for port in ports if port.inside == inside}
    host_network = any(port.address == HOST_NETWORK for port in ports)
    host = "host.docker.internal" if host_network else name
    for item in neighbours:
        found = _LOOPBACK_URL.fullmatch(item.url)
        if found and host and int(found["port"]) in own:
            yield item, f"{found['scheme']}://{host}:{inside}{found['path'] or ''}"
