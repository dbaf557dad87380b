"""What a fact is, and how records of facts become JSON and come back.

A fact is a value, `None` (absent: looked, and it is not there) or `Unknown` (could not look, with the reason).
Records are frozen dataclasses whose fields are facts. In JSON a value is itself, absent is `null` and unknown is
`{"unknown": "reason"}`.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any, TypeVar, Union

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Unknown:
    """Could not look; `reason` says why, in words a user can act on."""

    reason: str

    def __bool__(self) -> bool:
        return False


MAX_NUMBER = 1 << 100
MAX_TEXT = 1 << 16
"""Characters of one text of saved facts. The longest there is is a command line."""

Fact = Union[T, None, Unknown]


class FactsFormatError(ValueError):
    """Saved facts that do not have the shape of the record they claim to be."""


def value_or(fact: Fact[T], default: T) -> T:
    """The value of a fact, or `default` when it is absent or unknown."""
    return default if fact is None or isinstance(fact, Unknown) else fact


def known(fact: Fact[T]) -> T | None:
    """The value of a fact, or None when it is absent or unknown."""
    return None if isinstance(fact, Unknown) else fact


def to_json(value: Any) -> Any:
    """A record (or any value inside one) as plain JSON data."""
    if isinstance(value, Unknown):
        return {"unknown": value.reason}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: to_json(getattr(value, field.name))
            for field in dataclasses.fields(value)
            if field.default is not None or getattr(value, field.name) is not None  # what is absent by default
        }
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    return value


def from_json(kind: Any, data: Any, where: str = "facts") -> Any:
    """`data` as a value of type `kind`, the reverse of `to_json`.

    Fields that the record does not know are passed over (a newer version saved them); missing fields are unknown, or
    what the record has for them by default.
    Raises FactsFormatError naming the place when a value has the wrong type.
    """
    origin = typing.get_origin(kind)
    if origin in (Union, types.UnionType):
        return _from_union(typing.get_args(kind), data, where)
    if dataclasses.is_dataclass(kind):
        return _from_record(typing.cast(type, kind), data, where)
    if origin is tuple:
        item = typing.get_args(kind)[0]
        _expect(isinstance(data, list), where, "a list")
        return tuple(from_json(item, entry, f"{where}[{index}]") for index, entry in enumerate(data))
    if origin is dict:
        item = typing.get_args(kind)[1]
        _expect(isinstance(data, dict), where, "an object")
        return {str(key): from_json(item, entry, f"{where}.{key}") for key, entry in data.items()}
    if kind in (int, float) and isinstance(data, (int, float)) and not isinstance(data, bool):
        # JSON has no NaN; and what no machine, file or log can have would only overflow later.
        _expect(-MAX_NUMBER < data < MAX_NUMBER, where, "a number of sensible size")
        data = float(data) if kind is float else data
    if kind is Any:
        return data
    if isinstance(data, str):
        _expect(len(data) <= MAX_TEXT, where, f"a text of at most {MAX_TEXT} characters")
    _expect(isinstance(data, kind) and not (kind is int and isinstance(data, bool)), where, f"a {kind.__name__}")
    return data


def _from_union(members: tuple[Any, ...], data: Any, where: str) -> Any:
    if data is None:
        _expect(type(None) in members, where, "a value")
        return None
    if Unknown in members and isinstance(data, dict) and set(data) == {"unknown"}:
        return Unknown(str(data["unknown"])[:MAX_TEXT])
    for member in members:
        if member is Unknown or member is type(None):
            continue
        return from_json(member, data, where)
    raise FactsFormatError(f"{where}: no value is allowed here")


def _from_record(kind: type, data: Any, where: str) -> Any:
    _expect(isinstance(data, dict), where, "an object")
    hints = field_types(kind)
    values = {}
    defaults = {field.name for field in dataclasses.fields(kind) if field.default is not dataclasses.MISSING}
    for name, hint in hints.items():
        if name in data:
            values[name] = from_json(hint, data[name], f"{where}.{name}")
        elif Unknown in typing.get_args(hint) and name not in defaults:
            values[name] = Unknown("not in the saved facts")
    try:
        return kind(**values)
    except TypeError as error:
        raise FactsFormatError(f"{where}: {error}") from None


def _expect(condition: bool, where: str, what: str) -> None:
    if not condition:
        raise FactsFormatError(f"{where}: expected {what}")


_TYPES: dict[type, dict[str, Any]] = {}


def field_types(kind: type) -> dict[str, Any]:
    """Field name -> resolved type of a record."""
    if kind not in _TYPES:  # to resolve them takes as long as to read many records
        hints = typing.get_type_hints(kind)
        _TYPES[kind] = {field.name: hints[field.name] for field in dataclasses.fields(kind)}
    return _TYPES[kind]


def not_collected(kind: type[T], reason: str) -> T:
    """A record of `kind` in which every fact is unknown for the same reason."""
    return kind(**{name: Unknown(reason) for name in field_types(kind)})
