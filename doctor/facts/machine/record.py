"""The computer: operating system, processor, memory, limits and the disk the model lies on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.attempt import attempt
from doctor.facts.machine.mounts import mount_of, read_mounts
from doctor.facts.machine.processor import read_processor
from doctor.facts.machine.volume import Volume, read_volume
from doctor.facts.process.cgroup import Limits, read_limits
from doctor.facts.record import Fact, Unknown
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

_SYSTEMS = {"linux": "linux", "darwin": "macos", "win32": "windows"}

_CONTAINER_FILES = (
    ("kubernetes", "/var/run/secrets/kubernetes.io"),
    ("podman", "/run/.containerenv"),
    ("docker", "/.dockerenv"),
)
_CONTAINER_GROUPS = (
    ("kubernetes", re.compile(r"/kubepods\b")),
    ("docker", re.compile(r"/docker[/-][0-9a-f]{12}")),
    ("podman", re.compile(r"/libpod-[0-9a-f]{12}")),
    ("lxc", re.compile(r"/lxc(?:\.payload)?[./]")),
)
"""Marks of containers: files the engine puts there, and names of cgroups it makes (Docker 27, Podman 5, LXC 6)."""


@dataclass(frozen=True)
class Machine:
    """Facts of the computer. Sizes in bytes, load in runnable tasks.

    `os`: linux, macos, windows. `container`: docker, podman, lxc, kubernetes, …, None outside one.
    `wsl`: 1 or 2 (also in a container on a WSL kernel), None elsewhere.
    `cores_performance` and `cores_efficiency` are physical cores, None on a processor with one kind of core.
    `cpu_features` are the lower-case flag names of Linux that matter to llama.cpp (avx, avx2, fma, f16c, avx512f,
    amx_tile, …), on every system. `cgroup_memory_used_bytes` is what the group that sets the limit uses, without file
    cache that can be dropped; None without a limit. `cgroup_cpus` is the CPU quota in cores. `memlock_limit_bytes` is
    None when there is no limit.
    """

    os: Fact[str]
    os_version: Fact[str]
    kernel: Fact[str]
    architecture: Fact[str]
    container: Fact[str]
    wsl: Fact[int]
    cpu_name: Fact[str]
    cores_physical: Fact[int]
    cores_logical: Fact[int]
    cores_performance: Fact[int]
    cores_efficiency: Fact[int]
    cpu_features: Fact[tuple[str, ...]]
    ram_total_bytes: Fact[int]
    ram_available_bytes: Fact[int]
    swap_total_bytes: Fact[int]
    swap_used_bytes: Fact[int]
    cgroup_memory_limit_bytes: Fact[int]
    cgroup_memory_used_bytes: Fact[int]
    cgroup_cpus: Fact[float]
    memlock_limit_bytes: Fact[int]
    load_1m: Fact[float]
    model_volume: Fact[Volume]


class _Memory(NamedTuple):
    ram_total: Fact[int]
    ram_available: Fact[int]
    swap_total: Fact[int]
    swap_used: Fact[int]


def collect(outside: Outside, model_path: str | None) -> Machine:
    """The facts of this computer; `model_path` names the model whose disk is looked at. Never raises."""
    linux = outside.platform == "linux"
    volume: Fact[Volume] = Unknown("no model path is known")
    names = attempt(outside.uname)
    kernel, architecture = (names, names) if isinstance(names, Unknown) else (names[1], names[2])
    wsl = attempt(lambda: _wsl(outside, kernel)) if linux else None
    if model_path:
        volume = read_volume(outside, model_path, wsl=isinstance(wsl, int))
    processor = read_processor(outside)
    memory = attempt(lambda: _linux_memory(outside) if linux else _psutil_memory(outside))
    if isinstance(memory, Unknown):
        memory = _Memory(memory, memory, memory, memory)
    limits = read_limits(outside) if linux else Limits(None, None, None)
    return Machine(
        os=_SYSTEMS.get(outside.platform, outside.platform),
        os_version=attempt(lambda: _os_version(outside)),
        kernel=kernel,
        architecture=architecture,
        container=attempt(lambda: _container(outside)) if linux else None,
        wsl=wsl,
        cpu_name=processor.name,
        cores_physical=processor.physical,
        cores_logical=processor.logical,
        cores_performance=processor.performance,
        cores_efficiency=processor.efficiency,
        cpu_features=processor.features,
        ram_total_bytes=memory.ram_total,
        ram_available_bytes=memory.ram_available,
        swap_total_bytes=memory.swap_total,
        swap_used_bytes=memory.swap_used,
        cgroup_memory_limit_bytes=limits.memory_limit,
        cgroup_memory_used_bytes=limits.memory_used,
        cgroup_cpus=limits.cpus,
        memlock_limit_bytes=attempt(lambda: _memlock(outside)),
        load_1m=attempt(outside.load_average),
        model_volume=volume,
    )


def _os_version(outside: Outside) -> str | None:
    if outside.platform != "linux":
        return outside.os_version() or None
    values = {}
    for line in outside.read_text("/etc/os-release", 1 << 16).splitlines():
        name, _, value = line.partition("=")
        values[name.strip()] = value.strip().strip("\"'")
    return values.get("PRETTY_NAME") or values.get("NAME")


def _wsl(outside: Outside, kernel: Fact[str]) -> int | None:
    """WSL's kernels name Microsoft: version 1 as "4.4.0-19041-Microsoft", 2 as "5.15.167.4-microsoft-standard-WSL2"."""
    release = kernel if isinstance(kernel, str) else ""
    if "microsoft" in release.lower():
        return 1 if release.startswith("4.4.0-") and release.endswith("-Microsoft") else 2
    # A kernel the user built has any name, but the graphics bridge and the interpreter for .exe are WSL's own.
    if outside.exists("/dev/dxg") or outside.exists("/proc/sys/fs/binfmt_misc/WSLInterop"):
        return 2
    return None


def _container(outside: Outside) -> str | None:
    if outside.environ.get("KUBERNETES_SERVICE_HOST"):
        return "kubernetes"
    for name, path in _CONTAINER_FILES:
        if outside.exists(path):
            return name
    named = (_text(outside, "/run/systemd/container") or outside.environ.get("container", "")).strip().lower()
    if re.fullmatch(r"[a-z][a-z0-9-]{1,30}", named) and named != "wsl":
        return named
    groups = _text(outside, "/proc/self/cgroup") + _text(outside, "/proc/1/cgroup")
    for name, pattern in _CONTAINER_GROUPS:
        if pattern.search(groups):
            return name
    mounts = read_mounts(outside)
    if any(mount.filesystem == "fuse.lxcfs" and mount.point.startswith("/proc/") for mount in mounts):
        return "lxc"
    root = mount_of(mounts, "/")
    if root and root.filesystem == "overlay" and "containerd" in root.options:
        return "containerd"
    return None


def _text(outside: Outside, path: str) -> str:
    try:
        return outside.read_text(path, 1 << 16)
    except OutsideError:
        return ""


def _linux_memory(outside: Outside) -> _Memory:
    values: dict[str, int] = {}
    for line in outside.read_text("/proc/meminfo", 1 << 16).splitlines():
        match = re.match(r"(\w+):\s+(\d{1,18}) kB", line)
        if match:
            values[match.group(1)] = int(match.group(2)) * 1024

    def entry(name: str) -> Fact[int]:
        return values.get(name, Unknown(f"/proc/meminfo has no {name}"))

    total, free = entry("SwapTotal"), entry("SwapFree")
    used = total - free if isinstance(total, int) and isinstance(free, int) else free
    return _Memory(entry("MemTotal"), entry("MemAvailable"), total, used)


def _psutil_memory(outside: Outside) -> _Memory:
    psutil: Any = outside.psutil()
    ram = attempt(psutil.virtual_memory)
    swap = attempt(psutil.swap_memory)
    return _Memory(
        *((ram, ram) if isinstance(ram, Unknown) else (int(ram.total), int(ram.available))),
        *((swap, swap) if isinstance(swap, Unknown) else (int(swap.total), int(swap.used))),
    )


def _memlock(outside: Outside) -> int | None:
    try:
        return outside.memlock_limit()
    except OutsideError as error:
        if error.kind == "missing":  # Windows has no such limit
            return None
        raise
