"""`doctor plan`: will it fit, what is the largest that does, and the commands for it."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from doctor.commands.answer import on_terminal, redactor, show, speaks_unicode, write
from doctor.commands.html import must_be_writable
from doctor.exits import Exit, UsageError
from doctor.facts.record import known
from doctor.report.words import language
from doctor.secrets import Vault

if TYPE_CHECKING:
    import argparse

    from doctor.commands.plan_opinion import Opinion
    from doctor.facts.budget.rooms import Rooms
    from doctor.facts.gguf.model_file import ModelFile
    from doctor.facts.launch.record import Launch
    from doctor.facts.record import Fact
    from doctor.facts.speed import Speed
    from doctor.launch.table import OptionTable
    from doctor.memory.options import Options
    from doctor.memory.planner import Plan
    from doctor.memory.quants import Size
    from doctor.memory.remedies import Step
    from doctor.memory.rooms import Outcome, Wish
    from doctor.outside import Outside
    from doctor.redact import Redactor

GOALS = ("speed", "context", "quality")


class Planned(NamedTuple):
    """Everything an answer is made of.

    `asked` is the launch command weighed as it stands, None when none was given; `start` what the remedies begin with.
    `commands` are the words of each profile's command, `steps_commands` of each remedy. `build_source` is given, newest,
    or the path of the binary that was asked. `speeds` are those to expect of each profile, `asked_speed` of the command.
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
    speeds: tuple[Fact[Speed], ...] = ()
    asked_speed: Fact[Speed] = None
    opinion: Opinion | None = None


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
    must_be_writable(outside, options)
    vault = Vault()
    clean = redactor(outside, vault)
    found = planned(options, outside, vault, lang)
    if options.html is not None:
        _write_page(found, options, outside, clean, lang)
    if options.format == "json":
        from doctor.report import plan_json

        write(plan_json.render(found, clean))
    else:
        from doctor.report import plan as plan_text

        rows = plan_text.rows(found, clean, lang, drawn=on_terminal(), unicode=speaks_unicode())
        show(rows, options)
    if options.fail_on == "never":
        return Exit.OK
    return Exit.OK if fits(found) else Exit.FINDINGS


def _write_page(found: Planned, options: argparse.Namespace, outside: Outside, clean: Redactor, lang: str) -> None:
    from doctor.commands.html import write_page
    from doctor.engine.finding import Report
    from doctor.report import plan as plan_text

    rows = list(plan_text.rows(found, clean, lang, drawn=False, unicode=True))
    verdict = next((row for row in rows if row.pieces and row.pieces[0][0] in ("ok", "error", "warning")), rows[0])
    rows.remove(verdict)
    title = "".join(text for _, text in verdict.pieces)
    write_page(outside, options, Report("plan", (), (), {}), lang, head=tuple(rows), title=title)


def fits(found: Planned) -> bool:
    """Whether what was asked for can be had: the command as it stands; else any set-up at all."""
    if found.asked is not None:
        if found.asked.budget is None:
            return False
        return found.asked.fits if found.rooms.measured or found.wish.ram is not None else True
    return found.plan is None or bool(found.plan.profiles)


def planned(options: argparse.Namespace, outside: Outside, vault: Vault, lang: str = "en") -> Planned:
    """All the numbers. Raises UsageError."""
    from doctor.commands.plan_inputs import beside, build_of, launch_of, look, open_model, ram_here
    from doctor.commands.plan_rooms import ram_of, rooms_of, with_margin
    from doctor.engine.load import read_table, rules_folder
    from doctor.facts.budget.rooms import found_rooms
    from doctor.launch.table import load_table
    from doctor.launch.write import abilities
    from doctor.memory.cards import CardTable
    from doctor.memory.options import Options, read_options
    from doctor.memory.rooms import Wish
    from doctor.report.launch_forms import PRESETS_SINCE

    table = load_table(outside)
    facts = look(options, outside, vault)
    launch = launch_of(options, facts)
    build, source = build_of(options, facts, table.newest)
    if options.output == "preset" and build < PRESETS_SINCE:
        raise UsageError(f"--output preset: llama-server reads presets from b{PRESETS_SINCE} on, this is b{build}")
    path = options.model or (known(launch.model) or known(launch.hf_repo) if launch else None)
    if not path:
        raise UsageError("plan wants a model: a GGUF file, or --launch with a command that names one")
    notes: list[str] = []
    file = open_model(outside, path, "MODEL" if options.model else "--launch", vault)
    cards = CardTable(read_table(outside, rules_folder(outside), "gpus"))
    rooms = rooms_of(options, cards) or found_rooms(known(facts.gpu) if facts is not None else None, cards)
    rooms = with_margin(rooms, cards, options.margin)
    given = read_options(known(launch.options) or ()) if launch else Options()
    ram = (
        ram_of(options.ram)
        if options.ram is not None
        else ram_here(facts)
        if rooms.source in ("found", "none")
        else None
    )
    wish = Wish(
        model=file.model,
        abilities=abilities(table, build),
        rooms=rooms.rooms,
        options=given,
        ctx=options.ctx,
        slots=options.slots or (given.parallel if given.parallel and given.parallel > 0 else 1),
        ram=ram,
        draft=beside(outside, known(launch.draft_model) if launch else None, "--model-draft", notes),
        mmproj=beside(outside, known(launch.mmproj) if launch else None, "--mmproj", notes),
    )
    folder = outside.folder() if options.output == "systemd" else ""  # a unit starts in another folder
    reckoned = _reckon(options, file, build, source, rooms, wish, launch, table, notes, folder)
    found = _with_speeds(outside, reckoned)
    if not options.verify:
        return found
    from doctor.commands.plan_opinion import second_opinion
    from doctor.memory.rooms import Scales

    if file.url:
        raise UsageError("--verify wants a model on this machine: llama-fit-params reads the file itself")
    return found._replace(opinion=second_opinion(outside, facts, launch, file.path, given, Scales(wish), lang))


def _with_speeds(outside: Outside, found: Planned) -> Planned:
    """The same with the speed to expect of each set-up; this machine's RAM is measured where the plan is for it."""
    from dataclasses import replace

    from doctor.facts.speed import drafting_of, of_wish

    def speed(changed: Options) -> Fact[Speed]:
        wish = replace(found.wish, options=changed)
        here = found.rooms.source in ("found", "none")
        return of_wish(outside, wish, found.wish.rooms, measure_ram=here, drafting=drafting_of(wish))

    profiles = found.plan.profiles if found.plan is not None else ()
    asked = speed(found.wish.options) if found.asked is not None and found.asked.budget is not None else None
    return found._replace(speeds=tuple(speed(profile.options) for profile in profiles), asked_speed=asked)


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
    folder: str,
) -> Planned:
    from dataclasses import replace

    from doctor.memory.goals import PROFILES
    from doctor.memory.planner import Planner, plan_with
    from doctor.memory.remedies import remedies
    from doctor.memory.rooms import Scales
    from doctor.memory.setup import Setup

    planner = Planner(wish)
    # What is asked for may fill the cards; what is proposed leaves the margin free.
    whole = replace(wish, rooms=tuple(room._replace(margin=0) for room in wish.rooms))
    asked = Scales(whole).weigh(wish.options) if launch is not None else None
    if not rooms.measured and wish.ram is None:
        return Planned(file, build, source, rooms, wish, asked, None, (), (), (), (), options.output, tuple(notes))
    goals = PROFILES if options.goal is None else (options.goal, *(name for name in PROFILES if name != options.goal))
    if options.goal == "quality":
        goals = ("quality", "speed", "context")
    found = plan_with(planner, goals)
    start = planner.scales.weigh(wish.options) if asked is not None and not asked.fits else None
    if asked is None and wish.rooms and wish.ctx and not any((row.tokens or 0) >= wish.ctx for row in found.contexts):
        start = planner.weigh(Setup(wish.ctx, "f16"))
    steps = remedies(planner, start, free=asked is not None, stretched=_stretched(launch)) if start is not None else ()

    def command(changed: Options) -> tuple[str, ...]:
        words = command_for(changed, wish, launch, file.path, table, build)
        return words if options.output == "shell" else bare(words, file.path, folder)

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
    other = path != known(launch.model)  # MODEL was given too
    kept = without(launch, [*(change.name for change in changes), *(["--model"] if other else [])])
    named = ("--model", path) if other else ()
    return (*kept, *named, *more) if kept else fresh(path, more)


def _stretched(launch: Launch | None) -> bool:
    """Whether the command scales positions (RoPE, YaRN): a context longer than the trained one is meant then."""
    options = known(launch.options) if launch is not None else None
    return any(option.name.startswith(("--rope-", "--yarn-")) for option in options or ())


_FILES = ("-m", "--model", "-mm", "--mmproj", "-md", "--model-draft", "--spec-draft-model")


def bare(words: tuple[str, ...], path: str, folder: str = "") -> tuple[str, ...]:
    """The server's own words of a command, without what starts it (docker run, sudo): for a form that starts it itself.

    Files get `folder` in front where they have no whole path.
    """
    from doctor.launch.command import parse_argv

    found = parse_argv(words)
    if found is None:
        return words
    arguments = [word.text for word in found.arguments]
    for at, word in enumerate(arguments[:-1]):
        if word in ("-m", "--model"):
            arguments[at + 1] = path
        if word in _FILES and "://" not in arguments[at + 1]:
            arguments[at + 1] = posixpath.join(folder, arguments[at + 1])
    return ("llama-server", *arguments)
