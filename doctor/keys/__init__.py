"""Finds what looks like a key in a text: by its own shape, or by the name, the option or the header it stands behind."""

from __future__ import annotations

import re
from collections.abc import Callable

from doctor.keys import names, places
from doctor.keys.judge import LONG, LOOKS, NOT_KEYS, RANDOM, SCHEMED, SPOKEN, SURE, is_key, is_phrase, looks_random

__all__ = ["NOT_KEYS", "hide_keys", "looks_random"]

Put = Callable[[str], str]

_VALUES = ("double", "single", "escaped", "bare")
_ALWAYS = (
    (places.HEADER, SURE),
    (places.ECHO, RANDOM),
    (places.QUERY, SURE),
    (places.NO_SCHEME, SURE),
    (places.BEARER, SCHEMED),
)
# Of options, which want a minus.
_OF_OPTIONS = (
    (places.PROXY_USER, SURE),
    (places.LOGIN, LOOKS),
    (places.GLUED_P, RANDOM),
    (names.GLUED, LOOKS),
)
_RARE = re.compile(r"value|mysql|mariadb|7z|zip|sshpass|login|redis-cli|-password|SecureString", re.IGNORECASE)
"""Words one of which stands in every text that `rare` finds a key in."""
_REQUESTS = ("curl", "wget", "sshpass")

_WORD: re.Pattern[str] = re.compile(r"[^\s,]+")


def hide_keys(text: str, put: Put) -> str:
    """The text with `put(key)` in place of everything that looks like a key."""
    text = places.SECRETS.sub(lambda found: put(found.group(0)), text)
    text = places.PEM.sub(lambda found: found["head"] + put(found["value"]), text)
    text = places.USERINFO.sub(lambda found: f"{found['head']}{put(found['value'])}@", text)
    text = places.LIST.sub(lambda found: _hide_list(found, put), text)
    for pattern, strength in _ALWAYS:
        text = _sub(pattern, strength, put, text)
    if _RARE.search(text):
        from doctor.keys import rare

        for pattern in (rare.COMMANDS, rare.PAIR, rare.TURNED):
            text = _sub(pattern, SURE, put, text)
    if "-" in text:
        if any(word in text for word in _REQUESTS):
            text = _sub(places.LOGIN_SURE, SURE, put, text)
        for pattern, strength in _OF_OPTIONS:
            text = _sub(pattern, strength, put, text)
    for pattern in (names.OPTION, names.NAMED):
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
    whole, value, start = found.group(0), found[group], found.start(group) - found.start()
    end = start + len(value)
    if found.re is names.OPTION and group != "bare" and re.match(r"\s?:", found.string[found.end() : found.end() + 2]):
        return whole  # {"option": "--api-key", "event": …}: a name as well
    if value.endswith(":") and "\n" in whole[:start]:
        return whole  # the first name in a block of settings below another name
    if re.search(r"\s", value):
        hidden = put(value) if found.re is places.HEADER or is_phrase(value, strength) else value
    else:
        prose = value.isalpha() and re.match(r"\s+[A-Za-z]", found.string[found.end() : found.end() + 4])
        opened = "<{[" if found.re is names.OPTION else "<{"
        limit = RANDOM if prose or whole[start - 1] in opened else strength
        hidden = _hide_words(value, limit, put)
    more = groups.get("more")
    if not more:
        return whole[:start] + hidden + whole[end:]
    others = _WORD.sub(lambda word: _shown(word, put), more)
    return whole[:start] + hidden + whole[end : -len(more)] + others


def _hide_words(value: str, strength: int, put: Put) -> str:
    """A word, or several with commas between them, those that are keys hidden."""
    if strength == SURE:
        first = names.BARE_WORDS.match(value)
        inner = first is not None and first.end() < len(value)  # a bracket or a quote in the middle of a key
        if inner and is_key(value, strength):
            return put(value)
    else:
        first = names.BARE_WORDS.match(value)
        if first is not None and first.end() < len(value):
            return _hide_words(value[: first.end()], strength, put) + value[first.end() :]
    return ",".join(put(part) if is_key(part, strength) else part for part in value.split(","))


def _shown(word: re.Match[str], put: Put) -> str:
    return put(word.group(0)) if is_key(word.group(0), LOOKS) else word.group(0)


def _hide_list(found: re.Match[str], put: Put) -> str:
    def hide(item: re.Match[str]) -> str:
        return put(item.group(0)) if is_key(item.group(0), SURE) else item.group(0)

    return found.group(0).replace(found["bare"], re.sub(r"[^\s\"'`,]{4,}", hide, found["bare"]))


def _strength(found: re.Match[str]) -> int:
    """How much the name in front of a value, and what joins them, say."""
    groups = found.groupdict()
    if not groups.get("firm"):
        return LOOKS if groups.get("sure") or groups.get("spoken") else RANDOM
    if groups.get("sure"):
        return SURE
    return SPOKEN if groups.get("spoken") else LONG if groups.get("weak") else RANDOM
