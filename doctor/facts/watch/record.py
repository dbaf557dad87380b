"""What a watch amounts to: the numbers that rules look at, and a series of points to draw."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact


@dataclass(frozen=True)
class WatchCard:
    """One card while the server worked (over the whole watch where it is not known when that was): means, and what was
    most. The shares (0 to 1) say how much of that time NVML named a reason for lower clocks: `power_share`
    (sw-power-cap), `thermal_share` (sw- or hw-thermal-slowdown), `hardware_share` (hw-slowdown, hw-power-brake).
    `pcie_share` is the traffic of the busier direction over what the link can carry.
    """

    index: int
    name: Fact[str]
    sm_percent: Fact[float]
    memory_percent: Fact[float]
    power_watts: Fact[float]
    power_limit_watts: Fact[float]
    clock_sm_mhz: Fact[float]
    clock_sm_max_mhz: Fact[int]
    temperature_most_c: Fact[int]
    power_share: Fact[float]
    thermal_share: Fact[float]
    hardware_share: Fact[float]
    memory_used_most_bytes: Fact[int]
    memory_total_bytes: Fact[int]
    pcie_in_per_second: Fact[float]
    pcie_out_per_second: Fact[float]
    pcie_share: Fact[float]


@dataclass(frozen=True)
class WatchPoint:
    """A moment of a watch, or the mean of a few: the busiest card, all cards' power, the server's speed."""

    at_seconds: float
    sm_percent: float | None = None
    memory_percent: float | None = None
    power_watts: float | None = None
    decode_per_second: float | None = None
    ram_available_bytes: float | None = None
    server_cores: float | None = None
    others_cores: float | None = None


@dataclass(frozen=True)
class Watch:
    """`seconds` is how long was watched, `busy_seconds` how much of it the server had work (Unknown where nothing tells).

    `cards_state` as Gpu.state, `cards_lost` how often the driver went away meanwhile. `sm_percent` and `memory_percent`
    are those of the busiest card while the server worked; `idle_sm_percent` while it had nothing to do. `server_state`
    is the last one, `server_answered` how often it gave an answer that says something (that it is loading, too),
    `server_trouble` what was wrong with the last answer that had a fault, "/path: why"; `server_restarts` how often it came
    back or began its counters anew. `slots_busy_mean` is over the time in which any was. `requests` is how many ended (by
    the log). Speeds in tokens per second: from /metrics where it is on, else the log, else the slots' counters.
    `prompt_seconds` and `decode_seconds` are the time that requests spent on each, `prompt_share` the first over both.
    `prompt_tokens_per_request`: tokens that had to be processed, without those from the cache. `server_cores` is how
    many cores the server kept busy while it worked, of `cores`, `others_cores` all other programs; `busy_threads` how
    many threads of the server were at work (the middle of what was seen), `waited_share` the part of the time (0 to 1) in
    which they wanted a processor and had none, for whatever reason (Linux). Rates in bytes or events a second, while it
    worked. Of the server's control group, while it worked, from 0 to 1: `throttled_share`, CPU periods in which it had
    used up its quota; `held_back_share`, processor time that it wanted and did not get for that; `stalled_share`, time in
    which something waited for memory or the disk. `refaults_per_second`: pages of files thrown out of memory and read again.
    """

    seconds: Fact[float]
    samples: Fact[int]
    busy_seconds: Fact[float]
    cards_state: Fact[str]
    cards_lost: Fact[int]
    cards: Fact[tuple[WatchCard, ...]]
    sm_percent: Fact[float]
    memory_percent: Fact[float]
    idle_sm_percent: Fact[float]
    server_state: Fact[str]
    server_restarts: Fact[int]
    server_answered: Fact[int]
    server_trouble: Fact[str]
    slots: Fact[int]
    slots_busy_most: Fact[int]
    slots_busy_mean: Fact[float]
    waiting_most: Fact[int]
    requests: Fact[int]
    decode_per_second: Fact[float]
    prompt_per_second: Fact[float]
    decode_seconds: Fact[float]
    prompt_seconds: Fact[float]
    prompt_share: Fact[float]
    prompt_tokens_per_request: Fact[float]
    cpu_percent: Fact[float]
    cores: Fact[int]
    server_cores: Fact[float]
    ram_total_bytes: Fact[int]
    ram_available_least_bytes: Fact[int]
    swap_used_most_bytes: Fact[int]
    swap_in_per_second: Fact[float]
    swap_out_per_second: Fact[float]
    major_faults_per_second: Fact[float]
    read_bytes_per_second: Fact[float]
    throttled_share: Fact[float]
    others_cores: Fact[float]
    busy_threads: Fact[int]
    waited_share: Fact[float]
    held_back_share: Fact[float]
    refaults_per_second: Fact[float]
    stalled_share: Fact[float]
    series: Fact[tuple[WatchPoint, ...]]
