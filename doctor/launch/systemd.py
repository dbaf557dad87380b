"""Reads a systemd unit with its drop-ins: ExecStart, Environment=, EnvironmentFile=, specifiers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.launch.command import find_in_words
from doctor.launch.definition import DEFINITIONS_LIMIT, VALUE_LIMIT, Definition, DefinitionError
from doctor.launch.dotenv import read_dotenv
from doctor.launch.words import Word

if TYPE_CHECKING:
    from doctor.launch.definition import Siblings

_SECTION = re.compile(r"\s*\[([^\]]+)\]\s*")
_SETTING = re.compile(r"\s*([A-Za-z]+)\s*=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)")
_ESCAPES = {"n": "\n", "t": "\t", "s": " ", "\\": "\\", '"': '"', "'": "'"}
_DROP_INS_LIMIT = 32
_WORDS_LIMIT = 4096


class _Setting(NamedTuple):
    name: str
    rows: tuple[tuple[str, int], ...]
    file: str


def read_unit(text: str, siblings: Siblings, name: str = "") -> list[Definition]:
    """The servers a unit starts. Raises DefinitionError."""
    variables: dict[str, str] = {}
    places: dict[str, tuple[str, int]] = {}
    commands: list[_Setting] = []
    files: list[tuple[str, str]] = []
    for setting in [*_settings(text, ""), *_drop_ins(siblings, name)]:
        body = " ".join(row for row, _ in setting.rows).strip()
        if setting.name == "ExecStart":
            commands = [*commands, setting] if body else []
        elif setting.name == "Environment":
            if not body:
                variables, places = {}, {}
            for word in _words(setting, {}):
                key, equals, value = word.text.partition("=")
                if equals:
                    variables[key], places[key] = value, (setting.file, word.line)
        elif setting.name == "EnvironmentFile":
            files = [*files, (body.removeprefix("-"), setting.file)] if body else []
    for path, _ in files:  # read when the unit starts: they win over Environment=
        for key, (value, line) in read_dotenv(siblings.text(_specifiers(path)) or "", fill=False).items():
            variables[key], places[key] = value, (path, line)
    found = []
    for setting in commands:
        words = _words(setting, variables)
        if words:
            words[0] = words[0]._replace(text=words[0].text.lstrip("-@:+!|"))
        server = find_in_words(words) if words else None
        if server is not None and server.program is not None:
            found.append(Definition(name, server._replace(variables={**variables, **server.variables}, places=places)))
    return found[:DEFINITIONS_LIMIT]


def _drop_ins(siblings: Siblings, name: str) -> list[_Setting]:
    """Settings of NAME.d/*.conf beside the unit and in /etc/systemd/system, in the order systemd reads them."""
    found: dict[str, str] = {}
    for folder in (f"{name}.d", f"/etc/systemd/system/{name}.d") if name else ():
        for file in (siblings.names(folder) or [])[:_DROP_INS_LIMIT]:
            if file.endswith(".conf"):
                found[file] = f"{folder}/{file}"
    settings: list[_Setting] = []
    for file in sorted(found):
        settings += _settings(siblings.text(found[file]) or "", found[file])
    return settings


def _settings(text: str, file: str) -> list[_Setting]:
    """The settings of [Service]. A backslash at the end goes on; remarks in between are left out."""
    found: list[_Setting] = []
    section = ""
    rows: list[tuple[str, int]] = []
    for number, raw in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if raw.lstrip().startswith(("#", ";")):
            continue
        ends = raw.rstrip(" \t").endswith("\\")
        rows.append((raw.rstrip(" \t").removesuffix("\\") if ends else raw, number))
        if ends and number < 100_000:
            continue
        head = _SECTION.fullmatch(rows[0][0])
        setting = _SETTING.fullmatch(rows[0][0])
        if head:
            section = head[1]
        elif setting and section == "Service":
            found.append(_Setting(setting[1], ((setting[2], rows[0][1]), *rows[1:]), file))
        rows = []
    return found


def _specifiers(text: str) -> str:
    """`%h` and the like are left as they stand, `%%` is a percent sign."""
    return text.replace("%%", "%")


def _words(setting: _Setting, variables: dict[str, str]) -> list[Word]:
    """Words as systemd splits them: quotes, C escapes, `$NAME` as words of its own and `${NAME}` inside one."""
    words: list[Word] = []
    for row, line in setting.rows:
        for raw, quoted in _split(row):
            whole = _VARIABLE.fullmatch(raw)
            if whole and whole[2] and whole[2] in variables and not quoted:
                words += [Word(part, line, False, setting.file) for part in variables[whole[2]].split()]
                continue
            filled = _VARIABLE.sub(lambda found: variables.get(found[1] or found[2], found.group(0)), raw)
            opened = bool(_VARIABLE.search(filled) or re.search(r"(?<!%)(?:%%)*%[A-Za-z]", filled))
            words.append(Word(_specifiers(filled).replace("$$", "$"), line, opened, setting.file))
        if len(words) > _WORDS_LIMIT or sum(len(word.text) for word in words[-64:]) > VALUE_LIMIT:
            raise DefinitionError(f"line {line}: the setting {setting.name} is too long")
    return words


def _split(row: str) -> list[tuple[str, bool]]:
    """(word, whether quoted) of one line."""
    found: list[tuple[str, bool]] = []
    letters: list[str] = []
    quote = ""
    quoted = started = False
    at = 0
    while at < len(row):
        char = row[at]
        if char == "\\" and at + 1 < len(row):
            letters.append(_ESCAPES.get(row[at + 1], f"\\{row[at + 1]}"))
            started = True
            at += 2
            continue
        if quote:
            if char == quote:
                quote = ""
            else:
                letters.append(char)
        elif char in "\"'" and (not started or "".join(letters).endswith("=")):
            quote, quoted, started = char, True, True
        elif char in " \t":
            if started:
                found.append(("".join(letters), quoted))
            letters, quoted, started = [], False, False
        else:
            letters.append(char)
            started = True
        at += 1
    if started:
        found.append(("".join(letters), quoted))
    return found
