"""GGUF files written by hand, byte by byte, so that any of them can be wrong."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
"""Value types of GGUF."""


class Typed:
    """A value with the type it is written as, where that is not the one `gguf_bytes` would choose."""

    def __init__(self, kind: int, value: Any) -> None:
        self.kind = kind
        self.value = value


def gguf_string(text: str | bytes, order: str = "<") -> bytes:
    """A string as GGUF stores it."""
    data = text.encode() if isinstance(text, str) else text
    return struct.pack(f"{order}Q", len(data)) + data


def gguf_value(value: Any, order: str = "<") -> bytes:
    """Type and value of a key."""
    codes = {
        U8: "B",
        I8: "b",
        U16: "H",
        I16: "h",
        U32: "I",
        I32: "i",
        F32: "f",
        BOOL: "?",
        U64: "Q",
        I64: "q",
        F64: "d",
    }
    if isinstance(value, Typed):
        if value.kind in codes:
            return struct.pack(f"{order}I{codes[value.kind]}", value.kind, value.value)
        return struct.pack(f"{order}I", value.kind) + value.value
    if isinstance(value, bool):
        return gguf_value(Typed(BOOL, value), order)
    if isinstance(value, int):
        return gguf_value(Typed(U32 if 0 <= value < 1 << 32 else I64, value), order)
    if isinstance(value, float):
        return gguf_value(Typed(F32, value), order)
    if isinstance(value, str):
        return struct.pack(f"{order}I", STRING) + gguf_string(value, order)
    items = [gguf_value(item, order) for item in value]
    kind = items[0][:4] if items else struct.pack(f"{order}I", U32)
    return (
        struct.pack(f"{order}I", ARRAY)
        + kind
        + struct.pack(f"{order}Q", len(items))
        + b"".join(item[4:] for item in items)
    )


def gguf_bytes(
    values: Mapping[str, Any],
    tensors: Sequence[tuple[str, Sequence[int], int]] = (),
    *,
    version: int = 3,
    order: str = "<",
    alignment: int = 32,
    keys: int | None = None,
    count: int | None = None,
    offsets: Mapping[str, int] | None = None,
    data: bool = True,
) -> bytes:
    """A GGUF made by hand: values as given, tensors as (name, shape with the fastest first, number of the type).

    `keys` and `count` are the numbers of keys and tensors that the file claims, `offsets` replaces those of some
    tensors, `data` adds zeros for the weights. Types other than f32 and f16 take the 18 bytes for 32 of Q4_0 here.
    """
    out = bytearray(b"GGUF" + struct.pack(f"{order}I", version))
    out += struct.pack(f"{order}QQ", len(tensors) if count is None else count, len(values) if keys is None else keys)
    for key, value in values.items():
        out += gguf_string(key, order) + gguf_value(value, order)
    offset = 0
    for name, shape, kind in tensors:
        place = (offsets or {}).get(name, offset)
        out += gguf_string(name, order) + struct.pack(f"{order}I{len(shape)}qIQ", len(shape), *shape, kind, place)
        elements = 1
        for length in shape:
            elements *= length
        size = {0: elements * 4, 1: elements * 2}.get(kind, elements // 32 * 18)
        offset += size + -size % alignment
    if data:
        out += bytes(-len(out) % alignment) + bytes(offset)
    return bytes(out)


def model_header(arch: str, blocks: Sequence[Sequence[str]], values: Mapping[str, Any]) -> bytes:
    """A header as of a model with these tensors in each block (a 32x1 f32 matrix each) and these `{arch}.` keys."""
    keys = {"general.architecture": arch, f"{arch}.block_count": len(blocks)}
    keys.update({f"{arch}.{key}": value for key, value in values.items()})
    names = [f"blk.{index}.{name}.weight" for index, block in enumerate(blocks) for name in block]
    return gguf_bytes(keys, [(name, (32, 1), 0) for name in ["token_embd.weight", *names]])
