"""What llama-server makes of the words after an option: refused, misread, or fine; and the right ones."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from doctor.engine.rules import in_builds

if TYPE_CHECKING:
    from doctor.launch.table import OptionTable, ValueRule

_INTEGER = re.compile(r"\s*[+-]?\d+")
_NUMBER = re.compile(
    r"\s*[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan)", re.IGNORECASE
)
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([kmg])(?:i?b)?", re.IGNORECASE)
_GROUPED = re.compile(r"\d{1,3}(?:[,_.' ]\d{3})+")
_FILLED_IN = re.compile(r"\$[A-Za-z_{(]|%[A-Za-z_]\w*%|^<[^<>]+>$|\{\{|^(?:…|\.{3})$")
_POWERS = {"k": 1, "m": 2, "g": 3}
_INT_MAX = (1 << 31) - 1
_VALUE_LIMIT = 20_000


class Fault(NamedTuple):
    """What is wrong with a value. `kind`: bad-value (the start fails) or misread. `right`: what was meant, if clear."""

    kind: str
    message: str
    right: str | None


def check_value(table: OptionTable, option: str, rule: ValueRule, value: str, build: int) -> Fault | None:
    """The fault in a value, None when the build takes it as it was meant."""
    fault = _check(table, option, rule, value, build)
    if fault is None:
        return None
    for candidate in table.value_fix(option, value):
        if _check(table, option, rule, candidate, build) is None:
            return fault._replace(right=candidate)
    return fault


def as_integer(text: str) -> int | None:
    """The number std::stoi reads at the start of a text; None where it refuses."""
    found = _INTEGER.match(text)
    if not found or len(found.group(0)) > 40:
        return None
    number = int(found.group(0))
    return number if -_INT_MAX - 1 <= number <= _INT_MAX else None


def _check(table: OptionTable, option: str, rule: ValueRule, value: str, build: int) -> Fault | None:
    read = table.read
    shape = read["shape"].get(option)
    if (
        shape
        and in_builds(shape["builds"], build)
        and not re.fullmatch(shape["pattern"], value[:_VALUE_LIMIT], re.DOTALL)
    ):
        return Fault("bad-value", f"is not {shape['words']}", None)
    if option in read["json"]:
        return _json_fault(value)
    if rule.allowed and not (rule.others_too and option not in read["integer_or_word"]):
        listed = option in read["list"] and in_builds(read["list"][option], build)
        if all(part in rule.allowed for part in (value.split(",") if listed else [value])):
            return None
        if option not in read["integer_or_word"]:
            return Fault("bad-value", f"is none of {', '.join(rule.allowed)}", _close(rule.allowed, value))
    whole = (*read["integer"], *read["integer_or_word"], *read["unsigned"])
    if rule.kind == "int" or option in whole:
        return _integer_fault(table, option, value, build)
    if option in read["number"]:
        return _number_fault(value)
    return None


def _integer_fault(table: OptionTable, option: str, value: str, build: int) -> Fault | None:
    found = _INTEGER.match(value)
    if not found:
        return Fault("bad-value", "is not a whole number", None)
    number = as_integer(value)
    if number is None and option not in table.read["unsigned"]:
        return Fault("bad-value", "is too large a number", None)
    for limit in table.limits(option, build):
        if number is not None and (
            (limit.lowest is not None and number < limit.lowest)
            or (limit.highest is not None and number > limit.highest)
            or number in limit.refused
            or (limit.only and number not in limit.only)
        ):
            return Fault("bad-value", f"is refused ({limit.message.replace('%d', str(number))})", None)
    if value[found.end() :].strip():
        return Fault(
            "misread", f"is read as {number}: what follows the number is dropped", _meant(table, option, value)
        )
    return None


def _meant(table: OptionTable, option: str, value: str) -> str | None:
    """The whole number somebody meant with "64K", "131,072", "1e5" or "4096.0"."""
    size = _SIZE.fullmatch(value)
    if size:
        power = _POWERS[size[2].lower()] - (2 if option in table.read["mib"] else 0)
        number = float(size[1]) * 1024.0**power
        return str(int(number)) if number == int(number) else None
    if _GROUPED.fullmatch(value):
        return re.sub(r"\D", "", value)
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?(?:[eE]\+?\d)?", value):
        number = float(value)
        return str(int(number)) if number == int(number) else None
    return None


def _number_fault(value: str) -> Fault | None:
    found = _NUMBER.match(value)
    if not found:
        return Fault("bad-value", "is not a number", None)
    if value[found.end() :].strip():
        comma = re.fullmatch(r"(\d+),(\d+)", value)
        right = f"{comma[1]}.{comma[2]}" if comma else None
        return Fault("misread", f"is read as {found.group(0).strip()}: what follows is dropped", right)
    return None


def _json_fault(value: str) -> Fault | None:
    import json

    if len(value) > _VALUE_LIMIT:
        return None
    try:
        json.loads(value)
    except RecursionError:
        return None
    except ValueError:
        quoted = (
            re.sub(r"([{,]\s*)'?([A-Za-z_]\w*)'?\s*:", r'\1"\2": ', value)
            .replace("True", "true")
            .replace("False", "false")
        )
        try:
            right = json.dumps(json.loads(quoted))
        except (ValueError, RecursionError):
            right = None
        return Fault(
            "bad-value", "is not JSON (the shell takes plain double quotes away: put the whole in single quotes)", right
        )
    return None


def _close(allowed: list[str], value: str) -> str | None:
    """The allowed word that differs only in case or in a "draft-" in front."""
    for word in allowed:
        if word.lower() == value.lower().replace("_", "-") or word.lower() == value.lower() or word == f"draft-{value}":
            return word
    return None


def words(spelling: str, value: str | None) -> str:
    """An option and its value as one would type them."""
    return spelling if value is None else f"{spelling} {quoted(value)}"


def is_filled_in(value: str) -> bool:
    """Whether a text holds a variable or a placeholder that is filled in later."""
    return _FILLED_IN.search(value) is not None


def quoted(value: str) -> str:
    """A value quoted for the shell, placeholders left as they are."""
    return value if re.fullmatch(r"<[^<>\s]+>", value) else shlex.quote(value)
