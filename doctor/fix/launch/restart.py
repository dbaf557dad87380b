"""How a server is started anew after its launch file has changed."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_USER_UNIT = re.compile(r"[/\\]\.config[/\\]systemd[/\\]user[/\\]|[/\\]systemd[/\\]user[/\\]")


def restart(kind: str, path: str, names: Sequence[str], text: str = "") -> str:
    """The command that starts it anew, "" where it is not one command. `names` are the services that changed."""
    file = shlex.quote(path)
    if kind == "shell":
        program = "sh" if re.match(r"#![ \t]*/(?:usr/)?bin/(?:env )?(?:da|a)?sh\b", text) else "bash"
        return f"{program} {file}"
    if kind == "batch":
        return path if re.fullmatch(r"[\w.:\\/~-]+", path) else f'"{path}"'
    if kind == "powershell":
        return f'powershell -File "{path}"'
    if kind == "compose":
        return " ".join(["docker compose -f", file, "up -d", *map(shlex.quote, names)])
    if kind == "systemd":
        unit = shlex.quote(re.split(r"[/\\]", path)[-1])
        run = "systemctl --user" if _USER_UNIT.search(path) else "sudo systemctl"
        return f"{run} daemon-reload && {run} restart {unit}"
    return ""
