"""Reads a Dockerfile: what its last stage starts (ENTRYPOINT and CMD in either form) and the variables it sets."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from doctor.launch.command import composed
from doctor.launch.compose import Service
from doctor.launch.definition import Definition
from doctor.launch.dotenv import fill_in
from doctor.launch.shell import read_script
from doctor.launch.words import Word

if TYPE_CHECKING:
    from doctor.launch.definition import Siblings

_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)\s+(.*)", re.DOTALL)
_PAIR = re.compile(r"(?<!\w)([A-Za-z_]\w*)=(\"(?:[^\"\\]|\\.)*\"|'[^']*'|\S*)")
_OPEN = re.compile(r"\$\{?[A-Za-z_]")


def read_dockerfile(text: str, siblings: Siblings) -> list[Definition]:
    """The server the image starts; none when it starts something else. Raises DefinitionError."""
    values: dict[str, str] = {}
    variables: dict[str, str] = {}
    places: dict[str, tuple[str, int]] = {}
    image = ""
    started: dict[str, list[tuple[str, int]]] = {}
    for instruction, rows in _instructions(text):
        body, line = "\n".join(row for row, _ in rows), rows[0][1]
        if instruction == "FROM":
            words = [word for word in fill_in(body, values, line).split() if not word.startswith("--")]
            image, started, variables, places = words[0] if words else "", {}, {}, {}
        elif instruction == "ARG":
            name, _, value = body.strip().partition("=")
            values[name] = value.strip("\"'")
        elif instruction == "ENV":
            name, _, value = body.strip().partition(" ")  # the old form: ENV NAME value
            pairs = _PAIR.findall(body) or [(name, value)]
            for name, value in pairs:
                value = fill_in(value.strip("\"'"), values, line)
                values[name] = variables[name] = value
                places[name] = ("", line)
        elif instruction in ("ENTRYPOINT", "CMD"):
            started[instruction] = rows
    entrypoint, shell_form = _words(started.get("ENTRYPOINT"), values)
    command, command_shell = _words(started.get("CMD"), values)
    if shell_form or (command_shell and not entrypoint):
        rows = started["ENTRYPOINT" if shell_form else "CMD"]
        script = read_script("\n".join(row for row, _ in rows), siblings, rows[0][1])
        return [
            item._replace(
                command=item.command._replace(
                    image=image or None, variables={**variables, **item.command.variables}, places=places
                )
            )
            for item in script
        ]
    service = Service(image, tuple(command), tuple(entrypoint), variables, (), ())
    found = composed(service) if entrypoint or command or re.search(r"llama\.cpp:server", image) else None
    return [] if found is None else [Definition("", found._replace(places=places))]


def _instructions(text: str) -> list[tuple[str, list[tuple[str, int]]]]:
    """Instructions with their lines, remarks inside continued ones left out."""
    found: list[tuple[str, list[tuple[str, int]]]] = []
    goes_on = False
    for number, raw in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if raw.lstrip().startswith("#") or (goes_on and not raw.strip()):
            continue
        ends = raw.rstrip().endswith(("\\", "`"))
        if goes_on and found:
            found[-1][1].append((raw, number))
        else:
            match = _INSTRUCTION.fullmatch(raw)
            if match is None:
                continue
            found.append((match[1].upper(), [(match[2], number)]))
        goes_on = ends
    return found


def _words(rows: list[tuple[str, int]] | None, values: dict[str, str]) -> tuple[list[Word], bool]:
    """The words of the exec form; ([], True) for the shell form."""
    if rows is None:
        return [], False
    if not rows[0][0].lstrip().startswith("["):
        return [], True
    body = "\n".join(row.rstrip().removesuffix("\\") for row, _ in rows)
    try:
        items = json.loads(body)
    except (ValueError, RecursionError):
        return [], True  # docker takes a broken list for the shell form
    if not isinstance(items, list):
        return [], True
    words: list[Word] = []
    at = 0
    for item in items:
        text = str(item)
        while at < len(rows) - 1 and json.dumps(text)[1:-1] not in rows[at][0] and text not in rows[at][0]:
            at += 1
        words.append(Word(text, rows[at][1], _OPEN.search(text) is not None))
    return words, False
