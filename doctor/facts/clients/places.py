"""The places a client reads its settings from, which of them wins, and which lose."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.env_file import exported
from doctor.facts.clients.keys import credential
from doctor.facts.clients.record import Credential, Setting, pointer
from doctor.facts.record import known
from doctor.facts.urls import parse_address, spares

if TYPE_CHECKING:
    from doctor.outside import Outside
    from doctor.secrets import Vault

ENVIRONMENT = "environment"


class Found(NamedTuple):
    """A value in one place: a file or the environment. `unset`: the file names a variable, `name`, that is not set.

    `pointer` is the place in the file as a JSON pointer, None where it is in none.
    """

    name: str
    value: str
    source: str
    line: int | None
    unset: bool = False
    pointer: str | None = None


class Places:
    """Settings files, highest first, and the environment with .env files, and a memory of the values that lost.

    `env_win`: the .env files beat the environment, as in aider. `block`: the key of the settings files under which
    variables stand that beat those of the environment, even when they are blank, as in Claude Code.
    """

    def __init__(
        self,
        outside: Outside,
        vault: Vault,
        files: Iterable[DataFile] = (),
        env_files: Iterable[DataFile] = (),
        *,
        env_win: bool = False,
        block: str = "",
    ) -> None:
        self.outside = outside
        self.vault = vault
        self.files = tuple(files)
        self.env_files = tuple(env_files)
        self._env_win = env_win
        self._block = block
        self._losers: dict[tuple[str, str, int | None], Found] = {}
        self._asked: set[str] = set()
        self._secret: set[str] = set()

    # --- looking ------------------------------------------------------------------------------------------------

    def variable(self, *names: str) -> list[Found]:
        """The values of these variables, the winning one first; an earlier name beats a later one."""
        found = []
        for name in names:
            self._asked.add(name)
            shell = [Found(name, self.outside.environ[name], ENVIRONMENT, None)] if name in self.outside.environ else []
            files = [
                Found(name, value, file.path, file.line(name), pointer=pointer(name))
                for file in self.env_files
                if isinstance(value := file.data.get(name), str)
            ]
            if self._block:
                found += self._masked(name, shell)
            else:
                found += files + shell if self._env_win else shell + files
        return found

    def _masked(self, name: str, shell: list[Found]) -> list[Found]:
        """The one value of a variable that counts."""
        found = [item._replace(name=name) for item in self.key(self._block, name)] + shell
        self.loses(*(item for item in found[1:] if item.value != found[0].value))
        return found[:1]

    def key(self, *path: Key) -> list[Found]:
        """The values of a key of the settings files, the winning one first."""
        return [found for file in self.files for found in at(file, *path)]

    def resolved(self, found: Iterable[Found], pattern: re.Pattern[str]) -> list[Found]:
        """The same values, with the variable's in place of one that only names a variable (`$NAME` and the like)."""
        results = []
        for item in found:
            reference = pattern.fullmatch(item.value.strip())
            name = next(filter(None, reference.groups()), "") if reference else ""
            if not name:
                results.append(item)
                continue
            results += self.variable(name)[:1] or [Found(name, "", item.source, item.line, unset=True)]
        return results

    # --- choosing -----------------------------------------------------------------------------------------------

    def first(self, *groups: Iterable[Found]) -> Found | None:
        """The first value that is not blank; those that differ from it have lost."""
        found = [item for group in groups for item in group]
        winner = next((item for item in found if item.value.strip()), None)
        if winner is not None:
            self.loses(*(item for item in found if item is not winner and item.value != winner.value))
        return winner

    def setting(self, *groups: Iterable[Found]) -> Setting | None:
        """The first value that is not blank, as a record; a password in a URL is a token."""
        winner = self.first(*groups)
        return self.record(winner) if winner is not None else None

    def record(self, found: Found) -> Setting:
        """A value as a record."""
        return Setting(found.name, self._clean(found), found.source, found.line, pointer=found.pointer)

    def credential(self, header: str, *groups: Iterable[Found]) -> tuple[Credential, ...]:
        """The key that is sent in `header`, as a record; () when none is set anywhere."""
        found = [item for group in groups for item in group]
        self._secret |= {item.name for item in found}
        winner = (
            self.first(found) or next((item for item in found if item.unset), None) or (found[0] if found else None)
        )
        if winner is None:
            return ()
        if winner.value.strip().startswith("$("):
            # A command: nobody knows its output before it runs.
            return (Credential(winner.name, "", header, winner.source, winner.line, ()),)
        if winner.unset:
            return (Credential(winner.name, "", header, winner.source, winner.line, ("unset",)),)
        made = credential(self.vault, winner.name, winner.value, header, winner.source, winner.line)
        return (replace(made, pointer=winner.pointer),)

    def hides(self, *names: str) -> None:
        """Note names whose values are keys although nothing sends them."""
        self._secret |= set(names)

    def loses(self, *found: Found) -> None:
        """Note values that have no effect."""
        for item in found:
            if item.value:
                self._losers[item.name, item.source, item.line] = item

    def _clean(self, found: Found) -> str:
        if found.name in self._secret:
            return self.vault.put(found.value.strip())
        userinfo = parse_address(found.value).userinfo if "@" in found.value else ""
        return found.value.replace(userinfo, self.vault.put(userinfo)) if userinfo else found.value

    # --- what all clients have in common ------------------------------------------------------------------------

    def settings(self, *groups: Iterable[Found]) -> tuple[Setting, ...]:
        """The winner of each group that has one."""
        return tuple(setting for group in groups if (setting := self.setting(group)) is not None)

    def proxy(self, request_url: str | None, obeyed: tuple[str, ...]) -> Setting | None:
        """The variable that would take its requests. `obeyed`: the schemes of the variables it goes by, "all" too."""
        if request_url is None:
            return None
        address = parse_address(request_url)
        for found in self.variable("no_proxy", "NO_PROXY"):
            if spares(found.value, address.host, address.port):
                return None
        names = [f"{kind}_proxy" for kind in obeyed if kind in (address.scheme, "all")]
        for name in names:
            for spelling in (name, name.upper()):
                for found in self.variable(spelling):
                    if found.value.strip():
                        return self.record(found)
        return None

    def problems(self) -> tuple[str, ...]:
        """One line for every file that cannot be read."""
        return tuple(file.problem for file in (*self.files, *self.env_files) if file.problem)

    def overridden(self) -> tuple[Setting, ...]:
        """The values that lost, keys among them as tokens; with them what a shell profile sets and nobody has read."""
        losers = {key: self.record(found) for key, found in self._losers.items()}
        for export in self._exported({name for name in self._asked if "proxy" not in name.lower()}):
            now = self.outside.environ.get(export.name)
            if export.value is not None and export.value.strip() and now is not None and export.value != now:
                found = Found(export.name, export.value, export.path, export.line)
                losers.setdefault((found.name, found.source, found.line), self.record(found))
        return tuple(losers.values())

    def profile_of(self, name: str, source: str) -> str | None:
        """The shell profile and line that give a variable of the environment its value."""
        now = self.outside.environ.get(name)
        if source != ENVIRONMENT or now is None:
            return None
        fitting = [item for item in self._exported({name}) if item.name == name and item.value in (None, now)]
        return f"{fitting[-1].path}:{fitting[-1].line}" if fitting else None

    def _exported(self, asked: set[str]) -> list[Any]:
        names = {name for name in asked if name in self.outside.environ}
        return list(exported(self.outside, names)) if names else []


def at(file: DataFile, *path: Key) -> list[Found]:
    """The value of a key of one file: [] where it is not there or no single value."""
    value = file.get(*path)
    if not isinstance(value, (str, int, float)):
        return []
    place = None if file.path == ENVIRONMENT else pointer(*path)
    return [Found(".".join(map(str, path)), as_text(value), file.path, file.line(*path), pointer=place)]


def as_text(value: str | int | float) -> str:
    """A value of a settings file as a variable would hold it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def as_number(setting: Setting | None) -> int | None:
    """A whole number above 0, None where there is none."""
    value = known(setting)
    text = value.value.strip().replace("_", "") if value is not None else ""
    return int(text) if re.fullmatch(r"[1-9][0-9]{0,11}", text) else None
