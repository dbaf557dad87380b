"""Text of a shell (sh, PowerShell or cmd) to words with their line numbers.

Tolerant on purpose: people paste command lines out of blogs, with half of a quote or a remark between continued lines.
What can be read is read; nothing is expanded and nothing is run.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TEXT_LIMIT = 1 << 16
WORD_LIMIT = 4096
QUOTE_LINES = 20

_WINDOWS = re.compile(
    r"(?:^|[\s\"'&=])(?:[A-Za-z]:\\|\.{1,2}\\|\\\\\w)|\.exe\b|\^[ \t]*$|^[ \t]*(?:set|start)\s",
    re.MULTILINE | re.IGNORECASE,
)
_POWERSHELL = re.compile(r"(?<![`\w])`[ \t]*$|^[ \t]*&\s|\$env:", re.MULTILINE | re.IGNORECASE)
_CONTINUED = re.compile(r"[\\`^][ \t]*\n")
_PROMPT = re.compile(
    r"^[ \t]*(?:(?:\([\w.:~/-]{1,40}\)[ \t]+)?(?:"  # (venv)
    r"➜[ \t]+(?:~\S{0,100}|\S{1,100}[ \t]+git:\([^)\n]{0,60}\)(?:[ \t]+✗)?)[ \t]+|"
    r"[$❯➜λ%»>][ \t]+|~\S{0,100}[ \t]+»[ \t]+|"
    r"PS(?:[ \t]+[A-Za-z]:[^>\n]{0,200})?>[ \t]*|[A-Za-z]:\\[^>\n]{0,200}>[ \t]*|"
    r"[\w.-]+@[\w.-]+:[^$#\n]{0,200}[$#][ \t]+|\[[\w.-]+@[\w.-]+[^\]\n]{0,200}\][$#][ \t]+|"
    r"(?:\d{1,3}[ \t]+)?[\w.-]+@[\w.-]+[ \t][^%$#>\n]{0,200}[%$#>][ \t]+"  # zsh, fish
    r")|```\w*[ \t]*$)",
    re.MULTILINE,
)
_PLACEHOLDER = re.compile(r"<[^<>\s&;]{1,80}>")
_OPERATOR = re.compile(r"&&|\|\||[|;&]")
_REDIRECT = re.compile(r"&?>{1,2}(?:&\d)?|<")
_ELLIPSIS = ("…", "...", "....")


class Word(NamedTuple):
    """A word as the program would get it. `open`: part of it is filled in later (a variable, a placeholder).

    `file` is where it stands when that is another file than the command's own (a drop-in, an EnvironmentFile).
    `maybe`: it stands in a part that only runs under a condition, so it may not be given at all; where the reader can
    tell, as the number of the `if` and of its arm: of two arms only one runs.
    """

    text: str
    line: int
    open: bool
    file: str = ""
    maybe: bool | tuple[int, int] = False


def split(text: str, line: int = 1) -> list[list[Word]]:
    """The commands in a text, each a list of words; `line` is the number of its first line."""
    text = text[:TEXT_LIMIT].replace("\r\n", "\n").replace("\r", "\n")
    # A prompt becomes blanks, so that every place keeps its line.
    return _Splitter(_PROMPT.sub(lambda found: " " * len(found.group(0)), text), line).commands()


class _Splitter:
    def __init__(self, text: str, line: int) -> None:
        self._text = text
        self._line = line
        self._at = 0
        self._windows = bool(_WINDOWS.search(text))
        self._powershell = bool(_POWERSHELL.search(text))
        self._escape = "`" if self._powershell else "^" if self._windows else "\\"
        self._commands: list[list[Word]] = [[]]
        self._literal = ""  # quotes that turned out to have no partner
        self._skip_next = False  # the next word is the file of a redirection

    def commands(self) -> list[list[Word]]:
        count = 0
        while self._at < len(self._text) and count < WORD_LIMIT:
            count += self._step()
        return [command for command in self._commands if command]

    def _step(self) -> int:
        """Read one thing; 1 when it was a word."""
        char = self._text[self._at]
        continued = _CONTINUED.match(self._text, self._at)
        if continued:
            self._line += 1
            self._at = continued.end()
        elif char == "\n":
            self._end_command()
            self._line += 1
            self._at += 1
        elif char.isspace():
            self._at += 1
        elif char == "#":
            end = self._text.find("\n", self._at)
            self._at = len(self._text) if end < 0 else end
        elif self._operator():
            pass
        else:
            self._word()
            return 1
        return 0

    def _end_command(self) -> None:
        self._skip_next = False
        if self._commands[-1]:
            self._commands.append([])

    def _operator(self) -> bool:
        placeholder = _PLACEHOLDER.match(self._text, self._at)
        redirect = None if placeholder else _REDIRECT.match(self._text, self._at)
        if redirect:
            self._skip_next = not redirect.group(0)[-1].isdigit()
            self._at = redirect.end()
            return True
        operator = _OPERATOR.match(self._text, self._at)
        if operator:
            self._end_command()
            self._at = operator.end()
        return operator is not None

    def _word(self) -> None:
        line = self._line
        pieces: list[str] = []
        bare: list[str] = []  # the pieces in which a shell would still fill something in
        quoted = False
        while self._at < len(self._text):
            char = self._text[self._at]
            if self._goes_on_below(pieces):
                continue
            if char.isspace() or _CONTINUED.match(self._text, self._at) or self._ends_word(pieces):
                break
            if char in "\"'" and char not in self._literal and (piece := self._quoted(char)) is not None:
                quoted = True
                pieces.append(piece)
                bare.append(piece if char == '"' else "")
            elif char == "$" and self._text.startswith("$(", self._at):
                pieces.append(self._substitution())
                bare.append(pieces[-1])
            elif char == self._escape and self._at + 1 < len(self._text):
                pieces.append(self._text[self._at + 1])
                self._at += 2
            else:
                pieces.append(char)
                bare.append(char)
                self._at += 1
        text = "".join(pieces)
        if self._skip_next:
            self._skip_next = False
            return
        if text.isdigit() and not quoted and _REDIRECT.match(self._text, self._at):
            return  # the 2 of 2>
        opened = bool(_PLACEHOLDER.search(text)) or text in _ELLIPSIS or _expands("".join(bare), windows=self._windows)
        self._commands[-1].append(Word(text, line, opened))

    def _goes_on_below(self, pieces: list[str]) -> bool:
        """Steps over a line break inside a word, as a shell does: `--api-key abc\\` and `def` are one key.

        After an option, or before one, people mean the end of the word and only forgot the blank.
        """
        continued = _CONTINUED.match(self._text, self._at)
        if not continued or not pieces or pieces[0].startswith("-") or self._text[self._at] != self._escape:
            return False
        if self._text[continued.end() : continued.end() + 1].strip() in ("", "-"):
            return False
        self._line += 1
        self._at = continued.end()
        return True

    def _ends_word(self, pieces: list[str]) -> bool:
        """Whether an operator ends the word here. `a|b` in one piece stays a word: a pattern out of a process list."""
        char = self._text[self._at]
        if char not in "|;&>":
            return False
        follows = self._text[self._at + 1 : self._at + 2]
        if char == ">":
            return not "".join(pieces).startswith("<")
        return (
            not follows or follows.isspace() or (follows == char and self._text[self._at + 2 : self._at + 3].isspace())
        )

    def _quoted(self, quote: str) -> str | None:
        """The text up to the closing quote; None when none is near: then this quote and all later ones are letters."""
        at = self._at + 1
        pieces: list[str] = []
        while at < len(self._text):
            char = self._text[at]
            following = self._text[at + 1 : at + 2]
            if char == quote:
                if self._windows and following == quote and (self._powershell or quote == '"'):
                    pieces.append(quote)
                    at += 2
                    continue
                text = "".join(pieces)
                if text.count("\n") >= QUOTE_LINES:
                    break
                self._line += text.count("\n")
                self._at = at + 1
                return text
            if (
                char == "\\"
                and quote == '"'
                and following in ('"', "\\", "$", "`")
                and (not self._windows or following == '"')
            ) or (char == "`" and self._powershell and quote == '"' and following):
                pieces.append(following)
                at += 2
            else:
                pieces.append(char)
                at += 1
        self._literal += quote
        return None

    def _escaped_in_quotes(self, char: str) -> str:
        """The characters that `char` takes the meaning from inside double quotes."""
        if char == "\\":
            return '"' if self._windows else '"\\$`'
        return '"$`' if char == "`" and self._powershell else ""

    def _substitution(self) -> str:
        """`$(…)` as it stands, to its closing parenthesis or the end of the line."""
        start = self._at
        depth = 0
        while self._at < len(self._text) and self._text[self._at] != "\n":
            char = self._text[self._at]
            self._at += 1
            depth += (char == "(") - (char == ")")
            if char == ")" and depth == 0:
                break
        return self._text[start : self._at]


def _expands(text: str, *, windows: bool) -> bool:
    """Whether a shell or a template would fill something in."""
    if not any(mark in text for mark in ("$", "%", "{{", "`")):
        return False
    return re.search(r"\$[A-Za-z_{(]|\{\{" + (r"|%[A-Za-z_]\w*%" if windows else "|`[^`]+`"), text) is not None
