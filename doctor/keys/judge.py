"""Whether a word is a key: by what it looks like, and by how surely its place says so."""

from __future__ import annotations

import re

from doctor.keys.names import STRONG

NOT_KEYS = {
    "none", "null", "true", "false", "invalid", "missing", "required", "wrong", "error", "is", "not", "must", "header",
    "unauthorized", "found", "needed", "expired", "bearer", "authentication", "failed", "with", "from", "file", "here",
    "your_key", "your-key", "yourkey", "key", "token", "value", "limit", "count", "counts", "error:", "problem", "only",
    "optional", "empty", "unset", "ignored", "provided", "enabled", "disabled", "include", "included",
}  # fmt: skip
_PROSE = NOT_KEYS | {"a", "an", "be", "for", "or", "please", "set", "the", "to", "was", "your"}
_PLACEHOLDER = re.compile(
    r"\$\{?[\w:]+\}?|%\w+%|<[^<>]*>|\{+[^{}]*\}+|(?:os\.(?:environ|getenv)|process\.env|import\.meta|getenv|env)\b.*",
    re.DOTALL,
)
_A_NAME = re.compile(rf"[a-z_-]{{0,40}}{STRONG}", re.IGNORECASE)
_AN_OPTION = re.compile(r"--?[a-z][a-z-]*")
_A_CALL = re.compile(r"[A-Za-z_.]{2,40}\([A-Za-z_.]{0,40}")
_A_PATH = re.compile(r"(?:~|\.{1,2})?/[^/]+/|[A-Za-z]:[\\/]")

# How sure it is that a value is a key. SURE: by its place alone. The others want more and more of the value itself.
SURE, SPOKEN, SCHEMED, LOOKS, LONG, RANDOM = range(6)


def is_key(value: str, strength: int) -> bool:
    """Whether a word is a key, given how sure its place makes us."""
    plain = value.lower().strip(".:!?")
    bare = re.sub(r"<?key-\d+>?|[^A-Za-z0-9]", "", value)
    if len(bare) < 4 or "***" in value or _A_NAME.fullmatch(plain.rstrip("=([{")):
        return False
    if value.startswith("$(") or re.split(r"[\"'`;<>(){}\[\]\\&]", plain, maxsplit=1)[0] in NOT_KEYS:
        return False
    if (plain.isdigit() and len(plain) < 8) or _AN_OPTION.fullmatch(value) or _A_CALL.fullmatch(value):
        return False
    if _PLACEHOLDER.fullmatch(value) and not looks_random(value.strip("$%<>{}")):
        return False
    if strength == SCHEMED:
        return not re.fullmatch(r"[a-z]{1,15}", plain) or bool(re.search(r"[a-z][A-Z]", value))
    if strength == LONG:
        return len(value) >= 12 and bool(re.search(r"\d", value) and re.search(r"[A-Za-z]", value)) and not _path(value)
    if strength == LOOKS:
        return looks_like_key(plain)
    return looks_random(value.strip(".:!?")) if strength == RANDOM else True


def is_phrase(value: str, strength: int) -> bool:
    """Whether a quoted text with blanks in it is a key, and not a sentence."""
    rest = re.sub(r"<key-\d+>|[^A-Za-z0-9]", "", value)
    if len(rest) < 4 or value.startswith("$("):
        return False
    words = value.split()
    if any(map(looks_like_key if strength == SURE else looks_random, words)):
        return True
    return strength == SURE and not any(word.lower().strip(".:!?,") in _PROSE for word in words)


def looks_like_key(word: str) -> bool:
    """Whether a word has letters and digits mixed as only generated texts have, and nothing of a path or a version."""
    if len(word) < 8 or not re.fullmatch(r"[\w+=~!@#^*-]+", word, re.ASCII):
        return False
    return bool(re.search(r"\d", word) and re.search(r"[A-Za-z]", word))


def looks_random(word: str) -> bool:
    """The same, stricter: capitals, small letters and digits in one word, or long hexadecimal."""
    mixed = re.search(r"[a-z]", word) and re.search(r"[A-Z]", word)
    return looks_like_key(word) and bool((mixed and len(word) >= 12) or re.fullmatch(r"[0-9a-f-]{24,}", word))


def _path(value: str) -> bool:
    """Whether a value is the path of a file (PWD=/home/me/llama.cpp): a name that is not sure does not make it a key."""
    return _A_PATH.match(value) is not None
