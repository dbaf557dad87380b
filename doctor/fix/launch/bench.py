"""Judges a launch command again after a change: the same facts, the same rules, another command."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from doctor.engine.diagnose import diagnose
from doctor.facts.launch.record import Launch, judge
from doctor.facts.record import Unknown, known

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from doctor.engine.finding import Finding
    from doctor.engine.match import Hits
    from doctor.engine.rules import Rule
    from doctor.facts.facts import Facts
    from doctor.facts.launch.record import Seen
    from doctor.launch.command import Command
    from doctor.launch.help_text import HelpOption
    from doctor.launch.table import OptionTable
    from doctor.outside import Outside
    from doctor.secrets import Vault


class Judged(NamedTuple):
    """A command as a record, and what is wrong with it."""

    launch: Launch
    findings: tuple[Finding, ...]


class Bench(NamedTuple):
    """What it takes. `seen` are the servers as they were found, the one that the facts are about first; `options` all that is
    known of options, `build` the number they are held against, None where it is not known; `again` computes what depends
    on the command.
    """

    outside: Outside
    vault: Vault
    rules: Sequence[Rule]
    facts: Facts
    seen: tuple[Seen, ...]
    options: OptionTable
    build: int | None
    listed: dict[str, HelpOption] | None = None
    lang: str = "en"
    clean: Callable[[str], str] = str
    hits: Mapping[str, Hits] | None = None
    source: str = "launch"
    again: Callable[[Facts, Launch], Facts] = lambda facts, launch: replace(facts, launch=launch)

    def table(self) -> OptionTable:
        """The options as the program itself has them, where it was asked."""
        return self.options.of_program(self.listed, self.number()) if self.listed else self.options

    def number(self) -> int:
        """The build that is meant: the newest one known where nothing else is."""
        return self.options.newest if self.build is None else self.build

    def judged(self, at: int, command: Command) -> Judged | None:
        """Server `at` with this command; None where it cannot be judged."""
        seen = self.seen[at]._replace(command=command)
        launch = judge(self.outside, self.vault, seen, self.build, self.listed, self.options)
        if not isinstance(launch, Launch):
            return None
        facts = self._of_other(launch) if at else self.facts
        facts = self.again(facts, launch)
        found = diagnose(self.rules, facts, self.hits, lang=self.lang, source=self.source, clean=self.clean)
        return Judged(launch, found.findings)

    def _of_other(self, launch: Launch) -> Facts:
        """The facts for a further server of the file: only what is known of it too."""
        away = Unknown("only the first server of the launch file is looked at")
        first = known(self.facts.launch)
        same = first is not None and known(launch.model) is not None and known(launch.model) == known(first.model)
        return replace(self.facts, server=away, ladders=away, gguf=self.facts.gguf if same else away, budget=away)
