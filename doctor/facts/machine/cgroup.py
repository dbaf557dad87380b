"""The memory and CPU a container, service or session may use: cgroup v2 and v1 of Linux (cgroups(7))."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.attempt import attempt
from doctor.facts.machine.mounts import read_mounts
from doctor.facts.record import Unknown
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from collections.abc import Callable

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


def read_limits(outside: Outside) -> Limits:
    """The limits of this process. Never raises."""
    groups = attempt(lambda: _groups(outside))
    if isinstance(groups, Unknown):
        return Limits(groups, groups, groups)
    memory = attempt(lambda: _memory(outside, *groups("memory")))
    cpus = attempt(lambda: _cpus(outside, *groups("cpu")))
    if isinstance(memory, Unknown):
        return Limits(memory, memory, cpus)
    return Limits(*memory, cpus)


def _groups(outside: Outside) -> Callable[[str], tuple[int, list[str]]]:
    """A function from controller to cgroup version and the group's folders, deepest first."""
    mounts = read_mounts(outside)
    paths: dict[str, str] = {}
    for line in outside.read_text("/proc/self/cgroup", 1 << 20).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for controller in controllers.split(","):
            paths[controller] = path

    def folders(controller: str) -> tuple[int, list[str]]:
        for mount in mounts:
            if mount.filesystem == "cgroup" and controller in mount.options.split(",") and controller in paths:
                return 1, _way_up(mount, paths[controller])
        for mount in mounts:
            if mount.filesystem == "cgroup2" and "" in paths:
                return 2, _way_up(mount, paths[""])
        return 2, []

    return folders


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


def _cpus(outside: Outside, version: int, folders: list[str]) -> float | None:
    quotas = []
    for folder in folders:
        if version == 2:
            words = _read(outside, f"{folder}/cpu.max").split()
        else:
            words = [_read(outside, f"{folder}/cpu.cfs_{name}_us") for name in ("quota", "period")]
        if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]):
            quotas.append(int(words[0]) / int(words[1]))
    return min(quotas, default=None)


def _read(outside: Outside, path: str) -> str:
    """The text of a file, "" when the group has no such file (the root group has no limits). Raises OutsideError."""
    try:
        return outside.read_text(path, 1 << 20).strip()
    except OutsideError as error:
        if error.kind == "missing":
            return ""
        raise
