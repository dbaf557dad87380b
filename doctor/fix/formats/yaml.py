"""YAML: the places PyYAML tells of its nodes are where the text is changed; nothing else of it is written anew."""

from __future__ import annotations

import json
import re
from typing import Any

from doctor.facts.clients.yaml_file import parse_yaml
from doctor.fix.formats import FormatError, Path, newline_of

_PLAIN = re.compile(r"[A-Za-z0-9_./][\w./@+-]*(?::[\w./@+-]+)*")
STEP = "  "


def read(text: str) -> Any:
    """The data. Raises FormatError."""
    data, problem = parse_yaml(text)
    if problem:
        raise FormatError("it is not valid YAML")
    return data


def put(text: str, path: Path, value: Any) -> str:
    """The text with a value set; mappings that are missing are made."""
    node = _composed(text)
    if node is None:
        return text + ("" if not text or text.endswith("\n") else newline_of(text)) + _lines(text, path, value, "")
    for depth, key in enumerate(path):
        pair = _child(node, key)
        if pair is None:
            return _add(text, node, path[depth:], value)
        if depth == len(path) - 1:
            return _replace(text, pair[1], value)
        node = pair[1]
    return text


def take(text: str, path: Path) -> str:
    """The text without a key; only one that has lines of its own."""
    node, pair = _composed(text), None
    for key in path:
        pair = _child(node, key) if node is not None else None
        if pair is None:
            return text
        node = pair[1]
    if pair is None or pair[0] is None:
        raise FormatError("an item of a YAML list cannot be taken out")
    start = text.rfind("\n", 0, pair[0].start_mark.index) + 1
    if text[start : pair[0].start_mark.index].strip(" "):
        raise FormatError("it does not stand on a line of its own")
    return text[:start] + text[_line_end(text, _last(pair[1])) :]


def _composed(text: str) -> Any:
    import yaml

    loader = yaml.SafeLoader(text)
    try:
        return loader.get_single_node()
    except (yaml.YAMLError, ValueError, RecursionError, AttributeError):
        raise FormatError("it is not valid YAML") from None
    finally:
        loader.dispose()


def _child(node: Any, key: str) -> tuple[Any, Any] | None:
    """(key node, value node) below a mapping or a list; the key node of a list's item is None."""
    import yaml

    if isinstance(node, yaml.MappingNode):
        found = [pair for pair in node.value if isinstance(pair[0], yaml.ScalarNode) and pair[0].value == key]
        return (found[-1][0], found[-1][1]) if found else None
    if isinstance(node, yaml.SequenceNode) and key.isdecimal() and int(key) < len(node.value):
        return None, node.value[int(key)]
    return None


def _replace(text: str, node: Any, value: Any) -> str:
    import yaml

    if not isinstance(node, yaml.ScalarNode) or node.style in ("|", ">"):
        raise FormatError("what stands there is no plain value")
    start, end = node.start_mark.index, node.end_mark.index
    gap = " " if start == end and text[start - 1 : start] == ":" else ""
    return text[:start] + gap + _scalar(value, node.style) + text[end:]


def _add(text: str, node: Any, path: Path, value: Any) -> str:
    """One more key at the end of a mapping."""
    import yaml

    if not isinstance(node, yaml.MappingNode):
        raise FormatError(f"there is no mapping to put {path[0]} into")
    if node.flow_style or not node.value:
        if text[node.end_mark.index - 1 : node.end_mark.index] != "}":
            raise FormatError("the mapping cannot be added to")
        inner = len(text[: node.end_mark.index - 1].rstrip())
        entry = f"{path[0]}: {_flow(path[1:], value)}"
        return text[:inner] + (", " if node.value else "") + entry + text[inner:]
    indent = " " * node.value[0][0].start_mark.column
    at = _line_end(text, _last(node))
    start = "" if text[:at].endswith("\n") else newline_of(text)
    return text[:at] + start + _lines(text, path, value, indent) + text[at:]


def _lines(text: str, path: Path, value: Any, indent: str) -> str:
    newline = newline_of(text)
    heads = [f"{indent}{STEP * depth}{key}:" for depth, key in enumerate(path)]
    return newline.join(heads) + f" {_scalar(value, None)}{newline}"


def _flow(path: Path, value: Any) -> str:
    return "{" + f"{path[0]}: {_flow(path[1:], value)}" + "}" if path else _scalar(value, None)


def _last(node: Any) -> int:
    """The end of the last thing in a node: a block's own end lies behind blank lines and comments."""
    import yaml

    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    return _last(last[1] if isinstance(last, tuple) else last)


def _line_end(text: str, at: int) -> int:
    """Behind the line of a place; that place itself where a line begins there (a block text ends so)."""
    if text[at - 1 : at] == "\n":
        return at
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _scalar(value: Any, style: str | None) -> str:
    if isinstance(value, dict):
        if value:
            raise FormatError("only single values are written into YAML")
        return "{}"
    if not isinstance(value, str):
        return json.dumps(value)
    if style == "'" and "\n" not in value:
        return "'" + value.replace("'", "''") + "'"
    if style != '"' and _PLAIN.fullmatch(value) and read(f"a: {value}\n") == {"a": value}:
        return value
    return json.dumps(value, ensure_ascii=False)
