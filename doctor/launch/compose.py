"""The launch command in a docker compose file: image, command, environment, ports and volumes of the service.

Reads the few shapes compose files have, not YAML as such: block and flow lists, folded and plain text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.launch.words import TEXT_LIMIT, Word, split

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEY = re.compile(r"(?P<indent> *)(?P<key>command|image|environment|ports|volumes|entrypoint):(?:\s+(?P<rest>.*))?")
_ITEM = re.compile(r"\s*-\s+(.*)")
_PAIR = re.compile(r"\s*([A-Za-z_]\w*):\s*(.*)")
_FLOW_ITEM = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|([^,\[\]\s][^,\[\]]*)")
_REMARK = re.compile(r"(?<!\s)\s+#.*")
_BLOCK_MARKS = (">", "|", ">-", "|-", ">+", "|+", "")


class Service(NamedTuple):
    """A service as written. `own_network`: it has the machine's network, no ports of its own."""

    image: str
    command: tuple[Word, ...]
    entrypoint: tuple[Word, ...]
    environment: dict[str, str]
    ports: tuple[Word, ...]
    volumes: tuple[str, ...]
    own_network: bool = False


def services(text: str, line: int = 1) -> Iterator[Service]:
    """The services of a text that have a command, or variables of llama-server; `line` is the number of its first line."""
    lines = text[:TEXT_LIMIT].splitlines()
    done: dict[int, int] = {}  # depth -> last row of the service read there: a second `command:` in it is no new one
    for at, row in enumerate(lines):
        found = _KEY.fullmatch(row.rstrip())
        if (
            found
            and found["key"] in ("command", "entrypoint", "environment")
            and at > done.get(len(found["indent"]), -1)
        ):
            indent = len(found["indent"])
            first, done[indent] = _bounds(lines, at, indent)
            service = _service(lines, first, done[indent], indent, line)
            if (
                service.command
                or service.entrypoint
                or any(name.startswith("LLAMA_ARG_") for name in service.environment)
            ):
                yield service


def _bounds(lines: list[str], at: int, indent: int) -> tuple[int, int]:
    """First and last row of the service around row `at`, whose keys stand `indent` deep."""
    first = last = at
    while first > 0 and _inside(lines[first - 1], indent):
        first -= 1
    while last + 1 < len(lines) and _inside(lines[last + 1], indent):
        last += 1
    return first, last


def _service(lines: list[str], first: int, last: int, indent: int, line: int) -> Service:
    """The service in these rows."""
    values: dict[str, tuple[Word, ...]] = {}
    for row in range(first, last + 1):
        found = _KEY.fullmatch(lines[row].rstrip())
        if found and len(found["indent"]) == indent:
            values[found["key"]] = tuple(_values(lines, row, last, indent, found["rest"] or "", line))
    variables: dict[str, str] = {}
    for word in values.get("environment", ()):
        name, _, value = word.text.partition("=")
        variables[name] = value
    return Service(
        image=next((word.text for word in values.get("image", ())), ""),
        command=values.get("command", ()),
        entrypoint=values.get("entrypoint", ()),
        environment=variables,
        ports=values.get("ports", ()),
        volumes=tuple(word.text for word in values.get("volumes", ())),
    )


def _inside(row: str, indent: int) -> bool:
    return not row.strip() or len(row) - len(row.lstrip(" ")) >= indent


def _is_key(row: str, indent: int) -> bool:
    """Whether a row is the next key of the service: a list that was never closed ends there."""
    found = _KEY.fullmatch(row.rstrip())
    return found is not None and len(found["indent"]) == indent


def _values(lines: list[str], row: int, last: int, indent: int, rest: str, line: int) -> Iterator[Word]:
    """The words of one key: on its own row, or in the deeper rows below (a list may stand at the same depth)."""
    rest = rest.strip()
    if rest.startswith("["):
        parts = [rest]
        while "]" not in parts[-1] and row < last and not _is_key(lines[row + 1], indent):
            row += 1
            parts.append(lines[row].strip())
        for found in _FLOW_ITEM.finditer(" ".join(parts).strip("[]")):
            yield _word(found[1] or found[2] or (found[3] or "").strip(), line + row)
        return
    if rest not in _BLOCK_MARKS and not rest.startswith("#"):
        yield from (word for words in split(rest, line + row) for word in words)
        return
    folded: list[tuple[str, int]] = []
    for below in range(row + 1, last + 1):
        text = lines[below]
        depth = len(text) - len(text.lstrip(" "))
        item = _ITEM.fullmatch(text)
        if text.strip() and depth <= indent and not (item and depth == indent):
            break
        pair = _PAIR.fullmatch(text)
        if item:
            yield _word(_unquoted(item[1]), line + below)
        elif pair and not folded and rest == "":
            yield _word(f"{pair[1]}={_unquoted(pair[2])}", line + below)
        else:
            folded.append((text, line + below))
    for text, number in folded:
        yield from (word for words in split(text.rstrip("\\ "), number) for word in words)


def _unquoted(text: str) -> str:
    text = text.strip()
    if text[:1] in ("'", '"'):
        end = text.find(text[0], 1)
        return text[1:end] if end > 0 else text[1:]
    return _REMARK.sub("", text)


def _word(text: str, line: int) -> Word:
    return Word(text, line, re.search(r"\$\{?[A-Za-z_]", text) is not None)
