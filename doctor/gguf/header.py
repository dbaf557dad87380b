"""The header of a GGUF file: keys, values and the list of tensors, read without any vocabulary or weights.

Strict where llama.cpp is strict (gguf_init_from_file of b11434): what it refuses is told in `Header.problem`, and what
could be read before that is still there.
"""

from __future__ import annotations

from typing import IO, NamedTuple

from doctor.gguf.cursor import Cursor, CutOff, HeaderError
from doctor.gguf.types import REMOVED_TYPES, TYPES, TensorType

MAGIC = b"GGUF"
NEWEST_VERSION = 3
MAX_KEYS = 65_536
MAX_TENSORS = 65_536
"""The largest models have some 2,000 tensors and 60 keys; a header within these limits takes a second or two."""
MAX_KEPT_NUMBERS = 1024
"""Arrays of numbers up to this length are kept: llama.cpp allows 512 layers."""
MAX_KEPT = 64 << 20
"""Bytes of memory for all names, texts and numbers, about; healthy headers need less than one MiB."""
MAX_NAME = 256
MAX_LLAMA_NAME = 63
"""Bytes of a tensor's name: what we read, and what llama.cpp accepts (GGML_MAX_NAME, with a zero at the end)."""
MAX_DIMENSIONS = 4
MAX_ELEMENTS = 1 << 62

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING = 8
_ARRAY = 9

Value = str | int | float | bool | tuple[int | float | bool, ...]


class Tensor(NamedTuple):
    """One tensor: dimensions (fastest first), number of its type, bytes from the start of the data, elements.

    `bytes` is None when nobody here knows the size of its type.
    """

    name: str
    shape: tuple[int, ...]
    type: int
    offset: int
    elements: int
    bytes: int | None


class Header(NamedTuple):
    """What the header says. `lengths` holds the length of every array, also of those too long to keep.

    `data_offset` is where the weights begin, None when the header could not be read to its end. `problem` is one line.
    `cut_off`: the file ended before the header did.
    """

    version: int
    big_endian: bool
    values: dict[str, Value]
    lengths: dict[str, int]
    tensors: tuple[Tensor, ...]
    alignment: int
    data_offset: int | None
    problem: str | None
    cut_off: bool

    def number(self, key: str) -> int | None:
        """A whole number, None when the key is not there or holds something else."""
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def text(self, key: str) -> str | None:
        """A text, None when the key is not there or holds something else."""
        value = self.values.get(key)
        return value if isinstance(value, str) else None

    def numbers(self, key: str, count: int) -> tuple[int, ...] | None:
        """One whole number a layer: an array, or one for all `count` layers. None without the key, () for nonsense."""
        value = self.values.get(key)
        if isinstance(value, int):
            return (int(value),) * count
        if isinstance(value, tuple):
            found = tuple(int(item) for item in value[:count] if isinstance(item, int))
            return found if len(found) == count else ()
        return None if value is None and key not in self.lengths else ()


class Draft:
    """A header while it is being read: what `Header` holds, and what was announced but has not come yet."""

    def __init__(self) -> None:
        self.version = 0
        self.big_endian = False
        self.values: dict[str, Value] = {}
        self.lengths: dict[str, int] = {}
        self.tensors: list[Tensor] = []
        self.alignment = 32
        self.data_offset: int | None = None
        self.keys_left = 0
        self.tensors_left = 0
        self.array_offset = 0  # of the items of the array whose key came last
        self.tensors_offset = 0
        self._kept = 0

    def keep(self, size: int) -> None:
        """Count memory that is about to be kept."""
        self._kept += size
        if self._kept > MAX_KEPT:
            raise HeaderError(f"its texts and numbers take more than {MAX_KEPT >> 20} MiB")

    def finished(self, problem: str | None, cut_off: bool = False) -> Header:
        return Header(
            self.version,
            self.big_endian,
            self.values,
            self.lengths,
            tuple(self.tensors),
            self.alignment,
            self.data_offset,
            problem,
            cut_off,
        )


def read_header(stream: IO[bytes], size: int) -> Header:
    """Read the header of an open file of `size` bytes. Never raises: what is wrong stands in `problem`."""
    draft = Draft()
    try:
        walk(Cursor(stream, size), draft)
    except HeaderError as error:
        return draft.finished(f"the GGUF header cannot be read: {error}", isinstance(error, CutOff))
    return draft.finished(_complaint(draft))


def walk(cursor: Cursor, draft: Draft) -> None:
    """Read a header into `draft`. Raises HeaderError; what had been read by then stands in the draft."""
    if cursor.take(4) != MAGIC:
        raise HeaderError("the file does not begin with GGUF")
    version = cursor.u32()
    if version & 0xFFFF == 0:
        draft.big_endian = True
        cursor.byte_order(">")
        version = int.from_bytes(version.to_bytes(4, "little"), "big")
    draft.version = version
    if version == 1:
        raise HeaderError(
            "GGUF version 1 (August 2023) is no longer supported by llama.cpp, the model must be converted again"
        )
    if not 2 <= version <= NEWEST_VERSION:
        raise HeaderError(f"GGUF version {version} is not known, versions 2 and {NEWEST_VERSION} are")
    tensors, keys = cursor.u64(), cursor.u64()
    claim = f"it announces {keys} keys and {tensors} tensors"
    if keys > MAX_KEYS or tensors > MAX_TENSORS:
        raise HeaderError(f"{claim}, more than any model has")
    # Each key takes at least 13 bytes and each tensor 24.
    if 13 * keys + 24 * tensors > cursor.size:
        raise CutOff(f"{claim} in a file of {cursor.size} bytes")
    draft.keys_left, draft.tensors_left = keys, tensors
    for _ in range(keys):
        _read_key(cursor, draft)
        draft.keys_left -= 1
    alignment = draft.values.get("general.alignment", 32)
    if isinstance(alignment, bool) or not isinstance(alignment, int) or alignment <= 0 or alignment & (alignment - 1):
        raise HeaderError(f"general.alignment is {alignment!r:.40}, not a power of 2")
    draft.alignment = alignment
    names: set[str] = set()
    draft.tensors_offset = cursor.offset
    for _ in range(tensors):
        _read_tensor(cursor, draft, names)
        draft.tensors_left -= 1
    draft.data_offset = pad(cursor.offset, alignment)


def _read_key(cursor: Cursor, draft: Draft) -> None:
    key = cursor.string(65_535)
    if key is None:
        raise HeaderError(f"a key before byte {cursor.offset} is longer than 65535 bytes")
    if key in draft.values or key in draft.lengths:
        raise HeaderError(f"the key {_quoted(key)} is there twice")
    draft.keep(200 + len(key))
    kind = cursor.u32()
    if kind == _STRING:
        text = cursor.string()
        if text is not None:
            draft.keep(4 * len(text))
            draft.values[key] = text
    elif kind == _ARRAY:
        _read_array(cursor, draft, key)
    elif kind in _NUMBERS:
        draft.values[key] = cursor.unpack(cursor.layout(_NUMBERS[kind]))[0]
    else:
        raise HeaderError(f"the key {_quoted(key)} has the value type {kind}, which does not exist")


def _read_array(cursor: Cursor, draft: Draft, key: str) -> None:
    kind, count = cursor.u32(), cursor.u64()
    draft.lengths[key] = count
    draft.array_offset = cursor.offset
    if kind == _STRING:
        # The shortest string takes the 8 bytes of its length.
        if count > cursor.size // 8:
            raise CutOff(
                f"the {count} strings of {_quoted(key)} reach beyond the end of the file ({cursor.size} bytes)"
            )
        cursor.skip_strings(count)
    elif kind in _NUMBERS:
        if count <= MAX_KEPT_NUMBERS:
            draft.keep(40 * count)
            draft.values[key] = cursor.unpack(cursor.layout(f"{count}{_NUMBERS[kind]}"))
        else:
            cursor.skip(count * _SIZES[kind])
    else:
        what = "arrays" if kind == _ARRAY else f"the value type {kind}, which does not exist"
        raise HeaderError(f"the key {_quoted(key)} is an array of {what}: llama.cpp does not read that")


def _read_tensor(cursor: Cursor, draft: Draft, names: set[str]) -> None:
    name = cursor.string(MAX_NAME)
    if name is None:
        raise HeaderError(f"a tensor name before byte {cursor.offset} is longer than {MAX_NAME} bytes")
    draft.keep(500 + 4 * len(name))
    if name in names:
        raise HeaderError(f"the tensor {_quoted(name)} is there twice")
    names.add(name)
    dimensions = cursor.u32()
    if dimensions > MAX_DIMENSIONS:
        raise HeaderError(f"the tensor {_quoted(name)} has {dimensions} dimensions, more than {MAX_DIMENSIONS}")
    found = cursor.unpack(cursor.layout(f"{dimensions}qIQ"))
    shape = tuple(int(item) for item in found[:dimensions])
    elements = 1
    for length in shape:
        elements *= length
    if min(shape, default=1) < 0 or elements > MAX_ELEMENTS:
        raise HeaderError(f"the tensor {_quoted(name)} has the impossible shape {shape}")
    kind, offset = int(found[-2]), int(found[-1])
    draft.tensors.append(Tensor(name, shape, kind, offset, elements, tensor_bytes(kind, shape, elements)))


def tensor_bytes(kind: int, shape: tuple[int, ...], elements: int) -> int | None:
    """Bytes of a tensor on disk; None when the type is unknown or the rows do not fill whole blocks."""
    known = tensor_type(kind)
    if known is None or (shape and shape[0] % known.block):
        return None
    return elements // known.block * known.bytes


def tensor_type(kind: int) -> TensorType | None:
    """The type with this number: from our table, else from the gguf package, which may be newer."""
    if kind in TYPES:
        return TYPES[kind]
    if kind in REMOVED_TYPES or kind in _NOT_IN_PACKAGE:
        return None
    try:
        import gguf

        number = gguf.GGMLQuantizationType(kind)
        block, size = gguf.GGML_QUANT_SIZES[number]
    except (ImportError, ValueError, KeyError):
        _NOT_IN_PACKAGE.add(kind)
        return None
    return TensorType(number.name, block, size)


_NOT_IN_PACKAGE: set[int] = set()


def pad(offset: int, alignment: int) -> int:
    """The next multiple of `alignment`."""
    return (offset + alignment - 1) // alignment * alignment


def _complaint(draft: Draft) -> str | None:
    """What llama.cpp refuses in a header that could be read to its end."""
    expected = 0
    for tensor in draft.tensors:
        name = _quoted(tensor.name)
        if len(tensor.name.encode("utf-8", "replace")) > MAX_LLAMA_NAME:
            return f"the name of the tensor {name} is too long: llama.cpp allows {MAX_LLAMA_NAME} bytes"
        if tensor.type in REMOVED_TYPES:
            return f"the tensor {name} has the type {REMOVED_TYPES[tensor.type]}, which llama.cpp no longer reads"
        kind = tensor_type(tensor.type)
        if kind is None:
            return f"the tensor {name} has the type number {tensor.type}, which is not known"
        if tensor.bytes is None:
            return (
                f"the tensor {name} has rows of {tensor.shape[0]} elements, {kind.name} needs multiples of {kind.block}"
            )
        if tensor.offset != expected:
            return f"the tensor {name} lies at {tensor.offset} instead of {expected}: tensors overlap or are lost"
        expected += pad(tensor.bytes, draft.alignment)
    return None


def _quoted(name: str) -> str:
    """A name from the file, safe to print: one line, at most 60 characters."""
    return repr(name if len(name) <= 60 else name[:60] + "…")
