"""The headers of large models in fixtures/gguf, as sparse files of their full size."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "fixtures" / "gguf"
INDEX: dict[str, dict[str, Any]] = json.loads((FOLDER / "index.json").read_text())


def header_of(name: str) -> bytes:
    """The first bytes of the model file, up to its weights."""
    return gzip.decompress((FOLDER / f"{name}.gguf.hdr.gz").read_bytes())


def model_file(folder: Path, name: str) -> Path:
    """The model file, its weights a hole that takes no space on disk."""
    path = folder / f"{name}.gguf"
    path.write_bytes(header_of(name))
    os.truncate(path, INDEX[name]["file_bytes"])
    return path
