"""The computer and the server's process, asked again and again: what psutil and /proc say, as rates. Nothing is raised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.facts.watch.sample import HostSample
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.outside import Outside

AGAIN = 10.0
"""Seconds until a server's process that is not there is looked for again: looking through all processes is dear."""
_GROUP_ROOTS = ("/sys/fs/cgroup", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu")


class Host:
    """This computer. `find` gives the number of the server's process, None when there is none."""

    def __init__(self, outside: Outside, find: Callable[[], int | None]) -> None:
        self._outside = outside
        self._find = find
        self._process: Any = None
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
        own = self._own(seconds) if pid is not None else {}
        if self._process is None:
            pid = None
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
            self._process = self._psutil.Process(pid) if pid is not None else None
            return pid if self._process is not None else None
        except Exception:
            self._forget()
            return None

    def _forget(self) -> None:
        self._process = None
        for name in ("server-cpu", "faults", "read", "periods", "throttled"):
            self._before.pop(name, None)

    def _own(self, seconds: float) -> dict[str, Any]:
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
            found["throttled"] = self._throttled()
        return found

    def _faults(self, seconds: float) -> float | None:
        """Pages of the server that had to be fetched from disk."""
        try:
            text = self._outside.read_text(f"/proc/{self._process.pid}/stat", 65536)
            return self._rate("faults", float(text.rpartition(")")[2].split()[9]), seconds)
        except (OutsideError, IndexError, ValueError):
            return None

    def _throttled(self) -> float | None:
        values = self._quota()
        if values is None:
            return None
        periods, held = self._change("periods", values[0]), self._change("throttled", values[1])
        return held / periods if periods and held is not None else None

    def _quota(self) -> tuple[float, float] | None:
        """Periods, and those in which the quota was used up, of the server's control group."""
        try:
            groups = self._outside.read_text(f"/proc/{self._process.pid}/cgroup", 65536)
        except OutsideError:
            return None
        for line in groups.splitlines()[:64]:
            _, _, rest = line.partition(":")
            controllers, _, path = rest.partition(":")
            if controllers and "cpu" not in controllers.split(","):
                continue
            for root in _GROUP_ROOTS[:1] if not controllers else _GROUP_ROOTS[1:]:
                found = self._stat(f"{root}{path.rstrip('/')}/cpu.stat")
                if found is not None:
                    return found
        return None

    def _stat(self, path: str) -> tuple[float, float] | None:
        try:
            words = self._outside.read_text(path, 65536).split()
            values = dict(zip(words[::2], words[1::2], strict=False))
            return float(values["nr_periods"]), float(values["nr_throttled"])
        except (OutsideError, KeyError, ValueError):
            return None

    def _change(self, name: str, value: float) -> float | None:
        before = self._before.get(name)
        self._before[name] = value
        return None if before is None or value < before else value - before

    def _rate(self, name: str, value: float, seconds: float) -> float | None:
        change = self._change(name, value)
        return None if change is None or seconds <= 0 else change / seconds
