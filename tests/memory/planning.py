"""What tests of the planner share: models of fixtures/gguf, cards of the table, and a command read back as doctor reads any."""

from __future__ import annotations

import functools
import io

from doctor.engine.load import read_table, rules_folder
from doctor.gguf.header import read_header
from doctor.launch.command import parse_argv
from doctor.launch.options import read_arguments
from doctor.launch.table import load_table
from doctor.launch.write import abilities
from doctor.memory.cards import CardTable, choose
from doctor.memory.model import read_model
from doctor.memory.options import read_options
from doctor.memory.result import Device
from doctor.memory.rooms import Room, Wish
from doctor.outside import Outside
from doctor.secrets import Vault
from tests.gguf.headers import header_of

MIB = 1 << 20
GIB = 1 << 30
TABLE = load_table(Outside())
CARDS = CardTable(read_table(Outside(), rules_folder(Outside()), "gpus"))


@functools.cache
def model(name):
    return read_model(read_header(io.BytesIO(header_of(name)), 1 << 45))


def room(mib, at=0, backend="cuda"):
    size = mib * MIB
    return Room(Device(f"{'CUDA' if backend == 'cuda' else 'Vulkan'}{at}", backend, size, size), size, size, size)


def card_room(name, at=0):
    """The room `doctor plan --gpu NAME` plans with."""
    card = choose(CARDS, name)
    size = card.memory_mib * MIB - CARDS.reserve(card.memory_mib).plan
    return Room(Device(f"CUDA{at}", "cuda", card.memory_mib * MIB, size), size, size, size, card.name, card.bandwidth)


def wish(name, *rooms, build=11434, **more):
    return Wish(model=model(name), abilities=abilities(TABLE, build), rooms=tuple(rooms), **more)


def options_of_words(words, build=11434):
    """The options of a command, read the way `doctor check` reads one; every word must be understood by the build."""
    command = parse_argv(words)
    reading = read_arguments(command.arguments, TABLE, build, Vault())
    assert reading.problems == (), reading.problems
    return read_options(reading.options)
