"""The language of conditions: total, three-valued, over facts.

The grammar is a small part of Python's, read with `ast` and never executed. A fact that is Unknown makes every
comparison with it unknown; `and`, `or` and `not` follow Kleene: `False and unknown` is False, `True and unknown` is unknown.
An absent fact (None) equals only None; ordered against anything it is False, and arithmetic with it stays absent.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from doctor.engine import operators
from doctor.engine.functions import FUNCTIONS
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LENGTH = 2_000
MAX_DEPTH = 40
MAX_ITEMS = 10_000
_QUANTIFIERS = ("any", "all", "sum", "max", "min", "count", "first")
_ALLOWED = (
    ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.BinOp, ast.Add, ast.Sub, ast.Mult,
    ast.Div, ast.FloorDiv, ast.Mod, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
    ast.Is, ast.IsNot, ast.IfExp, ast.Call, ast.Attribute, ast.Subscript, ast.Name, ast.Load, ast.Store, ast.Constant,
    ast.Tuple, ast.List, ast.GeneratorExp, ast.comprehension,
)  # fmt: skip


class ConditionError(ValueError):
    """An expression that is not part of the language; the message names the place."""


@lru_cache(maxsize=64)  # a condition over many clients is read once
def parse(text: str) -> ast.expr:
    """The expression tree of `text`. Raises ConditionError on anything outside the language."""
    if len(text) > MAX_LENGTH:
        raise ConditionError(f"longer than {MAX_LENGTH} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConditionError(f"cannot be read: {text!r} ({error})") from None
    _check_node(tree.body, 0)
    return tree.body


def _check_node(node: ast.AST, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise ConditionError("nested too deeply")
    if not isinstance(node, _ALLOWED):
        place = getattr(node, "col_offset", 0) + 1
        raise ConditionError(f"column {place}: {type(node).__name__} is not part of the language")
    if isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise ConditionError(f"column {node.col_offset + 1}: only plain calls of named functions")
        if node.func.id not in FUNCTIONS and node.func.id not in _QUANTIFIERS:
            raise ConditionError(f"column {node.col_offset + 1}: no function {node.func.id}")
    if isinstance(node, ast.GeneratorExp) and (
        len(node.generators) != 1 or not isinstance(node.generators[0].target, ast.Name) or node.generators[0].is_async
    ):
        raise ConditionError(f"column {node.col_offset + 1}: one `for NAME in LIST` only")
    if isinstance(node, ast.Constant) and not isinstance(node.value, (str, int, float, bool, type(None))):
        raise ConditionError(f"column {node.col_offset + 1}: {node.value!r} is not a value of the language")
    for child in ast.iter_child_nodes(node):
        _check_node(child, depth + 1)


def truth(value: Any) -> bool | Unknown:
    """What a value counts as in a condition: unknown stays unknown, absent is False."""
    return value if isinstance(value, Unknown) else bool(value)


class Evaluator:
    """Evaluates expressions over named roots and remembers which facts were read.

    `reads` maps the dotted path of each fact that was read ("gguf.context_length") to its value, `owners` the same path
    to the record it is a field of. `clean` is what a value passes before it stands in a text (redaction). `local` gives
    names to single items of lists: name -> (path, item).
    """

    def __init__(
        self,
        roots: dict[str, Any],
        clean: Callable[[str], str] = str,
        local: dict[str, tuple[str, Any]] | None = None,
    ) -> None:
        self.roots = roots
        self.clean = clean
        self.local = local or {}
        self.reads: dict[str, Any] = {}
        self.owners: dict[str, Any] = {}

    def evaluate(self, node: ast.expr) -> Any:
        """The value of an expression; never raises for any facts."""
        return self._value(node, self.local)

    def _value(self, node: ast.expr, local: dict[str, tuple[str, Any]]) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            path, value = self._path(node, local)
            if path and not operators.is_container(value):
                self.reads[path] = value
            return value
        if isinstance(node, ast.BoolOp):
            return self._bool(node, local)
        if isinstance(node, ast.UnaryOp):
            operand = self._value(node.operand, local)
            if isinstance(node.op, ast.Not):
                result = truth(operand)
                return result if isinstance(result, Unknown) else not result
            return (
                -operand
                if operators.is_number(operand)
                else operand
                if operand is None
                else operators.not_a_number(operand)
            )
        if isinstance(node, ast.BinOp):
            return operators.arithmetic(node.op, self._value(node.left, local), self._value(node.right, local))
        if isinstance(node, ast.Compare):
            return self._compare(node, local)
        if isinstance(node, ast.IfExp):
            test = truth(self._value(node.test, local))
            return test if isinstance(test, Unknown) else self._value(node.body if test else node.orelse, local)
        if isinstance(node, (ast.Tuple, ast.List)):
            return tuple(self._value(item, local) for item in node.elts)
        if isinstance(node, ast.Call):
            return self._call(node, local)
        return Unknown("not a value")

    def _path(self, node: ast.expr, local: dict[str, tuple[str, Any]]) -> tuple[str, Any]:
        if isinstance(node, ast.Name):
            if node.id in local:
                return local[node.id]
            return node.id, self.roots.get(node.id, Unknown(f"no fact {node.id}"))
        if isinstance(node, ast.Attribute):
            path, value = self._path(node.value, local)
            whole = f"{path}.{node.attr}" if path else ""
            self.owners[whole] = value
            return whole, operators.field(value, node.attr)
        if isinstance(node, ast.Subscript):
            path, value = self._path(node.value, local)
            key = self._value(node.slice, local)
            return (f"{path}[{key!r}]" if path else ""), operators.item(value, key)
        return "", self._value(node, local)

    def _bool(self, node: ast.BoolOp, local: dict[str, tuple[str, Any]]) -> bool | Unknown:
        decides = isinstance(node.op, ast.Or)
        unknown: Unknown | None = None
        for operand in node.values:
            result = truth(self._value(operand, local))
            if isinstance(result, Unknown):
                unknown = result if unknown is None else unknown
            elif result is decides:
                return decides
        return (not decides) if unknown is None else unknown

    def _compare(self, node: ast.Compare, local: dict[str, tuple[str, Any]]) -> bool | Unknown:
        left = self._value(node.left, local)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self._value(right_node, local)
            result = operators.compare(op, left, right)
            if result is not True:
                return result
            left = right
        return True

    def _call(self, node: ast.Call, local: dict[str, tuple[str, Any]]) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in _QUANTIFIERS and len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            return self._quantify(name, node.args[0], local)
        if name not in FUNCTIONS:
            return Unknown(f"{name} wants `… for x in list`")
        values = [self._value(argument, local) for argument in node.args]
        try:
            return FUNCTIONS[name](*values)
        except Exception as error:
            return Unknown(f"{name}: {error}")

    def _quantify(self, name: str, node: ast.GeneratorExp, local: dict[str, tuple[str, Any]]) -> Any:
        loop = node.generators[0]
        path, items = self._path(loop.iter, local)
        if isinstance(items, Unknown):
            self.reads[path] = items
            return items
        if not isinstance(items, (tuple, list)):
            items = ()
        results: list[Any] = []
        unknown: Unknown | None = None
        variable = loop.target.id if isinstance(loop.target, ast.Name) else ""
        for index, item in enumerate(items[:MAX_ITEMS]):
            before = dict(self.reads)
            inner = {**local, variable: (f"{path}[{index}]" if path else "", item)}
            wanted: bool | Unknown = True
            for test in loop.ifs:
                wanted = truth(self._value(test, inner))
                if wanted is not True:
                    break
            result = wanted if isinstance(wanted, Unknown) else self._value(node.elt, inner) if wanted else None
            if isinstance(result, Unknown):
                unknown = result if unknown is None else unknown
            elif wanted is True and result is not None:
                if name == "any" and result:
                    return True
                if name == "all" and not result:
                    return False
                if name == "first":
                    return result
                results.append(result)
            if name in ("any", "first"):
                self.reads = before  # only the item that decides is evidence
        if unknown is not None:
            return unknown
        return operators.fold(name, results)
