"""Control groups for tests: a server that may use only so much processor time or memory, by the kernel's own means.

Version 1 and 2 of cgroups. Making one takes root (or a delegated group); where it cannot be made, the test is skipped with the
reason. The group lies inside that of the tests where that is possible, and is taken away with all that runs in it.
"""

import contextlib
import os
import time
from pathlib import Path

import pytest

_FILES = {
    (1, "cpu"): lambda cpus: {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": f"{cpus * 100_000:.0f}"},
    (2, "cpu"): lambda cpus: {"cpu.max": f"{cpus * 100_000:.0f} 100000"},
    (1, "memory"): lambda size: {"memory.limit_in_bytes": str(size)},
    (2, "memory"): lambda size: {"memory.max": str(size), "memory.swap.max": "0"},
}


def _places(controller):
    """(version, folder) in which a group could be made: that of the tests, then the root of the hierarchy."""
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    own = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        own |= dict.fromkeys(names.split(","), path.strip("/"))
    for _, point, kind, options, *_ in mounts:
        if kind == "cgroup" and controller in options.split(",") and controller in own:
            yield from ((1, Path(point) / own[controller]), (1, Path(point)))
        elif kind == "cgroup2" and "" in own:
            yield from ((2, Path(point) / own[""]), (2, Path(point)))


def _made(controller, value):
    """A new group with the limit set. Raises OSError with the reason of the last place that was tried."""
    if not Path("/proc/self/cgroup").exists():
        raise OSError("this system has no control groups")
    failed = OSError(f"no hierarchy of control groups has the controller {controller}")
    for version, place in _places(controller):
        folder = place / f"doctor-test-{os.getpid()}-{controller}"
        try:
            if version == 2 and controller not in (place / "cgroup.subtree_control").read_text().split():
                (place / "cgroup.subtree_control").write_text(f"+{controller}")
            folder.mkdir()
            try:
                for name, text in _FILES[version, controller](value).items():
                    if (folder / name).exists() or name != "memory.swap.max":  # not there without swap accounting
                        (folder / name).write_text(text)
                return folder
            except OSError:
                folder.rmdir()
                raise
        except OSError as error:
            failed = error
    raise failed


@contextlib.contextmanager
def limited(controller, value):
    """A group with so many `cpu` (cores) or so much `memory` (bytes); what it yields goes before a command line."""
    try:
        folder = _made(controller, value)
    except OSError as error:
        pytest.skip(f"a control group with a limit on {controller} cannot be made here: {error}")
    try:
        yield ("sh", "-c", f'echo $$ > "{folder}/cgroup.procs" && exec "$@"', "sh")
    finally:
        for _ in range(100):  # the last process of it may still be ending
            with contextlib.suppress(OSError):
                folder.rmdir()
                break
            time.sleep(0.1)


def forget(path):
    """Take a file out of the page cache: pages that are there already are charged to whoever brought them in."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)
