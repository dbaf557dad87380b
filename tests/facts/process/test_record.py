"""A process of this machine, and one whose files were recorded."""

import contextlib
import os
import subprocess
import sys
import time

import pytest

from doctor.facts.process.record import collect, pid_of_port
from doctor.facts.process.threads import ThreadWatch
from doctor.facts.record import Unknown
from doctor.outside import Outside, OutsideError
from tests.facts.process.recorded import V2
from tests.facts.tree import Tree

BUSY = """
import threading, time, zlib
data = bytes(1 << 22)
def work():
    end = time.monotonic() + 20
    while time.monotonic() < end: zlib.crc32(data)  # lets go of Python's lock
for _ in range({threads}): threading.Thread(target=work).start()
"""


def test_this_very_process():
    found = collect(Outside(), os.getpid())
    assert found.pid == os.getpid() and found.threads >= 1 and found.ram_bytes > 1 << 20
    if sys.platform == "linux":
        assert found.cpus_allowed == len(os.sched_getaffinity(0)) and found.swap_bytes is not None


def test_the_groups_of_a_recorded_server(tmp_path, monkeypatch):
    import psutil

    class Server(psutil.Process):
        def __init__(self, pid):
            super().__init__(os.getpid())

    monkeypatch.setattr(psutil, "Process", Server)
    found = collect(Tree(tmp_path, V2), 4242)
    assert (found.cpus, found.cpu_periods, found.throttled_share) == (0.5, 10, 0.9)
    assert found.memory_limit_bytes == 536870912 and found.memory_used_bytes == 530000000 - 110202880
    assert found.swap_bytes == 2048 * 1024


def test_no_process_and_no_psutil():
    assert collect(Outside(), 1 << 22) is None

    class Without(Outside):
        def psutil(self):
            raise OutsideError("missing", "no psutil")

    assert collect(Without(), 1) == Unknown("no psutil")
    assert pid_of_port(Without(), 80) is None and pid_of_port(Outside(), None) is None


LISTENS = "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\nprint(s.getsockname()[1], flush=True)\ninput()"


@contextlib.contextmanager
def listening(program):
    """(process, port) of a program of that name which listens while the block runs."""
    os.symlink(sys.executable, program)
    argv = [str(program), "-S", "-c", LISTENS]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process, int(process.stdout.readline())
        process.communicate("\n")


def test_who_listens_on_a_port(tmp_path):
    with listening(tmp_path / "llama-server") as (process, port):
        assert pid_of_port(Outside(), port) == process.pid
    assert pid_of_port(Outside(), port) is None


def test_a_proxy_that_listens_for_the_server_is_not_the_server(tmp_path):
    with listening(tmp_path / "docker-proxy") as (_, port):
        assert pid_of_port(Outside(), port) is None


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_at_work_and_waiting(threads):
    with subprocess.Popen([sys.executable, "-c", BUSY.format(threads=threads)]) as process:
        try:
            time.sleep(0.5)
            watch = ThreadWatch(Outside(), process.pid)
            time.sleep(1.5)
            found = watch.look()
        finally:
            process.kill()
    assert found.busy == threads
    if sys.platform == "linux":
        assert 0 <= found.waited <= 1
        if threads > len(os.sched_getaffinity(0)):
            assert found.waited > 0.15  # three threads cannot all run on two processors


def test_threads_of_nothing():
    assert ThreadWatch(Outside(), None).look() == (None, None)
    assert ThreadWatch(Outside(), 1 << 22).look() == (None, None)
    assert ThreadWatch(Outside(), os.getpid()).look() == (None, None)  # no work
