"""A parser of one verb: its help is examples first, then options, then exit statuses; its errors are one line each."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from doctor.arguments.words import translated
from doctor.report.columns import column, examples, table, wrapped
from doctor.report.words import colon

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

WIDEST = 100
"""Columns of help at most: longer lines are hard to read."""
HELP_AT = 24
"""The column at which the words on an option begin."""
EXITS = (
    ("0", "nothing found at or above --fail-on"),
    ("1", "something found"),
    ("2", "wrong usage"),
    ("3", "a fault of doctor itself"),
)
ANSWERS = (("0", "answered"), *EXITS[2:])
"""Exit statuses of verbs that answer a question."""


class Page(NamedTuple):
    """What the help of a verb says besides its options: usage, a sentence or two, examples with remarks, exit statuses."""

    usage: str
    says: str
    examples: tuple[tuple[str, str], ...]
    exits: tuple[tuple[str, str], ...] = EXITS


class Parser(argparse.ArgumentParser):
    """The options of one verb. `lang` is the language of its help and its errors."""

    def __init__(self, verb: str, page: Page, lang: str, *, abbreviate: bool = True) -> None:
        super().__init__(prog=f"doctor {verb}".rstrip(), add_help=False, allow_abbrev=abbreviate)
        self.page = page
        self.lang = lang

    def options(self) -> Iterator[str]:
        """The options that help shows, long forms first."""
        for action in self._actions:
            if action.help != argparse.SUPPRESS:
                yield from sorted(action.option_strings, key=len, reverse=True)

    def format_help(self) -> str:
        """The page of help, as wide as the terminal."""
        return self.joined(
            (
                self.usage_line(),
                self.said(self.page.says),
                self.examples(),
                *self.options_of(),
                self.rows("exit status", self.page.exits),
            )
        )

    def usage_line(self) -> str:
        """How it is called."""
        return f"{self._say('usage')}{colon(self.lang)}{self.page.usage}"

    def said(self, words: str) -> str:
        """A paragraph."""
        return "\n".join(wrapped(self._say(words), _width()))

    def examples(self) -> str:
        """What one types."""
        rows = [(left, self._say(right)) for left, right in self.page.examples]
        return "\n".join([self._say("examples") + colon(self.lang).rstrip(), *examples(rows, _width())])

    def rows(self, title: str, rows: Sequence[tuple[str, str]], start: int | None = None) -> str:
        """Two columns under a title."""
        start = start or column((left for left, _ in rows), WIDEST // 2)
        lines = table([(left, self._say(right)) for left, right in rows], _width(), start)
        return "\n".join([self._say(title) + colon(self.lang).rstrip(), *lines]) if rows else ""

    def options_of(self, title: str = "") -> Iterator[str]:
        """The groups of options, under their own titles or this one."""
        groups = {title or group.title or "": _shown(group._group_actions) for group in self._action_groups}
        start = column((left for rows in groups.values() for left, _ in rows), HELP_AT)
        for name, rows in groups.items():
            yield self.rows(name, rows, start)

    @staticmethod
    def joined(parts: Iterable[str]) -> str:
        """Parts with an empty line between them."""
        return "\n\n".join(part for part in parts if part) + "\n"

    def exit_with(self, words: str) -> NoReturn:
        """Print, and end well."""
        self._print_message(words, sys.stdout)
        self.exit(0)

    def _say(self, words: str) -> str:
        return translated(words, self.lang)

    def error(self, message: str) -> NoReturn:
        """One line, with what was typed made safe to print: it may hold a key or control characters."""
        from doctor.arguments.complaints import plainer
        from doctor.redact import Redactor
        from doctor.report.complaints import complaint

        words = complaint(Redactor().text(plainer(message)), self.lang)
        hint = translated("see `{verb} --help`", self.lang).replace("{verb}", self.prog)
        self.exit(2, f"{self.prog}: {' '.join(words.splitlines())} ({hint})\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """The message as far as the stream's encoding can say it."""
        stream = sys.stderr if file is None else file
        if message and stream is not None:
            encoding = getattr(stream, "encoding", None) or "utf-8"
            stream.write(message.encode(encoding, "replace").decode(encoding))


def _width() -> int:
    import shutil

    return min(shutil.get_terminal_size().columns, WIDEST)


def _shown(actions: Iterable[argparse.Action]) -> list[tuple[str, str]]:
    """Both columns of the options that help shows."""
    return [(_left(action), action.help or "") for action in actions if action.help != argparse.SUPPRESS]


def _left(action: argparse.Action) -> str:
    """The left column of an option: its names, then what it wants."""
    if not action.option_strings:
        return str(action.metavar or action.dest)
    value = action.metavar or ("|".join(action.choices) if action.choices else "")
    return ", ".join(action.option_strings) + (f" {value}" if value and action.nargs != 0 else "")
