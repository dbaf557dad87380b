"""Settings files that are YAML (aider, Continue, LiteLLM, DeerFlow)."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from doctor.facts.clients.data_file import DataFile, Key, Parsed, read

if TYPE_CHECKING:
    from doctor.outside import Outside

LIMIT = 64 << 10
"""Bytes. PyYAML's own parser reads some 50 kB a second; its C parser is not stopped by deep nesting."""
MOST_NODES = 50_000
"""Values in one file, with what aliases repeat."""


class _TooMany(ValueError):
    """Aliases that multiply."""


def read_yaml(outside: Outside, path: str, limit: int = LIMIT) -> DataFile:
    """A YAML file whose top is a mapping; only plain data, no tags are obeyed."""
    return read(outside, path, parse_yaml, yaml_line, limit)


def parse_yaml(text: str) -> Parsed:
    """(data, problem) of a YAML text."""
    data, _, problem = _parsed(text)
    return data, problem


def yaml_line(text: str, keys: tuple[Key, ...]) -> int | None:
    """The line of a key."""
    return _parsed(text)[1].get(keys)


@lru_cache(maxsize=4)
def _parsed(text: str) -> tuple[dict[str, Any], dict[tuple[Key, ...], int], str]:
    import yaml

    lines: dict[tuple[Key, ...], int] = {}
    try:
        made = yaml.SafeLoader(text)
        try:
            node = made.get_single_node()
            data = _plain(made, node, (), lines, [0]) if node is not None else {}
        finally:
            made.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        return {}, {}, f":{mark.line + 1}: not valid YAML" if mark else ": not valid YAML"
    except (ValueError, RecursionError, TypeError, AttributeError) as error:
        return {}, {}, f": not usable as YAML ({type(error).__name__})"
    if not isinstance(data, dict):
        return {}, {}, ":1: the file is no YAML mapping (name: value)"
    return data, lines, ""


def _plain(loader: Any, node: Any, path: tuple[Key, ...], lines: dict[tuple[Key, ...], int], count: list[int]) -> Any:
    """The data of a node; `lines` gets the line of every key. Raises _TooMany."""
    import yaml

    count[0] += 1
    if count[0] > MOST_NODES:
        raise _TooMany
    if isinstance(node, yaml.MappingNode):
        made: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                continue
            key = str(key_node.value)
            place = (*path, key)
            lines[place] = key_node.start_mark.line + 1
            value = _plain(loader, value_node, place, lines, count)
            if key == "<<" and isinstance(value, dict):
                made = {**value, **made}
            else:
                made[key] = value
        return made
    if isinstance(node, yaml.SequenceNode):
        return [_plain(loader, item, (*path, at), lines, count) for at, item in enumerate(node.value)]
    value = loader.construct_object(node) if node.tag.startswith("tag:yaml.org,2002:") else node.value
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(node.value)
