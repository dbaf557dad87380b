"""NVIDIA cards as NVML reports them, and why NVML may have nothing to say."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact


@dataclass(frozen=True)
class GpuProcess:
    """A program that holds memory on a card. `kind`: compute or graphics."""

    pid: int
    name: Fact[str]
    memory_bytes: Fact[int]
    kind: str


@dataclass(frozen=True)
class GpuDevice:
    """One card. Memory in bytes, power in watts, clocks in MHz, temperature in °C.

    `compute_capability` is "8.6"; `sm` the same as an integer, 86. `clock_event_reasons` are NVML's names in
    lower-case with dashes: sw-power-cap, hw-slowdown, sw-thermal-slowdown, hw-thermal-slowdown, hw-power-brake, gpu-idle, ….
    `ecc_uncorrected` counts errors since the last boot.
    """

    index: int
    name: Fact[str]
    memory_total_bytes: Fact[int]
    memory_used_bytes: Fact[int]
    memory_free_bytes: Fact[int]
    processes: Fact[tuple[GpuProcess, ...]]
    compute_capability: Fact[str]
    sm: Fact[int]
    power_watts: Fact[float]
    power_limit_watts: Fact[float]
    power_limit_default_watts: Fact[float]
    temperature_c: Fact[int]
    clock_sm_mhz: Fact[int]
    clock_sm_max_mhz: Fact[int]
    clock_memory_mhz: Fact[int]
    clock_memory_max_mhz: Fact[int]
    clock_event_reasons: Fact[tuple[str, ...]]
    utilization_percent: Fact[int]
    pcie_generation: Fact[int]
    pcie_generation_max: Fact[int]
    pcie_width: Fact[int]
    pcie_width_max: Fact[int]
    ecc_enabled: Fact[bool]
    ecc_uncorrected: Fact[int]


@dataclass(frozen=True)
class Gpu:
    """What NVML answers.

    `state`: ok, no-library, driver-not-loaded, version-mismatch, no-permission, not-supported, no-device, lost, error.
    `detail` keeps NVML's own words. `hardware` says whether an NVIDIA display device is on the PCI bus, whatever NVML says.
    `cuda_version` is the newest CUDA the driver supports ("13.0"). Sums are over all cards, in bytes.
    """

    state: Fact[str]
    detail: Fact[str]
    hardware: Fact[bool]
    driver_version: Fact[str]
    cuda_version: Fact[str]
    devices: Fact[tuple[GpuDevice, ...]]
    memory_total_bytes: Fact[int]
    memory_free_bytes: Fact[int]
