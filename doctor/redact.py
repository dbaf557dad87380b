"""Everything that leaves passes here: secrets, names and control characters never reach an output or a saved file.

The same secret always becomes the same token, so that a reader still sees that two places hold one key.
"""

from __future__ import annotations

import re
from typing import Any

from doctor.secrets import Vault

# Endings of names: what stands in front of them (OPENAI_API_KEY) may be anything and is not searched for, which would
# take quadratic time.
_STRONG = (
    r"(?:api[_-]?keys?|apikey|auth[_-]?token|access[_-]?token|refresh[_-]?token|client[_-]?secret|secret[_-]?key|"
    r"passw(?:or)?d|passphrase|bearer[_-]?token|hf[_-]?token|private[_-]?key|session[_-]?key|authorization|cookie)"
)
_WEAK = r"(?:token|secret|_key)"
_VALUE = r"[^\s\"'`,;<>(){}\[\]]{4,}"
_SHAPES = (
    r"sk-(?:ant-|proj-|or-|local-)?[A-Za-z0-9_\-]{6,}",
    r"hf_[A-Za-z0-9]{8,}",
    r"gh[pousr]_[A-Za-z0-9]{16,}",
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"xox[abprs]-[A-Za-z0-9-]{8,}",
    r"AKIA[0-9A-Z]{12,}",
    r"AIza[0-9A-Za-z_\-]{20,}",
    r"glpat-[A-Za-z0-9_\-]{12,}",
    r"nvapi-[A-Za-z0-9_\-]{12,}",
    r"gsk_[A-Za-z0-9]{16,}",
    r"eyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]+){0,2}",
    r"\b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b",
)
_SECRETS = re.compile("|".join(f"(?:{shape})" for shape in _SHAPES))
_SPOKEN = re.compile(
    rf"(?P<head>\b(?:api|access|secret) ?key(?: provided| is| was)?\s{{0,2}}[:=]\s{{0,2}}[\"'`]?)(?P<value>{_VALUE})",
    re.IGNORECASE,
)
_ASSIGNED = r"[\"'`]?\s{0,4}(?:=>|:=|[=:])\s{0,4}[\[\"'`]{0,3}(?:(?:Bearer|Basic|Token)\s+)?"
_NAMED = re.compile(rf"(?P<head>(?:{_STRONG}|(?P<weak>{_WEAK})){_ASSIGNED})(?P<value>{_VALUE})", re.IGNORECASE)
_OPTION = re.compile(
    rf"(?P<head>(?<!\S)--?(?:hft|[\w.-]{{0,80}}(?:{_STRONG}|{_WEAK}))[\s=]+[\"'`]?)(?P<value>{_VALUE})",
    re.IGNORECASE,
)
_BEARER = re.compile(rf"(?P<head>\b(?:Bearer|Basic)\s+)(?P<value>{_VALUE})", re.IGNORECASE)
_USERINFO = re.compile(r"(?P<head>[a-z][a-z0-9+.-]{1,15}://)(?P<value>[^\s/@\"']{1,200})@", re.IGNORECASE)
_QUERY = re.compile(
    r"(?P<head>[?&](?:key|token|api_key|apikey|access_token|sig|signature)=)(?P<value>[^\s&\"'#]+)", re.IGNORECASE
)
_HOMES = re.compile(
    r"(?P<head>(?:/home/|/Users/|/mnt/[a-z]/Users/|"
    r"[A-Za-z]:(?:\\\\?|/)(?:Users|Documents and Settings)(?:\\\\?|/)))"
    r"(?P<user>[^/\\\s\"':;,<>|]+)"
)
_MAIL = re.compile(r"(?<![\w.@])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}(?![\w@])")
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|.)?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
_ORDINARY_NAMES = {
    "root", "localhost", "ubuntu", "debian", "admin", "docker", "llama", "server", "doctor", "home", "host", "local",
    "public", "shared", "default", "user", "username", "you", "yourname", "me", "runner",
}  # fmt: skip
_WORDS_NOT_KEYS = {
    "none", "null", "true", "false", "invalid", "missing", "required", "wrong", "error", "is", "not", "must", "header",
    "unauthorized", "found", "needed", "expired", "bearer", "authentication", "failed", "with", "from", "file", "here",
    "your_key", "your-key", "yourkey", "limit", "count", "counts", "error:", "problem",
}  # fmt: skip


def sanitize(text: str) -> str:
    """Text without control characters, escape sequences and characters that turn or hide text."""
    return _CONTROL.sub("", text) if not text.isascii() or not text.isprintable() else text


class Redactor:
    """Replaces what must not leave: the vault's keys, user and host `names`, the `home` folder, and whatever looks like a key."""

    def __init__(self, names: tuple[str, ...] = (), home: str = "", vault: Vault | None = None) -> None:
        self._vault = vault or Vault()
        self._home = home.rstrip("/\\") if len(home.rstrip("/\\")) > 1 else ""
        self._names = tuple(
            re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
            for name in sorted(set(names), key=len, reverse=True)
            if len(name) >= 3 and name.lower() not in _ORDINARY_NAMES
        )

    def text(self, text: str) -> str:
        """The text as it may be shown: what is known to be secret goes, and whatever looks like a key."""
        if not text:
            return text
        text = self._secrets(sanitize(text))
        text = _SECRETS.sub(lambda found: self._vault.put(found.group(0)), text)
        for pattern in (_QUERY, _BEARER, _OPTION, _NAMED, _SPOKEN):
            text = pattern.sub(self._keep_head, text)
        text = _USERINFO.sub(lambda found: f"{found['head']}{self._vault.put(found['value'])}@", text)
        text = _MAIL.sub("<mail>", text)
        return self._places(text)

    def known(self, text: str) -> str:
        """The same for our own words: only what is known to be secret goes. "--api-key VALUE" in advice is no key."""
        return self._places(self._secrets(sanitize(text))) if text else text

    def _secrets(self, text: str) -> str:
        for secret in sorted(self._vault.secrets(), key=len, reverse=True):
            for spelling in {secret, secret.strip()}:
                if len(spelling) >= 4 and spelling in text:
                    text = text.replace(spelling, self._vault.put(secret))
        return text

    def tree(self, value: Any) -> Any:
        """The same for every text inside plain data (lists, dicts, tuples, NamedTuples)."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self.tree(item) for key, item in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(self.tree(item) for item in value))
        if isinstance(value, (list, tuple)):
            return type(value)(self.tree(item) for item in value)
        return value

    def _places(self, text: str) -> str:
        if self._home and self._home in text:
            text = re.sub(re.escape(self._home) + r"(?=$|[^\w.-])", "~", text)
        text = _HOMES.sub(self._home_of, text)
        for name in self._names:
            text = name.sub("<name>", text)
        return text

    def _home_of(self, found: re.Match[str]) -> str:
        user = found["user"]
        return found.group(0) if user.lower() in _ORDINARY_NAMES or user[0] in "<$%{" else f"{found['head']}<user>"

    def _keep_head(self, found: re.Match[str]) -> str:
        value = found["value"]
        plain = value.lower().rstrip(".:!?")
        if plain in _WORDS_NOT_KEYS or value[0] in "<$%{" or plain.isdigit() or "****" in value:
            return found.group(0)
        if found.groupdict().get("weak") and not (len(value) >= 12 and re.search(r"\d", value)):
            return found.group(0)
        return found["head"] + self._vault.put(value)
