"""Takes the last edit back, if the file is still as the edit left it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.fix.plan import LIMIT
from doctor.fix.write import Entry, digest, entries, mark_undone
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside


class Undone(NamedTuple):
    """How it went. `state`: undone, nothing (no edit is left), changed (the file is another one now), lost (the copy is
    gone or was changed)."""

    state: str
    entry: Entry | None


def undo(outside: Outside) -> Undone:
    """Take back the latest edit that was not taken back yet. Raises OutsideError when the file cannot be written."""
    for entry in entries(outside):
        if entry.undone:
            continue
        now = _content(outside, entry.file)
        if digest(now) == entry.before:  # it was never written, or taken back by hand
            mark_undone(outside, entry)
            continue
        if now is None or digest(now) != entry.after:
            return Undone("changed", entry)
        if entry.before is None:
            outside.remove_file(entry.file, now)
        else:
            old = _content(outside, entry.backup)
            if old is None or digest(old) != entry.before:
                return Undone("lost", entry)
            outside.replace_file(entry.file, old, now)
        mark_undone(outside, entry)
        return Undone("undone", entry)
    return Undone("nothing", None)


def _content(outside: Outside, path: str) -> bytes | None:
    try:
        return outside.read_bytes(path, LIMIT)
    except OutsideError as error:
        if error.kind == "missing":
            return None
        raise
