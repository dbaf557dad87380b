"""The keys in a settings file that is going to be shown: of every service in it, not of the client's server alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from doctor.secrets import Vault

_NAME = re.compile(
    r"(?:key|token|secret|passw(?:or)?d|passphrase|pwd|credential|authorization|cookie|auth)s?$", re.IGNORECASE
)
# A name of a variable or of a file, a command, an entry of a key board: no keys.
_OTHER = re.compile(
    r"env_?key|key_?(?:env|file|path|name|helper|binding)|(?:primary|foreign|cache|hot|max|public)_?key", re.IGNORECASE
)
_REFERENCE = re.compile(r"[A-Z][A-Z0-9_]*|\$.*|\{(?:env|file):.*|os\.environ.*|<[^<>]*>", re.DOTALL)
SHORTEST = 6
MOST = 200
DEEPEST = 40


def keys_in(data: Any, *, named: bool = False, depth: int = 0) -> list[str]:
    """The texts below a name that says that a key follows; the nearest name counts, a list has that of its own."""
    if depth > DEEPEST:
        return []
    if isinstance(data, dict):
        found = []
        for name, value in data.items():
            text = str(name)
            found += keys_in(value, named=bool(_NAME.search(text)) and not _OTHER.search(text), depth=depth + 1)
        return found
    if isinstance(data, list):
        return [key for item in data for key in keys_in(item, named=named, depth=depth + 1)]
    if not named or not isinstance(data, str):
        return []
    word = data.strip().rpartition(" ")[2].rpartition("=")[2] or data.strip()  # Bearer KEY, provider=KEY
    return [] if _REFERENCE.fullmatch(data.strip()) or len(word) < SHORTEST else [data.strip(), word]


def learn(vault: Vault, data: Any) -> None:
    """Make the keys of a file known, so that they are hidden wherever they are shown."""
    for key in keys_in(data)[:MOST]:
        vault.put(key)
