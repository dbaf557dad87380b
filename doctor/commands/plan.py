"""`doctor plan`: will it fit, what is the largest that does, and the commands for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.commands.answer import on_terminal, redactor, show, speaks_unicode, write
from doctor.exits import Exit, UsageError
from doctor.facts.record import Unknown, known
from doctor.outside import OutsideError
from doctor.report.words import language
from doctor.secrets import Vault

if TYPE_CHECKING:
    import argparse

    from doctor.facts.facts import Facts
    from doctor.facts.launch import Launch
    from doctor.facts.model_file import ModelFile
    from doctor.facts.rooms import Rooms
    from doctor.launch.table import OptionTable
    from doctor.memory.model import Model
    from doctor.memory.options import Options
    from doctor.memory.planner import Plan
    from doctor.memory.quants import Size
    from doctor.memory.remedies import Step
    from doctor.memory.rooms import Outcome, Wish
    from doctor.outside import Outside

GOALS = ("speed", "context", "quality")


class Planned(NamedTuple):
    """Everything an answer is made of.

    `asked` is the launch command weighed as it stands, None when none was given; `start` what the remedies begin with.
    `commands` are the words of each profile's command, `steps_commands` of each remedy. `build_source` is given, newest,
    or the path of the binary that was asked.
    """

    file: ModelFile
    build: int
    build_source: str
    rooms: Rooms
    wish: Wish
    asked: Outcome | None
    plan: Plan | None
    steps: tuple[Step, ...]
    quants: tuple[Size, ...]
    commands: tuple[tuple[str, ...], ...]
    step_commands: tuple[tuple[str, ...], ...]
    form: str
    notes: tuple[str, ...]


def plan(options: argparse.Namespace, outside: Outside) -> Exit:
    """Look, reckon, answer."""
    import gc

    gc.disable()  # hundreds of thousands of small objects, soon gone: looking for rings among them costs a fifth
    try:
        return _plan(options, outside)
    finally:
        gc.enable()


def _plan(options: argparse.Namespace, outside: Outside) -> Exit:
    lang = language(options.lang, dict(outside.environ))
    vault = Vault()
    clean = redactor(outside, vault)
    found = planned(options, outside, vault)
    if options.format == "json":
        from doctor.report import plan_json

        write(plan_json.render(found, clean))
    else:
        from doctor.report import plan as plan_text

        rows = plan_text.rows(found, clean, lang, drawn=on_terminal(), unicode=speaks_unicode())
        show(rows)
    if options.fail_on == "never":
        return Exit.OK
    return Exit.OK if fits(found) else Exit.FINDINGS


def fits(found: Planned) -> bool:
    """Whether what was asked for can be had: the command as it stands; else any set-up at all."""
    if found.asked is not None:
        if found.asked.budget is None:
            return False
        return found.asked.fits if found.rooms.measured or found.wish.ram is not None else True
    return found.plan is None or bool(found.plan.profiles)


def planned(options: argparse.Namespace, outside: Outside, vault: Vault) -> Planned:
    """All the numbers. Raises UsageError."""
    from doctor.commands.plan_rooms import ram_of, rooms_of
    from doctor.engine.load import read_table, rules_folder
    from doctor.facts.rooms import found_rooms
    from doctor.launch.table import load_table
    from doctor.launch.write import abilities
    from doctor.memory.cards import CardTable
    from doctor.memory.options import Options, read_options
    from doctor.memory.rooms import Wish
    from doctor.report.launch_forms import PRESETS_SINCE

    table = load_table(outside)
    facts = _look(options, outside, vault)
    launch = _launch(options, facts)
    build, source = _build(options, facts, table.newest)
    if options.output == "preset" and build < PRESETS_SINCE:
        raise UsageError(f"--output preset: llama-server reads presets from b{PRESETS_SINCE} on, this is b{build}")
    path = options.model or (known(launch.model) if launch else None)
    if not path:
        raise UsageError("plan wants a model: a GGUF file, or --launch with a command that names one")
    file = _open(outside, path, "MODEL" if options.model else "--launch")
    cards = CardTable(read_table(outside, rules_folder(outside), "gpus"))
    rooms = rooms_of(options, cards) or found_rooms(known(facts.gpu) if facts is not None else None, cards)
    given = read_options(known(launch.options) or ()) if launch else Options()
    ram = ram_of(options.ram) if options.ram is not None else _ram(facts) if rooms.source in ("found", "none") else None
    notes: list[str] = []
    wish = Wish(
        model=file.model,
        abilities=abilities(table, build),
        rooms=rooms.rooms,
        options=given,
        ctx=options.ctx,
        slots=options.slots or (given.parallel if given.parallel and given.parallel > 0 else 1),
        ram=ram,
        draft=_beside(outside, known(launch.draft_model) if launch else None, "--model-draft", notes),
        mmproj=_beside(outside, known(launch.mmproj) if launch else None, "--mmproj", notes),
    )
    return _reckon(options, file, build, source, rooms, wish, launch, table, notes)


def _reckon(
    options: argparse.Namespace,
    file: ModelFile,
    build: int,
    source: str,
    rooms: Rooms,
    wish: Wish,
    launch: Launch | None,
    table: OptionTable,
    notes: list[str],
) -> Planned:
    from doctor.memory.planner import PROFILES, Planner, plan_with
    from doctor.memory.remedies import remedies
    from doctor.memory.setup import Setup

    planner = Planner(wish)
    asked = planner.scales.weigh(wish.options) if launch is not None else None
    if not rooms.measured and wish.ram is None:
        return Planned(file, build, source, rooms, wish, asked, None, (), (), (), (), options.output, tuple(notes))
    goals = PROFILES if options.goal is None else (options.goal, *(name for name in PROFILES if name != options.goal))
    if options.goal == "quality":
        goals = ("quality", "speed", "context")
    found = plan_with(planner, goals)
    start = asked
    if asked is None and wish.rooms and wish.ctx and not any((row.tokens or 0) >= wish.ctx for row in found.contexts):
        start = planner.weigh(Setup(wish.ctx, "f16"))
    steps = remedies(planner, start, free=asked is not None) if start is not None else ()

    def command(changed: Options) -> tuple[str, ...]:
        words = command_for(changed, wish, launch, file.path, table, build)
        return words if options.output == "shell" else bare(words, file.path)

    return Planned(
        file,
        build,
        source,
        rooms,
        wish,
        asked,
        found,
        steps,
        _other_sizes(wish, found),
        tuple(command(profile.options) for profile in found.profiles),
        tuple(command(step.options) for step in steps),
        options.output,
        tuple(notes),
    )


def _other_sizes(wish: Wish, found: Plan) -> tuple[Size, ...]:
    """This and the smaller quantisations, where this one leaves no room to work on the cards."""
    from doctor.memory.quants import kind_of, sizes

    if not wish.rooms or any((row.tokens or 0) >= 32768 for row in found.contexts):
        return ()
    listed = sizes(wish.model)
    own = next((at for at, size in enumerate(listed) if size.name == kind_of(wish.model)), None)
    return () if own is None else listed[own:]


def command_for(
    changed: Options, wish: Wish, launch: Launch | None, path: str, table: OptionTable, build: int
) -> tuple[str, ...]:
    """The words of a command with these options, made from the user's own where there is one."""
    from doctor.launch.write import changes_of, fresh, without, words_of

    changes = changes_of(changed, wish.options, build)
    more = words_of(changes, table, build)
    if launch is None:
        return fresh(path, more)
    kept = without(launch, [change.name for change in changes])
    named = () if known(launch.model) is not None else ("--model", path)
    return (*kept, *named, *more) if kept else fresh(path, more)


def bare(words: tuple[str, ...], path: str) -> tuple[str, ...]:
    """The server's own words of a command, without what starts it (docker run, sudo): for a form that starts it itself."""
    from doctor.launch.command import parse_argv

    found = parse_argv(words)
    if found is None:
        return words
    arguments = [word.text for word in found.arguments]
    for at, word in enumerate(arguments[:-1]):
        if word in ("-m", "--model"):
            arguments[at + 1] = path
    return ("llama-server", *arguments)


# --- what is looked at -------------------------------------------------------------------------------------------


def _look(options: argparse.Namespace, outside: Outside, vault: Vault) -> Facts | None:
    """Facts of this machine that the options do not give; None when they give all."""
    here = options.gpu is None and options.vram is None and options.device is None
    wanted = [
        name
        for name, needed in (
            ("launch", options.launch is not None),
            ("build", options.build is None),
            ("gpu", here),
            ("machine", here and options.ram is None),
        )
        if needed
    ]
    if not wanted:
        return None
    from doctor.facts.collect import Wishes, collect

    if options.launch is not None:
        from doctor.launch.command import parse_command

        if parse_command(options.launch) is None:
            raise UsageError('--launch wants a command that starts llama-server, such as "llama-server -m model.gguf"')
    return collect(outside, vault, Wishes(launch=options.launch, subjects=tuple(wanted)))


def _launch(options: argparse.Namespace, facts: Facts | None) -> Launch | None:
    if options.launch is None or facts is None:
        return None
    if isinstance(facts.launch, Unknown):
        raise UsageError(f"--launch: {facts.launch.reason}")
    return facts.launch


def _build(options: argparse.Namespace, facts: Facts | None, newest: int) -> tuple[int, str]:
    """(number of the build, where it is known from)."""
    if options.build is not None:
        text = re.fullmatch(r"b?(\d{3,6})", options.build.strip().lower())
        if not text:
            raise UsageError(f"--build {options.build[:40]}: wants a number such as 11434 (llama-server --version)")
        return int(text[1]), "given"
    found = known(facts.build) if facts is not None else None
    number = known(found.number) if found is not None else None
    if found is not None and number is not None:
        return number, known(found.path) or "newest"
    return newest, "newest"


def _open(outside: Outside, path: str, option: str) -> ModelFile:
    from doctor.facts.model_file import load_model

    if re.match(r"(?:https?|hf|ftp)://", path):
        raise UsageError(f"{option}: {path.split('?')[0]}: give a file on this machine")
    try:
        found = load_model(outside, outside.real_path(path))
    except OutsideError as error:
        raise UsageError(f"{option}: {error}") from None
    if isinstance(found, str):
        raise UsageError(f"{option}: {found}")
    return found._replace(path=path)


def _beside(outside: Outside, path: str | None, option: str, notes: list[str]) -> Model | None:
    """The model of another file of the command; what cannot be read is not counted, and said."""
    from doctor.facts.model_file import load_model, load_projector

    load = load_projector if option == "--mmproj" else load_model

    if path is None:
        return None
    try:
        found = load(outside, outside.real_path(path))
    except OutsideError as error:
        notes.append(f"{option}: {error}: not counted")
        return None
    if isinstance(found, str):
        notes.append(f"{option}: {found}: not counted")
        return None
    return found.model


def _ram(facts: Facts | None) -> int | None:
    machine = known(facts.machine) if facts is not None else None
    if machine is None:
        return None
    free = known(machine.ram_available_bytes)
    limit, used = known(machine.cgroup_memory_limit_bytes), known(machine.cgroup_memory_used_bytes)
    if free is not None and limit is not None:
        free = min(free, max(0, limit - (used or 0)))
    return free
