"""Opens launch files: the one the user names, or those of the current folder; and what they name themselves."""

from __future__ import annotations

import ntpath
import posixpath
from typing import TYPE_CHECKING

from doctor.facts.record import Fact, Unknown
from doctor.launch.definition import FILE_LIMIT, Definition, DefinitionError
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.facts.launch.record import Seen
    from doctor.launch.fields import Origin
    from doctor.outside import Outside

FILES_LIMIT = 64
_NO_COMMAND = "the launch command given does not start llama-server: give it as one would type it"


class SiblingFiles:
    """The files a launch file names, a bounded number. `inside`: only those below its own folder."""

    def __init__(self, outside: Outside, folder: str, *, inside: bool) -> None:
        self._outside = outside
        self._folder = folder
        self._inside = inside
        self._left = FILES_LIMIT

    def text(self, path: str) -> str | None:
        """A file's text, None when it is not there or may not be read."""
        where = self.where(path)
        if where is None:
            return None
        try:
            return self._outside.read_text(where, FILE_LIMIT)
        except OutsideError:
            return None

    def names(self, folder: str) -> list[str] | None:
        """The names in a folder, None when it is not there."""
        where = self.where(folder)
        if where is None:
            return None
        try:
            return self._outside.list_folder(where, 200)
        except OutsideError:
            return None

    def where(self, path: str) -> str | None:
        """The full path of a file, None where it may not be read."""
        self._left -= 1
        if self._left < 0 or not path or "$" in path:
            return None
        paths = ntpath if self._outside.platform == "win32" else posixpath
        where: str = paths.normpath(paths.join(self._folder, path))
        if self._inside:
            real, root = self._outside.real_path(where), self._outside.real_path(self._folder)
            if paths.commonprefix([paths.join(real, ""), paths.join(root, "")]) != paths.join(root, ""):
                return None
        return where


def find_named(outside: Outside, text: str) -> Fact[Seen]:
    """The launch command of what the user gave: a launch file, a folder with one, or the command itself."""
    from doctor.facts.launch.record import Seen
    from doctor.launch.command import parse_command
    from doctor.launch.fields import Origin

    named = _file_of(outside, text)
    if named is not None:
        try:
            found = _read(outside, named, source="file")
        except (DefinitionError, OutsideError) as error:
            reason = str(error)
            found = ()
        else:
            reason = "it starts no llama-server as far as reading tells"
        if found:
            return found[0]._replace(others=found[1:])
        command = parse_command(text)
        if command is None or command.program is None:
            return Unknown(reason if reason.startswith(named) else f"{named}: {reason}")
    command = parse_command(text)
    if command is None:
        return Unknown(_NO_COMMAND)
    return Seen(command, Origin("option", outside.home()))


def find_here(outside: Outside) -> Seen | None:
    """The launch command of a file in the current folder whose name says that it holds one."""
    from doctor.launch.kinds import FOUND_BY_THEMSELVES

    folder = outside.folder()
    try:
        names = [name for name in outside.list_folder(folder, 2000) if FOUND_BY_THEMSELVES.fullmatch(name)]
    except OutsideError:
        return None
    found: list[Seen] = []
    for name in names[:16]:
        try:
            found += _read(outside, _join(outside, folder, name), source="folder")
        except (DefinitionError, OutsideError):
            continue
    return found[0]._replace(others=tuple(found[1:])) if found else None


def _file_of(outside: Outside, text: str) -> str | None:
    """The launch file that a text names, None when it names none."""
    from doctor.launch.kinds import FOUND_BY_THEMSELVES

    if len(text) > 4096 or "\n" in text or not text.strip():
        return None
    path = outside.real_path(text) if text.startswith("~") else text
    try:
        info = outside.stat(path)
    except OutsideError:
        return None
    if info.is_file:
        return path
    if not info.is_dir:
        return None
    try:
        names = [name for name in outside.list_folder(path, 2000) if FOUND_BY_THEMSELVES.fullmatch(name)]
    except OutsideError:
        return None
    return _join(outside, path, names[0]) if names else None


def _read(outside: Outside, path: str, *, source: str) -> tuple[Seen, ...]:
    """The servers of a launch file. Raises DefinitionError and OutsideError."""
    from doctor.engine.reader import RuleError
    from doctor.facts.launch.record import Seen
    from doctor.launch.kinds import read_definitions
    from doctor.launch.table import load_table

    paths = ntpath if outside.platform == "win32" else posixpath
    folder = paths.dirname(outside.real_path(path))
    files = SiblingFiles(outside, folder, inside=source == "folder")
    try:
        reading = read_definitions(path, outside.read_text(path, FILE_LIMIT), files, load_table(outside))
    except RuleError as error:
        raise DefinitionError(str(error)) from None
    return tuple(
        Seen(item.command, _origin(outside, item, path, reading.kind, folder, source)) for item in reading.definitions
    )


def _origin(outside: Outside, item: Definition, path: str, kind: str, folder: str, source: str) -> Origin:
    from doctor.launch.fields import Origin

    own = kind in ("compose", "dockerfile", "presets")  # their paths count from the file's own folder
    return Origin(
        source,
        outside.home(),
        folder=folder if own and not item.command.image else None,
        file=path,
        kind=kind,
        name=item.name or None,
        gpu=item.gpu,
        neighbours=item.neighbours,
    )


def _join(outside: Outside, *parts: str) -> str:
    joined: str = (ntpath if outside.platform == "win32" else posixpath).join(*parts)
    return joined
