"""Reads the INI files of llama-server: the presets of router mode and the config.ini it reads by itself.

Keys are options without their dashes, or names of variables (common/preset.cpp); how they read is theirs, not configparser's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.launch.command import Command
from doctor.launch.definition import DEFINITIONS_LIMIT, Definition, DefinitionError
from doctor.launch.words import Word

if TYPE_CHECKING:
    from doctor.launch.table import OptionTable

_HEADER = re.compile(r"\[[ \t]*([^\]\n]+?)[ \t]*\][ \t]*(?:[;#].*)?")
_PAIR = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*=[ \t]*(.*?)[ \t]*(?:[;#].*)?")
_TRUE = ("on", "enabled", "true", "1")
_FALSE = ("off", "disabled", "false", "0")
_PRESET_ONLY = ("version", "load-on-startup", "stop-timeout")
"""Keys that are no options (common/arg.cpp, common_params_add_preset_options, b11434)."""
_LINES_LIMIT = 10_000
DEFAULT = "default"


class Entry(NamedTuple):
    """A key, its value and the line."""

    key: str
    value: str
    line: int


def read_presets(text: str, table: OptionTable) -> list[Definition]:
    """The models of a preset file, each with what [*] says for all. Raises DefinitionError."""
    sections = read_sections(text)
    shared = sections.pop("*", [])
    if all(entry.key in _PRESET_ONLY for entry in sections[DEFAULT]):
        del sections[DEFAULT]
    found = []
    for name, entries in list(sections.items())[:DEFINITIONS_LIMIT]:
        own = {entry.key for entry in entries}
        words = words_of([*(entry for entry in shared if entry.key not in own), *entries], table)
        found.append(Definition(name, Command(None, tuple(words), 0, {}, None)))
    return found


def read_config(text: str, table: OptionTable, file: str = "") -> tuple[list[Word], list[Entry]]:
    """The options a config.ini sets for llama-server, and the keys it passes over. Raises DefinitionError."""
    sections = read_sections(text)
    entries = [*sections.get("*", ()), *sections.get(DEFAULT, ())]
    known = [entry for entry in entries if entry.key in _PRESET_ONLY or _spelling(entry.key, table)]
    skipped = [entry for entry in entries if entry not in known]
    return [word._replace(file=file) for word in words_of(known, table)], skipped


def read_sections(text: str) -> dict[str, list[Entry]]:
    """Section -> its entries; what stands in front of every header belongs to "default". Raises DefinitionError."""
    sections: dict[str, list[Entry]] = {DEFAULT: []}
    current = DEFAULT
    for number, row in enumerate(re.split(r"\r\n|\n|\r", text)[:_LINES_LIMIT], 1):
        bare = row.strip(" \t")
        if not bare or bare[0] in ";#":
            continue
        header, pair = _HEADER.fullmatch(row), _PAIR.fullmatch(row)
        if header:
            current = header[1]
            sections[current] = []
        elif pair:
            sections[current] = [entry for entry in sections[current] if entry.key != pair[1]]
            sections[current].append(Entry(pair[1], pair[2], number))
        else:
            raise DefinitionError(
                f"line {number}: neither [section] nor key = value at the start of the line: llama-server refuses the file"
            )
    return sections


def words_of(entries: list[Entry], table: OptionTable) -> list[Word]:
    """The entries as a command line would have them."""
    words: list[Word] = []
    for entry in entries:
        if entry.key in _PRESET_ONLY:
            continue
        spelling = _spelling(entry.key, table) or f"--{entry.key}"
        life = table.life(spelling)
        takes = life[-1].takes if life else 1
        value = entry.value.lower()
        if takes:
            words += [Word(spelling, entry.line, False), Word(entry.value, entry.line, False)]
        elif value in _TRUE or not life:
            words.append(Word(spelling, entry.line, False))
        elif value in _FALSE:
            other = table.spellings_of(life[-1].option, table.newest, negated=not life[-1].negated)
            if other:
                words.append(Word(other[0], entry.line, False))
        else:
            words += [Word(spelling, entry.line, False), Word(entry.value, entry.line, False)]
    return words


def _spelling(key: str, table: OptionTable) -> str | None:
    """The option a key means: `ctx-size` and `c` are --ctx-size and -c, LLAMA_ARG_CTX_SIZE its variable."""
    for spelling in (f"--{key}", f"-{key}"):
        if table.life(spelling):
            return spelling
    variables = table.variable_life(key)
    if not variables:
        return None
    option = variables[-1].option
    if variables[-1].negated:
        negated = table.spellings_of(option, table.newest, negated=True)
        return negated[0] if negated else None
    return option
