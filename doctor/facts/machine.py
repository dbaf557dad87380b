"""The computer: operating system, processor, memory, limits and the disk the model lies on."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact


@dataclass(frozen=True)
class Volume:
    """The disk a path lies on. `kind`: ssd, hdd, network, memory, windows-mount (a Windows drive seen from WSL)."""

    path: str
    filesystem: Fact[str]
    kind: Fact[str]
    total_bytes: Fact[int]
    free_bytes: Fact[int]


@dataclass(frozen=True)
class Machine:
    """Facts of the computer. Sizes in bytes, load in runnable tasks.

    `os`: linux, macos, windows. `container`: docker, podman, lxc, kubernetes, … `wsl`: 1 or 2, None outside WSL.
    `cpu_features` are the lower-case flag names of the kernel that matter to llama.cpp (avx, avx2, fma, f16c, avx512f, amx_tile, …).
    `cgroup_cpus` is the CPU quota in cores. `memlock_limit_bytes` is None when there is no limit.
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
