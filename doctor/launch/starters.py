"""What may stand in front of a program and start it, and what only names it: `sudo systemctl restart llama-server`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CONTAINERS = ("docker", "podman", "nerdctl")
SHELLS = ("bash", "sh", "zsh", "dash", "ash", "fish")

# Options of `docker run` and `podman run` that stand alone; every other one takes the next word.
CONTAINER_SWITCHES = {
    "-d", "-i", "-t", "-it", "-ti", "-dit", "-itd", "-P", "--detach", "--init", "--interactive", "--privileged",
    "--publish-all", "--read-only", "--replace", "--rm", "--tty",
}  # fmt: skip

# Those that start the program behind them. Other first words (systemctl, pkill, cd) do not.
_STARTERS = {
    "apptainer", "caffeinate", "call", "chrt", "cmd", "distrobox", "doas", "docker", "env", "exec", "firejail",
    "flatpak-spawn", "gamemoderun", "gdb", "ionice", "kubectl", "lxc", "mangohud", "mpirun", "nerdctl", "nice", "nohup",
    "nsys", "numactl", "perf", "podman", "prime-run", "proxychains", "proxychains4", "runuser", "screen", "setsid",
    "singularity", "snap", "srun", "ssh", "start", "stdbuf", "strace", "su", "sudo", "systemd-inhibit", "systemd-run",
    "taskset", "time", "timeout", "tmux", "toolbox", "unbuffer", "valgrind", "wsl",
}  # fmt: skip

# Of these only the named verbs do.
_VERBS = {
    **dict.fromkeys(CONTAINERS, ("run", "exec")),
    "apptainer": ("exec", "run"),
    "distrobox": ("enter",),
    "kubectl": ("exec",),
    "singularity": ("exec", "run"),
    "snap": ("run",),
    "toolbox": ("run", "enter"),
}

# Programs that do something with a file, a package, a service or a process of that name.
_OTHERS = {
    "apt", "apt-get", "brew", "cat", "chmod", "chown", "cmake", "cp", "curl", "dnf", "dpkg", "du", "file", "find",
    "grep", "install", "journalctl", "kill", "killall", "ldd", "ln", "ls", "lsof", "make", "mkdir", "mv", "nano",
    "ninja", "pacman", "patchelf", "pgrep", "pkill", "ps", "rm", "scp", "service", "setcap", "stat", "strip",
    "supervisorctl", "systemctl", "tail", "tar", "taskkill", "touch", "vi", "vim", "wget", "whereis", "which", "yay", "yum",
    "zypper",
}  # fmt: skip

# Options whose value is a name the user makes up.
_NAMING = {
    **dict.fromkeys(CONTAINERS, ("--name", "--hostname", "-h", "--network-alias")),
    "screen": ("-S", "-dmS", "-dmLS", "-LdmS"),
    "systemd-run": ("--unit", "-u", "--description"),
    "tmux": ("-s", "-n", "-t"),
}


def base(path: str) -> str:
    """The name of a program without folder and ".exe"."""
    return re.split(r"[/\\]", path)[-1].lower().removesuffix(".exe")


def starts(name: str, follows: str) -> bool:
    """Whether a first word starts the program that stands somewhere behind it."""
    return name in _STARTERS and follows in _VERBS.get(name, (follows,))


def program_at(texts: Sequence[str], first: int, is_program: Callable[[int], bool]) -> int | None:
    """The place of the program in words whose word `first` is one that starts others; None when they start none."""
    inside = _inside_container(texts, first)
    if inside is not None:
        return inside if inside < len(texts) and is_program(inside) else None
    naming = [option for word in texts[first:] for option in _NAMING.get(base(word), ())]
    for at in range(first, len(texts)):
        name, follows = base(texts[at]), base(texts[at + 1]) if at + 1 < len(texts) else ""
        if name in _OTHERS or (name in _VERBS and follows not in _VERBS[name]):
            return None
        if is_program(at) and not (at > first and texts[at - 1] in naming):
            return at
    return None


def _inside_container(texts: Sequence[str], first: int) -> int | None:
    """Where the program of `docker exec … NAME program` or `kubectl exec … -- program` stands; None for other words."""
    at = next((at for at in range(first, len(texts) - 1) if texts[at + 1] == "exec"), None)
    if at is None or base(texts[at]) not in (*CONTAINERS, "kubectl"):
        return None
    if base(texts[at]) == "kubectl":
        return texts.index("--", at) + 1 if "--" in texts[at:] else len(texts)
    at += 2
    while at < len(texts) and texts[at].startswith("-"):
        alone = texts[at] in CONTAINER_SWITCHES or "=" in texts[at]
        at += 1 if alone else 2
    return at + 1


def quoted_command(texts: Sequence[str]) -> int | None:
    """The place of a whole command in quotes: `bash -c "…"`, `ssh host '…'`; None when the words hold none."""
    names = [base(text) for text in texts[:2]]
    if not texts or not (names[0] in SHELLS or starts(names[0], names[-1])):
        return None
    return next((at for at, text in enumerate(texts) if at and re.search(r"\S\s", text) and "server" in text), None)
