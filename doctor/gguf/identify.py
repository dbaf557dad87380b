"""What a file is that should have been a GGUF: told from its first bytes, never unpacked or executed."""

from __future__ import annotations

import re
import zlib
from typing import NamedTuple

HEAD = 65_536
"""Bytes of the start of a file that are looked at."""

LFS_POINTER = b"version https://git-lfs.github.com/spec/"

# Magic bytes -> kind and words. GGML's old formats wrote a number, so the letters stand backwards in the file.
_MAGIC: tuple[tuple[bytes, str, str], ...] = (
    (b"lmgg", "ggml-old", "a model in the unversioned GGML format of early 2023, which llama.cpp no longer reads"),
    (b"fmgg", "ggml-old", "a model in the GGMF format of April 2023, which llama.cpp no longer reads"),
    (b"tjgg", "ggml-old", "a model in the GGJT format of 2023, which llama.cpp no longer reads"),
    (b"algg", "ggml-old", "a LoRA adapter in the GGLA format of 2023, which llama.cpp no longer reads"),
    (b"7z\xbc\xaf\x27\x1c", "archive", "a 7z archive: unpack it first"),
    (b"Rar!", "archive", "a RAR archive: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "archive", "a zstd archive: unpack it first"),
    (b"\x89HDF", "not-gguf", "an HDF5 file (Keras)"),
    (b"MZqFpD", "not-gguf", "a llamafile: it is run by itself, or its GGUF is taken out with unzip"),
    (b"MZ", "not-gguf", "a Windows program"),
    (b"\x7fELF", "not-gguf", "a Linux program"),
    (b"%PDF", "not-gguf", "a PDF"),
)
_PAGE = re.compile(rb"<(!doctype\s+html|html|head|body|\?xml|!--)", re.IGNORECASE)
_TITLE = re.compile(rb"<(?:title|message)[^>]*>([^<]{1,200})", re.IGNORECASE)
_LFS_FIELD = re.compile(rb"^(oid sha256:([0-9a-f]{64})|size (\d{1,18}))\s*$", re.MULTILINE)


class Identity(NamedTuple):
    """What a file is: kind as in `Gguf.kind`, and words that follow "this is".

    `sha256` and `length` (bytes) are those of the file it stands for.
    """

    kind: str
    words: str
    sha256: str | None = None
    length: int | None = None


def identify(head: bytes, size: int) -> Identity:
    """What a file of `size` bytes that begins with `head` is, when it does not begin with GGUF."""
    if size == 0:
        return Identity("empty", "an empty file")
    if head.startswith(LFS_POINTER):
        return _lfs_pointer(head, size)
    for magic, kind, words in _MAGIC:
        if head.startswith(magic):
            return Identity(kind, words)
    if head.startswith(b"\x1f\x8b"):
        return _gzip(head)
    if head.startswith(b"PK\x03\x04"):
        return _zip(head)
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        return Identity("pytorch", "a PyTorch checkpoint (pickle), which must be converted to GGUF first")
    if _is_safetensors(head, size):
        return Identity("safetensors", "a safetensors file, which must be converted to GGUF first")
    if not head.strip(b"\0"):
        return Identity(
            "not-gguf",
            "a file that begins with zeros: space set aside for a download that never came, or a damaged disk",
        )
    return _text(head) or Identity("not-gguf", f"no GGUF: it begins with {head[:8].hex(' ')}")


def one_line(data: bytes, limit: int = 160) -> str:
    """Bytes of a stranger as one printable line of at most `limit` characters."""
    text = " ".join(data[: limit * 4].decode("utf-8", "replace").split())
    text = "".join(letter for letter in text if letter.isprintable())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _lfs_pointer(head: bytes, size: int) -> Identity:
    sha256, length = None, None
    for field in _LFS_FIELD.finditer(head[:1024]):
        if field[2]:
            sha256 = field[2].decode()
        if field[3]:
            length = int(field[3])
    real = f"; the model itself has {length / 1e9:.1f} GB" if length else ""
    return Identity("lfs-pointer", f"a Git LFS pointer of {size} bytes instead of the model{real}", sha256, length)


def _gzip(head: bytes) -> Identity:
    try:
        inner = zlib.decompressobj(wbits=31).decompress(head, 4096)
    except zlib.error:
        inner = b""
    page = _text(inner) if inner else None
    if page is not None and page.kind in ("html", "json"):
        return Identity(page.kind, f"{page.words} (compressed with gzip)")
    return Identity("archive", "a gzip archive: unpack it first")


def _zip(head: bytes) -> Identity:
    if b"/data.pkl" in head[:4096] or b"/version" in head[:4096]:
        return Identity("pytorch", "a PyTorch checkpoint (zip), which must be converted to GGUF first")
    return Identity("archive", "a zip archive: unpack it first")


def _is_safetensors(head: bytes, size: int) -> bool:
    """Eight bytes of length, then a JSON object."""
    return len(head) > 8 and head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= min(size - 8, 100 << 20)


def _text(head: bytes) -> Identity | None:
    """A page, an error in JSON, or words; None for binary data."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if _PAGE.match(start):
        title = _TITLE.search(start[:8192])
        words = f': "{one_line(title[1])}"' if title else ""
        return Identity("html", f"a web page instead of the model{words}")
    if start[:1] in (b"{", b"["):
        message = _json_message(start)
        return Identity("json", f'a JSON answer instead of the model: "{message}"' if message else "a JSON file")
    sample = start[:512]
    printable = sum(byte >= 32 or byte in (9, 10, 13) for byte in sample)
    if sample and printable == len(sample) and b"\0" not in head[:512]:
        return Identity("not-gguf", f'a text: "{one_line(start, 80)}"')
    return None


def _json_message(start: bytes) -> str:
    """The error in a JSON answer, or ""."""
    import json

    try:
        data = json.loads(start)
    except (ValueError, RecursionError):
        return ""
    for key in ("error", "message", "detail", "msg"):
        if not isinstance(data, dict):
            break
        found = data.get(key)
        if isinstance(found, dict):
            found = found.get("message")
        if isinstance(found, str) and found:
            return one_line(found.encode("utf-8", "replace"))
    return ""
