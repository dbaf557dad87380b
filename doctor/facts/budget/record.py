"""What the launch command needs on each device, held against what is free there: computed, with its doubt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from doctor.facts.record import Fact, Unknown, known

if TYPE_CHECKING:
    from doctor.facts.budget.rooms import Rooms
    from doctor.facts.build.record import Build
    from doctor.facts.gpu.record import Gpu
    from doctor.facts.launch.record import Launch
    from doctor.facts.log import Log
    from doctor.facts.machine.record import Machine
    from doctor.memory.cards import CardTable
    from doctor.memory.model import Model
    from doctor.memory.rooms import Room, Wish
    from doctor.outside import Outside


@dataclass(frozen=True)
class BudgetRow:
    """One use of memory, in bytes. `kind`: weights, kv, recurrent, compute, output, overhead, … `at_most`: grows to this."""

    device: str
    kind: str
    bytes: int
    plus_minus: int
    why: str
    at_most: bool


@dataclass(frozen=True)
class BudgetCard:
    """A card: what the command needs there and what it has, in bytes. `over_bytes` is need minus free, negative: left."""

    device: str
    need_bytes: int
    plus_minus_bytes: int
    weights_bytes: int
    kv_bytes: int
    compute_bytes: int
    free_bytes: Fact[int]
    over_bytes: Fact[int]


@dataclass(frozen=True)
class PrintedSize:
    """A buffer in a log beside the one computed, in bytes. `kind`: model, kv, rs, compute."""

    device: str
    kind: str
    printed_bytes: int
    computed_bytes: int
    line: int

    def shown(self) -> str:
        """The pair as evidence."""
        mib = 1 << 20
        return f"{self.device} {self.kind} buffer: {self.printed_bytes / mib:.0f} MiB, computed {self.computed_bytes / mib:.0f}"


@dataclass(frozen=True)
class MemoryBudget:
    """The command's needs as llama.cpp's own accounting gives them, from header, options and build. Sizes in bytes.

    `sources` says from what: header, command, build, free memory. `refused` is why llama-server would not start like
    this, None when it would. `over_bytes` is how much the fullest card (`over_device`) lacks, negative when there is room;
    `doubt_bytes` how far that may be off. `weights_over_bytes` is the same for the weights alone. `fit_shrinks`: the
    build takes layers or context back by itself, so that it starts all the same. `ram_need_bytes` is what must stay in
    RAM, `ram_at_most_bytes` with prompt cache and checkpoints full; `ram_over_bytes` and `ram_at_most_over_bytes` hold
    both against the RAM that is available. `holder` is the program that holds most of the fullest card (`holder_pid`,
    `holder_bytes`), None when nobody does; `holder_is_enough`: without it the command would fit.
    What would fit instead, None when it would not do: `kv_that_fits` the best smaller type for K and V,
    `ctx_that_fits` tokens with the types as they are, `ctx_q8_that_fits` with q8_0, `layers_that_fit` as -ngl,
    `cpu_moe_that_fits` as --n-cpu-moe; all unknown where the command fits. `printed` are a log's buffers that differ
    from what was computed by more than rounding.
    """

    sources: Fact[tuple[str, ...]]
    refused: Fact[str]
    rows: Fact[tuple[BudgetRow, ...]]
    cards: Fact[tuple[BudgetCard, ...]]
    n_ctx: Fact[int]
    n_ctx_slot: Fact[int]
    slots: Fact[int]
    layers_on_cards: Fact[int]
    layers: Fact[int]
    weights_bytes: Fact[int]
    kv_bytes: Fact[int]
    compute_bytes: Fact[int]
    card_need_bytes: Fact[int]
    over_bytes: Fact[int]
    over_device: Fact[str]
    doubt_bytes: Fact[int]
    weights_over_bytes: Fact[int]
    fit_shrinks: Fact[bool]
    ram_need_bytes: Fact[int]
    ram_at_most_bytes: Fact[int]
    ram_over_bytes: Fact[int]
    ram_at_most_over_bytes: Fact[int]
    holder: Fact[str]
    holder_pid: Fact[int]
    holder_bytes: Fact[int]
    holder_is_enough: Fact[bool]
    kv_that_fits: Fact[str]
    ctx_that_fits: Fact[int]
    ctx_q8_that_fits: Fact[int]
    layers_that_fit: Fact[int]
    cpu_moe_that_fits: Fact[int]
    printed: Fact[tuple[PrintedSize, ...]]


def collect(
    outside: Outside,
    path: str,
    launch: Launch,
    number: int | None,
    build: Build | None,
    gpu: Gpu | None,
    machine: Machine | None,
) -> Fact[MemoryBudget]:
    """The budget of a launch command on this machine, with what is free now. Reads the header at `path`.

    `number` is that of the build that runs or would run.
    """
    wish = wish_of(outside, path, launch, number)
    return wish if isinstance(wish, Unknown) else of_rooms(wish, rooms_here(outside, launch, build, gpu), machine)


def of_rooms(wish: Wish, rooms: Rooms, machine: Machine | None) -> MemoryBudget:
    """The budget of a wish on these cards and in this machine's RAM."""
    from doctor.facts.budget.sums import reckon

    ram = known(machine.ram_available_bytes) if machine is not None else None
    return reckon(
        replace(wish, rooms=rooms.rooms), rooms, ram, "free memory as found" if rooms.rooms and rooms.measured else None
    )


def rooms_here(outside: Outside, launch: Launch, build: Build | None, gpu: Gpu | None) -> Rooms:
    """The cards of this machine: as NVML reports them, else as the build lists them."""
    from doctor.facts.budget.rooms import found_rooms, listed_rooms

    rooms = found_rooms(gpu, card_table(outside), own=known(launch.pid))
    return rooms if rooms.rooms else listed_rooms(build, gpu)


def of_log(outside: Outside, path: str, launch: Launch, build: int | None, log: Log) -> Fact[MemoryBudget]:
    """The budget of the command in a log on the cards the log names, held against the sizes it printed."""
    from doctor.facts.budget.rooms import Rooms
    from doctor.facts.budget.sums import printed, reckon

    wish = wish_of(outside, path, launch, build)
    if isinstance(wish, Unknown):
        return wish
    rooms = rooms_of_log(log)
    found = reckon(replace(wish, rooms=rooms), Rooms(rooms, "found" if rooms else "none"), None, "the log's devices")
    rows = known(found.rows)
    return replace(found, printed=printed(rows, log)) if rows else found


def rooms_of_log(log: Log) -> tuple[Room, ...]:
    """The cards a log names."""
    from doctor.facts.budget.rooms import device_room, is_card

    rooms = [
        device_room(device.name, known(device.memory_total_bytes), known(device.memory_free_bytes))
        for device in known(log.devices) or ()
    ]
    named = {buffer.device for buffer in known(log.buffers) or ()} - {room.device.name for room in rooms}
    return (*rooms, *(device_room(name, None, None) for name in sorted(named) if is_card(name)))


def wish_of(outside: Outside, path: str, launch: Launch, build: int | None) -> Wish | Unknown:
    """The model and the options of a launch command, without cards."""
    from doctor.engine.reader import RuleError
    from doctor.facts.gguf.model_file import load_model
    from doctor.launch.table import load_table
    from doctor.launch.write import abilities
    from doctor.memory.options import read_options
    from doctor.memory.rooms import Wish
    from doctor.outside import OutsideError

    options = known(launch.options)
    if options is None:
        return Unknown(launch.options.reason if isinstance(launch.options, Unknown) else "no options are known")
    try:
        table = load_table(outside)
        found = load_model(outside, outside.real_path(path))
        draft = _other(outside, known(launch.draft_model))
        mmproj = _other(outside, known(launch.mmproj), projector=True)
    except (OutsideError, RuleError) as error:
        return Unknown(str(error))
    if isinstance(found, str):
        return Unknown(found)
    given = read_options(options)
    slots = given.parallel if given.parallel and given.parallel > 0 else 1
    number = table.newest if build is None else build
    return Wish(found.model, abilities(table, number), (), given, slots=slots, draft=draft, mmproj=mmproj)


def _other(outside: Outside, path: str | None, *, projector: bool = False) -> Model | None:
    from doctor.facts.gguf.model_file import load_model, load_projector

    load = load_projector if projector else load_model
    found = load(outside, outside.real_path(path)) if path else None
    return None if found is None or isinstance(found, str) else found.model


def card_table(outside: Outside) -> CardTable:
    """The table of cards."""
    from doctor.engine.load import read_table, rules_folder
    from doctor.memory.cards import CardTable

    return CardTable(read_table(outside, rules_folder(outside), "gpus"))
