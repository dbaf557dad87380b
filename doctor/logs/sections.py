"""Tells apart what lies mixed in one paste: command lines, settings, remarks, and what a program printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.logs.lines import Line
from doctor.logs.scan import BLANK, HIGH, Sought

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PROMPT = re.compile(
    r"^\s*(?:\$|❯|➜|PS [A-Za-z]:[^>]{0,200}>|[\w.-]+@[\w.-]+:[^$#]{0,200}[$#])\s+\S|^[A-Za-z]:\\[^>]{0,200}>\s*\S"
)
_PROGRAMS = (
    r"(?:llama-(?:server|cli|bench|run|mtmd-cli|swap)|llama\.cpp/(?:build/bin/)?{letter}+|koboldcpp|ollama|vllm|"
    r"docker(?:[ -]compose)?|podman|cmake|nvcc|claude|codex|opencode|aider|curl|server|main)(?:\.exe)?[\"']?"
)
_PROGRAM = re.compile(
    r"(?:^|[\s/\\\"'`&;])" + _PROGRAMS.replace("{letter}", r"\w") + r"\s+(?:(?:\S+\s+){0,3}-{1,2}[A-Za-z]|[\\`^]\s*$)"
)
_LOGGED = re.compile(
    r"^\s*(?:\d+[.:]\d\d[.:]\d{2,3}|\[?\d{4}-\d\d-\d\d|[\w.]{2,40}: |(?:srv|slot|que|cmn|spec|main|print_info|load_tensors|"
    r"llama_\w+|ggml_\w+|common_\w+)\b)"
)
_OPTION_LINE = re.compile(r"^\s+(?:-{1,2}[A-Za-z][\w-]*)(?:\s|$|=)|^\s*-{1,2}[A-Za-z][\w-]*(?:\s+\S+)?\s*[\\`^]$")
_ASSIGN = re.compile(
    r"^\s*(?:export\s+|set\s+|setx\s+|\$env:|Environment=\"?|-\s+|ENV\s+)?[A-Z][A-Z0-9_]{2,}\s*[=:]\s*\S"
)
_JSON = re.compile(r"^\s*[\"'][\w.$-]+[\"']\s*:\s*\S|^\s*[{}\[\]],?\s*$")
_YAML = re.compile(r"^\s*(?:-\s+)?[a-z_][\w.-]{1,40}:\s*(?:[\"'\[{/\d~]|\S+$|$)")
_TOML = re.compile(r"^\s*\[+[\w.\"-]+\]+\s*$|^\s*[a-z_][\w.-]*\s*=\s*(?:[\"'\[{\d]|true|false)")

_LETTER = rb"[\w" + HIGH + rb"]"
COMMAND_MARKS = (
    # What the bytes of any first line of a command hold: more lines than those, but few of a log.
    Sought(rb"\$" + BLANK),
    Sought("❯".encode()),
    Sought("➜".encode()),
    Sought(rb"PS [A-Za-z]:"),
    Sought(rb"@[\w." + HIGH + rb"-]+:"),
    Sought(rb"^[A-Za-z]:\\"),
    Sought(
        rb"(?:^|[\s/\\\"'`&;" + HIGH + rb"])"
        + _PROGRAMS.encode().replace(b"{letter}", _LETTER)
        + BLANK + rb"+(?:(?:[^\s]+" + BLANK + rb"+){0,3}-{1,2}[A-Za-z]|[\\`^])"
    ),
)  # fmt: skip


# What stands after a program's output when it has ended: a prompt that waits, the fence of a quotation, the exit status.
_AFTER = re.compile(
    r"^\s*(?:`{3,}|~{3,}|\$|[#>%❯➜]|PS [A-Za-z]:[^>]{0,200}>|[A-Za-z]:\\[^>]{0,200}>|"
    r"(?:\([\w.-]+\)\s)?[\w.-]+@[\w.-]+[ :][^$#]{0,200}[$#%])\s*$"
    r"|^\s*(?:rc|exit(?:[ _]?(?:code|status))?|returncode|status)\s?[=:]?\s?-?\d{1,12}\s*$",
    re.IGNORECASE,
)


class Command(NamedTuple):
    """A command line of a paste, its continued lines joined, and the number of its first line."""

    text: str
    line: int


def placed(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines with their `place` filled in."""
    before = Line(0, "")
    for line in lines:
        before = placed_after(before, line)
        yield before


def placed_after(before: Line, line: Line) -> Line:
    """The line with its `place`, given the line before it."""
    # A command goes on after a continuation mark, and where the next line is nothing but an option.
    goes_on = before.place == "command" and (_continues(before.text) or bool(_OPTION_LINE.match(line.text)))
    return line._replace(place="command" if goes_on else _place(line.text))


def may_be_command(shape: str) -> bool:
    """Whether any line of this shape (a line with its digits as 0) could be the first of a command."""
    return _place(shape) == "command"


def is_output(line: Line) -> bool:
    """Whether a placed line is something a program printed, and neither blank nor what surrounds a pasted output."""
    return line.place in ("log", "any") and bool(line.text.strip()) and not _AFTER.match(line.text)


class CommandReader:
    """Takes placed lines one by one and puts command lines together; keeps the first `most` commands."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._done: list[Command] = []
        self._words: list[str] = []
        self._first = 0

    def take(self, line: Line) -> None:
        """Read one line."""
        if line.place != "command":
            self._end()
            return
        if self._words and not (_continues(self._words[-1]) or _OPTION_LINE.match(line.text)):
            self._end()
        if not self._words:
            self._first = line.number
        if len(self._words) < 200:
            self._words.append(line.text)

    def result(self) -> tuple[Command, ...]:
        """The commands seen so far."""
        self._end()
        return tuple(self._done)

    def _end(self) -> None:
        if self._words and len(self._done) < self._most:
            self._done.append(Command("\n".join(self._words), self._first))
        self._words = []


def _continues(text: str) -> bool:
    return text.rstrip().endswith(("\\", "`", "^"))


def _place(text: str) -> str:
    if text.startswith("#") and not text.startswith("#!"):
        return "comment"
    if _PROMPT.match(text):
        return "command"
    if _LOGGED.match(text):
        return "log"
    if _PROGRAM.search(text) and len(text) < 4000:
        return "command"
    if _ASSIGN.match(text) or _JSON.match(text) or _TOML.match(text):
        return "config"
    if _YAML.match(text) and not text.rstrip().endswith("."):
        return "config"
    return "log"
