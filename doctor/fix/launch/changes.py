"""What is to change in a launch command: words, or a variable that is set for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.launch.command_text import hidden, kept
from doctor.launch.options import read_arguments
from doctor.launch.quoting import split_command
from doctor.launch.variables import matters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doctor.facts.launch.record import Launch, LaunchOption
    from doctor.launch.command import Command
    from doctor.launch.table import OptionTable
    from doctor.secrets import Vault

_TOKEN = re.compile(r"<key-\d+>")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)(?:=(.*))?", re.DOTALL)
ANY_BUILD = ("misread", "equals", "joined", "slip", "repeated")
"""Kinds of problem that are one on every build: they are put right even where the build is not known."""


class Change(NamedTuple):
    """Words `first` up to `end` of a command, and what stands there instead. `free`: they may stand anywhere.

    Keys stand as their tokens. `kind` and `why` are those of the problem it puts right, "" for a rule's remedy.
    """

    first: int
    end: int
    words: tuple[str, ...]
    free: bool = False
    kind: str = ""
    why: str = ""


class Variable(NamedTuple):
    """A variable with its new name and value; `old` is the value it has."""

    name: str
    new: str
    old: str
    value: str
    kind: str = ""
    why: str = ""


Wanted = Change | Variable
State = tuple[tuple[str, ...], dict[str, str]]
"""What counts of a command: its words, and its variables that matter to the server."""


def corrections(command: Command, table: OptionTable, build: int, vault: Vault) -> list[Wanted]:
    """What the build wants written otherwise, the last words first so that places stay right when it is carried out."""
    reading = read_arguments(command.arguments, table, build, vault)
    found: list[Wanted] = []
    taken: set[int] = set()
    for edit in sorted(reading.edits, reverse=True):
        if taken.isdisjoint(range(edit.first, edit.end)):
            taken.update(range(edit.first, edit.end))
            old = reading.texts[edit.first : edit.end]
            new = tuple(split_command(edit.words))
            found.append(_trimmed(command.first + edit.first, old, new)._replace(kind=edit.kind, why=edit.why))
    return found


def of_variables(launch: Launch, command: Command) -> list[Wanted]:
    """What the build wants of variables, where that is a variable again."""
    found: list[Wanted] = []
    for problem in launch.problems if isinstance(launch.problems, tuple) else ():
        name = problem.spelling.partition("=")[0]
        right = _VARIABLE.fullmatch(problem.replacement) if isinstance(problem.replacement, str) else None
        if name in command.variables and matters(name) and right is not None:
            old = command.variables[name]
            value = old if right[2] is None else right[2]
            if len(old) < 120:
                found.append(Variable(name, right[1], old, value, problem.kind, problem.message))
    return found


def towards(command: Command, launch: Launch, wanted: Sequence[str], vault: Vault) -> list[Wanted]:
    """The changes that make a command what a remedy wants, the last ones first; [] where they cannot be told."""
    from difflib import SequenceMatcher

    places = sorted(kept(command.words))
    now = hidden(command.words, vault)
    before = split_command(launch.command) if isinstance(launch.command, str) else []
    if len(before) != len(places):
        return []
    found: list[Wanted] = []
    for kind, first, end, start, stop in SequenceMatcher(None, before, list(wanted), autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        new = tuple(wanted[start:stop])
        if first == end:
            at = places[first] if first < len(places) else len(command.words)
            found += _inserted(command, launch, at, new)
            continue
        if places[end - 1] - places[first] != end - 1 - first:
            return []  # words of another branch stand in between
        found.append(_trimmed(places[first], now[places[first] : places[end - 1] + 1], new))
    return sorted(found, key=lambda change: change.first if isinstance(change, Change) else -1, reverse=True)


def _inserted(command: Command, launch: Launch, at: int, new: tuple[str, ...]) -> Iterator[Wanted]:
    """New words; an option that a variable sets is changed there."""
    if not new[0].startswith("-"):
        yield Change(at, at, new)
        return
    groups: list[list[str]] = []
    for word in new:
        if word.startswith("-") and not re.fullmatch(r"-[\d.,]+", word):
            groups.append([word])
        else:
            groups[-1].append(word)
    left: list[str] = []
    for group in groups:
        variable = _variable_of(command, launch, group)
        if variable is not None:
            yield variable
        else:
            left += group
    if left:
        yield Change(at, at, tuple(left), free=True)


def _variable_of(command: Command, launch: Launch, group: list[str]) -> Variable | None:
    options: Sequence[LaunchOption] = launch.options if isinstance(launch.options, tuple) else ()
    for option in options:
        if option.name == group[0] and option.spelling in command.variables and len(group) == 2:
            old = command.variables[option.spelling]
            return Variable(option.spelling, option.spelling, old, group[1])
    return None


def _trimmed(first: int, old: Sequence[str], new: tuple[str, ...]) -> Change:
    """A change without the words in front and behind that stay."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    stop = 0
    while stop < min(len(old), len(new)) - start and old[-1 - stop] == new[-1 - stop]:
        stop += 1
    return Change(first + start, first + len(old) - stop, new[start : len(new) - stop])


def state_of(command: Command) -> State:
    """What counts of a command."""
    variables = {name: value for name, value in command.variables.items() if matters(name)}
    return tuple(word.text for word in command.words), variables


def revealed(text: str, vault: Vault) -> str:
    """A word with its keys instead of their tokens."""
    return _TOKEN.sub(lambda found: vault.get(found.group(0)), text)


def outcome(command: Command, change: Wanted, vault: Vault) -> State:
    """The words and variables (those that matter to the server) of a command after a change."""
    texts, variables = state_of(command)
    if isinstance(change, Variable):
        variables.pop(change.name)
        variables[change.new] = change.value
        written = f"{change.new}={change.value}"  # in front of the program it is a word too
        front = tuple(written if text == f"{change.name}={change.old}" else text for text in texts[: command.first])
        return (*front, *texts[command.first :]), variables
    new = tuple(revealed(word, vault) for word in change.words)
    return (*texts[: change.first], *new, *texts[change.end :]), variables
