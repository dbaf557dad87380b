"""NVIDIA cards as NVML reports them, and why NVML may have nothing to say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.attempt import attempt
from doctor.facts.gpu.nvidia import Hardware, module_version, read_hardware
from doctor.facts.gpu.nvml import GPU_IS_LOST, STATES, Asker, Refusal
from doctor.facts.record import Fact, Unknown, field_types, value_or
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

_MAX_CARDS = 64
_MAX_PROCESSES = 256
_SM_CLOCK, _MEMORY_CLOCK = 1, 2
_GPU_SENSOR = 0
_UNCORRECTED, _SINCE_BOOT = 1, 0

_CLOCK_EVENTS = (
    (0x1, "gpu-idle"),
    (0x2, "applications-clocks-setting"),
    (0x4, "sw-power-cap"),
    (0x8, "hw-slowdown"),
    (0x10, "sync-boost"),
    (0x20, "sw-thermal-slowdown"),
    (0x40, "hw-thermal-slowdown"),
    (0x80, "hw-power-brake"),
    (0x100, "display-clock-setting"),
    (0x200, "board-limit"),
    (0x400, "reliability"),
)
"""nvmlClocksEventReason* (nvml.h of CUDA 13.0), the last two from nvmlClocksThrottleReason* of older drivers."""


@dataclass(frozen=True)
class GpuProcess:
    """A program that holds memory on a card; `name` without its folder. `kind`: compute or graphics."""

    pid: int
    name: Fact[str]
    memory_bytes: Fact[int]
    kind: str


@dataclass(frozen=True)
class GpuDevice:
    """One card. Memory in bytes, power in watts, clocks in MHz, temperature in °C.

    `compute_capability` is "8.6"; `sm` the same as an integer, 86. `clock_event_reasons` are NVML's names in lower-case
    with dashes: sw-power-cap, hw-slowdown, sw-thermal-slowdown, hw-thermal-slowdown, hw-power-brake, gpu-idle, ….
    `ecc_uncorrected` counts errors since the last boot; both ECC facts are None on a card without ECC.
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
    `detail` keeps NVML's own words. `hardware` says whether an NVIDIA display device is on the PCI bus (in WSL: whether
    Windows passes one on), whatever NVML says. `kernel_driver` is the Linux driver bound to it: nvidia, nouveau,
    vfio-pci, …, None when there is none. `driver_version` is that of the kernel module where NVML itself fails.
    `cuda_version` is the newest CUDA the driver supports ("13.0"). Sums are over all cards; None without a card.
    """

    state: Fact[str]
    detail: Fact[str]
    hardware: Fact[bool]
    kernel_driver: Fact[str]
    driver_version: Fact[str]
    cuda_version: Fact[str]
    devices: Fact[tuple[GpuDevice, ...]]
    memory_total_bytes: Fact[int]
    memory_free_bytes: Fact[int]


def collect(outside: Outside) -> Gpu:
    """What NVML says about this machine's cards. Never raises; may hang in a broken driver, so give it a deadline."""
    hardware = read_hardware(outside)
    try:
        nvml = outside.nvml()
    except OutsideError as error:
        reason = Unknown(str(error))
        return _nothing(reason, reason, hardware, module_version(outside))
    asker = Asker(nvml)
    try:
        asker.call("nvmlInit")
    except Refusal as refusal:
        return _refused(refusal, hardware, module_version(outside))
    try:
        return _all(asker, hardware)
    finally:
        asker.ask("nvmlShutdown")


def _all(asker: Asker, hardware: Hardware) -> Gpu:
    driver = asker.text("nvmlSystemGetDriverVersion")
    try:
        count = asker.call("nvmlDeviceGetCount")
        cards = [_card(asker, index) for index in range(min(int(count), _MAX_CARDS))]
    except Refusal as refusal:
        return _refused(refusal, hardware, driver)
    cuda = asker.number("nvmlSystemGetCudaDriverVersion_v2 nvmlSystemGetCudaDriverVersion")
    state, detail = _state(cards)
    return Gpu(
        state=state,
        detail=detail,
        hardware=True if cards else hardware.present,
        kernel_driver=hardware.driver,
        driver_version=driver,
        cuda_version=f"{cuda // 1000}.{cuda % 1000 // 10}" if isinstance(cuda, int) else cuda,
        devices=tuple(card.device for card in cards),
        memory_total_bytes=_total([card.device.memory_total_bytes for card in cards]),
        memory_free_bytes=_total([card.device.memory_free_bytes for card in cards]),
    )


class _Card(NamedTuple):
    """A card and the refusal that makes it useless, if there was one."""

    device: GpuDevice
    refusal: Refusal | None


def _state(cards: list[_Card]) -> tuple[str, str | None]:
    """The state of all cards together. A lost card stops programs; one that is barred does not while others work."""
    refusals = [card.refusal for card in cards if card.refusal]
    lost = [refusal for refusal in refusals if refusal.code == GPU_IS_LOST]
    worst = lost[0] if lost else refusals[0] if refusals and len(refusals) == len(cards) else None
    if worst:
        return STATES.get(worst.code, "error"), str(worst)
    return ("ok" if cards else "no-device"), (str(refusals[0]) if refusals else None)


def _refused(refusal: Refusal, hardware: Hardware, driver: Fact[str]) -> Gpu:
    return _nothing(STATES.get(refusal.code, "error"), str(refusal), hardware, driver)


def _nothing(state: Fact[str], detail: Fact[str], hardware: Hardware, driver: Fact[str]) -> Gpu:
    """No card could be asked. On a machine without an NVIDIA card that is an answer: there are none."""
    none_there = hardware.present is False
    reason = detail if isinstance(detail, Unknown) else Unknown(f"NVML: {detail}")
    return Gpu(
        state=state,
        detail=detail,
        hardware=hardware.present,
        kernel_driver=hardware.driver,
        driver_version=driver,
        cuda_version=None if none_there else reason,
        devices=() if none_there else reason,
        memory_total_bytes=None if none_there else reason,
        memory_free_bytes=None if none_there else reason,
    )


def _total(values: list[Fact[int]]) -> Fact[int]:
    unknown = next((value for value in values if isinstance(value, Unknown)), None)
    if unknown is not None or not values:
        return unknown
    return sum(value for value in values if isinstance(value, int))


# --- one card ---------------------------------------------------------------------------------------------------


def _card(asker: Asker, index: int) -> _Card:
    asker.refused.clear()
    try:
        handle = asker.call("nvmlDeviceGetHandleByIndex", index)
    except Refusal as refusal:
        unknown = Unknown(f"NVML: {refusal}")
        nothing = dict.fromkeys(field_types(GpuDevice), unknown)
        return _Card(GpuDevice(**{**nothing, "index": index}), refusal)  # type: ignore[arg-type]
    device = _device(asker, index, handle)
    lost = asker.refused.get(GPU_IS_LOST)
    return _Card(device, Refusal(GPU_IS_LOST, lost) if lost else None)


def _device(asker: Asker, index: int, handle: Any) -> GpuDevice:
    memory = asker.ask("nvmlDeviceGetMemoryInfo", handle)
    capability = asker.ask("nvmlDeviceGetCudaComputeCapability", handle)
    utilization = asker.ask("nvmlDeviceGetUtilizationRates", handle)
    ecc = asker.ask("nvmlDeviceGetEccMode", handle, absent=True)
    return GpuDevice(
        index=index,
        name=asker.text("nvmlDeviceGetName", handle),
        memory_total_bytes=_member(memory, lambda: int(memory.total)),
        memory_used_bytes=_member(memory, lambda: int(memory.used)),
        memory_free_bytes=_member(memory, lambda: int(memory.free)),
        processes=attempt(lambda: _processes(asker, handle)),
        compute_capability=_member(capability, lambda: f"{capability[0]}.{capability[1]}"),
        sm=_member(capability, lambda: int(capability[0]) * 10 + int(capability[1])),
        power_watts=_watts(asker.number("nvmlDeviceGetPowerUsage", handle)),
        power_limit_watts=_watts(asker.number("nvmlDeviceGetPowerManagementLimit", handle)),
        power_limit_default_watts=_watts(asker.number("nvmlDeviceGetPowerManagementDefaultLimit", handle)),
        temperature_c=asker.number("nvmlDeviceGetTemperatureV nvmlDeviceGetTemperature", handle, _GPU_SENSOR),
        clock_sm_mhz=asker.number("nvmlDeviceGetClockInfo", handle, _SM_CLOCK),
        clock_sm_max_mhz=asker.number("nvmlDeviceGetMaxClockInfo", handle, _SM_CLOCK),
        clock_memory_mhz=asker.number("nvmlDeviceGetClockInfo", handle, _MEMORY_CLOCK),
        clock_memory_max_mhz=asker.number("nvmlDeviceGetMaxClockInfo", handle, _MEMORY_CLOCK),
        clock_event_reasons=_clock_events(asker, handle),
        utilization_percent=_member(utilization, lambda: int(utilization.gpu)),
        pcie_generation=asker.number("nvmlDeviceGetCurrPcieLinkGeneration", handle),
        pcie_generation_max=asker.number("nvmlDeviceGetMaxPcieLinkGeneration", handle),
        pcie_width=asker.number("nvmlDeviceGetCurrPcieLinkWidth", handle),
        pcie_width_max=asker.number("nvmlDeviceGetMaxPcieLinkWidth", handle),
        ecc_enabled=_member(ecc, lambda: bool(ecc[0])),
        ecc_uncorrected=asker.number("nvmlDeviceGetTotalEccErrors", handle, _UNCORRECTED, _SINCE_BOOT, absent=True),
    )


def _member(answer: Any, take: Any) -> Any:
    """A part of an answer, or the reason why there is no answer."""
    return answer if answer is None or isinstance(answer, Unknown) else attempt(take)


def _watts(milliwatts: Fact[int]) -> Fact[float]:
    return milliwatts / 1000 if isinstance(milliwatts, int) else milliwatts


def _clock_events(asker: Asker, handle: Any) -> Fact[tuple[str, ...]]:
    names = "nvmlDeviceGetCurrentClocksEventReasons nvmlDeviceGetCurrentClocksThrottleReasons"
    bits = asker.number(names, handle)
    if not isinstance(bits, int):
        return bits
    return clock_events(bits)


def clock_events(bits: int) -> tuple[str, ...]:
    """Names of the reasons in NVML's bit mask."""
    return tuple(name for bit, name in _CLOCK_EVENTS if bits & bit)


def _processes(asker: Asker, handle: Any) -> Fact[tuple[GpuProcess, ...]]:
    """Programs on the card, biggest first; one that computes and draws is listed once, as compute."""
    found: dict[int, GpuProcess] = {}
    for kind in ("Compute", "Graphics"):
        stem = f"nvmlDeviceGet{kind}RunningProcesses"
        # With its number first: without one the binding hides that an old driver lacks the function.
        entries = asker.ask(f"{stem}_v3 {stem}_v2 {stem}", handle)
        if isinstance(entries, Unknown):
            if kind == "Compute":
                return entries
            continue
        for entry in entries[:_MAX_PROCESSES]:
            pid, memory = int(entry.pid), entry.usedGpuMemory
            if pid not in found:
                name = asker.text("nvmlSystemGetProcessName", pid)
                held = Unknown("the driver does not tell it for each program") if memory is None else int(memory)
                found[pid] = GpuProcess(
                    pid=pid,
                    name=name if isinstance(name, Unknown) else program_name(name),
                    memory_bytes=held,
                    kind=kind.lower(),
                )
    return tuple(sorted(found.values(), key=lambda item: (-value_or(item.memory_bytes, 0), item.pid)))


def program_name(command: str) -> str:
    """The bare program of a command line as NVML tells it: "/usr/bin/x --option", "C:\\a b\\x.exe"."""
    program = re.split(r"\s(?=-|/|[A-Za-z]:\\)", command, maxsplit=1)[0]
    return re.split(r"[\\/]", program.rstrip("\\/ "))[-1]
