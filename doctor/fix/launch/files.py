"""The texts a launch command is written in, as they are and as they would be: read by the readers of doctor/launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.launch.files import SiblingFiles
from doctor.fix.plan import CannotFix
from doctor.launch.definition import FILE_LIMIT, Definition, DefinitionError
from doctor.launch.kinds import kind_of, read_definitions
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.launch.table import OptionTable
    from doctor.outside import Outside

MARK = "\ufeff"
KINDS = ("shell", "batch", "powershell", "compose", "dockerfile", "systemd", "llama-swap", "presets", "config")
"""Kinds of launch file that can be changed."""


class LaunchFiles:
    """A launch file and the files it names. `texts` holds what was read, by real path, without a mark of UTF-8 in front.

    Bytes that are no UTF-8 (a remark in another encoding) come back as they were.
    """

    def __init__(self, outside: Outside, path: str, table: OptionTable, *, inside: bool) -> None:
        """Raises CannotFix for a file that cannot be read to be changed."""
        self.path = path
        self.main = outside.real_path(path)
        self.texts: dict[str, str] = {}
        self.before: dict[str, bytes] = {}
        self._outside = outside
        self._table = table
        self._inside = inside
        self._folder = outside.real_path(path).rpartition("\\" if outside.platform == "win32" else "/")[0]
        self._refused: set[str] = set()
        self._shown = {self.main: path}
        try:
            self._load(self.main)
        except OutsideError as error:
            raise CannotFix("file", str(error)) from None
        if self.main in self._refused:
            raise CannotFix("format", f"{path}: UTF-16: save it as UTF-8, then it can be changed")
        self.kind = kind_of(path, self.texts[self.main])
        if self.kind not in KINDS:
            raise CannotFix("format", f"{path}: a launch file of this kind ({self.kind}) cannot be changed by doctor")

    def read(self, changed: dict[str, str]) -> list[Definition]:
        """The servers these files start, some of the texts replaced. Raises CannotFix."""
        siblings = _Siblings(self, SiblingFiles(self._outside, self._folder, inside=self._inside), changed)
        text = changed.get(self.main, self.texts[self.main])
        try:
            return read_definitions(self.path, text, siblings, self._table).definitions
        except DefinitionError as error:
            raise CannotFix("format", f"{self.path}: {error}") from None

    def where(self, file: str) -> str:
        """The real path of a file as a reader names it, "" the launch file itself."""
        found = SiblingFiles(self._outside, self._folder, inside=self._inside).where(file) if file else None
        return self.main if found is None else self._outside.real_path(found)

    def real(self, path: str) -> str:
        """The real path of a full one."""
        return self._outside.real_path(path)

    def shown(self, real: str) -> str:
        """A path as it was given."""
        return self._shown.get(real, real)

    def bytes_of(self, real: str, text: str) -> bytes:
        """A text as it is written to its file."""
        mark = MARK.encode() if self.before[real].startswith(MARK.encode()) else b""
        return mark + text.encode("utf-8", "surrogateescape")

    def text(self, path: str, real: str) -> str | None:
        """A sibling's text; None where there is none, or none that may be read."""
        if real not in self.texts and real not in self._refused:
            self._shown.setdefault(real, path)
            try:
                self._load(real)
            except OutsideError:
                self._refused.add(real)
        return self.texts.get(real)

    def _load(self, real: str) -> None:
        data = self._outside.read_bytes(real, FILE_LIMIT)
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            self._refused.add(real)
            return
        self.before[real] = data
        self.texts[real] = data.removeprefix(MARK.encode()).decode("utf-8", "surrogateescape")


class _Siblings(NamedTuple):
    """The other files, those that are changed as they would be."""

    files: LaunchFiles
    disk: SiblingFiles
    changed: dict[str, str]

    def text(self, path: str) -> str | None:
        where = self.disk.where(path)
        if where is None:
            return None
        real = self.files.real(where)
        return self.changed[real] if real in self.changed else self.files.text(where, real)

    def names(self, folder: str) -> list[str] | None:
        return self.disk.names(folder)
