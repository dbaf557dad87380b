"""Finds the llama-server that runs on this machine: its command line, its variables, the container it runs in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from doctor.facts.record import Fact, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.facts.launch.record import Seen
    from doctor.launch.command import Command
    from doctor.outside import Outside
    from doctor.secrets import Vault

PROCESS_LIMIT = 50_000
SERVER_LIMIT = 32
DEFAULT_PORT = 8080
_NAME = re.compile(r"llama|^server(?:\.exe)?$|^python", re.IGNORECASE)
_CONTAINER = re.compile(
    r"(docker|libpod|crio|cri-containerd|containerd|lxc|kubepods)[^\n]{0,200}?[-/:]([0-9a-f]{12})[0-9a-f]{20,}"
)
_SERVER_WORDS = ("-m", "--model", "-hf", "-hfr", "--hf-repo", "-mu", "--model-url", "--models-dir")


def find_process(outside: Outside, vault: Vault, port: int | None, *, pid: int | None = None) -> Fact[Seen]:
    """The llama-server with this `pid`, else the one that listens on `port`, else the first; absent when none runs."""
    from doctor.facts.launch.record import Seen
    from doctor.launch.fields import Origin
    from doctor.outside import OutsideError

    try:
        psutil = outside.psutil()
    except OutsideError as error:
        return Unknown(str(error))
    servers = list(_servers(psutil))
    if pid is not None:
        servers = [server for server in servers if server[0].pid == pid]
        if not servers:
            return Unknown(f"process {pid} is no llama-server that runs here")
    if not servers:
        return None
    chosen, command = _choose(servers, port)
    others = tuple(process.pid for process, _ in servers if process.pid != chosen.pid)
    container = _container(outside, chosen.pid)
    origin = Origin(
        source="process",
        home=outside.home(),
        pid=chosen.pid,
        other_pids=others,
        environment=_environment(psutil, chosen, vault),
        folder=None if isinstance(container, str) else _folder(psutil, chosen),
        container=container,
        other_user=_other_user(outside, chosen),
    )
    return Seen(command, origin)


def _servers(psutil: Any) -> Iterator[tuple[Any, Command]]:
    from itertools import islice

    from doctor.launch.command import parse_argv
    from doctor.launch.other_servers import OTHER_SERVERS

    found = 0
    for process in islice(psutil.process_iter(["name"]), PROCESS_LIMIT):
        name = process.info["name"] or ""
        if not _NAME.search(name):
            continue
        try:
            argv = process.cmdline()[:4096]
        except psutil.Error:
            continue
        command = parse_argv(argv) if argv else None
        if command is None or command.program is None or command.first > 4:
            continue
        if (
            not name.lower().startswith("llama")
            and command.program not in OTHER_SERVERS
            and not any(word in argv for word in _SERVER_WORDS)
        ):
            continue  # another program that is called "server"
        yield process, command
        found += 1
        if found == SERVER_LIMIT:
            return


def _choose(servers: list[tuple[Any, Command]], port: int | None) -> tuple[Any, Command]:
    """The server on the port; else the first that is no child of another (a router starts its models as children)."""
    for server in servers:
        if port is not None and _port(*server) == port:
            return server
    pids = {process.pid for process, _ in servers}
    parents = [server for server in servers if _parent(server[0]) not in pids]
    return (parents or servers)[0]


def _port(process: Any, command: Command) -> int:
    """The port a server listens on, by its command line or its variables."""
    texts = [word.text for word in command.arguments]
    for name, value in zip(reversed(texts[:-1]), reversed(texts[1:]), strict=True):
        if name == "--port" and value.isdigit():
            return int(value)
    try:
        value = process.environ().get("LLAMA_ARG_PORT", "")
    except Exception:  # psutil's errors; its module is not at hand here
        value = ""
    return int(value) if value.isdigit() else DEFAULT_PORT


def _parent(process: Any) -> int | None:
    try:
        return int(process.ppid())
    except Exception:
        return None


def _environment(psutil: Any, process: Any, vault: Vault) -> Fact[dict[str, str]]:
    from doctor.launch.variables import kept

    try:
        return kept(process.environ(), vault)
    except psutil.AccessDenied:
        return Unknown(f"the environment of process {process.pid} cannot be read (it belongs to another user)")
    except psutil.Error:
        return Unknown(f"process {process.pid} ended while it was looked at")


def _other_user(outside: Outside, process: Any) -> bool | None:
    """Whether a process belongs to somebody else; None where that cannot be told."""
    ours = outside.user_ids()
    try:
        return process.uids().real not in ours if ours else None
    except Exception:  # psutil's errors; its module is not at hand here
        return None


def _folder(psutil: Any, process: Any) -> str | None:
    try:
        return str(process.cwd()) or None
    except psutil.Error:
        return None


def _container(outside: Outside, pid: int) -> Fact[str]:
    """Kind and short id of the container a process runs in; absent when it runs in none."""
    from doctor.outside import OutsideError

    if outside.platform != "linux":
        return None
    try:
        groups = outside.read_text(f"/proc/{pid}/cgroup", 65536)
    except OutsideError as error:
        return Unknown(str(error))
    found = _CONTAINER.search(groups)
    return f"{found[1]} {found[2]}" if found else None
