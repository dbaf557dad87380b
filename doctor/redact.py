"""Everything that leaves passes here: secrets, names and control characters never reach an output or a saved file.

The same secret always becomes the same token, so that a reader still sees that two places hold one key.
"""

from __future__ import annotations

import re
from typing import Any

from doctor.keys import NOT_KEYS, hide_keys, looks_random
from doctor.secrets import Vault

_HOMES = re.compile(
    r"(?P<head>(?P<drive>[A-Za-z]:(?:\\\\?|/)(?:Users|Documents and Settings)(?:\\\\?|/))|"
    r"/home/|/Users/|/mnt/[a-z]/Users/)"
    r"(?P<user>[^/\\\s\"':;,<>|]+(?(drive)(?:(?: [^/\\\s\"':;,<>|]{1,40}){1,3}(?=[\\/]))?))"
)
# The last part of a domain has letters only: claude-code@2.0.1 is no address; git@github.com is everybody's.
_MAIL = re.compile(r"(?<![\w.@])(?!git@)[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,3}\.[A-Za-z]{2,24}(?![\w@])")
_CONTROL = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|.)?"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
_WORD = re.compile(r"\A[A-Za-z0-9_-]+")
MOST_KNOWN = 300
"""Keys that are looked for in every text, the first ones found: a text made of nothing but keys must not take for ever."""
_ORDINARY_NAMES = {
    "root", "localhost", "ubuntu", "debian", "admin", "docker", "llama", "server", "doctor", "home", "host", "local",
    "public", "shared", "default", "user", "username", "you", "yourname", "me", "runner",
}  # fmt: skip
# What people write where no key is wanted. Known as a key, such a word is not taken out of every other text.
_DUMMIES = NOT_KEYS | {
    "ollama", "llama", "llama.cpp", "llamacpp", "llama-server", "local", "localhost", "lmstudio", "lm-studio", "vllm", "dummy",
    "test", "empty", "no-key", "no-key-required", "not-needed", "notneeded", "any", "anything", "key", "token", "secret",
    "api-key", "apikey", "api_key", "password", "claude", "openai", "anthropic", "default", "server", "model", "unused",
}  # fmt: skip


def sanitize(text: str) -> str:
    """Text without control characters, escape sequences and characters that turn or hide text."""
    return _CONTROL.sub("", text) if not text.isascii() or not text.isprintable() else text


class Redactor:
    """Replaces what must not leave: the vault's keys, user and host `names`, the `home` folder, and whatever looks like a key."""

    def __init__(self, names: tuple[str, ...] = (), home: str = "", vault: Vault | None = None) -> None:
        self._vault = Vault() if vault is None else vault
        self._spelt: list[tuple[str, tuple[str, ...]]] = []
        self._spelt_count = 0
        self._spellings: list[tuple[str, str]] = []
        self._keys: dict[str, str] = {}
        self._keys_known = 0
        self._home = home.rstrip("/\\") if len(home.rstrip("/\\")) > 1 else ""
        self._names = tuple(
            _alone(name, "" if len(name) > 4 else "_")  # "max" is no name in max_tokens
            for name in sorted(set(names), key=len, reverse=True)
            if len(name) >= 3 and name.lower() not in _ORDINARY_NAMES
        )

    def text(self, text: str) -> str:
        """The text as it may be shown: what is known to be secret goes, and whatever looks like a key."""
        if not text:
            return text
        text = self._secrets(sanitize(text))
        text = hide_keys(text, self._vault.put)
        text = _MAIL.sub("<mail>", text)
        return self._places(text)

    def known(self, text: str) -> str:
        """The same for our own words: only what is known to be secret goes. "--api-key VALUE" in advice is no key."""
        return self._places(self._secrets(sanitize(text))) if text else text

    def _secrets(self, text: str) -> str:
        for spelling, token in self._known():
            if spelling in text and len(spelling) >= 8:
                text = _without(text, spelling, token)
            elif spelling in text:  # a short one may be part of a word or a number
                text = re.sub(_alone(spelling, "_"), token, text)
        return text

    def _known(self) -> list[tuple[str, str]]:
        """Every known secret in every spelling with its token, the longest secret first. Made anew when there is one more."""
        count = min(self._vault.count, MOST_KNOWN)
        if count != self._spelt_count:
            for secret in self._vault.secrets(count)[self._spelt_count :]:
                self._spelt.append((secret, _spellings(secret)))
            self._spelt.sort(key=lambda item: len(item[0]), reverse=True)
            self._spelt_count = count
            self._spellings = [
                (spelling, self._vault.put(secret)) for secret, spellings in self._spelt for spelling in spellings
            ]
        return self._spellings

    def tree(self, value: Any) -> Any:
        """The same for every text inside plain data (lists, dicts, tuples, NamedTuples)."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self._key(str(key)): self.tree(item) for key, item in value.items()}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*(self.tree(item) for item in value))
        if isinstance(value, (list, tuple)):
            return type(value)(self.tree(item) for item in value)
        return value

    def _key(self, key: str) -> str:
        """The same for a key of a dict: long lists of records repeat theirs. Asked again when there is a new secret."""
        known = min(self._vault.count, MOST_KNOWN)
        if self._keys_known != known:
            self._keys, self._keys_known = {}, known
        if key not in self._keys:
            self._keys[key] = self.text(key)
        return self._keys[key]

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


def _without(text: str, spelling: str, token: str) -> str:
    """The text with a token for each secret, and for what follows it in the same word: known may be only its beginning."""
    first, *parts = text.split(spelling)
    return token.join((first, *(_WORD.sub("", part, count=1) for part in parts)))


def _alone(text: str, joiner: str) -> re.Pattern[str]:
    """The text where it is no part of a longer word."""
    return re.compile(rf"(?<![A-Za-z0-9{joiner}]){re.escape(text)}(?![A-Za-z0-9{joiner}])", re.IGNORECASE)


def _spellings(secret: str) -> tuple[str, ...]:
    """A secret as it stands, and as JSON, a URL, a shell and base64 write it; () for what is no secret."""
    import base64
    import json
    import shlex
    from urllib.parse import quote

    bare = sanitize(secret).strip()
    if len(bare) < 4 or bare.lower() in _DUMMIES or (bare.isdigit() and len(bare) < 6):
        return ()
    found = {sanitize(secret)}
    for form in (bare, secret.strip()):
        found |= {
            form,
            json.dumps(form)[1:-1],
            json.dumps(form, ensure_ascii=False)[1:-1],
            shlex.quote(form).strip("'"),
        }
        raw = form.encode("utf-8", "replace")
        found |= {quote(raw, safe=""), quote(raw), base64.b64encode(raw).decode().rstrip("=")}
    # "KEY,OTHER" or "KEY more": what a server repeats of it may be one part.
    found |= {part for part in re.findall(r"[A-Za-z0-9_-]{12,500}", bare) if looks_random(part)}
    return tuple(sorted(found, key=len, reverse=True))
