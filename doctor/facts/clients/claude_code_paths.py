"""Where Claude Code keeps its files on each system, and whether it is installed."""

from __future__ import annotations

import ntpath
import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.clients.json_file import read_json
from doctor.facts.record import Fact, Unknown
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from types import ModuleType

    from doctor.outside import Outside

# code.claude.com/docs/en/settings and strings in the binaries 2.1.197 and 2.1.332.
MANAGED = {
    "win32": "C:\\Program Files\\ClaudeCode",
    "darwin": "/Library/Application Support/ClaudeCode",
}
MANAGED_ELSEWHERE = "/etc/claude-code"
PACKAGE = "@anthropic-ai/claude-code"
_VERSION = re.compile(r"\d{1,6}\.\d{1,6}\.\d{1,6}(?:-[\w.]{1,40})?")


class Paths(NamedTuple):
    """Full paths. `settings`: the settings files, the one that beats the others first."""

    settings: tuple[str, ...]
    state: str
    login: str
    local_program: tuple[str, ...]


def separators(outside: Outside) -> ModuleType:
    """The path functions of the system that is looked at."""
    return ntpath if outside.platform == "win32" else posixpath


def paths_of(outside: Outside) -> Paths:
    """Where the files would be for the current folder and user."""
    join = separators(outside).join
    home = outside.home()
    moved = outside.environ.get("CLAUDE_CONFIG_DIR", "").strip()
    user = moved or join(home, ".claude")
    project = join(outside.folder(), ".claude")
    managed = MANAGED.get(outside.platform, MANAGED_ELSEWHERE)
    settings = [
        *_drop_ins(outside, join(managed, "managed-settings.d")),
        join(managed, "managed-settings.json"),
        join(project, "settings.local.json"),
        join(project, "settings.json"),
        join(user, "settings.json"),
    ]
    return Paths(
        # In the home folder the project's file and the user's are one.
        settings=tuple(dict.fromkeys(settings)),
        state=join(moved or home, ".claude.json"),
        login=join(user, ".credentials.json"),
        local_program=(join(home, ".local", "bin", "claude"), join(home, ".claude", "local", "claude")),
    )


def _drop_ins(outside: Outside, folder: str) -> list[str]:
    """Parts of the managed settings: merged in the order of their names, so the last one wins."""
    try:
        names = outside.list_folder(folder, 200)
    except OutsideError:
        return []
    join = separators(outside).join
    return [join(folder, name) for name in reversed(names) if name.endswith(".json") and not name.startswith(".")]


def installation(outside: Outside, paths: Paths) -> tuple[Fact[bool], Fact[str]]:
    """(whether it is installed, its version). The program is not run: the version is read from what lies beside it."""
    program = outside.which("claude") or next((path for path in paths.local_program if outside.exists(path)), None)
    if program is None:
        return False, None
    return True, _version(outside, program)


def _version(outside: Outside, program: str) -> Fact[str]:
    path = separators(outside)
    real = outside.real_path(program)
    # The native installer links to ~/.local/share/claude/versions/2.1.332.
    if _VERSION.fullmatch(path.basename(real)):
        return str(path.basename(real))
    folder = path.dirname(real)
    beside = path.dirname(program)
    for place in (
        folder,
        path.dirname(folder),
        path.join(beside, "node_modules", PACKAGE),
        path.join(path.dirname(beside), "lib", "node_modules", PACKAGE),
    ):
        package = read_json(outside, path.join(place, "package.json"), 1 << 20).data
        name, version = package.get("name"), package.get("version")
        if (
            isinstance(name, str)
            and name.startswith(PACKAGE)
            and isinstance(version, str)
            and _VERSION.fullmatch(version)
        ):
            return version
    return Unknown("no package.json beside the program tells its version, and the program is not run")
