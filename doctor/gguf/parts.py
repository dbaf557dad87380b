"""All parts of a model together: the one that was named, and its siblings when it is split."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, NamedTuple

from doctor.gguf.header import MAGIC, Header, Tensor, pad, read_header
from doctor.gguf.splits import MAX_PARTS, missing_parts, name_problem, part_name, part_of_name
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

MAX_TENSORS_IN_ALL = 1_000_000


class Parts(NamedTuple):
    """`number` counts from 1. `tensors` of all parts that could be read; `whole`: those are all there are.

    `number` and `count` are None for a model in one file, `missing` are names, `problem` is one line.
    """

    number: int | None
    count: int | None
    missing: tuple[str, ...]
    problem: str | None
    tensors: tuple[Tensor, ...]
    whole: bool


def end_of_tensors(header: Header) -> int | None:
    """Where the last tensor ends in the file. None when the header is not whole or the size of that tensor is not known."""
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
    if number > count or number < 1 or count > MAX_PARTS:
        problem = f"the header calls the file part {number} of {count}"
        return Parts(number, count, (), problem, header.tensors, False)
    if number == 1 and _joined(header, stream, size):
        problem = f"{count} parts were joined byte by byte (cat): llama.cpp reads the first only, join them with llama-gguf-split --merge"
        return Parts(number, count, (), problem, header.tensors, False)
    named = part_of_name(path)
    problem = name_problem(path, number, count)
    if named is None or named[2] != count:
        return Parts(number, count, (), problem, header.tensors, False)
    folder = os.path.dirname(path)
    names = [part_name(named[0], index, count) for index in range(1, count + 1)]
    missing = missing_parts(path, count, {name for name in names if outside.exists(os.path.join(folder, name))})
    tensors = list(header.tensors)
    for index, name in enumerate(names, 1):
        if index == named[1] or name in missing or len(tensors) > MAX_TENSORS_IN_ALL:
            continue
        found = _sibling(outside, os.path.join(folder, name), index, count)
        if isinstance(found, str):
            problem = problem or found
        else:
            tensors += found
    total = header.number("split.tensors.count")
    whole = not missing and problem is None
    if whole and total is not None and total != len(tensors):
        whole, problem = (
            False,
            f"the parts hold {len(tensors)} tensors, the first announces {total}: they are not of one model",
        )
    return Parts(number, count, missing, problem, tuple(tensors), whole)


def _sibling(outside: Outside, path: str, number: int, count: int) -> tuple[Tensor, ...] | str:
    """The tensors of another part, or what is wrong with it."""
    name = os.path.basename(path)
    try:
        size = outside.stat(path).size
        with outside.open(path) as stream:
            header = read_header(stream, size)
    except OutsideError as error:
        return str(error)
    if header.problem:
        return f"{name}: {header.problem}"
    if header.number("split.count") != count or header.number("split.no") != number - 1:
        return f"{name} is part {(header.number('split.no') or 0) + 1} of {header.number('split.count') or 1} by its header"
    end = end_of_tensors(header)
    if end is not None and end > size:
        return f"{name} lacks its last {end - size} bytes"
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
