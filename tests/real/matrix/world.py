"""The machine as a fault wants it: inside a container, inside WSL2, with names that lead elsewhere.

The other machine is 127.0.0.2, which Linux has without any set-up. Real programs see the names only where /etc/hosts
has them (see test_programs.py).
"""

import socket
from unittest.mock import patch

import pytest

from doctor.outside import Outside

OTHER = "127.0.0.2"
DOCKER_HOST = "host.docker.internal"
OWN = "the address of this machine in its network"
"""Stands for it in the words of a server."""


def names(stack, table):
    """Let names have these addresses here; None: the name has none."""
    ask = socket.getaddrinfo

    def answer(host, *args, **more):
        name = host.decode() if isinstance(host, bytes) else host
        if name not in table:
            return ask(host, *args, **more)
        if table[name] is None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return ask(table[name], *args, **more)

    stack.enter_context(patch("socket.getaddrinfo", answer))


def in_container(stack):
    """Let doctor find itself in a container."""
    exists = Outside.exists
    stack.enter_context(patch.object(Outside, "exists", lambda self, path: path == "/.dockerenv" or exists(self, path)))


def in_wsl(stack, windows):
    """Let doctor find itself in WSL2, with Windows at this address, its gateway."""
    gateway = "".join(f"{int(part):02X}" for part in reversed(windows.split(".")))
    routes = f"Iface\tDestination\tGateway\tFlags\neth0\t00000000\t{gateway}\t0003\n"
    read, uname = Outside.read_text, Outside.uname

    def reading(self, path, *args, **more):
        return routes if path == "/proc/net/route" else read(self, path, *args, **more)

    stack.enter_context(patch.object(Outside, "read_text", reading))
    kernel = "6.6.87.2-microsoft-standard-WSL2"
    stack.enter_context(patch.object(Outside, "uname", lambda self: (uname(self)[0], kernel, *uname(self)[2:])))


def own_address():
    """The address of this machine in a network. Skips the cell where it has none."""
    import psutil

    for entries in psutil.net_if_addrs().values():
        for entry in entries:
            if entry.family == socket.AF_INET and not entry.address.startswith("127."):
                return entry.address
    pytest.skip("this machine is in no network (ip addr add 192.0.2.10/32 dev lo gives it an address)")


def leads_there(name):
    """Whether a name leads to the other machine for every program."""
    try:
        return socket.gethostbyname(name) == OTHER
    except OSError:
        return False
