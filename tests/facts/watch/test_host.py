"""This computer and a process of its own."""

import subprocess
import sys
import time

from doctor.facts.watch.host import Host
from doctor.outside import Outside, OutsideError

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


class Files(Outside):
    """The real system, with some files of our own."""

    def __init__(self, files):
        super().__init__(platform="linux")
        self.files = files

    def read_text(self, path, limit=0):
        for end, text in self.files.items():
            if path.endswith(end):
                return text
        raise OutsideError("missing", path)


def test_a_quota_that_holds_the_server_back():
    import os

    outside = Files(
        {
            "/cgroup": "0::/system.slice/llama.service\n",
            "llama.service/cpu.stat": "usage_usec 5\nnr_periods 100\nnr_throttled 20\n",
        }
    )
    host = Host(outside, lambda: os.getpid())
    host.sample(0.0, 1.0)
    outside.files["llama.service/cpu.stat"] = "usage_usec 9\nnr_periods 110\nnr_throttled 28\n"
    assert host.sample(1.0, 1.0).throttled == 0.8
    outside.files["llama.service/cpu.stat"] = "nothing of use"
    assert host.sample(2.0, 1.0).throttled is None


def test_no_psutil_is_no_numbers():
    class Without(Outside):
        def psutil(self):
            raise OutsideError("missing", "no psutil")

    assert Host(Without(), lambda: 1).sample(0.0, 1.0).ram_total_bytes is None
