"""A key as a client would send it, and what is odd about its text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.facts.clients.record import Credential
from doctor.facts.record import Fact

if TYPE_CHECKING:
    from doctor.secrets import Vault

# Texts of instructions that were never replaced; not what people choose where no key is wanted (none, local).
_PLACEHOLDER = re.compile(
    r"<[^>]*>|\$\{?\w+\}?|%\w+%|\{\{?[^}]*\}?\}|.*\.\.\.|.*…|sk-(?:ant-|proj-)?[x*]{3,}|[x*]{3,}|"
    r"(?:sk-)?(?:your|insert|enter|replace|put|paste)[-_ ]?.*(?:key|token|here|me).*|change-?me|"
    r"(?:api|auth)[-_]?(?:key|token)(?:[-_]?here)?|todo|你的.*|填.*密钥.*",
    re.IGNORECASE,
)
_BEARER = re.compile(r"bearer\b\s*", re.IGNORECASE)
_QUOTES = "\"'`“”‘’"


def credential(vault: Vault, name: str, raw: str, header: str, source: str, line: Fact[int]) -> Credential:
    """The record of a key; the key itself goes to the vault, without blanks around it (the clients leave them out)."""
    key = raw.strip()
    token = vault.put(key)
    bare = _BEARER.sub("", key, count=1).strip(_QUOTES)
    if bare != key:
        # Known to the vault too, so that it is hidden wherever it stands alone.
        vault.put(bare)
    return Credential(name, token, header, source, line, key_problems(raw))


def key_problems(raw: str) -> tuple[str, ...]:
    """What is odd about a key's text, in the words of `Credential`."""
    key = raw.strip()
    if not key:
        return ("empty",)
    bare = key.strip(_QUOTES)
    alone = _BEARER.sub("", bare, count=1)
    line = raw.strip("\r\n")
    found = (
        ("newline", "\n" in raw or "\r" in raw),
        ("whitespace", line != line.strip() or any(character in alone for character in " \t\xa0\u3000")),
        ("quotes", key[0] in _QUOTES or key[-1] in _QUOTES),
        ("bearer-prefix", _BEARER.match(bare) is not None),
        ("non-ascii", not key.isascii() and not _PLACEHOLDER.fullmatch(bare)),
        ("placeholder", _PLACEHOLDER.fullmatch(alone) is not None),
    )
    return tuple(problem for problem, holds in found if holds)
