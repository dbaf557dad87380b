"""All parts of a model together: the one that was named, and its siblings when it is split."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, NamedTuple

from doctor.gguf.header import MAGIC, Header, Tensor, pad, read_header
from doctor.gguf.splits import MAX_PARTS, Trouble, missing_parts, name_trouble, part_name, part_of_name
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

MAX_SECONDS = 10.0
"""For the headers of all siblings together: a part takes some milliseconds, only hostile ones take longer."""
_JOINED = "joined byte by byte (cat): llama.cpp reads the first only, join the parts with llama-gguf-split --merge"


class Parts(NamedTuple):
    """`number` counts from 1. `tensors` of all parts that could be read; `whole`: those are all there are.

    `number` and `total` are None for a model in one file, `missing` are names.
    """

    number: int | None
    total: int | None
    missing: tuple[str, ...]
    trouble: Trouble | None
    tensors: tuple[Tensor, ...]
    whole: bool


def end_of_tensors(header: Header) -> int | None:
    """Where the last tensor ends in the file; None when the header is not whole or that tensor's size is not known."""
    if header.data_offset is None or not header.tensors:
        return None
    last = max(header.tensors, key=lambda tensor: (tensor.offset, tensor.bytes or 0))
    return None if last.bytes is None else header.data_offset + last.offset + last.bytes


def read_parts(outside: Outside, path: str, header: Header, stream: IO[bytes], size: int) -> Parts:
    """The siblings of an open part with this header."""
    count = header.number("split.count") or 0
    number = (header.number("split.no") or 0) + 1
    if count < 2:
        return Parts(None, None, (), None, header.tensors, header.data_offset is not None)
    trouble = name_trouble(path, number, count)
    if number > count or number < 1 or count > MAX_PARTS:
        trouble = Trouble("damaged", f"the header calls the file part {number} of {count}")
    elif number == 1 and _joined(header, stream, size):
        trouble = Trouble("joined", f"{count} parts were {_JOINED}")
    named = part_of_name(path)
    if named is None or named[2] != count or (trouble and trouble.kind in ("damaged", "joined")):
        return Parts(number, count, (), trouble, header.tensors, False)
    folder = os.path.dirname(path)
    names = [part_name(named[0], index, count) for index in range(1, count + 1)]
    missing = missing_parts(path, count, {name for name in names if outside.exists(os.path.join(folder, name))})
    tensors = list(header.tensors)
    deadline = outside.monotonic() + MAX_SECONDS
    for index, name in enumerate(names, 1):
        if index == named[1] or name in missing:
            continue
        if outside.monotonic() > deadline:
            trouble = trouble or Trouble("damaged", f"the parts from {name} on were not read: it took too long")
            break
        found = _sibling(outside, os.path.join(folder, name), index, count)
        if isinstance(found, Trouble):
            trouble = trouble or found
        else:
            tensors += found
    announced = header.number("split.tensors.count")
    if not missing and trouble is None and announced is not None and announced != len(tensors):
        words = f"the parts hold {len(tensors)} tensors, the first announces {announced}: they are not of one model"
        trouble = Trouble("mixed", words)
    return Parts(number, count, missing, trouble, tuple(tensors), not missing and trouble is None)


def _sibling(outside: Outside, path: str, number: int, count: int) -> tuple[Tensor, ...] | Trouble:
    """The tensors of another part, or what is wrong with it."""
    name = os.path.basename(path)
    try:
        size = outside.stat(path).size
        with outside.open(path) as stream:
            header = read_header(stream, size)
    except OutsideError as error:
        return Trouble("damaged", str(error))
    if header.problem:
        return Trouble("damaged", f"{name}: {header.problem}")
    if header.number("split.count") != count or header.number("split.no") != number - 1:
        own = (header.number("split.no") or 0) + 1, header.number("split.count") or 1
        return Trouble("mixed", f"{name} is part {own[0]} of {own[1]} by its header")
    end = end_of_tensors(header)
    if end is not None and end > size:
        return Trouble("damaged", f"{name} lacks its last {end - size} bytes")
    return header.tensors


def _joined(header: Header, stream: IO[bytes], size: int) -> bool:
    """Whether another GGUF begins where the tensors of this one end."""
    end = end_of_tensors(header)
    start = pad(end, header.alignment) if end is not None else header.data_offset
    if start is None or start + len(MAGIC) > size:
        return False
    try:
        stream.seek(start)
        return stream.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False
