"""A shell script to tokens: words in pieces (text, variables, what only running tells), operators, arrays.

Reads the part of the language in which servers are started; what it does not know becomes a piece that is not known.
Bounded by the length of the text: nothing is expanded here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from doctor.launch.definition import DefinitionError

_NAME = re.compile(r"[A-Za-z_]\w*")
_ARRAY = re.compile(r"([A-Za-z_]\w*)(\+?)=\(")
_OPERATOR = re.compile(r"&&|\|\||;;&?|;&|\|&|[;&|()]")
_REDIRECT = re.compile(r"\d?(?:&>>?|>>?|<<<|<<-?|<>|<|>\|)(?:&\d?-?)?")
_PARAMETER = re.compile(r"([A-Za-z_]\w*|\d+|[@*#?$!-])(\[[@*]\])?(?:(:?[-=+?])(.*))?", re.DOTALL)
_BACKTICKS = re.compile(r"`(?:\\.|[^`\\])*`", re.DOTALL)
_ANSI = re.compile(r"\$'((?:\\.|[^'\\])*)'", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
DEPTH_LIMIT = 8
PIECES_LIMIT = 1000


class Piece(NamedTuple):
    """Part of a word. `kind`: text, variable or open (a substitution, arithmetic, a pattern operation).

    Of a variable `text` is its name, `operator` one of "" :- - := = :+ + :? ? and `other` the word after it.
    `every` is whether all elements of an array are meant.
    """

    kind: str
    text: str
    quoted: bool
    operator: str = ""
    other: tuple[Piece, ...] = ()
    every: bool = False


class Token(NamedTuple):
    """`kind`: word, operator (`text` is it, "\\n" the end of a line) or array (`text` the name, `append` for +=)."""

    kind: str
    text: str
    line: int
    pieces: tuple[Piece, ...] = ()
    items: tuple[Token, ...] = ()
    append: bool = False


def tokens(text: str, line: int = 1) -> list[Token]:
    """All tokens of a script."""
    return _Lexer(text.replace("\r\n", "\n"), line).run()


def word_pieces(text: str, depth: int) -> tuple[Piece, ...]:
    """The pieces of a text that stands after `:-` and the like."""
    if depth > DEPTH_LIMIT:
        return (Piece("open", text, False),)
    lexer = _Lexer(text, 1, depth)
    return lexer.pieces_until(lambda char: False)


class _Lexer:
    def __init__(self, text: str, line: int, depth: int = 0) -> None:
        self._text = text
        self._line = line
        self._depth = depth
        self._at = 0
        self._heredocs: list[tuple[str, bool]] = []

    def run(self) -> list[Token]:
        found: list[Token] = []
        while self._at < len(self._text):
            token = self._next()
            if token is not None:
                found.append(token)
        return found

    def _next(self) -> Token | None:
        text, at = self._text, self._at
        char = text[at]
        if text.startswith("\\\n", at):
            self._at += 2
            self._line += 1
            return None
        if char == "\n":
            token = Token("operator", "\n", self._line)
            self._at += 1
            self._line += 1
            self._skip_heredocs()
            return token
        if char.isspace():
            self._at += 1
            return None
        if char == "#":
            end = text.find("\n", at)
            self._at = len(text) if end < 0 else end
            return None
        redirect = _REDIRECT.match(text, at)
        if redirect and not text.startswith(("<(", ">("), at):
            self._redirect(redirect)
            return None
        operator = _OPERATOR.match(text, at)
        if operator:
            self._at = operator.end()
            return Token("operator", operator.group(0), self._line)
        array = _ARRAY.match(text, at)
        return self._array(array) if array else self._word()

    def _word(self) -> Token:
        line = self._line
        start = self._at
        pieces = self.pieces_until(lambda char: char.isspace() or char in ";&|()<>")
        if self._at == start:  # a character that starts nothing: step over it
            self._at += 1
        return Token("word", self._text[start : self._at], line, pieces)

    def _array(self, match: re.Match[str]) -> Token:
        line = self._line
        self._at = match.end()
        items: list[Token] = []
        while self._at < len(self._text):
            if self._text[self._at] == ")":
                self._at += 1
                break
            token = self._next()
            if token is not None and token.kind == "word":
                items.append(token)
        return Token("array", match[1], line, items=tuple(items), append=match[2] == "+")

    def _redirect(self, match: re.Match[str]) -> None:
        self._at = match.end()
        if match.group(0).rstrip("-")[-1].isdigit():  # 2>&1
            return
        while self._at < len(self._text) and self._text[self._at] in " \t":
            self._at += 1
        if self._at >= len(self._text) or self._text[self._at] == "\n":
            return
        target = self._word()
        if match.group(0).lstrip("0123456789") in ("<<", "<<-"):
            name = "".join(piece.text for piece in target.pieces)
            self._heredocs.append((name, match.group(0).endswith("-")))

    def _skip_heredocs(self) -> None:
        for name, tabs in self._heredocs:
            while self._at < len(self._text):
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                row = self._text[self._at : end]
                self._at = min(end + 1, len(self._text))
                self._line += 1
                if (row.lstrip("\t") if tabs else row) == name:
                    break
        self._heredocs = []

    def pieces_until(self, ends: object) -> tuple[Piece, ...]:
        """The pieces of a word, up to a bare character for which `ends` is true."""
        assert callable(ends)
        pieces: list[Piece] = []
        bare: list[str] = []

        def flush() -> None:
            if bare:
                pieces.append(Piece("text", "".join(bare), False))
                bare.clear()

        while self._at < len(self._text):
            char = self._text[self._at]
            if len(pieces) > PIECES_LIMIT:
                raise DefinitionError(f"line {self._line}: a word of more than {PIECES_LIMIT} parts")
            if self._text.startswith("\\\n", self._at):
                self._at += 2
                self._line += 1
                continue
            if char in "<>" and self._text.startswith("(", self._at + 1):
                flush()
                self._at += 1
                pieces.append(Piece("open", char + self._parentheses(), False))
                continue
            if ends(char):
                break
            if char == "\\":
                bare.append(self._text[self._at + 1 : self._at + 2])
                self._at += 2
            elif char == "'":
                flush()
                pieces.append(self._single())
            elif char == '"':
                flush()
                self._at += 1
                pieces.extend(self._double())
            elif char in "$`":
                flush()
                pieces.append(self._dollar(quoted=False))
            else:
                bare.append(char)
                self._at += 1
        flush()
        return tuple(pieces)

    def _single(self) -> Piece:
        end = self._text.find("'", self._at + 1)
        if end < 0:
            self._never_closed("'", self._line)
            end = len(self._text)
        text = self._text[self._at + 1 : end]
        self._line += text.count("\n")
        self._at = min(end + 1, len(self._text)) if self._text[end : end + 1] == "'" else end
        return Piece("text", text, True)

    def _never_closed(self, quote: str, line: int) -> None:
        if self._depth == 0:  # what is inside `${NAME:-…}` is only a part of a file
            raise DefinitionError(f"line {line}: the quote {quote} is opened here and never closed")

    def _double(self) -> list[Piece]:
        pieces: list[Piece] = []
        opened = self._line
        letters: list[str] = []
        while self._at < len(self._text) and self._text[self._at] != '"':
            char = self._text[self._at]
            if char == "\\" and self._text[self._at + 1 : self._at + 2] in ('"', "\\", "$", "`", "\n"):
                following = self._text[self._at + 1]
                self._line += following == "\n"
                letters.append("" if following == "\n" else following)
                self._at += 2
            elif char in "$`":
                pieces.append(Piece("text", "".join(letters), True))
                letters = []
                pieces.append(self._dollar(quoted=True))
            else:
                self._line += char == "\n"
                letters.append(char)
                self._at += 1
        if self._at >= len(self._text):
            self._never_closed('"', opened)
        self._at += 1
        pieces.append(Piece("text", "".join(letters), True))
        return pieces

    def _dollar(self, *, quoted: bool) -> Piece:
        text, at = self._text, self._at
        if text[at] == "`":
            written = _BACKTICKS.match(text, at)
            self._at = written.end() if written else len(text)
            self._line += text.count("\n", at, self._at)
            return Piece("open", text[at : self._at], quoted)
        if text.startswith("$(", at):
            self._at += 1
            return Piece("open", "$" + self._parentheses(), quoted)
        if text.startswith("$'", at) and not quoted:
            written = _ANSI.match(text, at)
            if written is None:
                self._never_closed("$'", self._line)
            inside = written[1] if written else text[at + 2 :]
            self._at = written.end() if written else len(text)
            self._line += inside.count("\n")
            return Piece("text", re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), inside), True)
        if text.startswith("${", at):
            return self._braces(quoted)
        name = _NAME.match(text, at + 1)
        if name:
            self._at = name.end()
            return Piece("variable", name.group(0), quoted)
        self._at += 2
        special = text[at + 1 : at + 2]
        if special and special in "@*#?$!-0123456789":
            return Piece("variable", special, quoted)
        self._at -= 1
        return Piece("text", "$", quoted)

    def _braces(self, quoted: bool) -> Piece:
        start = self._at
        self._at += 2
        depth = 1
        while self._at < len(self._text) and depth:
            char = self._text[self._at]
            if char == "\\":
                self._at += 1
            depth += (char == "{") - (char == "}")
            self._line += char == "\n"
            self._at += 1
        whole = self._text[start : self._at]
        found = _PARAMETER.fullmatch(whole[2:-1])
        if found is None:
            return Piece("open", whole, quoted)
        other = word_pieces(found[4], self._depth + 1) if found[4] else ()
        every = bool(found[2]) or found[1] in "@*"
        return Piece("variable", found[1], quoted, found[3] or "", other, every)

    def _parentheses(self) -> str:
        """From `(` to its partner, or to the end."""
        start, depth = self._at, 0
        while self._at < len(self._text) and (depth or self._at == start):
            char = self._text[self._at]
            depth += (char == "(") - (char == ")")
            self._line += char == "\n"
            self._at += 1
        return self._text[start : self._at]
