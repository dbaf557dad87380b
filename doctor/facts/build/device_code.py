"""Which compute capabilities a CUDA library has code for: read from the library itself, else asked of cuobjdump.

The code lies in one section of the library as a row of "fat binaries", each a header and entries with their own headers
(nvcc 11.7 to 13.5; agrees with `cuobjdump --list-elf` and `--list-ptx` on libraries of llama.cpp). Only headers are read.
"""

from __future__ import annotations

import posixpath
import re
import struct
from typing import IO, TYPE_CHECKING, NamedTuple

from doctor.facts.record import Fact, Unknown
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.outside import Outside

CUOBJDUMP_SECONDS = 5.0
OUTPUT_LIMIT = 4 << 20
ENTRIES_LIMIT = 50_000
SECTIONS_LIMIT = 1_000
_MAGIC = 0xBA55ED50
_PTX, _ELF = 1, 2
_ONE_CARD_ONLY = 0x300000
"""Flags of an entry: 0x100000 is the "a" of sm_120a, 0x200000 the "f": neither becomes code for later cards."""
_ELF_NAMES = (b".nv_fatbin", b"__nv_relfatbin")
_PE_NAME = b".nv_fatb"
_MAC_MAGICS = (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_LISTED = re.compile(r"^(ELF|PTX) file\s+\d{1,6}: .{1,300}\.sm_(\d{2,3})([af]?)\.(?:cubin|ptx)", re.MULTILINE)
_LIBRARY = re.compile(r"(?:lib)?ggml-cuda\b.{0,40}?\.(?:so(?:\.[\d.]+)?|dll)", re.IGNORECASE)


class DeviceCode(NamedTuple):
    """`native`: cards it has machine code for (86), which serves later ones of the same major number; `ptx`: the code a
    driver translates for those cards and any later one; `source`: the file it was read from.
    """

    native: tuple[int, ...]
    ptx: tuple[int, ...]
    source: str


def library_in(names: list[str]) -> str | None:
    """The CUDA backend among the names of a folder, the plain name before links with numbers."""
    found = sorted((name for name in names if _LIBRARY.fullmatch(name)), key=len)
    return found[0] if found else None


def device_code(outside: Outside, path: str) -> Fact[DeviceCode]:
    """The code in a library or program; absent when it holds none; unknown when it cannot be read."""
    try:
        with outside.open(path) as stream:
            sections = list(_sections(stream))
            found = [entry for start, size in sections for entry in _entries(stream, start, size)]
    except (OutsideError, OSError, struct.error, ValueError, OverflowError) as error:
        return _asked(outside, path, str(error))
    if not sections:
        return None
    if not found:
        return _asked(outside, path, f"{path}: the code in it has a form that is not known here")
    native = {sm for kind, sm, flags in found if kind == _ELF or flags & _ONE_CARD_ONLY}
    ptx = {sm for kind, sm, flags in found if kind == _PTX and not flags & _ONE_CARD_ONLY}
    return DeviceCode(tuple(sorted(native)), tuple(sorted(ptx)), path)


def _sections(stream: IO[bytes]) -> Iterator[tuple[int, int]]:
    """(place, bytes) of the sections that hold code, of an ELF or a Windows file."""
    head = stream.read(64)
    if head[:5] == b"\x7fELF\x02":
        yield from _of_elf(stream, head)
    elif head[:2] == b"MZ":
        yield from _of_pe(stream, struct.unpack_from("<I", head, 0x3C)[0])
    elif head[:4] not in _MAC_MAGICS:  # CUDA is gone from macOS
        raise ValueError("neither an ELF nor a Windows library")


def _of_elf(stream: IO[bytes], head: bytes) -> Iterator[tuple[int, int]]:
    table, entry_size, count, names_at = struct.unpack_from("<Q10xHHH", head, 0x28)
    if entry_size != 64 or count > SECTIONS_LIMIT or names_at >= count:
        raise ValueError("its table of sections is broken")
    stream.seek(table)
    rows = [struct.unpack("<IIQQQQ24x", stream.read(64)) for _ in range(count)]
    stream.seek(rows[names_at][4])
    names = stream.read(min(rows[names_at][5], 1 << 16))
    for name, _, _, _, place, size in rows:
        if names[name : name + 24].split(b"\0")[0] in _ELF_NAMES:
            yield place, size


def _of_pe(stream: IO[bytes], start: int) -> Iterator[tuple[int, int]]:
    stream.seek(start)
    signature, count, optional = struct.unpack("<4s2xH12xH2x", stream.read(24))
    if signature != b"PE\0\0" or count > SECTIONS_LIMIT:
        raise ValueError("its table of sections is broken")
    stream.seek(optional, 1)
    for _ in range(count):
        name, _, _, size, place = struct.unpack("<8sIIII16x", stream.read(40))
        if name.rstrip(b"\0") == _PE_NAME:
            yield place, size


def _entries(stream: IO[bytes], place: int, size: int) -> Iterator[tuple[int, int, int]]:
    """(kind, compute capability, flags) of each entry in a section."""
    at, end, left = place, place + size, ENTRIES_LIMIT
    while at + 16 <= end and left > 0:
        stream.seek(at)
        magic, _, header, length = struct.unpack("<IHHQ", stream.read(16))
        if magic != _MAGIC:
            at, left = at + 8, left - 1  # padding between two
            continue
        inner, last = at + header, min(at + header + length, end)
        while inner + 44 <= last and left > 0:
            stream.seek(inner)
            kind, own, body, sm, flags = struct.unpack("<H2xIQ12xI8xI", stream.read(44))
            if own < 44:
                break
            if kind in (_PTX, _ELF) and 10 <= sm < 1000:
                yield kind, sm, flags
            inner, left = inner + own + body, left - 1
        at = at + header + length
        left -= 1


def _asked(outside: Outside, path: str, reason: str) -> Fact[DeviceCode]:
    """What the toolkit's cuobjdump lists; unknown, for the reason given, where there is none."""
    tool = outside.which("cuobjdump") or _beside_nvcc(outside)
    if tool is None:
        return Unknown(reason)
    native: set[int] = set()
    ptx: set[int] = set()
    for option in ("--list-elf", "--list-ptx"):
        try:
            shown = outside.run([tool, option, path], timeout=CUOBJDUMP_SECONDS, limit=OUTPUT_LIMIT)
        except OutsideError as error:
            return Unknown(str(error))
        if "does not contain device code" in shown.stdout + shown.stderr:
            continue
        if shown.status != 0:
            return Unknown(f"{tool} {option}: {(shown.stderr.strip() or 'failed').splitlines()[0][:200]}")
        for kind, sm, suffix in _LISTED.findall(shown.stdout):
            (ptx if kind == "PTX" and not suffix else native).add(int(sm))
    return DeviceCode(tuple(sorted(native)), tuple(sorted(ptx)), f"{path} (cuobjdump)") if native | ptx else None


def _beside_nvcc(outside: Outside) -> str | None:
    """cuobjdump in the folder of nvcc, or of the usual toolkit."""
    nvcc = outside.which("nvcc")
    folders = [posixpath.dirname(outside.real_path(nvcc))] if nvcc else []
    places = [posixpath.join(folder, "cuobjdump") for folder in (*folders, "/usr/local/cuda/bin")]
    return next((place for place in places if outside.exists(place)), None)
