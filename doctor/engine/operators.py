"""What the operators of the language of conditions make of values that may be absent or unknown."""

from __future__ import annotations

import ast
from typing import Any

from doctor.facts.record import Unknown


def fold(name: str, results: list[Any]) -> Any:
    """What a quantifier makes of the values of all items."""
    if name == "any":
        return False
    if name == "all":
        return True
    if name == "count":
        return sum(1 for result in results if result)
    if name == "first" or not results:
        return 0 if name == "sum" else None
    if not all(is_number(result) for result in results):
        return Unknown(f"{name} wants numbers")
    return sum(results) if name == "sum" else max(results) if name == "max" else min(results)


def is_number(value: Any) -> bool:
    """Whether arithmetic can be done with it: True and False are no numbers."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_container(value: Any) -> bool:
    """Whether it is a record of facts, not a fact."""
    return hasattr(value, "__dataclass_fields__") and not isinstance(value, Unknown)


def not_a_number(value: Any) -> Unknown:
    """Why there is no number; unknown stays unknown."""
    return value if isinstance(value, Unknown) else Unknown(f"{value!r} is not a number")


def field(value: Any, name: str) -> Any:
    """A field of a record, or the value of a key; absent and unknown stay what they are."""
    if value is None or isinstance(value, Unknown):
        return value
    if isinstance(value, dict):
        return value.get(name)
    fields = getattr(value, "__dataclass_fields__", {})
    return getattr(value, name) if name in fields else Unknown(f"no fact {name}")


def item(value: Any, key: Any) -> Any:
    """An item of a list, or the value of a key; absent where there is none."""
    if value is None or isinstance(value, Unknown):
        return value
    if isinstance(key, Unknown):
        return key
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, (tuple, list)) and isinstance(key, int):
        return value[key] if -len(value) <= key < len(value) else None
    return Unknown("not a list")


def compare(op: ast.cmpop, left: Any, right: Any) -> bool | Unknown:
    """A comparison in three values; absent equals only absent, and is less or more than nothing."""
    for side in (left, right):
        if isinstance(side, Unknown):
            return side
    if isinstance(op, (ast.Eq, ast.Is)):
        return bool(left == right)
    if isinstance(op, (ast.NotEq, ast.IsNot)):
        return bool(left != right)
    if isinstance(op, (ast.In, ast.NotIn)):
        if isinstance(right, (tuple, list, dict)):
            if any(isinstance(item, Unknown) for item in right):
                return Unknown("the list holds an unknown value")
            found = left in right
        else:
            found = isinstance(left, str) and isinstance(right, str) and left in right
        return found if isinstance(op, ast.In) else not found
    if left is None or right is None:
        return False
    try:
        if isinstance(op, ast.Lt):
            return bool(left < right)
        if isinstance(op, ast.LtE):
            return bool(left <= right)
        if isinstance(op, ast.Gt):
            return bool(left > right)
        return bool(left >= right)
    except TypeError:
        return Unknown(f"{left!r} and {right!r} cannot be compared")


def arithmetic(op: ast.operator, left: Any, right: Any) -> Any:
    """A sum in three values: absent with anything is absent."""
    for side in (left, right):
        if isinstance(side, Unknown):
            return side
    if left is None or right is None:
        return None
    if not is_number(left) or not is_number(right):
        return Unknown("arithmetic wants numbers")
    try:
        if isinstance(op, ast.Add):
            return left + right
        if isinstance(op, ast.Sub):
            return left - right
        if isinstance(op, ast.Mult):
            return left * right
        if isinstance(op, ast.Div):
            return left / right
        if isinstance(op, ast.FloorDiv):
            return left // right
        return left % right
    except (ZeroDivisionError, OverflowError) as error:
        return Unknown(str(error))
