"""What llama.cpp itself accounts for, and the models it was asked about (fixtures/oracle)."""

from __future__ import annotations

import functools
import gzip
import io
import json
from pathlib import Path
from typing import Any

from doctor.gguf.header import Header, read_header
from doctor.launch.command import parse_command
from doctor.launch.options import read_arguments
from doctor.launch.table import load_table
from doctor.memory.model import Model, read_model
from doctor.memory.options import Options, read_options
from doctor.memory.result import Device
from doctor.outside import Outside
from doctor.secrets import Vault

FIXTURES = Path(__file__).parents[2] / "fixtures"
ORACLE = FIXTURES / "oracle"
BUILD = 11434
SIZES: dict[str, int] = json.loads((ORACLE / "sizes.json").read_text()) | {
    name: entry["file_bytes"] for name, entry in json.loads((FIXTURES / "gguf" / "index.json").read_text()).items()
}
TABLE = load_table(Outside())


def rows() -> list[list[Any]]:
    """[model, cards, arguments, …] as in fixtures/oracle/README.md."""
    with gzip.open(ORACLE / "rows.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def header(name: str) -> Header:
    folder = ORACLE if (ORACLE / f"{name}.gguf.hdr.gz").exists() else FIXTURES / "gguf"
    data = gzip.decompress((folder / f"{name}.gguf.hdr.gz").read_bytes())
    return read_header(io.BytesIO(data), SIZES[name])


@functools.cache
def model(name: str) -> Model:
    found = read_model(header(name))
    assert isinstance(found, Model)
    return found


def options(arguments: str) -> Options:
    command = parse_command(f"llama-server -m x.gguf {arguments}")
    assert command is not None
    return read_options(read_arguments(command.arguments, TABLE, BUILD, Vault()).options)


def cards(count: int) -> tuple[Device, ...]:
    return tuple(Device(f"CUDA{at}", "cuda") for at in range(count))
