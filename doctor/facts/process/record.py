"""The running server as the system sees it: threads, memory, and the limits of the control group it runs in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from doctor.facts.attempt import attempt
from doctor.facts.process.cgroup import Limits, read_limits
from doctor.facts.process.meter import Counters, GroupMeter
from doctor.facts.record import Fact, Unknown

if TYPE_CHECKING:
    from doctor.outside import Outside

_SERVERS = re.compile(r"llama|^server(?:\.exe)?$|^python", re.IGNORECASE)
"""Names of programs that serve. What else listens on the port of a server is a proxy (docker-proxy, ssh, rootlessport)."""


@dataclass(frozen=True)
class Process:
    """The server's own process and its own control group (a container, a service, a session): not those of this shell.

    `cpus_allowed` is how many logical processors it may run on (taskset, cpuset). `cpus` is the CPU quota of its group in
    cores, absent without one; `cpu_periods` those of the quota in which the group worked since it began, and
    `throttled_share` (0 to 1) the part of them in which the quota was used up. `memory_limit_bytes` is the tightest limit on
    the way up, absent without one; `memory_used_bytes` what the group that sets it uses without file cache that can be
    dropped. `ram_bytes` is what the process holds in RAM, mapped model files included; `swap_bytes` what of it is in swap.
    """

    pid: int
    threads: Fact[int]
    cpus_allowed: Fact[int]
    ram_bytes: Fact[int]
    swap_bytes: Fact[int]
    cpus: Fact[float]
    cpu_periods: Fact[int]
    throttled_share: Fact[float]
    memory_limit_bytes: Fact[int]
    memory_used_bytes: Fact[int]


def collect(outside: Outside, pid: int) -> Fact[Process]:
    """The facts of a process that runs here; absent when it has ended. Never raises."""
    psutil: Any = attempt(outside.psutil)
    if isinstance(psutil, Unknown):
        return psutil
    try:
        one = psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None
    except Exception as error:
        return Unknown(f"process {pid}: {error}")
    linux = outside.platform == "linux"
    limits = read_limits(outside, pid) if linux else Limits(None, None, None)
    counters = GroupMeter(outside, pid).read() if linux else Counters()
    periods, throttled = counters.periods, counters.throttled
    return Process(
        pid=pid,
        threads=attempt(one.num_threads),
        cpus_allowed=attempt(lambda: len(one.cpu_affinity())),
        ram_bytes=attempt(lambda: int(one.memory_info().rss)),
        swap_bytes=attempt(lambda: _swapped(outside, pid)) if linux else Unknown("only Linux tells"),
        cpus=limits.cpus,
        cpu_periods=int(periods) if periods is not None else None,
        throttled_share=round(throttled / periods, 4) if periods and throttled is not None else None,
        memory_limit_bytes=limits.memory_limit,
        memory_used_bytes=limits.memory_used,
    )


def pid_of_port(outside: Outside, port: int | None) -> int | None:
    """The server's process that listens on a port of this machine; None where there is none, or none that can be seen."""
    try:
        psutil = outside.psutil()
        for one in psutil.net_connections(kind="tcp") if port is not None else ():
            if one.status == "LISTEN" and one.laddr and one.laddr.port == port and one.pid:
                return int(one.pid) if _SERVERS.search(psutil.Process(one.pid).name()) else None
    except Exception:  # psutil's errors: not allowed, gone, not on this system
        return None
    return None


def _swapped(outside: Outside, pid: int) -> int | None:
    found = re.search(r"^VmSwap:\s+(\d{1,15}) kB", outside.read_text(f"/proc/{pid}/status", 1 << 16), re.MULTILINE)
    return int(found[1]) * 1024 if found else None
