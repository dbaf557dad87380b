"""Everything that leaves passes here: secrets, names and control characters never reach an output or a saved file.

The same secret always becomes the same token, so that a reader still sees that two places hold one key.
"""

from __future__ import annotations

import re
from typing import Any

from doctor.secrets import Vault

# A name says that a key follows. Only how it ends is looked for (OPENAI_API_KEY ends in API_KEY): what stands in front
# may be anything, and to search for it would take quadratic time.
_STRONG = (
    r"(?:api[_-]?keys?|api[_-]?token|auth[_-]?token|access[_-]?(?:token|key)|refresh[_-]?token|client[_-]?secret|"
    r"secret[_-]?key|passw(?:or)?d|passphrase|bearer[_-]?token|hf[_-]?token|hub[_-]?token|private[_-]?key|"
    r"session[_-]?(?:key|token)|subscription[_-]?key|authorization|cookie|_auth|_pass)"
)
_WEAK = r"(?:token|secret|[_-]key|(?<![a-z])(?:pass|pwd|bearer))"
_SPOKEN = r"(?:(?:api|access|secret) key|密钥|秘钥|密码|口令|令牌)(?: provided)?"
# OPENAI_API_KEY_2, API_KEY_OPENAI; what names a file, a variable or a command holds no key.
_MORE = r"(?:[_-]?\d{1,3}|_(?!(?:file|path|env|name|var|helper|header|id|url)\b)[a-z]\w{0,30})?"
_NAME = rf"(?:(?P<sure>{_STRONG}{_MORE})|(?P<weak>{_WEAK})|(?P<spoken>{_SPOKEN}))"
_CLOSE = r"\\{0,3}[\"'`]?"
_EQUALS = rf"{_CLOSE}\]?\s{{0,4}}(?:=>|->|:=|\+=|\?=|[=:：＝]|\\u003d|%3D)\s{{0,4}}(?:[\[(]\s?)?\$?"
# Between a name and a key where nothing says that the one is the other's value: the key must look like one.
_NEAR = (
    r"(?:[\"'`],\s{0,4}(?:[\"']value[\"']:\s{0,4})?(?=[\"'`])|\s{1,4}(?:is |was )?|\s{0,4}\|\s{0,4}|"
    r"[\"']?>|[\"']\svalue=)"
)
_SCHEME = r"(?:(?:bearer|basic|token|apikey)(?:\\?\s{1,4}|%20|\+))?"
_BARE = r"[^\s\"'`,;<>(){}\[\]\\&]"
_VALUE = (
    rf"(?:\"{_SCHEME}(?P<double>[^\"\n]{{1,500}})\"|'{_SCHEME}(?P<single>[^'\n]{{1,500}})'|"
    rf"\\{{1,3}}[\"']{_SCHEME}(?P<escaped>[^\"'\\\n]{{1,500}})|[\"'`]?{_SCHEME}(?P<bare>{_BARE}{{4,}}(?:,{_BARE}{{4,}})*))"
)
_NAMED = re.compile(rf"{_NAME}(?:(?P<firm>{_EQUALS})|{_NEAR}){_VALUE}", re.IGNORECASE)
_OPTION = re.compile(
    rf"(?<!\S)--?(?:(?P<sure>hft|(?:oauth2-)?bearer|[\w.-]{{0,80}}{_STRONG})|(?P<weak>[\w.-]{{0,80}}(?:token|secret|key)))"
    rf"(?P<firm>[\s=]+){_VALUE}",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"(?<!\S)(?:-u|-U|--user|--proxy-user)[\s=]{1,4}[\"']?[^\s:/\"']{1,100}:(?P<bare>[^\s\"']{4,})|"
    r"(?<!\S)(?:sshpass\s{1,4}-p|(?:-b|--cookie)\s{1,4}[\"']?[\w-]{1,100}=)\s{0,4}(?P<single>[^\s\"';]{4,})"
)
_BEARER = re.compile(
    r"\bBearer(?:\\?[\s:=+]{1,4}|%20|[\"'],\s{0,4}[\"'])[\"'`]?(?P<bare>[^\s\"'`,;<>(){}\[\]]{4,})|"
    r"\bBasic\s{1,4}(?P<single>[A-Za-z0-9+/]{8,}={0,2})",
    re.IGNORECASE,
)
_QUERY = re.compile(
    r"[?&;](?:amp;)?[\w.-]{0,40}(?:key|token|sig|signature|secret|auth|code|passwd|password)(?:=|%3D)(?P<bare>[^\s&\"'#]+)",
    re.IGNORECASE,
)
_USERINFO = re.compile(r"(?P<head>[a-z][a-z0-9+.-]{1,15}://)(?P<value>[^\s/\"'<>]{1,200})@", re.IGNORECASE)
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u00[0-9a-fA-F]{2}))"
_SHAPES = (
    r"sk-(?:ant-|proj-|or-|local-)?[A-Za-z0-9_\-]{6,}",
    r"hf_(?=[a-z]{0,40}[A-Z0-9])[A-Za-z0-9]{8,}",
    r"gh[pousr]_[A-Za-z0-9]{16,}",
    r"github_pat_[A-Za-z0-9_]{16,}",
    r"xox[abprs]-[A-Za-z0-9-]{8,}",
    r"AKIA[0-9A-Z]{12,}",
    r"AIza[0-9A-Za-z_\-]{20,}",
    r"glpat-[A-Za-z0-9_\-]{12,}",
    r"nvapi-[A-Za-z0-9_\-]{12,}",
    r"(?:gsk|r8)_[A-Za-z0-9]{16,}",
    r"(?:tvly|xai|ms)-(?=[a-z]{0,40}[A-Z0-9])[A-Za-z0-9-]{20,}",
    r"eyJ[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]+){0,2}",
    r"[0-9a-f]{32}\.[A-Za-z0-9]{16}\b",
)
_SECRETS = re.compile(_START + "(?:" + "|".join(f"(?:{shape})" for shape in _SHAPES) + ")")
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
