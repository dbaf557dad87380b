"""This computer and a process of its own."""

import os
import subprocess
import sys
import time

from doctor.facts.watch.host import Host
from doctor.outside import Outside, OutsideError
from tests.facts.process.recorded import STAT, V2, V2_LATER

BUSY = "import time\nend = time.monotonic() + 20\nwhile time.monotonic() < end: pass"


def test_a_process_that_works_ends_and_is_looked_for_again():
    looks = []
    process = subprocess.Popen([sys.executable, "-c", BUSY])

    def find():
        looks.append(1)
        return process.pid if process.poll() is None else None

    host = Host(Outside(), find)
    try:
        host.sample(0.0, 1.0)
        time.sleep(0.5)
        found = host.sample(0.5, 0.5)
        assert found.server_pid == process.pid and found.server_cores > 0.05 and found.server_ram_bytes > 1 << 20
        assert found.ram_available_bytes <= found.ram_total_bytes and 0 <= found.cpu_percent <= 100
        assert found.major_faults_per_second is not None
    finally:
        process.kill()
        process.wait()
    gone = host.sample(1.0, 0.5)
    assert gone.server_pid is None and gone.server_cores is None
    before = len(looks)
    host.sample(2.0, 1.0)
    assert len(looks) == before  # looking through all processes is dear: not each time
    host.sample(30.0, 1.0)
    assert len(looks) == before + 1


class Recorded(Outside):
    """The real system, in which this process lies in a recorded group."""

    def __init__(self, files):
        super().__init__(platform="linux")
        self.files = files

    def read_text(self, path, limit=0):
        if path.startswith(("/proc/pressure", "/proc/self", "/sys/", f"/proc/{os.getpid()}/")):
            found = self.files.get(path.replace(str(os.getpid()), "4242"))
            if found is None:
                raise OutsideError("missing", path)
            return found
        return super().read_text(path, limit)


def test_what_quota_and_memory_limit_do_to_the_server():
    outside = Recorded({**V2, "/proc/4242/stat": STAT.format(faults=100)})
    host = Host(outside, lambda: os.getpid())
    first = host.sample(0.0, 1.0)
    assert (first.throttled, first.refaults_per_second, first.stalled) == (None, None, None)  # rates want a look before
    outside.files = {**V2_LATER, "/proc/4242/stat": STAT.format(faults=160)}
    found = host.sample(2.0, 2.0)
    assert (found.throttled, found.refaults_per_second, found.stalled) == (1.0, 10_000, 0.25)
    assert found.major_faults_per_second == 30 and 0.9 < found.held_back <= 1  # a second held, hardly any spent
    place = "/sys/fs/cgroup/system.slice/llama.service"
    outside.files = {**V2_LATER, f"{place}/cpu.stat": "nothing of use", f"{place}/memory.stat": ""}
    found = host.sample(3.0, 1.0)
    assert (found.throttled, found.held_back, found.refaults_per_second) == (None, None, None)


def test_the_threads_are_looked_at_now_and_then_and_others_are_counted():
    process = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        host = Host(Outside(), lambda: process.pid)
        host.sample(0.0, 1.0)
        time.sleep(1.0)
        soon = host.sample(1.0, 1.0)
        time.sleep(0.3)
        found = host.sample(5.0, 0.3)
        assert soon.busy_threads is None and soon.others_cores >= 0
        assert found.busy_threads == 1
    finally:
        process.kill()
        process.wait()


def test_no_psutil_is_no_numbers():
    class Without(Outside):
        def psutil(self):
            raise OutsideError("missing", "no psutil")

    assert Host(Without(), lambda: 1).sample(0.0, 1.0).ram_total_bytes is None
