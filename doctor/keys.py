"""Finds what looks like a key in a text: by its own shape, or by the name, the option or the header it stands behind."""

from __future__ import annotations

import re
from collections.abc import Callable

Put = Callable[[str], str]

# A name says that a key follows. Only how it ends is looked for (OPENAI_API_KEY ends in API_KEY): what stands in front
# may be anything, and to search for it would take quadratic time.
_STRONG = (
    r"(?:api[_-]?keys?|api[_-]?token|auth[_-]?token|access[_-]?(?:token|key)|refresh[_-]?token|client[_-]?secret|"
    r"secret[_-]?key|passw(?:or)?d|passphrase|bearer[_-]?token|hf[_-]?token|hub[_-]?token|private[_-]?key|"
    r"session[_-]?(?:key|token)|subscription[_-]?key|authorization|cookie)"
)
_WEAK = r"(?:token|secret|[_-]key|_auth|(?<![a-z])(?:pass|pwd|bearer))"
_SPOKEN = r"(?:(?:api|access|secret) key|密钥|秘钥|密码|口令|令牌)(?: provided)?"
# OPENAI_API_KEY_2, API_KEY_OPENAI; what names a file, a variable or a command holds no key.
_MORE = r"(?:[_-]?\d{1,3}|_(?!(?:file|path|env|name|var|helper|header|id|url|count|length|type)\b)[a-z]\w{0,30})?"
_NAME = rf"(?:(?P<sure>{_STRONG}{_MORE})|(?P<weak>{_WEAK})|(?P<spoken>{_SPOKEN})|(?P<plain>\bkey))"
_A_NAME = re.compile(rf"[a-z_-]{{0,40}}{_STRONG}", re.IGNORECASE)
_CLOSE = r"\\{0,3}[\"'`]?"
_EQUALS = rf"{_CLOSE}\]?\s{{0,4}}(?:=>|->|:=|\+=|\?=|[=:：＝]|\\u003d|%3D)\s{{0,4}}(?:\w{{1,30}}\()?[\[(<{{]{{0,2}}\s?(?:\$(?='))?"
# Between a name and a key where nothing says that the one is the other's value: the key must look like one.
_NEAR = (
    r"(?:[\"'`],\s{0,4}(?:[\"']value[\"']:\s{0,4})?(?=[\"'`])|\s{0,4}\|\s{0,4}|\s{1,4}(?:is |was )?|"
    r"[\"']?>|[\"']\svalue=)"
)
_SCHEME = r"(?:(?:bearer|basic|token|apikey)(?:\\?\s{1,4}|%20|\+))?"
_BARE = r"[^\s\"'`,;<>(){}\[\]\\&]"
_VALUE = (
    rf"(?:\"{_SCHEME}(?P<double>[^\"\n]{{1,500}})\"|'{_SCHEME}(?P<single>[^'\n]{{1,500}})'|"
    rf"\\{{1,3}}[\"']{_SCHEME}(?P<escaped>[^\"'\\\n]{{1,500}})|[\"'`]?{_SCHEME}(?P<bare>{_BARE}+(?:,{_BARE}+)*))"
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
_HEADER = re.compile(
    rf"(?:cookie{_CLOSE}\s{{0,4}}[:=]\s{{0,4}}[\"'`]?(?=[\w-]{{1,100}}=)|authorization{_CLOSE}\s{{0,4}}[:=]\s{{0,4}}[\"'`]?digest )"
    r"(?P<bare>[^\n'`]{4,1000})",
    re.IGNORECASE,
)
_LIST = re.compile(rf"api[_-]?keys?{_CLOSE}\s{{0,4}}[:=]\s{{0,4}}\[(?P<bare>[^\]\n]{{4,2000}})\]", re.IGNORECASE)
_ECHO = re.compile(r"\b(?:echo|printf)\s{1,4}(?:-n\s{1,4})?[\"']?(?P<bare>[^\s\"'|;&]{8,200})")
_BEARER = re.compile(
    r"\bBearer(?:\\?[\s:=+]{1,4}|%20|[\"'],\s{0,4}[\"'])[\"'`]?(?P<bare>[^\s\"'`,;<>(){}\[\]\\]{4,})|"
    r"\bBasic\s{1,4}(?P<single>[A-Za-z0-9+/]{8,}={0,2})",
    re.IGNORECASE,
)
_QUERY = re.compile(
    r"[?&](?:amp;)?[\w.-]{0,40}(?:key|token|sig|signature|secret|auth|code|passwd|password)(?:=|%3D)(?P<bare>[^\s&\"'#]+)",
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
NOT_KEYS = {
    "none", "null", "true", "false", "invalid", "missing", "required", "wrong", "error", "is", "not", "must", "header",
    "unauthorized", "found", "needed", "expired", "bearer", "authentication", "failed", "with", "from", "file", "here",
    "your_key", "your-key", "yourkey", "key", "token", "value", "limit", "count", "counts", "error:", "problem",
}  # fmt: skip
_PROSE = NOT_KEYS | {"a", "an", "be", "for", "or", "please", "set", "the", "to", "was", "your"}
_PLACEHOLDER = re.compile(
    r"\$\{?[\w:]+\}?|%\w+%|<[^<>]*>|\{+[^{}]*\}+|(?:os\.(?:environ|getenv)|process\.env|import\.meta|getenv|env)\b.*",
    re.DOTALL,
)


_VALUES = ("double", "single", "escaped", "bare")
# How sure it is that a value is a key. _SURE: by its place alone. The others want more and more of the value itself.
_SURE, _SPOKEN_OF, _SCHEMED, _LOOKS, _LONG, _RANDOM = range(6)
_ALWAYS = ((_HEADER, _SURE), (_ECHO, _RANDOM), (_QUERY, _SURE), (_BEARER, _SCHEMED))


def hide_keys(text: str, put: Put) -> str:
    """The text with `put(key)` in place of everything that looks like a key."""
    text = _SECRETS.sub(lambda found: put(found.group(0)), text)
    text = _USERINFO.sub(lambda found: f"{found['head']}{put(found['value'])}@", text)
    text = _LIST.sub(lambda found: _hide_list(found, put), text)
    for pattern, strength in _ALWAYS:
        text = _sub(pattern, strength, put, text)
    if "curl" in text or "wget" in text or "sshpass" in text:
        text = _sub(_LOGIN, _SURE, put, text)
    for pattern in (_OPTION, _NAMED):
        text = pattern.sub(lambda found: _hide(found, _strength(found), put), text)
    return text


def _sub(pattern: re.Pattern[str], strength: int, put: Put, text: str) -> str:
    return pattern.sub(lambda found: _hide(found, strength, put), text)


def _hide(found: re.Match[str], strength: int, put: Put) -> str:
    """The match with the key in it replaced, or as it was when it holds no key."""
    groups = found.groupdict()
    group = next((name for name in _VALUES if groups.get(name)), "")
    if not group:
        return found.group(0)
    value, start, end = found[group], found.start(group) - found.start(), found.end(group) - found.start()
    whole = found.group(0)
    if re.search(r"\s", value):
        hidden = put(value) if found.re is _HEADER or _is_phrase(value, strength) else value
    else:
        prose = value.isalpha() and re.match(r"\s+[A-Za-z]", found.string[found.end() : found.end() + 4])
        limit = _RANDOM if prose or whole[start - 1] in "<{" else strength
        hidden = ",".join(put(part) if _is_key(part, limit) else part for part in value.split(","))
    return whole[:start] + hidden + whole[end:]


def _hide_list(found: re.Match[str], put: Put) -> str:
    def hide(item: re.Match[str]) -> str:
        return put(item.group(0)) if _is_key(item.group(0), _SURE) else item.group(0)

    return found.group(0).replace(found["bare"], re.sub(r"[^\s\"'`,]{4,}", hide, found["bare"]))


def _strength(found: re.Match[str]) -> int:
    """How much the name in front of a value, and what joins them, say."""
    groups = found.groupdict()
    if not groups.get("firm"):
        return _LOOKS if groups.get("sure") or groups.get("spoken") else _RANDOM
    if groups.get("sure"):
        return _SURE
    return _SPOKEN_OF if groups.get("spoken") else _LONG if groups.get("weak") else _RANDOM


def _is_key(value: str, strength: int) -> bool:
    """Whether a word is a key, given how sure its place makes us."""
    plain = value.lower().strip(".:!?")
    bare = re.sub(r"<?key-\d+>?|[^A-Za-z0-9]", "", value)
    if len(bare) < 4 or plain in NOT_KEYS or "***" in value or _A_NAME.fullmatch(plain):
        return False
    if (plain.isdigit() and len(plain) < 8) or (
        _PLACEHOLDER.fullmatch(value) and not looks_random(value.strip("$%<>{}"))
    ):
        return False
    if strength == _SCHEMED:
        return not re.fullmatch(r"[a-z]{1,15}", plain) or bool(re.search(r"[a-z][A-Z]", value))
    if strength == _LONG:
        return len(value) >= 12 and bool(re.search(r"\d", value) and re.search(r"[A-Za-z]", value))
    if strength == _LOOKS:
        return looks_like_key(plain)
    return looks_random(value.strip(".:!?")) if strength == _RANDOM else True


def _is_phrase(value: str, strength: int) -> bool:
    """Whether a quoted text with blanks in it is a key, and not a sentence."""
    rest = re.sub(r"<key-\d+>|[^A-Za-z0-9]", "", value)
    if len(rest) < 4 or value.startswith("$("):
        return False
    words = value.split()
    if any(map(looks_like_key if strength == _SURE else looks_random, words)):
        return True
    return strength == _SURE and not any(word.lower().strip(".:!?,") in _PROSE for word in words)


def looks_like_key(word: str) -> bool:
    """Whether a word has letters and digits mixed as only generated texts have, and nothing of a path or a version."""
    if len(word) < 8 or not re.fullmatch(r"[\w+=~!@#^*-]+", word, re.ASCII):
        return False
    return bool(re.search(r"\d", word) and re.search(r"[A-Za-z]", word))


def looks_random(word: str) -> bool:
    """The same, stricter: capitals, small letters and digits in one word, or long hexadecimal."""
    mixed = re.search(r"[a-z]", word) and re.search(r"[A-Z]", word)
    return looks_like_key(word) and bool((mixed and len(word) >= 12) or re.fullmatch(r"[0-9a-f-]{24,}", word))
