"""Hugging Face and what speaks like it: the key of this user, and which file a repository's name stands for."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from doctor.gguf.addresses import ENDPOINT_VARIABLES, HUB, FileAddress, RemoteError, RepoAddress, endpoint_of, one_word
from doctor.gguf.fetch import Caller, Key
from doctor.gguf.splits import part_of_name
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside
    from doctor.secrets import Vault

KEY_VARIABLES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
LIST_LIMIT = 4 << 20
MAX_FILES = 10_000
USUAL_TAGS = ("Q4_K_M", "Q8_0")
"""What -hf takes when no quantisation is named, in this order (find_best_model in common/download.cpp of b11434)."""
NOT_MODELS = ("mmproj", "imatrix", "mtp-", "eagle3-", "dflash-", "dspark-")
"""Parts of names of GGUF files that are no model by themselves (gguf_filename_is_model, same place)."""


def hub_key(outside: Outside, vault: Vault) -> Key | None:
    """The user's key for the hub; a variable's belongs to the endpoint that stands beside it in the environment.

    The key that `hf auth login` has written is Hugging Face's own, whatever endpoint is set.
    """
    environ = outside.environ
    for name in KEY_VARIABLES:
        text = environ.get(name, "").strip()
        if text:
            return Key(vault.put(text), endpoint_of(environ), name)
    if any(environ.get(name) for name in ENDPOINT_VARIABLES) and endpoint_of(environ) != HUB:
        return None
    path = environ.get("HF_TOKEN_PATH")
    if not path:
        home = environ.get("HF_HOME")
        cache = environ.get("XDG_CACHE_HOME") or os.path.join(outside.home(), ".cache")
        path = os.path.join(home or os.path.join(cache, "huggingface"), "token")
    try:
        text = outside.read_text(outside.real_path(path), 4096).strip()
    except OutsideError:
        return None
    return Key(vault.put(text), HUB, "hf auth login") if text else None


def choose_file(caller: Caller, address: RepoAddress) -> FileAddress:
    """The file llama.cpp would take from a repository. Costs one request. Raises RemoteError."""
    page = f"{address.endpoint}/{address.repo}"
    url = f"{address.endpoint}/api/models/{address.repo}/tree/{quote(address.revision, safe='')}?recursive=true"
    found, reply = caller.get(url, limit=LIST_LIMIT)
    if reply.status != 200:
        raise caller.trouble(found, reply, url)
    names = _names(address.repo, reply.body, reply.truncated)
    models = [name for name in names if _is_model(name)]
    chosen = _best(models, address.tag)
    if chosen is None:
        raise RemoteError("missing", f"{one_word(page)}: {_none_of(address.tag, models, names)}")
    return FileAddress(f"{page}/resolve/{quote(address.revision, safe='')}/{quote(chosen, safe='/')}", page)


def _names(repo: str, body: bytes, truncated: bool) -> list[str]:
    try:
        entries = None if truncated else json.loads(body)
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list):
        raise RemoteError("hostile", f"{repo}: the list of its files cannot be read")
    names = [entry.get("path") for entry in entries[:MAX_FILES] if isinstance(entry, dict)]
    return [name for name in names if isinstance(name, str) and _is_path(name)]


def _is_path(name: str) -> bool:
    return 0 < len(name) <= 1000 and name.isprintable() and not {"", ".", ".."} & set(name.split("/"))


def _is_model(name: str) -> bool:
    """A file that can be started: a model, and of a split one the first part."""
    file = name.rpartition("/")[2]
    part = part_of_name(name)
    return name.endswith(".gguf") and not any(word in file for word in NOT_MODELS) and (part is None or part[1] == 1)


def _best(models: list[str], tag: str) -> str | None:
    for wanted in (tag,) if tag else USUAL_TAGS:
        pattern = re.compile(f"{re.escape(wanted)}[.-]", re.IGNORECASE)
        for name in models:
            if pattern.search(name):
                return name
    return models[0] if models and not tag else None


def _none_of(tag: str, models: list[str], names: list[str]) -> str:
    if not models:
        return "there is no GGUF model in this repository" + (
            ": it holds safetensors, look for one whose name ends in -GGUF"
            if any(name.endswith(".safetensors") for name in names)
            else ""
        )
    some = ", ".join(one_word(name) for name in models[:8])
    more = f" and {len(models) - 8} more" if len(models) > 8 else ""
    return f"no file of the quantisation {tag}; there are {some}{more}"
