"""One look at everything. Samples are plain values: None is what was not there or could not be asked at that moment."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.log import Timing
from doctor.facts.timeline.record import Turn


@dataclass(frozen=True)
class CardSample:
    """One card. Percentages are means over the time since the sample before (of the driver's own samples, where it has
    them). Bytes, watts, MHz, °C; PCIe in bytes a second over 20 ms, `pcie_link` what the link as it is now can carry.
    `reasons` are NVML's, as in GpuDevice.
    """

    index: int
    name: str | None = None
    sm_percent: float | None = None
    memory_percent: float | None = None
    power_watts: float | None = None
    power_limit_watts: float | None = None
    clock_sm_mhz: int | None = None
    clock_sm_max_mhz: int | None = None
    temperature_c: int | None = None
    reasons: tuple[str, ...] = ()
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    pcie_in_per_second: int | None = None
    pcie_out_per_second: int | None = None
    pcie_link_per_second: int | None = None


@dataclass(frozen=True)
class HostSample:
    """The computer, and the server's process where it is one of ours.

    `cpu_percent` is of all cores together; `server_cores` is how many cores the server kept busy, `others_cores` all other
    programs, `busy_threads` how many of its threads were at work, `waited` the part of the time (0 to 1) in which they wanted a
    processor and had none (both now and then only). Rates are per second. `throttled` is the part of the CPU
    periods (0 to 1) in which the server's control group had used up its quota, `held_back` the part of the processor time it
    wanted that it did not get for it. `refaults_per_second`: pages of files that were thrown out of memory and had to be read
    again. `stalled` is the part of the time (0 to 1) in which something waited for memory or the disk (of the server's group;
    where that does not tell, of the computer).
    """

    cpu_percent: float | None = None
    ram_total_bytes: int | None = None
    ram_available_bytes: int | None = None
    swap_used_bytes: int | None = None
    swap_in_per_second: float | None = None
    swap_out_per_second: float | None = None
    server_pid: int | None = None
    server_cores: float | None = None
    server_ram_bytes: int | None = None
    major_faults_per_second: float | None = None
    read_bytes_per_second: float | None = None
    throttled: float | None = None
    others_cores: float | None = None
    busy_threads: int | None = None
    waited: float | None = None
    held_back: float | None = None
    refaults_per_second: float | None = None
    stalled: float | None = None


@dataclass(frozen=True)
class ServerSample:
    """What the server answered. `state`: ok, loading, sleeping, unauthorised, refused, timeout, error.

    `busy` slots of `slots`, `waiting` requests without one. `decode_tokens` were generated since the sample before (by
    the slots' counters), `depth` is the longest context in use. From /metrics, since the sample before: tokens and the
    seconds they took, of requests (or prompts) that ended. `restarted`: its counters began anew. `trouble`: what was wrong with
    an answer, "/path: why".
    """

    state: str
    slots: int | None = None
    busy: int | None = None
    waiting: int | None = None
    decode_tokens: int | None = None
    depth: int | None = None
    done_prompt_tokens: float | None = None
    done_prompt_seconds: float | None = None
    done_decode_tokens: float | None = None
    done_decode_seconds: float | None = None
    restarted: bool = False
    trouble: str | None = None


@dataclass(frozen=True)
class Sample:
    """Everything at `at_seconds` after the start; `seconds` since the sample before.

    `cards_state` as Gpu.state. `server` is None where no server is watched. `timings` are the requests that the log has
    told of since, `turns` the same where it tells of slots; `log_state`: ok, missing, rotated (began anew), denied, None
    without a log.
    """

    at_seconds: float
    seconds: float
    cards_state: str
    cards: tuple[CardSample, ...]
    host: HostSample
    server: ServerSample | None = None
    timings: tuple[Timing, ...] = ()
    log_state: str | None = None
    turns: tuple[Turn, ...] | None = None


def working(sample: Sample) -> bool | None:
    """Whether the server had work at a sample; None where nothing tells."""
    server = sample.server
    if server is not None and server.busy is not None:  # a short request begins and ends between two looks
        return server.busy > 0 or bool(server.done_decode_tokens or server.done_prompt_tokens or sample.timings)
    if sample.timings:
        return True
    if server is not None and server.state in ("refused", "loading", "sleeping"):
        return False
    if sample.host.server_cores is not None:
        return sample.host.server_cores > 0.5
    loads = [card.sm_percent for card in sample.cards if card.sm_percent is not None]
    return max(loads) >= 10 if loads else None
