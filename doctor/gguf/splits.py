"""The parts of a split model: which there should be, which are not there, and parts put together the wrong way."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

MAX_PARTS = 512
_NAME = re.compile(r"^(?P<stem>.*)-(?P<part>\d{5})-of-(?P<parts>\d{5})\.gguf$")
_PIECE = re.compile(r"\.gguf([-._]split[-._]?[a-z]{1,2}|\.part\d+of\d+|\.\d{3})$", re.IGNORECASE)
_UNFINISHED = (
    ".part",
    ".partial",
    ".incomplete",
    ".crdownload",
    ".download",
    ".downloadinprogress",
    ".tmp",
    ".!qb",
    ".aria2",
)


class Trouble(NamedTuple):
    """What is wrong with a split model: a word as in `Gguf.split_trouble`, and one line."""

    kind: str
    words: str


def part_of_name(path: str) -> tuple[str, int, int] | None:
    """Stem, number (from 1) and count out of `STEM-00001-of-00003.gguf`, None when it is no such name."""
    found = _NAME.match(os.path.basename(path))
    if found is None:
        return None
    return found["stem"], int(found["part"]), int(found["parts"])


def part_name(stem: str, number: int, count: int) -> str:
    """The name llama.cpp looks for (llama_split_path)."""
    return f"{stem}-{number:05d}-of-{count:05d}.gguf"


def missing_parts(path: str, count: int, names: set[str]) -> tuple[str, ...]:
    """Names of the parts that are not among `names`, the files in the folder of `path`.

    Empty when the file's own name says nothing, since then there is no telling what the others are called.
    """
    found = part_of_name(path)
    if found is None or count > MAX_PARTS:
        return ()
    wanted = [part_name(found[0], number, count) for number in range(1, count + 1)]
    return tuple(name for name in wanted if name not in names)


def name_trouble(path: str, number: int, count: int) -> Trouble | None:
    """What is wrong with the name of part `number` (from 1) of `count`, going by the header; None when it is right."""
    name = os.path.basename(path)
    found = part_of_name(path)
    if found is None:
        wanted = part_name("…", number, count)
        words = f"{name} is part {number} of {count} but not named {wanted}: llama.cpp cannot find the others"
        return Trouble("renamed", words)
    if found[1:] != (number, count):
        return Trouble("renamed", f"{name} is part {number} of {count} by its header: the file was renamed")
    if number != 1:
        first = part_name(found[0], 1, count)
        words = f"{name} is part {number} of {count}: llama.cpp must be given the first, {first}"
        return Trouble("not-first", words)
    return None


def is_raw_piece(path: str) -> bool:
    """Whether the name is one of a file cut into pieces by size, not by gguf-split: such pieces are joined with cat."""
    return _PIECE.search(os.path.basename(path)) is not None


def unfinished_name(path: str) -> str | None:
    """The ending that a download program gives to a file that is not complete yet."""
    name = os.path.basename(path).lower()
    return next((ending for ending in _UNFINISHED if name.endswith(ending)), None)
