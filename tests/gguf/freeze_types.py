"""Writes doctor/gguf/types.py from the installed gguf package: `python tests/gguf/freeze_types.py`."""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

TARGET = Path(__file__).parents[2] / "doctor" / "gguf" / "types.py"

EXTRA_TYPES = {42: ("Q2_0", 64, 18)}
"""Types llama.cpp has and the package does not know yet: from ggml-common.h (QK2_0, block_q2_0), build b9913."""

REMOVED_TYPES = {
    4: "Q4_2",
    5: "Q4_3",
    31: "Q4_0_4_4",
    32: "Q4_0_4_8",
    33: "Q4_0_8_8",
    36: "IQ4_NL_4_4",
    37: "IQ4_NL_4_8",
    38: "IQ4_NL_8_8",
}
"""Types llama.cpp has taken out (Q4_2, Q4_3 in May 2023; the others in build b4282)."""

EXTRA_FILE_TYPES = {
    4: "Q4_1_SOME_F16",
    5: "Q4_2",
    6: "Q4_3",
    33: "Q4_0_4_4",
    34: "Q4_0_4_8",
    35: "Q4_0_8_8",
    41: "Q2_0",
}
"""general.file_type values that are gone or not in the package yet (llama.h, LLAMA_FTYPE_*)."""


def text() -> str:
    """The source of the table."""
    import gguf

    types = {int(kind): (kind.name, *gguf.GGML_QUANT_SIZES[kind]) for kind in gguf.GGMLQuantizationType}
    types.update({number: entry for number, entry in EXTRA_TYPES.items() if number not in types})
    files = {int(kind): kind.name.replace("MOSTLY_", "").replace("ALL_", "") for kind in gguf.LlamaFileType}
    files.update({number: name for number, name in EXTRA_FILE_TYPES.items() if number not in files})
    files.pop(1024)
    lines = [
        '"""Tensor types and file types of GGUF. Written by tests/gguf/freeze_types.py, checked by a test."""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import NamedTuple",
        "",
        f'SOURCE = "gguf {version("gguf")}"',
        "",
        "",
        "class TensorType(NamedTuple):",
        '    """A tensor type: `block` elements are stored in `bytes` bytes."""',
        "",
        "    name: str",
        "    block: int",
        "    bytes: int",
        "",
        "",
        "TYPES: dict[int, TensorType] = {",
        *(
            f'    {number}: TensorType("{name}", {block}, {size}),'
            for number, (name, block, size) in sorted(types.items())
        ),
        "}",
        "",
        "REMOVED_TYPES: dict[int, str] = {",
        *(f'    {number}: "{name}",' for number, name in REMOVED_TYPES.items()),
        "}",
        '"""Types that llama.cpp no longer reads. Q4_0_*, IQ4_NL_* were replaced by repacking at load time (b4282)."""',
        "",
        "FILE_TYPES: dict[int, str] = {",
        *(f'    {number}: "{name}",' for number, name in sorted(files.items())),
        "}",
        '"""general.file_type, the name a quantised file goes by. Bit 1024 says that it was guessed."""',
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    sys.stdout.write(f"{TARGET}\n")
