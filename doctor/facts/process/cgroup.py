"""The memory and CPU a container, service or session may use: cgroup v2 and v1 of Linux (cgroups(7)).

The group of a process is its own, not that of whoever looks: a server in a container has limits that this shell has not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.attempt import attempt
from doctor.facts.machine.mounts import read_mounts
from doctor.facts.record import Unknown
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.facts.machine.mounts import Mount
    from doctor.facts.record import Fact
    from doctor.outside import Outside

_DEPTH = 64
_UNLIMITED = 1 << 60
"""cgroup v1 says "no limit" with the largest number of whole pages, 2^63 - 4096."""


class _Files(NamedTuple):
    """What the files of one version are called."""

    limit: str
    used: str
    cache: str


_MEMORY = {
    2: _Files("memory.max", "memory.current", "inactive_file"),
    1: _Files("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


class Limits(NamedTuple):
    """The tightest limits on the way from the own group to the root; None where there is none.

    `memory_used` belongs to the group that sets the limit, less file cache that can be dropped (as `docker stats`).
    """

    memory_limit: Fact[int]
    memory_used: Fact[int]
    cpus: Fact[float]


class Groups(NamedTuple):
    """Where the groups of a process are: `mounts` of this system, `paths` by controller ("" is that of version 2)."""

    mounts: tuple[Mount, ...]
    paths: dict[str, str]

    def folders(self, controller: str) -> tuple[int, list[str]]:
        """Version of the hierarchy that has this controller, and the group's folders, deepest first."""
        for mount in self.mounts:
            if mount.filesystem == "cgroup" and controller in mount.options.split(",") and controller in self.paths:
                return 1, _way_up(mount, self.paths[controller])
        for mount in self.mounts:
            if mount.filesystem == "cgroup2" and "" in self.paths:
                return 2, _way_up(mount, self.paths[""])
        return 2, []


def groups_of(outside: Outside, process: int | str = "self") -> Groups:
    """The groups of a process, by its number; of this one without. Raises OutsideError."""
    paths: dict[str, str] = {}
    for line in outside.read_text(f"/proc/{process}/cgroup", 1 << 20).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for controller in controllers.split(","):
            paths[controller] = path
    return Groups(read_mounts(outside), paths)


def read_limits(outside: Outside, process: int | str = "self") -> Limits:
    """The limits of a process, by its number; of this one without. Never raises."""
    groups = attempt(lambda: groups_of(outside, process))
    if isinstance(groups, Unknown):
        return Limits(groups, groups, groups)
    memory = attempt(lambda: _memory(outside, *groups.folders("memory")))
    cpus = attempt(lambda: (tightest_quota(outside, *groups.folders("cpu")) or (None, ""))[0])
    if isinstance(memory, Unknown):
        return Limits(memory, memory, cpus)
    return Limits(*memory, cpus)


def _way_up(mount: Mount, path: str) -> list[str]:
    """The group's folder and those above it, as far as this mount shows them."""
    root = mount.root.rstrip("/")
    inside = path[len(root) :] if (path + "/").startswith(root + "/") else ""
    parts = [part for part in inside.split("/") if part][:_DEPTH]
    if ".." in parts:  # the group lies outside of what this namespace shows
        parts = []
    return ["/".join((mount.point.rstrip("/"), *parts[:depth])) for depth in range(len(parts), -1, -1)]


def _memory(outside: Outside, version: int, folders: list[str]) -> tuple[int | None, Fact[int]]:
    files = _MEMORY[version]
    limit, holder = None, ""
    for folder in folders:
        text = _read(outside, f"{folder}/{files.limit}")
        if text.isdigit() and int(text) < _UNLIMITED and (limit is None or int(text) < limit):
            limit, holder = int(text), folder
    return limit, None if limit is None else attempt(lambda: _used(outside, holder, files))


def _used(outside: Outside, folder: str, files: _Files) -> int:
    used = int(outside.read_text(f"{folder}/{files.used}", 4096))
    for line in _read(outside, f"{folder}/memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name == files.cache and value.strip().isdigit():
            return max(0, used - int(value))
    return used


def tightest_quota(outside: Outside, version: int, folders: list[str]) -> tuple[float, str] | None:
    """(the least CPUs that one of these groups allows, its folder); None where none has a quota. Raises OutsideError."""
    quotas = []
    for folder in folders:
        if version == 2:
            words = _read(outside, f"{folder}/cpu.max").split()
        else:
            words = [_read(outside, f"{folder}/cpu.cfs_{name}_us") for name in ("quota", "period")]
        if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]):
            quotas.append((int(words[0]) / int(words[1]), folder))
    return min(quotas, default=None)


def _read(outside: Outside, path: str) -> str:
    """The text of a file, "" when the group has no such file (the root group has no limits). Raises OutsideError."""
    try:
        return outside.read_text(path, 1 << 20).strip()
    except OutsideError as error:
        if error.kind == "missing":
            return ""
        raise
