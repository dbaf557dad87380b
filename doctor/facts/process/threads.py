"""Which threads of the server are at work, and how long they wait for a processor. This machine only."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

AT_WORK = 0.3
"""Of the processor time of the busiest thread, what another must have spent to count: they share the work evenly."""
LEAST_SECONDS = 0.05
"""Processor time of the busiest thread below which nothing was at work."""
MOST_THREADS = 1024


class Look(NamedTuple):
    """`busy`: threads at work since the look before. `waited`: of the time in which threads wanted a processor, the part (0
    to 1) in which they had none. None where it cannot be seen, or where nothing was at work.
    """

    busy: int | None = None
    waited: float | None = None


class ThreadWatch:
    """Looks at the threads of a process again and again."""

    def __init__(self, outside: Outside, pid: int | None) -> None:
        self._outside = outside
        self._pid = pid
        self._before = self._times()

    def look(self) -> Look:
        """What the threads did since the look before."""
        before, self._before = self._before, self._times()
        ran = [times[0] - before[name][0] for name, times in self._before.items() if name in before]
        if not ran or max(ran) < LEAST_SECONDS:
            return Look()
        waits = [times[1] - before[name][1] for name, times in self._before.items() if name in before]
        waited = sum(waits) / (sum(ran) + sum(waits)) if min(waits) >= 0 else None
        return Look(
            busy=sum(time > AT_WORK * max(ran) for time in ran),
            waited=round(waited, 4) if waited is not None and self._outside.platform == "linux" else None,
        )

    def _times(self) -> dict[int, tuple[float, float]]:
        """Thread -> seconds on a processor, seconds of waiting for one (0 where the system does not tell)."""
        if self._pid is None:
            return {}
        if self._outside.platform == "linux" and (found := self._of_scheduler(self._pid)):
            return found
        try:
            process = self._outside.psutil().Process(self._pid)
            return {one.id: (one.user_time + one.system_time, 0.0) for one in process.threads()[:MOST_THREADS]}
        except OutsideError:
            return {}
        except Exception:  # psutil has many errors of its own: gone, not allowed, not on this system
            return {}

    def _of_scheduler(self, pid: int) -> dict[int, tuple[float, float]]:
        """What /proc/PID/task/*/schedstat says: nanoseconds run, nanoseconds waited, turns (Linux with SCHED_INFO)."""
        found = {}
        try:
            for name in self._outside.list_folder(f"/proc/{pid}/task", MOST_THREADS):
                words = self._outside.read_text(f"/proc/{pid}/task/{name}/schedstat", 4096).split()
                found[int(name)] = (int(words[0]) / 1e9, int(words[1]) / 1e9)
        except (OutsideError, ValueError, IndexError):
            return {}
        return found
