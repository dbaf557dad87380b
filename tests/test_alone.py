"""The tests see nothing of what else runs on the machine: a server that is not theirs changes no answer."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest

from doctor.cli import main
from doctor.outside import Outside

FOREIGN = """
import socket, time
with socket.socket() as ours:
    try:
        ours.bind(("127.0.0.1", 8080))
        ours.listen()
    except OSError:
        pass  # somebody listens there already: as good
    print("up", flush=True)
    time.sleep(60)
"""


@contextlib.contextmanager
def foreign_server(tmp_path):
    """A program that looks like llama-server, listens on port 8080 and is no child of this process."""
    program = tmp_path / "llama-server"
    program.symlink_to(sys.executable)
    script = tmp_path / "script.py"
    script.write_text(FOREIGN)
    words = f"'{program}' '{script}' -m /models/foreign.gguf --port 8080 >'{tmp_path}/out' 2>&1 & echo $!"
    pid = int(subprocess.run(["/bin/sh", "-c", words], capture_output=True, text=True, check=True).stdout)
    try:
        deadline = time.monotonic() + 20
        while "up" not in (tmp_path / "out").read_text() and time.monotonic() < deadline:
            time.sleep(0.02)
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(os.name != "posix", reason="a shell leaves the process behind")
def test_a_server_of_somebody_else_is_not_seen(tmp_path, capsys):
    with foreign_server(tmp_path) as pid:
        assert psutil.pid_exists(pid)
        main(["check", "--only", "launch,server,clients", "--format", "json"])
        facts = json.loads(capsys.readouterr().out)["facts"]
        assert facts["launch"] is None and "none answers at http://127.0.0.1:8080" in facts["server"]["unknown"]
        assert main(["verify"]) == 1
        assert "foreign" not in capsys.readouterr().out


def test_a_process_of_a_test_is_seen():
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        assert child.pid in [process.pid for process in Outside().psutil().process_iter()]
    finally:
        child.kill()
        child.wait()


def test_another_port_can_be_reached():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        assert Outside().port_open("127.0.0.1", server.getsockname()[1])
    assert not Outside().port_open("127.0.0.1", 8080)
