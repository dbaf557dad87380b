"""A model before it is downloaded: its header and the size of its files, read by range requests."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, NamedTuple

from doctor.gguf.addresses import (
    FileAddress,
    RemoteError,
    file_name,
    looks_remote,
    parse_model,
    shown,
    with_file_name,
)
from doctor.gguf.fetch import Caller, Part
from doctor.gguf.header import MAGIC, Header, Tensor, read_header
from doctor.gguf.hub import choose_file, hub_key
from doctor.gguf.identify import HEAD, identify
from doctor.gguf.outlook import look_ahead
from doctor.gguf.parts import Parts
from doctor.gguf.splits import Trouble, is_raw_piece, name_trouble, part_name, part_of_name

if TYPE_CHECKING:
    from doctor.outside import Outside
    from doctor.secrets import Vault

FIRST = 24 << 10
"""Bytes of the first request: a header without a vocabulary has 15 to 60 KB; of one with it, enough is seen to guess."""
ASKED = 3
"""Requests a header should take; the last of them asks for as much as nearly all models need."""
MAX_REQUESTS = 8
MAX_HEADER = 48 << 20
"""Longer headers are given up. The longest seen (262,144 tokens and 514,906 merges) has 16 MB."""
MAX_PARTS = 64
SECONDS = 20.0
TOTAL_SECONDS = 180.0


class RemoteTrouble(NamedTuple):
    """Why a model on the network cannot be read, in one line that says what to do.

    `kind`: address, missing, gated, no-ranges, not-gguf, redirect, unreachable, timeout, tls, busy, too-large, hostile.
    """

    kind: str
    message: str


class RemoteHeader(NamedTuple):
    """A model on the network: what `read_header` and `read_parts` give for a file on disk, and what it cost.

    `url` is where the (first) file is, without anything secret; `name` the file's name; `page` a page for people, "".
    `size` counts bytes of the first file, `total_bytes` those of all parts, None when a part could not be looked at.
    `requests` and `bytes_read` are for everything, redirects and other parts included; `header_requests` and
    `header_bytes` for the first file's header alone.
    """

    url: str
    name: str
    page: str
    header: Header
    size: int
    parts: Parts
    total_bytes: int | None
    requests: int
    bytes_read: int
    header_requests: int
    header_bytes: int


class _Found(NamedTuple):
    """A file whose header was read: its size and where it was found behind the redirects."""

    header: Header
    size: int
    url: str


def is_remote(outside: Outside, text: str) -> bool:
    """Whether a model's name means a file on the network; a file of that name on this machine comes first."""
    return looks_remote(text) and ("://" in text or not outside.exists(text))


def read_remote(
    outside: Outside, text: str, vault: Vault, *, seconds: float = SECONDS, total_seconds: float = TOTAL_SECONDS
) -> RemoteHeader | RemoteTrouble:
    """The header of a model given by a URL, hf://owner/repo/file.gguf, owner/repo:QUANT. Never raises.

    Nothing but the header is downloaded. `seconds` is the patience for one answer (and more for a long body).
    """
    try:
        return _read(outside, text, vault, seconds, total_seconds)
    except RemoteError as error:
        return RemoteTrouble(error.kind, str(error))


def _read(outside: Outside, text: str, vault: Vault, seconds: float, total_seconds: float) -> RemoteHeader:
    address = parse_model(text, outside.environ)
    caller = Caller(outside, vault, hub_key(outside, vault), seconds, total_seconds)
    if not isinstance(address, FileAddress):
        address = choose_file(caller, address)
    url = address.url
    named = part_of_name(file_name(url))
    if named is not None and named[1] != 1:  # only the first part has the keys
        url = with_file_name(url, part_name(named[0], 1, named[2]))
    before = caller.requests, caller.bytes_read
    found = _header(caller, url)
    spent = caller.requests - before[0], caller.bytes_read - before[1]
    parts, others = _parts(caller, url, found.header)
    total = None if others is None else found.size + others
    return RemoteHeader(
        shown(url), file_name(url), shown(address.page) if address.page else "", found.header, found.size, parts, total,
        caller.requests, caller.bytes_read, *spent,
    )  # fmt: skip


def _header(caller: Caller, url: str) -> _Found:
    """The header of one file."""
    begun = caller.requests
    part = caller.read(url, 0, FIRST - 1)
    data, size = part.data, part.size
    _check_beginning(url, data, size)
    while True:
        outlook = look_ahead(data, size)
        if outlook.done:
            return _Found(read_header(io.BytesIO(data), size), size, part.url)
        used = caller.requests - begun
        if used >= MAX_REQUESTS:
            raise RemoteError("too-large", f"{shown(url)}: the header does not end within {len(data)} bytes")
        if max(outlook.likely, len(data) + 1) > MAX_HEADER:
            raise RemoteError("too-large", f"{shown(url)}: the header is longer than {MAX_HEADER >> 20} MiB")
        # A server that sends no parts is read from the beginning again, once: there is no second chance.
        last_try = used >= ASKED - 1 or not part.ranges
        end = max(outlook.most if last_try else outlook.likely, len(data) + 1)
        end = min(end, size, MAX_HEADER)
        if part.ranges:
            more = caller.read(part.url, len(data), end - 1)
            _check_same(url, part, more)
            data += more.data
        elif len(data) > FIRST:
            raise RemoteError("no-ranges", f"{shown(url)}: the server sends no parts of a file: download it first")
        else:
            part = caller.read(part.url, 0, end - 1)
            if part.size != size or part.ranges or len(part.data) <= len(data):
                raise RemoteError("hostile", f"{shown(url)}: answers differently from one time to the next")
            data = part.data


def _check_beginning(url: str, data: bytes, size: int) -> None:
    if not data.startswith(MAGIC):
        kind = identify(data[:HEAD], size)
        raise RemoteError("not-gguf", f"{shown(url)}: this is {kind.words}")
    if is_raw_piece(file_name(url)):
        raise RemoteError("not-gguf", f"{file_name(url)} is one piece of a file: all pieces are joined with cat first")


def _check_same(url: str, first: Part, more: Part) -> None:
    if not more.ranges:
        raise RemoteError("hostile", f"{shown(url)}: sends parts of the file once and then no more")
    if more.size != first.size or (first.etag and more.etag and first.etag != more.etag):
        raise RemoteError("hostile", f"{shown(url)}: the file changed while it was read: try again")


def _parts(caller: Caller, url: str, header: Header) -> tuple[Parts, int | None]:
    """The other parts of a split model: what they hold, and their bytes together (None when one is not known)."""
    count = header.number("split.count") or 0
    if count < 2:
        return Parts(None, None, (), None, header.tensors, header.data_offset is not None), 0
    number = (header.number("split.no") or 0) + 1
    named = part_of_name(file_name(url))
    trouble = name_trouble(file_name(url), number, count)
    if named is None or trouble is not None or count > MAX_PARTS:
        trouble = trouble or Trouble("damaged", f"the model has {count} parts, more than are looked at")
        return Parts(number, count, (), trouble, header.tensors, False), None
    tensors: list[Tensor] = list(header.tensors)
    missing: list[str] = []
    total = 0
    for index in range(2, count + 1):
        name = part_name(named[0], index, count)
        try:
            found = _header(caller, with_file_name(url, name))
        except RemoteError as error:
            if error.kind == "missing":
                missing.append(name)
                continue
            trouble = Trouble("damaged", f"{name}: {error}")
            break
        own = found.header
        if own.problem or own.number("split.count") != count or own.number("split.no") != index - 1:
            trouble = trouble or Trouble(
                "mixed", f"{name}: {own.problem or 'its header names another place in a model'}"
            )
        tensors += own.tensors
        total += found.size
    announced = header.number("split.tensors.count")
    if not missing and trouble is None and announced is not None and announced != len(tensors):
        words = f"the parts hold {len(tensors)} tensors, the first announces {announced}: they are not of one model"
        trouble = Trouble("mixed", words)
    whole = not missing and trouble is None
    known = not missing and (trouble is None or trouble.kind == "mixed")
    return Parts(number, count, tuple(missing), trouble, tuple(tensors), whole), total if known else None
