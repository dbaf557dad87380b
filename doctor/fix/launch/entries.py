"""Changes of the INI files of llama-server, where an option and its value are one line: key = value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.fix.launch.spots import Patch, newline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doctor.launch.words import Word

KINDS = ("presets", "config")
_ENTRY = re.compile(r"([ \t]*)([A-Za-z_][\w.-]*)([ \t]*=[ \t]*)([^;#\r\n]*?)([ \t]*(?:[;#][^\r\n]*)?)(?=\r?\n|\Z)")
_OPTION = re.compile(r"--?[A-Za-z][\w.-]*")
_VALUE = re.compile(r"[^;#\r\n]+")


def rewritten(text: str, words: Sequence[Word], first: int, end: int, new: Sequence[str]) -> Iterator[Patch]:
    """The line of an entry with other words in it: `words` are those of the command, `first` up to `end` change."""
    anchor = words[first] if first < end else words[first - 1] if first else None
    if anchor is None:
        return
    here = [at for at, word in enumerate(words) if word.line == anchor.line and word.file == anchor.file]
    start, stop = here[0], here[-1] + 1
    if end > stop:
        return
    place = _entry(text, anchor.line)
    if place is None:
        return
    whole = [*(word.text for word in words[start:first]), *new, *(word.text for word in words[end:stop])]
    pairs = _pairs(whole)
    if pairs is None:
        return
    entry, line_end = place
    if not pairs:
        yield Patch(entry.start(), line_end, "")
        return
    lines = [_line(entry, *pairs[0], same=words[start].text == whole[0])]
    lines += [f"{entry[1]}{key}{entry[3]}{value}" for key, value in pairs[1:]]
    yield Patch(entry.start(), entry.end(), newline(text, entry.start()).join(lines))


def _entry(text: str, line: int) -> tuple[re.Match[str], int] | None:
    """The entry in a line, and where the next line starts."""
    starts = [0, *(found.end() for found in re.finditer(r"\r\n|\n|\r", text)), len(text)]
    if not 0 < line < len(starts):
        return None
    entry = _ENTRY.match(text, starts[line - 1])
    return None if entry is None else (entry, starts[line])


def _pairs(words: Sequence[str]) -> list[tuple[str, str]] | None:
    """Keys and values; a switch is true. None where a word is no part of that."""
    pairs: list[tuple[str, str]] = []
    for word in words:
        if _OPTION.fullmatch(word):
            pairs.append((word.lstrip("-"), ""))
        elif pairs and not pairs[-1][1] and _VALUE.fullmatch(word):
            pairs[-1] = (pairs[-1][0], word)
        else:
            return None
    return [(key, value or "true") for key, value in pairs]


def _line(entry: re.Match[str], key: str, value: str, *, same: bool) -> str:
    """An entry with another value, and another key unless the option stays the `same`."""
    return f"{entry[1]}{entry[2] if same else key}{entry[3]}{value}{entry[5]}"
