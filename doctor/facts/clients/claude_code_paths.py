"""Where Claude Code keeps its files on each system, and whether it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.clients import program
from doctor.facts.clients.program import Program, separators
from doctor.facts.record import Fact
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

# code.claude.com/docs/en/settings and strings in the binaries 2.1.197 and 2.1.332.
MANAGED = {
    "win32": "C:\\Program Files\\ClaudeCode",
    "darwin": "/Library/Application Support/ClaudeCode",
}
MANAGED_ELSEWHERE = "/etc/claude-code"
PACKAGE = "@anthropic-ai/claude-code"
EXTENSIONS = ("anthropic.claude-code",)


class Paths(NamedTuple):
    """Full paths. `settings`: the settings files, the one that beats the others first."""

    settings: tuple[str, ...]
    state: str
    login: str
    local_program: tuple[str, ...]


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
    """(whether it is installed, its version)."""
    return program.installation(outside, Program(("claude",), PACKAGE, EXTENSIONS, paths.local_program))
