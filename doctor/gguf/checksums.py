"""SHA-256 of a model file, and the value it should have according to what lies beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

PIECE = 1 << 20
LIST_LIMIT = 1 << 20
LISTS = (
    "SHA256SUMS",
    "SHA256SUMS.txt",
    "sha256sums.txt",
    "sha256sum.txt",
    "SHA256SUM",
    "checksums.txt",
    "checksum.sha256",
)
_LINE = re.compile(r"^\s*(?:([0-9a-fA-F]{64})\s+[*]?(.+?)|SHA256 \((.+?)\)\s*=\s*([0-9a-fA-F]{64}))\s*$")
_DIGEST = re.compile(r"^(?:sha256[-:])?([0-9a-f]{64})$")


def sha256_of(outside: Outside, path: str, size: int, progress: Callable[[int, int], None] | None) -> str:
    """The digest of the first `size` bytes. `progress` is told bytes done and bytes in all. Raises OutsideError."""
    import hashlib

    digest = hashlib.sha256()
    done = 0
    with outside.open(path) as stream:
        for piece in outside.chunks(stream, PIECE):
            digest.update(piece[: size - done])
            done = min(size, done + len(piece))
            if progress is not None:
                progress(done, size)
            if done == size:
                break
    return digest.hexdigest()


def expected_sha256(outside: Outside, path: str) -> tuple[str, str] | None:
    """The digest the file should have and where that is written; None when nothing says so."""
    folder, name = os.path.split(path)
    # Ollama and the Hugging Face cache name a blob by its digest; what a user opens there is a link to it.
    for blob in (name, os.path.basename(outside.real_path(path))):
        found = _DIGEST.match(blob)
        if found:
            return found[1], f"the name of the file {blob}"
    for beside in (f"{name}.sha256", f"{name}.sha256sum"):
        digest = _from_list(outside, os.path.join(folder, beside), name, alone=True)
        if digest:
            return digest, beside
    for listing in LISTS:
        digest = _from_list(outside, os.path.join(folder, listing), name, alone=False)
        if digest:
            return digest, listing
    return _from_download_record(outside, folder, name)


def _from_list(outside: Outside, path: str, name: str, alone: bool) -> str | None:
    """The digest of `name` in a file of checksums. `alone`: the file is about `name` only, a bare digest will do."""
    try:
        text = outside.read_text(path, LIST_LIMIT)
    except OutsideError:
        return None
    for line in text.splitlines()[:100_000]:
        bare = _DIGEST.match(line.strip().lower())
        if alone and bare:
            return bare[1]
        found = _LINE.match(line) if len(line) < 4096 else None
        if found and os.path.basename((found[2] or found[3]).replace("\\", "/")) == name:
            return (found[1] or found[4]).lower()
    return None


def _from_download_record(outside: Outside, folder: str, name: str) -> tuple[str, str] | None:
    """`hf download --local-dir` keeps commit, etag and time of each file; the etag of a large file is its SHA-256."""
    record = os.path.join(folder, ".cache", "huggingface", "download", f"{name}.metadata")
    try:
        lines = outside.read_text(record, 4096).split()
    except OutsideError:
        return None
    found = _DIGEST.match(lines[1]) if len(lines) > 1 else None
    return (found[1], "the record of hf download") if found else None
