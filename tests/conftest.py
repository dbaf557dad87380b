"""Every test runs in a clean, empty home: nothing of the machine it runs on can reach it, no setting, key or server."""

import os
import socket

import psutil
import pytest

KEEP = {"PATH", "LD_LIBRARY_PATH", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "CI"}
LOOKED_AT_UNASKED = {8080, 11434, 1234}
"""Ports of this machine that doctor asks without being told of them; no server of a test listens on one."""


@pytest.fixture(autouse=True)
def clean_environment(tmp_path_factory, monkeypatch):
    for name in list(os.environ):
        if name not in KEEP and not name.startswith(("PYTEST_", "COV_", "PYTHON")):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("NO_COLOR", "1")
    return home


@pytest.fixture(autouse=True)
def nobody_elses_server(monkeypatch):
    """Of the processes only those that tests have started are seen, and nothing listens on the ports asked by default."""
    all_processes, connect = psutil.process_iter, socket.socket.connect

    def own_processes(*args, **kwargs):
        ours = {os.getpid(), *(child.pid for child in psutil.Process().children(recursive=True))}
        return (process for process in all_processes(*args, **kwargs) if process.pid in ours)

    def only_named_ports(self, address):
        if isinstance(address, tuple) and address[0] in ("127.0.0.1", "::1") and address[1] in LOOKED_AT_UNASKED:
            raise ConnectionRefusedError(111, "Connection refused")
        return connect(self, address)

    monkeypatch.setattr(psutil, "process_iter", own_processes)
    monkeypatch.setattr(socket.socket, "connect", only_named_ports)
