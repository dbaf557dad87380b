"""The table of mounted file systems of Linux (proc(5), /proc/self/mountinfo)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.outside import Outside

_LIMIT = 4 << 20
_ESCAPE = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """One mount: `device` is "8:1", `root` the folder of the file system that shows at `point`."""

    device: str
    root: str
    point: str
    filesystem: str
    source: str
    options: str


def read_mounts(outside: Outside) -> tuple[Mount, ...]:
    """All mounts, oldest first. Raises OutsideError."""
    found = []
    for line in outside.read_text("/proc/self/mountinfo", _LIMIT).splitlines():
        left, dash, right = line.partition(" - ")
        fields, rest = left.split(" "), right.split(" ")
        if dash and len(fields) >= 6 and len(rest) >= 2:
            options = ",".join((fields[5], *rest[2:3]))
            found.append(Mount(fields[2], *map(_plain, (fields[3], fields[4], rest[0], rest[1], options))))
    return tuple(found)


def mount_of(mounts: Sequence[Mount], path: str) -> Mount | None:
    """The mount an absolute path without links lies on: the deepest, and of those the newest."""
    best: Mount | None = None
    for mount in mounts:
        inside = path == mount.point or path.startswith(mount.point.rstrip("/") + "/")
        if inside and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    return best


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match.group(1), 8)), text)
