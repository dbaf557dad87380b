"""Facts a pasted text gives: its numbers, the launch command in it, the build it names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from doctor.facts.build import Build
from doctor.facts.facts import Facts, nothing_known
from doctor.facts.launch import Launch, Seen, judge
from doctor.facts.record import Fact, Unknown, not_collected, known

if TYPE_CHECKING:
    from doctor.logs.paste import Paste
    from doctor.logs.sections import Command
    from doctor.outside import Outside
    from doctor.secrets import Vault

NO_COMMAND = "the text holds no launch command"


def paste_facts(paste: Paste, outside: Outside, vault: Vault) -> Facts:
    """What a text that has been walked to its end says. Everything it is silent on is unknown."""
    log = paste.log
    number = known(log.build_number)
    build: Fact[Build] = Unknown("the text names no build")
    if number is not None:
        build = replace(not_collected(Build, "only a text was given"), number=number, source="log")
    facts = nothing_known("only a text was given")
    return replace(facts, log=log, launch=pasted_launch(paste.commands, number, outside, vault), build=build)


def pasted_launch(
    commands: tuple[Command, ...], build_number: int | None, outside: Outside, vault: Vault
) -> Fact[Launch]:
    """The first command among these that starts llama-server."""
    from doctor.launch.command import parse_command
    from doctor.launch.fields import Origin

    for command in commands:
        found = parse_command(command.text, command.line)
        if found is not None:
            return judge(outside, vault, Seen(found, Origin("paste", outside.home())), build_number)
    return Unknown(NO_COMMAND)
