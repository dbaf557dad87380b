"""What the control group of a process does to it: counters of cgroup v2 and v1, and the pressure the kernel counts (PSI)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.process.cgroup import groups_of, tightest_quota
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

_LIMIT = 1 << 16
_REFAULTS = (
    "total_workingset_refault_file",
    "workingset_refault_file",
    "total_workingset_refault",
    "workingset_refault",
)
"""Names of one counter: cgroup v1, v2, and both before Linux 5.9."""


class Counters(NamedTuple):
    """Counts since the group began (or the computer); None where there is nothing that counts.

    `periods` of the CPU quota in which the group worked, `throttled` those in which it was used up and `held_seconds` how
    long processors then stood still for it, summed over processors. `refaults`: pages of files that were thrown out of
    memory and had to be read again. `memory_seconds`, `disk_seconds`: time in which something waited for memory, for the disk.
    """

    periods: float | None = None
    throttled: float | None = None
    held_seconds: float | None = None
    refaults: float | None = None
    memory_seconds: float | None = None
    disk_seconds: float | None = None


class GroupMeter:
    """Reads the counters of the group of process `pid`. Where they stand is found once; nothing is raised."""

    def __init__(self, outside: Outside, pid: int) -> None:
        self._outside = outside
        self._quota, self._memory = "", "/proc/vmstat"
        self._pressure = ["/proc/pressure/{}"]
        try:
            groups = groups_of(outside, pid)
            quota = tightest_quota(outside, *groups.folders("cpu"))
        except OutsideError:
            return
        version, folders = groups.folders("memory")
        self._quota = quota[1] if quota is not None else ""
        own = f"{folders[0]}/memory.stat" if folders else ""
        # Where the group does not count, the computer does: from then on only that, for both count from another beginning.
        self._memory = own if own and any(name in self._numbers(own) for name in _REFAULTS) else "/proc/vmstat"
        if version == 2 and folders:
            self._pressure.insert(0, folders[0].replace("{", "{{").replace("}", "}}") + "/{}.pressure")

    def read(self) -> Counters:
        """The counters as they stand."""
        quota = self._numbers(f"{self._quota}/cpu.stat") if self._quota else {}
        micro = quota.get("throttled_usec")
        nano = quota.get("throttled_time")
        return Counters(
            periods=quota.get("nr_periods"),
            throttled=quota.get("nr_throttled"),
            held_seconds=micro / 1e6 if micro is not None else nano / 1e9 if nano is not None else None,
            refaults=self._refaults(),
            memory_seconds=self._some("memory"),
            disk_seconds=self._some("io"),
        )

    def _refaults(self) -> float | None:
        values = self._numbers(self._memory)
        return next((values[name] for name in _REFAULTS if name in values), None)

    def _some(self, what: str) -> float | None:
        """Seconds of the line `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`, in which the total is microseconds."""
        for pattern in self._pressure:
            try:
                line = self._outside.read_text(pattern.format(what), _LIMIT).partition("\n")[0]
                if line.startswith("some "):
                    return float(line.rpartition("total=")[2]) / 1e6
            except (OutsideError, ValueError):
                continue
        return None

    def _numbers(self, path: str) -> dict[str, float]:
        """A file of lines `name number`."""
        try:
            words = self._outside.read_text(path, _LIMIT).split()
        except OutsideError:
            return {}
        return {name: float(value) for name, value in zip(words[::2], words[1::2], strict=False) if value.isdigit()}
