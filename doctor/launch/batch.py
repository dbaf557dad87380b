"""Reads a .bat or .cmd file and finds the servers it starts. Nothing is run: what only running tells is left open."""

from __future__ import annotations

import re
from typing import NamedTuple

from doctor.launch.command import find_in_words
from doctor.launch.definition import DEFINITIONS_LIMIT, VALUE_LIMIT, Definition, DefinitionError
from doctor.launch.words import Word

_SET = re.compile(r'set\s+(?:/p\s+)?"?([^="\s][^="]*)=([^"]*)"?\s*', re.IGNORECASE)
_ASKED = re.compile(r"set\s+/[pa]\b", re.IGNORECASE)
_FILLED = re.compile(
    r"%([A-Za-z_][\w ()]*)(?::[^%\n]*)?%|!([A-Za-z_]\w*)!|%~?[a-z$:]*\d|%\*|%%~?\w", re.IGNORECASE
)  # %NAME%, !NAME!, and the arguments of the call
_REMARK = re.compile(r"\s*@?(?:rem(?:\s|$)|::)", re.IGNORECASE)
_IF = re.compile(r"\s*@?(?:if|for|else)\b", re.IGNORECASE)
_LABEL = re.compile(r"\s*:[A-Za-z_]")
_REDIRECT = re.compile(r"\d?>{1,2}\s*(?:&\d|nul|\"[^\"]*\"|\S+)", re.IGNORECASE)
_BETWEEN = re.compile(r"(?<!\^)&{1,2}|\|{1,2}|^\s*(?:\)\s*)?else\b", re.IGNORECASE)
LINE_LIMIT = 8191
_LINES_LIMIT = 10_000


class _Row(NamedTuple):
    text: str
    line: int


class _Value(NamedTuple):
    """A text and, for each of its characters, whether it is sure (" "), only there on a condition (m) or not known (o)."""

    text: str
    marks: str


def read_batch(text: str, line: int = 1) -> list[Definition]:
    """The servers a batch file starts, in order. Raises DefinitionError."""
    values: dict[str, _Value] = {}
    environment: dict[str, tuple[str, int]] = {}
    found: list[Definition] = []
    depth = 0  # of the brackets of if and for
    for row in _rows(text, line):
        if len(row.text) > LINE_LIMIT:
            raise DefinitionError(f"line {row.line}: longer than {LINE_LIMIT} characters, which cmd does not take")
        conditional = depth > 0 or _IF.match(row.text) is not None
        depth = max(0, depth + _brackets(row.text))
        if _REMARK.match(row.text) or _LABEL.match(row.text):
            continue
        for command in _BETWEEN.split(_REDIRECT.sub(" ", _after_if(row.text))):
            command = command.strip().lstrip("@(").rstrip(") \t") if conditional else command.strip().lstrip("@")
            setting = _SET.fullmatch(command)
            if setting:
                name = setting[1].strip().upper()
                value = _expand(setting[2], values, row.line)
                if _ASKED.match(command):
                    value = _Value(value.text, "o" * len(value.text))
                elif conditional:
                    value = _on_condition(value, values.get(name))
                values[name] = value
                environment.pop(name, None)
                if not value.marks.strip():
                    environment[name] = (value.text, row.line)
                continue
            words = _words(command, values, row.line)
            found += _started(words, environment)
    return found[:DEFINITIONS_LIMIT]


def _started(words: list[Word], environment: dict[str, tuple[str, int]]) -> list[Definition]:
    """The server these words start, if any. `start "title" /B program …` has words of its own in front."""
    if words and words[0].text.lower() == "start":
        words = [words[0], *(word for word in words[1:] if not re.fullmatch(r"/\w+", word.text))]
    command = find_in_words(words) if words else None
    if command is None or (command.program is None and command.image is None):
        return []
    variables = {name: value for name, (value, _) in environment.items()}
    places = {name: ("", line) for name, (_, line) in environment.items()}
    return [Definition("", command._replace(variables={**variables, **command.variables}, places=places))]


def _rows(text: str, line: int) -> list[_Row]:
    """Lines joined where a caret ends one. The number is that of the first line; words keep their own (`\\n` in them)."""
    rows: list[_Row] = []
    parts: list[str] = []
    first = line
    for number, raw in enumerate(text.replace("\r\n", "\n").splitlines()[:_LINES_LIMIT], line):
        if not parts:
            first = number
        if raw.rstrip("\r").endswith("^"):
            parts.append(raw.rstrip("\r")[:-1])
            continue
        rows.append(_Row("\n".join([*parts, raw]), first))
        parts = []
    if parts:
        rows.append(_Row("\n".join(parts), first))
    return rows


def _brackets(text: str) -> int:
    bare = re.sub(r'"[^"\n]*"', "", text)
    bare = re.sub(r"\^.", "", bare)
    return bare.count("(") - bare.count(")") if _IF.match(text) or bare.strip() in (")", "(") or ") else" in bare else 0


def _after_if(text: str) -> str:
    """The command after the condition of an `if`."""
    found = re.match(
        r"\s*@?if\s+(?:/i\s+)?(?:not\s+)?(?:exist\s+(?:\"[^\"]*\"|\S+)|defined\s+\S+|errorlevel\s+\d+|"
        r"(?:\"[^\"]*\"|\S+)\s*(?:==|\b(?:equ|neq|lss|leq|gtr|geq)\b)\s*(?:\"[^\"]*\"|\S+))\s*",
        text,
        re.IGNORECASE,
    )
    return text[found.end() :] if found else text


def _on_condition(value: _Value, before: _Value | None) -> _Value:
    """A value set in an `if`: what it only adds may be there; what it replaces is not known."""
    if before is None or before == value:
        return value
    if value.text.startswith(before.text):
        return _Value(value.text, before.marks + "m" * (len(value.text) - len(before.text)))
    return _Value(value.text, "o" * len(value.text))


def _expand(text: str, values: dict[str, _Value], line: int) -> _Value:
    texts: list[str] = []
    marks: list[str] = []
    end = 0
    for found in _FILLED.finditer(text):
        name = (found[1] or found[2] or "").strip().upper()
        value = values.get(name) if name and ":" not in found.group(0) else None
        value = value or _Value(found.group(0), "o" * len(found.group(0)))
        texts += [text[end : found.start()], value.text]
        marks += [" " * (found.start() - end), value.marks]
        end = found.end()
    filled = "".join([*texts, text[end:]])
    if len(filled) > VALUE_LIMIT:
        raise DefinitionError(f"line {line}: a variable grows beyond {VALUE_LIMIT} characters")
    return _Value(filled, "".join([*marks, " " * (len(text) - end)]))


def _words(command: str, values: dict[str, _Value], line: int) -> list[Word]:
    """The words of a command. Variables are filled in first, as cmd does, and then split."""
    words: list[Word] = []
    for number, row in enumerate(command.split("\n"), line):
        value = _expand(row, values, number)
        for found in re.finditer(r'(?:[^\s"]|"[^"]*"?)+', value.text):
            marks = value.marks[found.start() : found.end()]
            text = re.sub(r"\^(.)", r"\1", found.group(0))
            words.append(Word(_unquoted(text), number, "o" in marks, maybe="m" in marks))
    return words


def _unquoted(text: str) -> str:
    return text.replace('\\"', "\0").replace('"', "").replace("\0", '"')
