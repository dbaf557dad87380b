"""Who carries a change out; and one who does it on paper, for commands that stand in no file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from doctor.fix.launch.changes import Variable, outcome
from doctor.launch.definition import Definition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from doctor.fix.launch.changes import State, Wanted
    from doctor.launch.command import Command
    from doctor.secrets import Vault


class Worker(Protocol):
    """Whoever carries a change out: on paper, or in a file."""

    now: list[Definition]

    def carry_out(self, at: int, change: Wanted, allowed: Mapping[int, Sequence[State]]) -> None:
        """Raises CannotFix, and then nothing has changed."""

    def state(self) -> Any:
        """How it stands, for `back_to`."""

    def back_to(self, state: Any) -> None:
        """As it stood."""


class Paper:
    """Changes the words of commands that are in no file."""

    def __init__(self, commands: Sequence[Command], vault: Vault) -> None:
        self.now = [Definition("", command) for command in commands]
        self._vault = vault

    def state(self) -> Any:
        return list(self.now)

    def back_to(self, state: Any) -> None:
        self.now = state

    def carry_out(self, at: int, change: Wanted, allowed: Mapping[int, Sequence[State]]) -> None:
        """The change, carried out."""
        command = self.now[at].command
        texts, variables = outcome(command, change, self._vault)
        words = list(command.words)
        if isinstance(change, Variable):
            words = [word._replace(text=text) for word, text in zip(words, texts, strict=True)]
        else:
            near = words[min(change.first, len(words) - 1)]
            new = [
                near._replace(text=text, open=False) for text in texts[change.first : change.first + len(change.words)]
            ]
            if change.free:
                new = [word._replace(maybe=False) for word in new]
            words[change.first : change.end] = new
        self.now[at] = Definition("", command._replace(words=tuple(words), variables=variables))
