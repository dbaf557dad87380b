"""Where URLs stand in a line, and what they consist of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from doctor.facts.urls import is_local, is_loopback

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_LINE = 600
"""Characters of a line that are looked at."""
_ENDS = r"\s\"'`,;<>(){}|\\"
_WHOLE = re.compile(rf"https?://[^{_ENDS}]{{1,300}}", re.IGNORECASE)
_BARE = re.compile(rf"(?<![\w./:@-])(?:localhost|\d{{1,3}}(?:\.\d{{1,3}}){{3}}):\d{{2,5}}(?:/[^{_ENDS}]{{0,200}})?")
# A host that means the machine under a container, and names a text puts for one of this network.
_NEAR = ("host.docker.internal", "host.containers.internal", "gateway.docker.internal")


class Found(NamedTuple):
    """A URL in a line: `scheme` is "" where none is written, `path` without a slash at its end."""

    start: int
    url: str
    scheme: str
    host: str
    port: int | None
    path: str

    @property
    def local(self) -> bool:
        """Whether it leads to this machine or into a private network."""
        return self.host in _NEAR or ("." not in self.host and ":" not in self.host) or is_local(self.url)

    @property
    def loopback(self) -> bool:
        """Whether it leads to this machine."""
        return is_loopback(self.host)


def urls_in(line: str) -> Iterator[Found]:
    """The URLs of a line, in order; addresses without a scheme only where they have a port."""
    line = line[:LONGEST_LINE]
    whole = list(_WHOLE.finditer(line))
    taken = [found.span() for found in whole]
    bare = [found for found in _BARE.finditer(line) if not any(a <= found.start() < b for a, b in taken)]
    for match in sorted((*whole, *bare), key=lambda found: found.start()):
        found = _parts(match.start(), match[0].rstrip(".:]?!*"))
        if found is not None:
            yield found


def _parts(start: int, url: str) -> Found | None:
    scheme, mark, _ = url.partition("://")
    try:
        split = urlsplit(url if mark else f"http://{url}")
        host, port = split.hostname or "", split.port
    except ValueError:  # no port number, a bracket without its partner
        return None
    if not host:
        return None
    return Found(start, url, scheme.lower() if mark else "", host, port, split.path.rstrip("/"))
