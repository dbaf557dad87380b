"""The user's settings of VS Code and of the editors built from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.program import separators

if TYPE_CHECKING:
    from doctor.facts.clients.data_file import DataFile
    from doctor.outside import Outside

EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")


def user_settings(outside: Outside) -> list[DataFile]:
    """settings.json of every editor that has one."""
    path = separators(outside)
    home = outside.home()
    folders = {
        "win32": outside.environ.get("APPDATA", "").strip() or path.join(home, "AppData", "Roaming"),
        "darwin": path.join(home, "Library", "Application Support"),
    }
    folder = folders.get(outside.platform) or path.join(home, ".config")
    files = [read_json(outside, path.join(folder, name, "User", "settings.json"), comments=True) for name in EDITORS]
    return [file for file in files if file.found]
