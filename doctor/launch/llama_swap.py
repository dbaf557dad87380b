"""Reads the config.yaml of llama-swap: the command of every model, its macros filled in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.launch.command import find_in_words
from doctor.launch.definition import DEFINITIONS_LIMIT, VALUE_LIMIT, Definition, DefinitionError
from doctor.launch.words import Word, split
from doctor.launch.yaml_tree import Node, Tree, load_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

_MACRO = re.compile(r"\$\{([A-Za-z0-9_.-]{1,80})\}")


class _Macro:
    """A macro as lines: (text, line), so that a word in it is found again."""

    def __init__(self, rows: tuple[tuple[str, int], ...]) -> None:
        self.rows = rows


def read_llama_swap(text: str) -> list[Definition]:
    """The servers of a llama-swap configuration. Raises DefinitionError."""
    tree = load_yaml(text)
    shared = _macros(tree, tree.get(tree.root, "macros"), {})
    found: list[Definition] = []
    for name, model in tree.pairs(tree.get(tree.root, "models")):
        command = tree.get(model, "cmd")
        if command is None:
            continue
        macros = {**shared, "MODEL_ID": _Macro(((name, command.line),))}
        macros.update(_macros(tree, tree.get(model, "macros"), macros))
        words: list[Word] = []
        for row, line in _filled(_rows(tree, command), macros):
            words += [word for part in split(row.rstrip("\\ "), line) for word in part]
        server = find_in_words(words) if words else None
        if server is None or (server.program is None and server.image is None):
            continue
        variables, places = _environment(tree, tree.get(model, "env"), macros)
        found.append(Definition(name, server._replace(variables={**variables, **server.variables}, places=places)))
    return found[:DEFINITIONS_LIMIT]


def _rows(tree: Tree, node: Node) -> tuple[tuple[str, int], ...]:
    """The lines of a text without its remarks; a list is its items."""
    if node.kind == "list":
        return tuple((item.text, item.line) for item in tree.items(node))
    return tuple((row, line) for row, line in node.rows if not row.startswith("#"))


def _macros(tree: Tree, node: Node | None, known: Mapping[str, _Macro]) -> dict[str, _Macro]:
    """Macros in order: each may use those before it."""
    found = dict(known)
    for name, value in tree.pairs(node):
        found[name] = _Macro(_filled(_rows(tree, value), found))
    return found


def _filled(rows: tuple[tuple[str, int], ...], macros: Mapping[str, _Macro]) -> tuple[tuple[str, int], ...]:
    """Lines with their macros filled in. A macro of several lines brings its own line numbers."""
    done: list[tuple[str, int]] = []
    size = 0
    for row, line in rows:
        whole = _MACRO.fullmatch(row.strip())
        if whole and whole[1] in macros:
            done += macros[whole[1]].rows
        else:
            done.append((_MACRO.sub(lambda found: _text(macros, found), row), line))
        size += sum(len(text) for text, _ in done[-1:])
        if size > VALUE_LIMIT or len(done) > 10_000:
            raise DefinitionError(f"line {line}: macros grow beyond {VALUE_LIMIT} characters")
    return tuple(done)


def _text(macros: Mapping[str, _Macro], found: re.Match[str]) -> str:
    macro = macros.get(found[1])
    return found.group(0) if macro is None else " ".join(row for row, _ in macro.rows)


def _environment(
    tree: Tree, node: Node | None, macros: Mapping[str, _Macro]
) -> tuple[dict[str, str], dict[str, tuple[str, int]]]:
    variables: dict[str, str] = {}
    places: dict[str, tuple[str, int]] = {}
    for item in tree.items(node):
        name, equals, value = item.text.partition("=")
        if equals:
            variables[name] = _MACRO.sub(lambda found: _text(macros, found), value)
            places[name] = ("", item.line)
    return variables, places
