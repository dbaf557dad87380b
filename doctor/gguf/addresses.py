"""Model names that mean a file on the network: web addresses, hf://, and owner/repo:QUANT as llama.cpp's -hf takes it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, quote, unquote, urlsplit, urlunsplit

from doctor.facts.urls import is_loopback

if TYPE_CHECKING:
    from collections.abc import Mapping

HUB = "https://huggingface.co"
HUB_HOSTS = frozenset({"huggingface.co", "www.huggingface.co", "hf.co", "hf-mirror.com", "www.hf-mirror.com"})
"""Hosts whose pages are laid out like Hugging Face's; an endpoint named in the environment is one, too."""
MODELSCOPE_HOSTS = frozenset({"modelscope.cn", "www.modelscope.cn", "modelscope.ai", "www.modelscope.ai"})
ENDPOINT_VARIABLES = ("MODEL_ENDPOINT", "HF_ENDPOINT")
"""llama.cpp looks at them in this order (common_get_model_endpoint)."""
MAX_TEXT = 8192
PORTS = {"http": 80, "https": 443}
_REPO = re.compile(
    r"[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?/[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?"
)
_TAG = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class RemoteError(Exception):
    """A file on the network cannot be read. `kind` is a word of `doctor.gguf.remote.RemoteTrouble`; one line."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class FileAddress(NamedTuple):
    """A file: where it is asked for. `page` is where a person reads about it, "" when nobody knows."""

    url: str
    page: str = ""


class RepoAddress(NamedTuple):
    """A repository from which the file is yet to be chosen. `tag` is the quantisation wanted, "" for the usual one."""

    endpoint: str
    repo: str
    revision: str
    tag: str


def looks_remote(text: str) -> bool:
    """Whether a model's name is meant for the network. "owner/repo" is, unless such a file is there: ask that first."""
    text = text.strip()
    if _SCHEME.match(text):
        return not text.lower().startswith("file:")
    repo, _, tag = text.partition(":")
    return bool(_REPO.fullmatch(repo)) and not repo.lower().endswith(".gguf") and (not tag or bool(_TAG.fullmatch(tag)))


def endpoint_of(environ: Mapping[str, str]) -> str:
    """The hub that names without a host mean, without a slash at its end. Raises RemoteError for an unusable one."""
    for name in ENDPOINT_VARIABLES:
        text = environ.get(name, "").strip()
        if text:
            split = _split(text)
            if split is None or split.scheme not in PORTS or not split.hostname or "@" in split.netloc:
                raise RemoteError("address", f"the variable {name} holds no web address")
            return urlunsplit((split.scheme, split.netloc, split.path.rstrip("/"), "", ""))
    return HUB


def parse_model(text: str, environ: Mapping[str, str]) -> FileAddress | RepoAddress:
    """Where a model is. Raises RemoteError when the text is no address that can be asked."""
    text = text.strip()
    if len(text) > MAX_TEXT or not text.isprintable():
        raise RemoteError("address", "this is no address: it is too long or holds control characters")
    lower = text.lower()
    if lower.startswith("hf://"):
        return _of_hub(text[5:], endpoint_of(environ))
    if not _SCHEME.match(text):
        return _of_hub(text, endpoint_of(environ))
    split = _split(text)
    if split is None or not split.hostname:
        raise RemoteError("address", f"{shown(text)} is no valid address")
    if split.scheme not in PORTS:
        raise RemoteError("address", f"{split.scheme}:// cannot be asked: give http://, https:// or hf://")
    if "@" in split.netloc:
        raise RemoteError("address", f"{shown(text)} holds a user name or key, which is not sent: take it out")
    return _of_web(split, environ)


def _split(text: str) -> SplitResult | None:
    try:
        split = urlsplit(text)
        return split if split.port != 0 else None
    except ValueError:
        return None


def _of_hub(text: str, endpoint: str) -> FileAddress | RepoAddress:
    """owner/repo[@revision][:QUANT] or owner/repo[@revision]/path/to/file.gguf."""
    parts = text.strip("/").split("/")
    name, _, rest = "/".join(parts[:2]).partition("@") if "@" in "/".join(parts[:2]) else ("/".join(parts[:2]), "", "")
    revision, _, tag = rest.partition(":") if rest else ("", "", "")
    if not rest:
        name, _, tag = name.partition(":")
    if not _REPO.fullmatch(name):
        raise RemoteError("address", f"{shown(text)} is no owner/repo, owner/repo:QUANT or hf://owner/repo/file.gguf")
    if len(parts) > 2:
        if tag:
            raise RemoteError("address", f"{shown(text)}: name either a file or a quantisation, not both")
        return _file(endpoint, name, revision or "main", "/".join(parts[2:]))
    if tag and not _TAG.fullmatch(tag):
        raise RemoteError("address", f"{shown(text)}: what follows the colon is no quantisation")
    return RepoAddress(endpoint, name, revision or "main", tag)


def _file(endpoint: str, repo: str, revision: str, path: str) -> FileAddress:
    if any(part in ("", ".", "..") for part in path.split("/")):
        raise RemoteError("address", f"{one_word(path)} is no path of a file in {repo}")
    url = f"{endpoint}/{repo}/resolve/{quote(revision, safe='')}/{quote(path, safe='/')}"
    return FileAddress(url, f"{endpoint}/{repo}")


def _of_web(split: SplitResult, environ: Mapping[str, str]) -> FileAddress | RepoAddress:
    """A web address; one of a page about a file is turned into that of the file itself."""
    host = (split.hostname or "").lower()
    root = f"{split.scheme}://{split.netloc}"
    parts = [unquote(part) for part in split.path.strip("/").split("/")] if split.path.strip("/") else []
    if host in MODELSCOPE_HOSTS:
        return _of_modelscope(split, root, parts)
    endpoint = endpoint_of(environ)
    if host in HUB_HOSTS or origin(root) == origin(endpoint):
        prefix = urlsplit(endpoint).path if origin(root) == origin(endpoint) else ""
        inner = split.path.removeprefix(prefix) if prefix else split.path
        parts = [unquote(part) for part in inner.strip("/").split("/")] if inner.strip("/") else []
        name = "/".join(parts[:2])
        if len(parts) > 4 and parts[2] in ("blob", "resolve", "raw") and _REPO.fullmatch(name):
            return _file(root + prefix, name, parts[3], "/".join(parts[4:]))
        if len(parts) == 2 or (len(parts) == 4 and parts[2] == "tree"):
            name, _, tag = name.partition(":")
            if _REPO.fullmatch(name) and not name.lower().endswith(".gguf") and (not tag or _TAG.fullmatch(tag)):
                return RepoAddress(root + prefix, name, parts[3] if len(parts) == 4 else "main", tag)
    return FileAddress(urlunsplit((split.scheme, split.netloc, split.path or "/", split.query, "")))


def _of_modelscope(split: SplitResult, root: str, parts: list[str]) -> FileAddress:
    if parts[:1] == ["models"] and len(parts) > 6 and parts[3:5] == ["file", "view"]:
        parts = [*parts[:3], "resolve", *parts[5:]]
    page = f"{root}/{'/'.join(parts[:3])}"
    if parts[:1] == ["models"] and len(parts) > 5 and parts[3] == "resolve":
        return FileAddress(f"{root}/{quote('/'.join(parts), safe='/')}", page)
    if parts[:1] == ["models"]:
        example = f"{page}/resolve/master/NAME.gguf"
        raise RemoteError(
            "address", f"{shown(page)} is a model's page: give the address of one of its files, {example}"
        )
    return FileAddress(urlunsplit((split.scheme, split.netloc, split.path, split.query, "")))


def origin(url: str) -> tuple[str, str, int] | None:
    """Scheme, host and port of an address: what a key belongs to. None for what is no web address."""
    split = _split(url)
    if split is None or split.scheme not in PORTS or not split.hostname:
        return None
    return split.scheme, split.hostname.lower().rstrip("."), split.port or PORTS[split.scheme]


def may_carry_key(url: str) -> bool:
    """Whether a key may travel to this address: encrypted, or on this very machine."""
    found = origin(url)
    return found is not None and (found[0] == "https" or is_loopback(found[1]))


def shown(url: str) -> str:
    """An address as it may be printed: without the part before "@" and without a query, where keys and signatures are."""
    split = _split(url)
    if split is None:
        return one_word(url.partition("?")[0].rpartition("@")[2])
    place = split.netloc.rpartition("@")[2]
    return one_word(urlunsplit((split.scheme, place, split.path if place or not split.netloc else "", "", "")))


def one_word(text: str) -> str:
    """A text of a stranger, safe to print: one line, at most 200 characters."""
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= 200 else text[:199] + "…"


def file_name(url: str) -> str:
    """The name of the file in an address."""
    return unquote(urlsplit(url).path.rpartition("/")[2])


def with_file_name(url: str, name: str) -> str:
    """The address of another file in the same folder."""
    split = urlsplit(url)
    return urlunsplit((split.scheme, split.netloc, f"{split.path.rpartition('/')[0]}/{quote(name)}", split.query, ""))
