"""Compute capabilities in a CUDA library, against libraries made here with the layout of real ones."""

import struct

import pytest

from doctor.facts.build.device_code import DeviceCode, device_code, library_in
from doctor.facts.record import Unknown
from doctor.outside import Outside, OutsideError
from tests.facts.tree import Tree

# What cuobjdump of CUDA 13.2 printed for a file with code for 8.6 and 12.0a, PTX of 7.5 and 8.9.
ELF_LIST = "ELF file    1: all.1.sm_86.cubin\nELF file    2: all.2.sm_120a.cubin\n"
PTX_LIST = "PTX file    1: all.1.sm_75.ptx\nPTX file    2: all.2.sm_89.ptx\n"
NONE = "cuobjdump info    : File '/x/libggml-cuda.so' does not contain device code\n"
ENTRIES = [(2, 86, 0x11), (2, 120, 0x1100011), (1, 75, 0x8011), (1, 89, 0x8011)]


def fat_binary(entries):
    """A fat binary as nvcc's `fatbinary` writes it: a header of 16 bytes, each entry with a header of 64 (nvcc 13.2)."""
    body = b""
    for kind, sm, flags in entries:
        image = b"\x7fELF".ljust(40, b"\0")
        head = struct.pack("<HHIQQIIQI", kind, 0x101, 64, len(image), 0, 0x10008, sm, 0, flags)
        body += head.ljust(64, b"\0") + image
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def elf(sections):
    """An ELF file of 64 bits with these sections."""
    names, data, rows = b"\0", b"", [bytes(64)]
    for name, content in [*sections.items(), (".shstrtab", b"")]:
        names += name.encode() + b"\0"
        rows.append((len(names) - len(name) - 1, 64 + len(data), content))
        data += content
    at = 64 + len(data)
    packed = [rows[0]]
    for offset, place, content in rows[1:-1]:
        packed.append(struct.pack("<IIQQQQ24x", offset, 1, 0, 0, place, len(content)))
    packed.append(struct.pack("<IIQQQQ24x", rows[-1][0], 3, 0, 0, at, len(names)))
    head = (
        b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
        + bytes(24)
        + struct.pack("<Q10xHHH", at + len(names), 64, len(packed), len(packed) - 1)
    )
    return head + data + names + b"".join(packed)


def pe(sections):
    """A Windows library with these sections."""
    start = 0x80
    data_at = start + 24 + 16 + 40 * len(sections)
    head = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", start)
    out = head.ljust(start, b"\0") + struct.pack("<4sHH12xH2x", b"PE\0\0", 0x8664, len(sections), 16) + bytes(16)
    data = b""
    for name, content in sections.items():
        out += struct.pack("<8sIIII16x", name.encode(), len(content), 0, len(content), data_at + len(data))
        data += content
    return out + data


def read(tmp_path, data, **kw):
    return device_code(Tree(tmp_path, {"/x/libggml-cuda.so": data}, **kw), "/x/libggml-cuda.so")


@pytest.mark.parametrize(
    "made",
    [lambda data: elf({".text": b"x" * 7, ".nv_fatbin": data}), lambda data: pe({".text": b"x", ".nv_fatb": data})],
)
def test_read_from_the_library(tmp_path, made):
    data = fat_binary(ENTRIES) + bytes(24) + fat_binary([(2, 86, 0x11), (2, 90, 0x100011)])
    assert read(tmp_path, made(data)) == DeviceCode((86, 90, 120), (75, 89), "/x/libggml-cuda.so")


def test_ptx_of_one_card_is_code_for_it(tmp_path):
    found = read(tmp_path, elf({".nv_fatbin": fat_binary([(1, 120, 0x108011)])}))
    assert (found.native, found.ptx) == ((120,), ())


def test_no_code(tmp_path):
    assert read(tmp_path / "a", elf({".text": b"x"})) is None
    assert read(tmp_path / "b", b"\xcf\xfa\xed\xfe".ljust(64, b"\0")) is None  # a program of macOS


@pytest.mark.parametrize(
    "data",
    [b"", b"MZ", b"#!/bin/sh\n", b"\x7fELF\x02" + b"\xff" * 59, b"MZ" + b"\xff" * 62, elf({".nv_fatbin": b"?" * 64}),
     elf({".nv_fatbin": b"\0" * 4096}), elf({".nv_fatbin": struct.pack("<IHHQ", 0xBA55ED50, 1, 0, 0) * 100}),
     elf({".nv_fatbin": struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 1 << 63) + bytes(64)})],
)  # fmt: skip
def test_broken(tmp_path, data):
    assert isinstance(read(tmp_path, data), Unknown)


def test_not_there():
    assert isinstance(device_code(Outside({"PATH": ""}), "/nowhere/libggml-cuda.so"), Unknown)


def asked(tmp_path, elf_list, ptx_list):
    tool = "/usr/local/cuda/bin/cuobjdump"
    answers = {f"{tool} --list-elf /x/libggml-cuda.so": elf_list, f"{tool} --list-ptx /x/libggml-cuda.so": ptx_list}
    return device_code(Tree(tmp_path, {"/x/libggml-cuda.so": "?", tool: ""}, answers=answers), "/x/libggml-cuda.so")


def test_cuobjdump_is_asked_where_reading_fails(tmp_path):
    assert asked(tmp_path, ELF_LIST, PTX_LIST) == DeviceCode((86, 120), (75, 89), "/x/libggml-cuda.so (cuobjdump)")


def test_cuobjdump_finds_nothing_or_hangs(tmp_path):
    assert asked(tmp_path / "a", NONE, NONE) is None
    late = OutsideError("timeout", "cuobjdump: no end after 5 s")
    assert asked(tmp_path / "b", late, late) == Unknown("cuobjdump: no end after 5 s")


def test_a_real_program_is_run(tmp_path):
    """A stub that answers as cuobjdump does, through the real door."""
    stub = tmp_path / "cuobjdump"
    stub.write_text(
        f'#!/bin/sh\ncase "$1" in --list-elf) printf "{ELF_LIST}";; *) printf "{PTX_LIST}";; esac\n'.replace(
            '\n"', '\\n"'
        )
    )
    stub.chmod(0o755)
    library = tmp_path / "libggml-cuda.so"
    library.write_text("?")
    found = device_code(Outside({"PATH": str(tmp_path)}), str(library))
    assert (found.native, found.ptx) == ((86, 120), (75, 89))


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["libggml-base.so", "libggml-cuda.so.0.9.4", "libggml-cuda.so.0", "libggml-cuda.so"], "libggml-cuda.so"),
        (["ggml-cpu.dll", "ggml-cuda.dll"], "ggml-cuda.dll"),
        (["libggml-vulkan.so"], None),
    ],
)
def test_the_library_among_names(names, found):
    assert library_in(names) == found
