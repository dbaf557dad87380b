"""How many threads of the server are at work, told by the processor time of each. This machine only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

AT_WORK = 0.3
"""Of the processor time of the busiest thread, what another must have spent to count: they share the work evenly."""
LEAST_SECONDS = 0.1
"""Processor time of the busiest thread below which nothing was at work."""


class ThreadWatch:
    """Looks at a process twice. `busy` is None where its threads cannot be seen."""

    def __init__(self, outside: Outside, port: int | None, pid: int | None) -> None:
        self._outside = outside
        self.pid = pid if pid is not None else _listener(outside, port)
        self._before = self._times()

    def busy(self) -> int | None:
        """Threads at work since the watch began."""
        after = self._times()
        if not after or not self._before:
            return None
        spent = [time - self._before.get(name, 0.0) for name, time in after.items()]
        return sum(time > AT_WORK * max(spent) for time in spent) if max(spent) >= LEAST_SECONDS else None

    def _times(self) -> dict[int, float]:
        if self.pid is None:
            return {}
        try:
            psutil = self._outside.psutil()
            return {one.id: one.user_time + one.system_time for one in psutil.Process(self.pid).threads()}
        except OutsideError:
            return {}
        except Exception:  # psutil has many errors of its own: gone, not allowed, not on this system
            return {}


def _listener(outside: Outside, port: int | None) -> int | None:
    """The process that listens on a port of this machine."""
    if port is None:
        return None
    try:
        connections = outside.psutil().net_connections(kind="tcp")
    except Exception:
        return None
    for one in connections:
        if one.status == "LISTEN" and one.laddr and one.laddr.port == port and one.pid:
            return int(one.pid)
    return None
