"""The functions rules may call in conditions and texts.

Each is total: given unknown it answers unknown, given absent it answers absent, unless its purpose is to tell them apart.
"""

from __future__ import annotations

import re
import shlex
from typing import Any

from doctor.facts.record import Unknown
from doctor.facts.urls import is_local, listening_url, parse_address, same_server
from doctor.launch.quoting import for_cmd, split_command

_WINDOWS_PATH = re.compile(r"(?:[A-Za-z]:|\.{1,2})?\\[\w.\\:+-]+$")
_VARIABLE = re.compile(r"\$\{?[A-Za-z_]\w*\}?")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=[\w./:@%+,-]*$")
MIB = 1 << 20
GIB = 1 << 30


def _missing(*values: Any) -> Any:
    """The first unknown among the values, else absent; used as `missing = _missing(x)` when one of them is not there."""
    for value in values:
        if isinstance(value, Unknown):
            return value
    return None


def _has(*values: Any) -> bool:
    return all(value is not None and not isinstance(value, Unknown) for value in values)


def _absent(value: Any) -> Any:
    return value if isinstance(value, Unknown) else value is None


def _unknown(value: Any) -> bool:
    return isinstance(value, Unknown)


def _maybe(value: Any) -> bool:
    """True where it holds or cannot be known."""
    return isinstance(value, Unknown) or bool(value)


def _default(value: Any, other: Any) -> Any:
    return value if _has(value) else other


def _text(function: Any) -> Any:
    def call(value: Any, *rest: Any) -> Any:
        if not _has(value, *rest):
            return _missing(value, *rest)
        return function(str(value), *rest)

    return call


def _place(value: Any) -> Any:
    """Where a setting or a key is written: file and line, or the environment with the profile that fills it."""
    if not _has(value):
        return _missing(value)
    source, line, profile = (getattr(value, name, None) for name in ("source", "line", "profile"))
    if not _has(source):
        return _missing(source)
    if _has(profile):
        return f"{source}, {profile}"
    return f"{source}:{line}" if _has(line) else source


def _number(value: Any) -> Any:
    """A number from text such as "8080"; unknown when it is none."""
    if not _has(value):
        return _missing(value)
    try:
        return int(value)
    except (TypeError, ValueError):
        try:
            return float(value)
        except (TypeError, ValueError):
            return Unknown(f"{value!r} is not a number")


def _version(value: Any) -> Any:
    """ "12.8" as (12, 8), to be compared with another version."""
    if not _has(value):
        return _missing(value)
    parts = []
    for part in str(value).strip().lstrip("v").split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        parts.append(int(digits))
    return tuple(parts) if parts else Unknown(f"{value!r} is not a version")


def _present(function: Any) -> Any:
    def call(*values: Any) -> Any:
        if not _has(*values):
            return _missing(*values)
        return function(*values)

    return call


def _gib(value: Any) -> Any:
    return f"{value / GIB:.1f} GiB" if _has(value) else _missing(value)


def _mib(value: Any) -> Any:
    return f"{value / MIB:,.0f} MiB".replace(",", "") if _has(value) else _missing(value)


def _round_up(value: Any, step: Any) -> Any:
    return -(-int(value) // int(step)) * int(step)


def _round_down(value: Any, step: Any) -> Any:
    return int(value) // int(step) * int(step)


def _join(values: Any, separator: str = ", ") -> Any:
    return separator.join(map(str, values))


def _with_option(launch: Any, *changes: Any) -> Any:
    """The launch command with options set: name, value, name, value, …

    A value of False takes the option out, True sets it without a value. What was there is replaced; all else stays as it
    was written, also what stands in front of the program (variables, sudo, docker run …).
    """
    command = getattr(launch, "command", None)
    options = getattr(launch, "options", None)
    if not _has(launch, command, options, *changes):
        return _missing(launch, command, options, *changes)
    wanted = dict(zip(changes[::2], changes[1::2], strict=True))
    words = split_command(str(command))
    result: list[str] = []
    at = 0
    for option in options or ():
        if option.spelling not in words[at:]:
            continue  # given by an environment variable, not on the command line
        start = words.index(option.spelling, at)
        end = start + (2 if _has(option.value) and words[start + 1 : start + 2] == [str(option.value)] else 1)
        result += words[at:start]
        at = end
        if option.name in changes[::2]:
            # `--no-mmap` and the like are the same option said the other way round: the canonical name is right then.
            spelling = option.name if option.spelling.startswith("--no-") else option.spelling
            result += _words_for(spelling, wanted.pop(option.name, False))
        else:
            result += words[start:end]
    result += words[at:]
    for name, value in wanted.items():
        result += _words_for(name, value)
    return " ".join(map(_quoted, result))


def _quoted(word: str) -> str:
    """A word as it may be typed again: `~` and variables still expand, Windows paths keep their backslashes."""
    if word.startswith("~/"):
        return "~/" + (shlex.quote(word[2:]) if word[2:] else "")
    if _ASSIGNED.match(word) or _WINDOWS_PATH.match(word):
        return word
    if _VARIABLE.search(word) and not re.search(r"[\"`\\]|\$\(", word):
        return f'"{word}"'
    return for_cmd(word) or shlex.quote(word)


def _words_for(spelling: str, value: Any) -> list[str]:
    if value is False:
        return []
    return [spelling] if value is True else [spelling, str(value)]


def _without_option(launch: Any, *names: Any) -> Any:
    """The launch command without these options."""
    return _with_option(launch, *(word for name in names for word in (name, False)))


def _has_option(launch: Any, name: str) -> Any:
    if not _has(launch):
        return _missing(launch) or False
    options: Any = getattr(launch, "options", None)
    if not _has(options):
        return _missing(options) or False
    return any(option.name == name or option.spelling == name for option in options)


_STARTS = {
    "compose": "docker compose -f {file} up -d {name}",
    "shell": "bash {file}",
    "batch": "{file}",
    "powershell": "powershell -File {file}",
    "llama-swap": "llama-swap --config {file}",
    "presets": "llama-server --models-preset {file}",
    "systemd": "sudo systemctl start {name}",
}
"""Kind of launch file -> the command that starts what it says. What is built or loaded in other ways has none."""


def _start(launch: Any) -> Any:
    """The command that starts the server as it is meant to be started: its launch file, else its command line."""
    if not _has(launch):
        return _missing(launch)
    found = {name: getattr(launch, name, None) for name in ("command", "program", "file", "file_kind", "name")}
    if not _has(found["file"]):
        return found["command"] if _has(found["program"]) else _missing(found["command"])
    form = _STARTS.get(str(found["file_kind"]), "")
    if not form or ("{name}" in form and not _has(found["name"])):
        return None
    if "/.config/systemd/user/" in str(found["file"]):
        form = form.replace("sudo systemctl", "systemctl --user")
    return form.format(**{name: _quoted(str(value)) for name, value in found.items()})


def _nearest(text: Any, items: Any) -> Any:
    """The item of a list that a text was meant to be: the only one, else the most alike; absent where none is alike."""
    import difflib

    names = [str(item) for item in items]
    if len(names) == 1:
        return names[0]
    lower = {name.lower(): name for name in names}
    close = difflib.get_close_matches(str(text).lower()[:200], list(lower)[:200], 1, 0.6)
    return lower[close[0]] if close else None


def _address(*places: Any) -> str:
    """http://host:port of the first place that is known: a URL, host:port, or a launch command. HOST:PORT when none is."""
    for place in places:
        if not _has(place):
            continue
        if not isinstance(place, str):  # a launch command: where its server listens
            numbers = [getattr(place, name, None) for name in ("published_port", "port")]
            port = next((value for value in numbers if isinstance(value, int)), None if _unknown(numbers[1]) else 8080)
            host, prefix = (getattr(place, name, None) for name in ("host", "api_prefix"))
            if port is None or _unknown(host):
                continue
            return listening_url(host or "", port, str(prefix) if _has(prefix) else "")
        found = parse_address(place)
        if not found.problem:
            return found.root
    return "http://HOST:PORT"


def _port(*places: Any) -> str:
    """The port of the first place that is known; PORT when none is."""
    url = _address(*places)
    return "PORT" if url.endswith(":PORT") else str(parse_address(url).port)


FUNCTIONS: dict[str, Any] = {
    "known": lambda value: _has(value),
    "absent": _absent,
    "unknown": _unknown,
    "maybe": _maybe,
    "default": _default,
    "lower": _text(str.lower),
    "startswith": _text(lambda value, *prefixes: value.startswith(tuple(map(str, prefixes)))),
    "endswith": _text(lambda value, *suffixes: value.endswith(tuple(map(str, suffixes)))),
    "replace": _text(lambda value, old, new: value.replace(str(old), str(new))),
    "removesuffix": _text(lambda value, suffix: value.removesuffix(str(suffix))),
    "removeprefix": _text(lambda value, prefix: value.removeprefix(str(prefix))),
    "quote": _text(_quoted),
    "basename": _text(lambda path: path.replace("\\", "/").rpartition("/")[2]),
    "place": _place,
    "address": _address,
    "port": _port,
    "same_server": _text(lambda url, base: same_server(url, str(base))),
    "is_local": _text(is_local),
    "host": _text(lambda url: parse_address(url).host),
    "nearest": _present(_nearest),
    "number": _number,
    "version": _version,
    "len": _present(len),
    "abs": _present(abs),
    "round": _present(lambda value, digits=0: round(value, int(digits)) if digits else round(value)),
    "int": _present(int),
    "round_up": _present(_round_up),
    "round_down": _present(_round_down),
    "join": _present(_join),
    "gib": _gib,
    "mib": _mib,
    "with_option": _with_option,
    "without_option": _without_option,
    "has_option": _has_option,
    "start": _start,
}
