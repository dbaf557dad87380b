"""A finding's edit as a change of a file: read it, change it in memory, and see that nothing else changes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.engine.finding import every
from doctor.facts.clients import names_of
from doctor.fix import formats
from doctor.fix.formats import FormatError
from doctor.fix.keys_in import learn
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from doctor.engine.finding import Advice, Edit, Finding
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

LIMIT = 4 << 20
"""Bytes of a file that is changed. Those of clients have a few kB; ~/.claude.json can grow to some MB."""
_TOKEN = re.compile(r"<key-\d+>")
_BEARER = re.compile(r"bearer\b\s*", re.IGNORECASE)
_QUOTES = "\"'`“”‘’"


class CannotFix(Exception):
    """Why an edit is not made. `kind`: key-wanted, format, file, same, token. The message is one line."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Plan(NamedTuple):
    """A change of one file. `path` is as the client knows it, `target` the real file; `before` None: it is new."""

    path: str
    target: str
    before: bytes | None
    after: bytes
    edits: tuple[Edit, ...]


def choices(
    findings: Iterable[Finding], clients: Iterable[Client], rule: str | None, client: str | None
) -> Iterator[tuple[Finding, Advice]]:
    """Findings with an edit, best first, each with its first remedy that has one.

    Notes, and what else might look like a finding, only when their rule is asked for by name.
    """
    names = None if client is None else names_of(clients, client)
    for finding in every(findings):
        unasked = finding.severity == "note" or finding.instead_of
        if (finding.rule != rule if rule else unasked) or (names is not None and finding.about not in names):
            continue
        advice = next((advice for advice in finding.remedies if advice.edits), None)
        if advice is not None:
            yield finding, advice


def planned(outside: Outside, vault: Vault, advice: Advice, key: str | None) -> Plan:
    """The change that carries out a remedy. Raises CannotFix."""
    path = advice.edits[0].file
    module = formats.format_of(path)
    if module is None:
        raise CannotFix("format", f"{path}: files of this kind cannot be changed by doctor")
    before, text = _content(outside, path)
    empty = "{}\n" if module == "jsonc" else ""
    changed = empty if text is None else text
    try:
        for edit in advice.edits:
            changed = _changed(outside, vault, module, changed, edit, key)
        after = changed.encode("utf-8")
    except RecursionError:
        raise CannotFix("format", f"{path}: it is nested too deeply") from None
    except (FormatError, UnicodeError) as error:
        raise CannotFix("format", f"{path}: {error}") from None
    if after == before:
        raise CannotFix("same", f"{path}: it says so already")
    return Plan(path, outside.real_path(path), before, after, advice.edits)


def _content(outside: Outside, path: str) -> tuple[bytes | None, str | None]:
    try:
        data = outside.read_bytes(path, LIMIT)
        return data, data.decode("utf-8")
    except OutsideError as error:
        if error.kind == "missing":
            return None, None
        raise CannotFix("file", str(error)) from None
    except UnicodeDecodeError:
        raise CannotFix("format", f"{path}: is not UTF-8") from None


def _changed(outside: Outside, vault: Vault, module: str, text: str, edit: Edit, key: str | None) -> str:
    path = tuple(part.replace("~1", "/").replace("~0", "~") for part in edit.pointer.split("/")[1:])
    data = formats.read(module, text.removeprefix("\ufeff"))
    learn(vault, data)
    now = formats.lookup(data, path)
    if edit.action == "remove" and not edit.blank:
        return formats.changed(module, text, path, None, remove=True)
    value: Any = ""
    if edit.action == "clean":
        value = cleaned(str(now or ""))
        vault.put(value)
    elif edit.action == "append":
        value = appended(now if isinstance(now, str) else outside.environ.get(path[-1], ""), edit.value)
    elif edit.action == "set":
        value = _typed(_given(vault, text, edit, key), edit.kind, now)
    return formats.changed(module, text, path, value)


def _given(vault: Vault, text: str, edit: Edit, key: str | None) -> str:
    """The text to write: a rule's value, or the key the user gave."""
    if edit.wants_key():
        if not key:
            raise CannotFix("key-wanted", "the edit wants the key, and doctor writes none that it was not given")
        vault.put(key)
        return key
    value = edit.value
    for token in set(_TOKEN.findall(value)):
        secret = vault.get(token)
        if secret == token or secret not in text:
            raise CannotFix("token", "the new value would hold a key from another place")
        value = value.replace(token, secret)
    return value


def _typed(value: str, kind: str, now: Any) -> Any:
    """A value as the file has it: as text, a number, true or false."""
    if kind == "object":
        return {} if now is None else now
    if kind == "number" or (kind == "" and isinstance(now, (int, float)) and not isinstance(now, bool)):
        if not re.fullmatch(r"\d{1,15}", value):
            raise CannotFix("format", "the new value is no whole number")
        return int(value)
    if kind == "bool" or (kind == "" and isinstance(now, bool)):
        return value in ("true", "on")
    return value


def cleaned(key: str) -> str:
    """A key without what does not belong to it: blanks, line breaks, quotes and `Bearer`."""
    key = "".join(key.split("\n")).replace("\r", "").strip().strip(_QUOTES).strip()
    return _BEARER.sub("", key, count=1).strip().strip(_QUOTES)


def appended(now: str, more: str) -> str:
    """A list with commas with further entries in it, each once."""
    entries = [entry.strip() for entry in f"{now},{more}".split(",")]
    return ",".join(dict.fromkeys(entry for entry in entries if entry))
