"""What the engine says: findings, and what could not be decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple


class Evidence(NamedTuple):
    """What a finding rests on: the words, where they come from, and the line there (None when it has none)."""

    text: str
    source: str
    line: int | None


class Edit(NamedTuple):
    """A change of one setting in a file of a client. It holds what will be written: not redacted, never shown as it is.

    `setting` is what is changed, in short; `action`, `value` as in a rule's `edit`. `pointer` is the place in `file` as a
    JSON pointer; `kind` what stands there: text, number, bool, object, or "" for what stands there now.
    `blank`: to remove it an empty text is written, which beats a variable of the shell.
    """

    setting: str
    action: str
    value: str
    file: str
    pointer: str
    kind: str
    blank: bool = False

    def wants_key(self) -> bool:
        """Whether it writes a key that only the user can give."""
        return self.action == "set" and not self.value and self.kind != "object"


class Advice(NamedTuple):
    """One way out, with the command to type ("" when there is none) and what it costs.

    `edits` are the changes of settings that carry it out, () where doctor cannot make it. `launch` are the words of the
    launch command as it should be, keys as their tokens, () where the remedy does not change it: as `edits` they are not
    fit to be shown.
    """

    text: str
    command: str
    price: str
    edits: tuple[Edit, ...] = ()
    launch: tuple[str, ...] = ()


class Finding(NamedTuple):
    """One cause of trouble. `status`: seen (evidence on this set-up), likely (from words alone) or guess (nothing known, only
    words that are near).

    `explains` holds the findings that follow from this one. `subjects` are those of the facts it rests on.
    `instead_of` is the rule of another finding, when this one is only what else could look like that. `about` is the
    client that the finding is about, "" when it is about no single one.
    """

    rule: str
    cause: str
    severity: str
    status: str
    title: str
    why: str
    evidence: tuple[Evidence, ...]
    remedies: tuple[Advice, ...]
    explains: tuple[Finding, ...]
    references: tuple[str, ...]
    decide: str = ""
    subjects: tuple[str, ...] = ()
    instead_of: str = ""
    about: str = ""


def every(findings: Iterable[Finding]) -> Iterator[Finding]:
    """The findings with all that they explain."""
    for finding in findings:
        yield finding
        yield from every(finding.explains)


class Correction(NamedTuple):
    """A launch command as a build wants it. `name` says which (a service, a model, a file), "" for the only one.

    `build` is the number it was held against, None when that is the newest one known. `changes` are (place, what stands
    there, what to write, why): what to write is "" for words to leave out and None for what nobody can know. `command` is
    the whole, None when nothing on the command line itself is to be changed. `together`: it holds what several findings
    say, each of which shows its own change only.
    """

    name: str
    build: int | None
    changes: tuple[tuple[str, str, str | None, str], ...]
    command: str | None
    together: bool = False


class NotChecked(NamedTuple):
    """A check that could not be made, and why."""

    check: str
    reason: str


class Report(NamedTuple):
    """The whole answer, before it is given a form.

    `facts` is plain JSON data. `found_nothing` is said when there is no finding; `healthy` is whether that means that
    all is well, and not only that nothing was understood. `launch_file` is the file in which `doctor fix` can change the
    launch command, "" where there is none.
    """

    command: str
    findings: tuple[Finding, ...]
    not_checked: tuple[NotChecked, ...]
    facts: dict[str, Any]
    found_nothing: str = ""
    healthy: bool = False
    notes: tuple[str, ...] = ()
    corrections: tuple[Correction, ...] = ()
    launch_file: str = ""
