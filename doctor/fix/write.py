"""An edit on disk: first what is needed to take it back, then the file, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.clients.program import separators
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.fix.plan import Plan
    from doctor.outside import Outside

SCHEMA = 1
ENTRY = "edit.json"
MOST_ENTRIES = 10_000


class Entry(NamedTuple):
    """An edit that was made: its folder, the file, sums of what it held before (None: it was not there) and after.

    `backup` is the full path of the copy, "" for a new file. `undone`: it was taken back.
    """

    folder: str
    file: str
    before: str | None
    after: str
    backup: str
    rule: str
    client: str
    undone: bool


def state_folder(outside: Outside) -> str:
    """Where edits are noted: below XDG_STATE_HOME, on Windows below LOCALAPPDATA."""
    join = separators(outside).join
    if outside.platform == "win32":
        base = outside.environ.get("LOCALAPPDATA", "").strip() or join(outside.home(), "AppData", "Local")
    else:
        base = outside.environ.get("XDG_STATE_HOME", "").strip() or join(outside.home(), ".local", "state")
    return str(join(base, "doctor", "edits"))


def apply(outside: Outside, plan: Plan, rule: str, client: str) -> Entry:
    """Write the file, after a copy of the old one and a note of the edit. Raises OutsideError; then nothing has changed."""
    entry = _note(outside, plan, rule, client)
    if plan.before is None:
        outside.make_folder(str(separators(outside).dirname(plan.target)))
    outside.replace_file(plan.target, plan.after, plan.before)
    return entry


def entries(outside: Outside) -> list[Entry]:
    """The edits that were made, the latest first; what cannot be read is passed over."""
    join = separators(outside).join
    root = state_folder(outside)
    try:
        names = outside.list_folder(root, MOST_ENTRIES)
    except OutsideError:
        return []
    found = (_entry(outside, join(root, name)) for name in sorted(names, reverse=True))
    return [entry for entry in found if entry is not None]


def mark_undone(outside: Outside, entry: Entry) -> None:
    """Note that an edit was taken back. Raises OutsideError."""
    _write(outside, entry._replace(undone=True))


def digest(data: bytes | None) -> str | None:
    """The sum by which contents are told apart."""
    return None if data is None else hashlib.sha256(data).hexdigest()


def _note(outside: Outside, plan: Plan, rule: str, client: str) -> Entry:
    path = separators(outside)
    folder = _new_folder(outside, path)
    # Letters and digits only: the name of a file can be anything.
    name = re.sub(r"[^\w.-]", "_", path.basename(plan.target))[:80] or "file"
    backup = path.join(folder, name) if plan.before is not None else ""
    if plan.before is not None:
        outside.replace_file(backup, plan.before, None)
    after = digest(plan.after) or ""
    entry = Entry(folder, plan.target, digest(plan.before), after, backup, rule, client, False)
    _write(outside, entry)
    return entry


def _new_folder(outside: Outside, path: Any) -> str:
    from datetime import datetime, timezone

    stamp = datetime.fromtimestamp(outside.now(), timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    for number in range(1, 1000):
        folder = str(path.join(state_folder(outside), f"{stamp}-{number:03}"))
        if not outside.exists(folder):
            outside.make_folder(folder)
            return folder
    raise OutsideError("failed", "too many edits in one second")


def _write(outside: Outside, entry: Entry) -> None:
    data = {"schema_version": SCHEMA, **entry._asdict()}
    del data["folder"]
    text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    outside.write_text(separators(outside).join(entry.folder, ENTRY), text)


def _entry(outside: Outside, folder: str) -> Entry | None:
    try:
        data = json.loads(outside.read_text(separators(outside).join(folder, ENTRY), 64 << 10))
        if data.pop("schema_version") != SCHEMA or not isinstance(data["undone"], bool):
            return None
        if not all(isinstance(data[name], str) for name in ("file", "after", "backup", "rule", "client")):
            return None
        return Entry(folder=folder, **data)
    except (OutsideError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
