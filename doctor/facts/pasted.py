"""Facts a pasted text gives: its numbers, the launch command in it, the build it names."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from doctor.facts.build.record import from_number
from doctor.facts.facts import Facts, nothing_known
from doctor.facts.launch.record import Launch, Seen, judge
from doctor.facts.pasted_cards import cards_of
from doctor.facts.record import Fact, Unknown, known
from doctor.logs.prose import command_in
from doctor.logs.requests import asked_in

if TYPE_CHECKING:
    from doctor.facts.budget.record import MemoryBudget
    from doctor.facts.log import Log
    from doctor.facts.speed import Speed
    from doctor.logs.paste import Paste
    from doctor.outside import Outside
    from doctor.secrets import Vault

NO_COMMAND = "the text holds no launch command"
_UNIT = re.compile(r"^[ \t]*ExecStart=", re.MULTILINE)
_UNIT_SETS = re.compile(r"^[ \t]*Environment=(.+)$", re.MULTILINE)
_UNIT_FILE = re.compile(r"^[ \t]*EnvironmentFile=", re.MULTILINE)
_SHELL_SETS = re.compile(r"^(?:\S{0,80}[$#>❯➜]\s+)?\s*(?:export\s+|set\s+|\$env:)(.+)$")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\s*=\s*(.*)", re.DOTALL)


def paste_facts(
    paste: Paste, outside: Outside, vault: Vault, model: str | None = None, seen: list[Seen] | None = None
) -> Facts:
    """What a text that has been walked to its end says. Everything it is silent on is unknown.

    `model` is a file that the user says is the model of the log. `seen` is given the launch command as it was found.
    """
    log = paste.log
    build = from_number(outside, log.build_number, source="log")
    facts = nothing_known("only a text was given")
    found = pasted_command(paste, outside)
    launch = judge(outside, vault, found, known(log.build_number)) if isinstance(found, Seen) else found
    if seen is not None and isinstance(found, Seen):
        seen.append(found)
    budget: Fact[MemoryBudget] = Unknown("the model file is not known: name it with --model")
    speed: Fact[Speed] = Unknown("the model file is not known: name it with --model")
    started = known(launch)
    if model is not None and started is not None:
        from doctor.facts.budget.record import of_log

        budget = of_log(outside, model, started, known(log.build_number), log)
        speed = _speed(outside, model, started, log)
    elif model is not None:
        budget = speed = Unknown(NO_COMMAND)
    timeline = None
    if turns := paste.turns:
        from doctor.facts.timeline.log import of_log as timeline_of_log

        timeline = timeline_of_log(outside, turns, log, speed)
    return replace(
        facts,
        gpu=cards_of(paste.head),
        log=log,
        launch=launch,
        build=build,
        budget=budget,
        speed=speed,
        timeline=timeline,
        asked=asked_in(paste.head),
    )


def _speed(outside: Outside, model: str, launch: Launch, log: Log) -> Fact[Speed]:
    """The speed to expect on the cards a log names."""
    from doctor.facts.budget.record import rooms_of_log, wish_of
    from doctor.facts.speed import drafting_of, of_wish

    wish = wish_of(outside, model, launch, known(log.build_number))
    if isinstance(wish, Unknown):
        return wish
    names = {device.name: known(device.description) or "" for device in known(log.devices) or ()}
    rooms = tuple(room._replace(name=names.get(room.device.name, "")) for room in rooms_of_log(log))
    if not rooms and known(launch.n_gpu_layers) != "0":
        return Unknown("the log does not name its cards: newer builds do only with -lv 4")
    return of_wish(outside, wish, rooms, measure_ram=False, drafting=drafting_of(wish))


def pasted_command(paste: Paste, outside: Outside) -> Seen | Unknown:
    """The first command in a text that starts llama-server: a command line, else the service of a compose file."""
    from doctor.launch.command import parse_command
    from doctor.launch.fields import Origin

    texts = [(command.text, command.line) for command in paste.commands]
    if "command:" in paste.head:
        texts.append((paste.head, 1))
    for text, line in texts:
        found = parse_command(command_in(text) or text, line)
        # A bare list of options counts only where nothing says that it is another program's.
        if found is not None and (found.program is not None or found.image is not None):
            found = found._replace(variables={**_set_before(paste.head, line), **found.variables})
            hidden = _UNIT.search(paste.head) and _UNIT_FILE.search(paste.head)
            environment = Unknown("the file of EnvironmentFile= was not given") if hidden else None
            origin = Origin("paste", outside.home(), environment=environment)
            return Seen(found, origin)
    return Unknown(NO_COMMAND)


def _set_before(head: str, line: int) -> dict[str, str]:
    """Variables that the text sets for a command: `Environment=` of its unit, `export` in the lines before it."""
    sets = _UNIT_SETS.findall(head) if _UNIT.search(head) else []
    sets += [found[1] for text in head.split("\n")[: line - 1] if (found := _SHELL_SETS.match(text))]
    variables: dict[str, str] = {}
    for text in sets:
        try:
            words = shlex.split(re.sub(r"\s=\s", "=", text), comments=False)
        except ValueError:  # a quote without its partner
            continue
        variables.update((found[1], found[2]) for word in words if (found := _ASSIGNMENT.fullmatch(word)))
    return variables
