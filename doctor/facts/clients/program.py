"""Whether a client is installed, and in which version. Nothing is run: the version is read from what lies beside it."""

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

VERSION = re.compile(r"\d{1,6}\.\d{1,6}\.\d{1,6}(?:-[\w.]{1,40})?")
# Where editors that run VS Code's extensions keep them, below the home folder.
EXTENSION_FOLDERS = (
    ".vscode/extensions",
    ".vscode-insiders/extensions",
    ".vscode-oss/extensions",
    ".vscode-server/extensions",
    ".cursor/extensions",
    ".windsurf/extensions",
)


MOST_FOLDERS = 24


class Program(NamedTuple):
    """How a client is found: names on PATH, its npm package, its VS Code extensions, and full paths to look at."""

    names: tuple[str, ...] = ()
    package: str = ""
    extensions: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


def separators(outside: Outside) -> ModuleType:
    """The path functions of the system that is looked at."""
    return ntpath if outside.platform == "win32" else posixpath


def folders_above(outside: Outside, *, to_the_root: bool = False) -> list[str]:
    """The current folder and those above it, up to the root of its repository.

    Outside a repository it is the current folder alone, or with `to_the_root` every folder above it.
    """
    path = separators(outside)
    folders = [outside.folder()]
    while len(folders) < MOST_FOLDERS and not outside.exists(path.join(folders[-1], ".git")):
        above = path.dirname(folders[-1])
        if above == folders[-1]:
            return folders if to_the_root else folders[:1]
        folders.append(above)
    return folders


def installation(outside: Outside, program: Program) -> tuple[Fact[bool], Fact[str]]:
    """(whether it is installed, its version)."""
    found = next((path for path in map(outside.which, program.names) if path), None)
    found = found or next((path for path in program.places if outside.exists(path)), None)
    if found is not None:
        return True, _version(outside, found, program.package)
    return extension(outside, program.extensions)


def extension(outside: Outside, names: tuple[str, ...]) -> tuple[Fact[bool], Fact[str]]:
    """The same for an extension of VS Code: publisher.name."""
    join = separators(outside).join
    for folder in EXTENSION_FOLDERS if names else ():
        try:
            entries = outside.list_folder(join(outside.home(), *folder.split("/")), 2000)
        except OutsideError:
            continue
        for entry in reversed(entries):
            for name in names:
                version = VERSION.match(entry[len(name) + 1 :])
                if entry.lower().startswith(f"{name}-") and version:
                    return True, version.group()
    return False, None


def _version(outside: Outside, program: str, package: str) -> Fact[str]:
    path = separators(outside)
    real = outside.real_path(program)
    # Native installers link to a folder of versions: ~/.local/share/claude/versions/2.1.332.
    if VERSION.fullmatch(path.basename(real)):
        return str(path.basename(real))
    folder = path.dirname(real)
    beside = path.dirname(program)
    places = (
        folder,
        path.dirname(folder),
        path.join(beside, "node_modules", package),
        path.join(path.dirname(beside), "lib", "node_modules", package),
    )
    for place in places if package else ():
        data = read_json(outside, path.join(place, "package.json")).data
        name, version = data.get("name"), data.get("version")
        if (
            isinstance(name, str)
            and name.startswith(package)
            and isinstance(version, str)
            and VERSION.fullmatch(version)
        ):
            return version
    return Unknown("no package.json beside the program tells its version, and the program is not run")
