"""The computer and the server's process, asked again and again: what psutil and /proc say, as rates. Nothing is raised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.facts.process.meter import Counters, GroupMeter
from doctor.facts.process.threads import ThreadWatch
from doctor.facts.watch.sample import HostSample
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.outside import Outside

AGAIN = 10.0
"""Seconds until a server's process that is not there is looked for again: looking through all processes is dear."""
THREADS_EVERY = 4.0
"""Seconds between two looks at the threads: each of them has a file of its own."""


class Host:
    """This computer. `find` gives the number of the server's process, None when there is none."""

    def __init__(self, outside: Outside, find: Callable[[], int | None]) -> None:
        self._outside = outside
        self._find = find
        self._process: Any = None
        self._group: GroupMeter | None = None
        self._threads: ThreadWatch | None = None
        self._next_threads = 0.0
        self._next_look = 0.0
        self._before: dict[str, float] = {}
        try:
            self._psutil: Any = outside.psutil()
        except OutsideError:
            self._psutil = None

    def sample(self, now: float, seconds: float) -> HostSample:
        """The computer at the moment `now`, `seconds` after the sample before."""
        if self._psutil is None:
            return HostSample()
        try:
            ram, swap = self._psutil.virtual_memory(), self._psutil.swap_memory()
            times = self._psutil.cpu_times()
        except Exception:  # psutil's errors, and those of a /proc that is not all there
            return HostSample()
        idle = times.idle + getattr(times, "iowait", 0.0)
        # Guests run inside user and nice: counted once.
        total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
        spent, rested = self._change("cpu", total), self._change("idle", idle)
        pid = self._server(now)
        own = self._own(now, seconds) if pid is not None else {}
        if self._process is None:
            pid = None
        cores = own.get("server_cores")
        if cores is not None and spent and rested is not None and seconds > 0:
            own["others_cores"] = round(max(0.0, (spent - rested) / seconds - cores), 3)
        return HostSample(
            cpu_percent=None if not spent or rested is None else min(100.0, max(0.0, 100 * (1 - rested / spent))),
            ram_total_bytes=int(ram.total),
            ram_available_bytes=int(ram.available),
            swap_used_bytes=int(swap.used),
            swap_in_per_second=self._rate("swap-in", swap.sin, seconds),
            swap_out_per_second=self._rate("swap-out", swap.sout, seconds),
            server_pid=pid,
            **own,
        )

    def _server(self, now: float) -> int | None:
        """The number of the server's process, looked for when it is not known or has ended."""
        try:
            if self._process is not None and self._process.is_running():
                return int(self._process.pid)
            self._forget()
            if now < self._next_look:
                return None
            self._next_look = now + AGAIN
            pid = self._find()
            if pid is None:
                return None
            self._process = self._psutil.Process(pid)
            self._group = GroupMeter(self._outside, pid) if self._outside.platform == "linux" else None
            self._threads, self._next_threads = ThreadWatch(self._outside, pid), now + THREADS_EVERY
            return pid
        except Exception:
            self._forget()
            return None

    def _forget(self) -> None:
        self._process = self._group = self._threads = None
        for name in ("server-cpu", "faults", "read", *Counters._fields):
            self._before.pop(name, None)

    def _own(self, now: float, seconds: float) -> dict[str, Any]:
        try:
            times = self._process.cpu_times()
            held = int(self._process.memory_info().rss)
        except Exception:
            self._forget()
            return {}
        found: dict[str, Any] = {
            "server_cores": self._rate("server-cpu", times.user + times.system, seconds),
            "server_ram_bytes": held,
        }
        try:
            found["read_bytes_per_second"] = self._rate("read", self._process.io_counters().read_bytes, seconds)
        except Exception:  # another user's process, or a system that does not tell
            found["read_bytes_per_second"] = None
        if self._outside.platform == "linux":
            found["major_faults_per_second"] = self._faults(seconds)
        if self._threads is not None and now >= self._next_threads:
            self._next_threads = now + THREADS_EVERY
            found["busy_threads"], found["waited"] = self._threads.look()
        if self._group is not None:
            found |= self._of_group(self._group.read(), found["server_cores"], seconds)
        return found

    def _of_group(self, counters: Counters, cores: float | None, seconds: float) -> dict[str, Any]:
        """What the quota and the memory limit of the server's group did since the look before."""
        gone = {name: self._change(name, value) for name, value in counters._asdict().items() if value is not None}
        periods, throttled, held = gone.get("periods"), gone.get("throttled"), gone.get("held_seconds")
        refaults = gone.get("refaults")
        stalls = [time for name in ("memory_seconds", "disk_seconds") if (time := gone.get(name)) is not None]
        spent = None if cores is None or held is None else cores * seconds + held
        return {
            "throttled": throttled / periods if periods and throttled is not None else None,
            "held_back": round(held / spent, 4) if held is not None and spent else None,
            "refaults_per_second": refaults / seconds if refaults is not None and seconds > 0 else None,
            "stalled": round(min(1.0, max(stalls) / seconds), 4) if stalls and seconds > 0 else None,
        }

    def _faults(self, seconds: float) -> float | None:
        """Pages of the server that had to be fetched from disk."""
        try:
            text = self._outside.read_text(f"/proc/{self._process.pid}/stat", 65536)
            return self._rate("faults", float(text.rpartition(")")[2].split()[9]), seconds)
        except (OutsideError, IndexError, ValueError):
            return None

    def _change(self, name: str, value: float) -> float | None:
        before = self._before.get(name)
        self._before[name] = value
        return None if before is None or value < before else value - before

    def _rate(self, name: str, value: float, seconds: float) -> float | None:
        change = self._change(name, value)
        return None if change is None or seconds <= 0 else change / seconds
