"""Reads a shell script and finds the servers it starts. Nothing is run: what only running tells is left open."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.launch.command import find_in_words
from doctor.launch.definition import DEFINITIONS_LIMIT, Definition, DefinitionError
from doctor.launch.sh_tokens import Piece, Token, tokens
from doctor.launch.sh_values import Path, Segment, Values, segments_of, words_of
from doctor.launch.words import Word

if TYPE_CHECKING:
    from doctor.launch.command import Command
    from doctor.launch.definition import Siblings

_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(\+?)=")
_DECLARING = ("export", "declare", "typeset", "readonly", "local")
_OPENING = {"if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac"}
_SEPARATORS = ("\n", ";", "&", "|", "|&", "&&", "||", "(", ")", ";;", ";&", ";;&")
_INNER = re.compile(r"llama-server\S{0,40}[\"']?\s|\bllama serve\s")
_SHELLS = re.compile(r"(?:.*/)?(?:ba|z|da|k)?sh|tmux|screen|su|script")
_ASKS_ONLY = {"--version", "--help", "-h", "--list-devices", "--usage", "--cache-list", "--completion-bash"}
_SOURCE_DEPTH = 4
_BLOCKS_LIMIT = 64
_WORDS_LIMIT = 20_000


def read_script(text: str, siblings: Siblings, line: int = 1) -> list[Definition]:
    """The servers a script starts, in order. Raises DefinitionError."""
    script = _Script(siblings)
    script.read(tokens(text, line), 0)
    return script.found


class _Script:
    def __init__(self, siblings: Siblings) -> None:
        self.found: list[Definition] = []
        self._values = Values()
        self._siblings = siblings
        self._path: Path = ()
        self._blocks: list[tuple[str, Path]] = []  # the word that closes each, and the path around it
        self._count = 0  # numbers for branches
        self._words = 0
        self._inside_case = False

    def read(self, stream: list[Token], depth: int) -> None:
        """Walk through the commands of a script (or of one it sources)."""
        at = 0
        chain: Path | None = None  # the path a list of && and || started from
        while at < len(stream):
            end = at
            while end < len(stream) and not (stream[end].kind == "operator" and stream[end].text in _SEPARATORS):
                end += 1
            operator = stream[end].text if end < len(stream) else "\n"
            part = stream[at:end]
            if self._inside_case and operator == ")":
                self._next_arm()
                part = []
            before = self._path
            self._simple(part, depth)
            if operator in ("&&", "||"):
                if chain is None:
                    chain = self._path
                if len(self._path) < 2 * _BLOCKS_LIMIT:
                    self._count += 1
                    self._path = (*self._path, (self._count, 0))
                while end + 1 < len(stream) and stream[end + 1].text == "\n" and stream[end + 1].kind == "operator":
                    end += 1
            elif operator not in ("|", "|&", "(") and chain is not None:
                if self._path == before:
                    self._path = chain
                chain = None
            if operator in (";;", ";&", ";;&"):
                self._inside_case = True
            at = end + 1

    def _simple(self, part: list[Token], depth: int) -> None:
        """One command, with the words of the language that may stand in front of it."""
        while part and part[0].kind == "word":
            word = part[0].text
            if word in _OPENING:
                self._open(word, part[0].line)
                if word in ("for", "select"):
                    self._loop_variable(part)
                    return
                if word == "case":
                    self._inside_case = True
                    return
            elif self._blocks and word == self._blocks[-1][0]:
                self._path = self._blocks.pop()[1]
                self._inside_case = False
            elif word in ("elif", "else"):
                self._next_arm()
            elif word not in ("then", "do", "{", "}", "!", "time") and not (word == "function" and len(part) > 1):
                break
            if word == "function":
                return
            part = part[1:]
        if part:
            self._command(part, depth)

    def _open(self, word: str, line: int) -> None:
        if len(self._blocks) >= _BLOCKS_LIMIT:
            raise DefinitionError(f"line {line}: more than {_BLOCKS_LIMIT} blocks inside one another")
        self._count += 1
        self._blocks.append((_OPENING[word], self._path))
        self._path = (*self._path, (self._count, 0))

    def _next_arm(self) -> None:
        self._inside_case = False
        if self._blocks:
            around = self._blocks[-1][1]
            here = self._path[len(around) : len(around) + 1]
            number, arm = here[0] if here else (self._count, 0)
            self._path = (*around, (number, arm + 1))

    def _loop_variable(self, part: list[Token]) -> None:
        if len(part) > 1 and re.fullmatch(r"[A-Za-z_]\w*", part[1].text):
            name = part[1].text
            self._values.set(name, (Segment(f"${name}", part[1].line, open=True),), self._path, append=False)

    def _command(self, part: list[Token], depth: int) -> None:
        head = part[0].text
        front = 0  # `A=1 B=2` alone sets variables; in front of a command they are the command's own
        while front < len(part) and self._assign(part[front], export=False, only_try=True):
            front += 1
        if front == len(part):
            for token in part:
                self._assign(token, export=False)
        elif front:
            self._start([*(self._prefix(token) for token in part[:front]), *self._rest(part[front:])], depth)
        elif head in _DECLARING:
            for token in part[1:]:
                exporting = head == "export" or any("x" in item.text for item in part[1:] if item.text.startswith("-"))
                if not self._assign(token, export=exporting) and exporting and token.text.isidentifier():
                    self._values.export(token.text)
        elif head == "unset":
            for token in part[1:]:
                self._values.unset(token.text, self._path)
        elif head == "set" and len(part) > 1:
            if part[1].text in ("-a", "+a", "-ea", "-eua"):
                self._values.export_all = part[1].text.startswith("-")
        elif head in ("source", ".") and len(part) > 1:
            self._source(part[1], depth)
        elif head == ":":
            self._defaults(part[1:])
        else:
            self._start(self._rest(part), depth)

    def _rest(self, part: list[Token]) -> list[Word]:
        found: list[Word] = []
        for token in part:
            found += words_of(token.pieces, self._values, self._path, token.line)
        self._words += len(found)
        if self._words > _WORDS_LIMIT:
            raise DefinitionError(f"line {part[0].line}: the script has more than {_WORDS_LIMIT} words")
        return found

    def _prefix(self, token: Token) -> Word:
        """`NAME=value` in front of a command."""
        segments = segments_of(token.pieces, self._values, self._path, token.line)
        text = "".join(segment.text for segment in segments)
        return Word(text, token.line, any(segment.open for segment in segments))

    def _assign(self, token: Token, *, export: bool, only_try: bool = False) -> bool:
        """Carry out `NAME=value` or `NAME=(…)`; whether the token is one."""
        if token.kind == "array":
            if not only_try:
                items = [word for item in token.items for word in self._rest([item])]
                self._values.set_array(token.text, tuple(items), self._path, append=token.append)
            return True
        first = token.pieces[0] if token.pieces else None
        found = _ASSIGNED.match(first.text) if first and first.kind == "text" and not first.quoted else None
        if found is None or first is None:
            return False
        if not only_try:
            rest = (Piece("text", first.text[found.end() :], True), *token.pieces[1:])
            segments = segments_of(rest, self._values, self._path, token.line)
            self._values.set(found[1], segments, self._path, append=bool(found[2]))
            if export:
                self._values.export(found[1])
        return True

    def _defaults(self, part: list[Token]) -> None:
        """`: "${NAME:=value}"` sets a variable that has none."""
        for token in part:
            for piece in token.pieces:
                if piece.kind == "variable" and piece.operator in (":=", "=") and not self._values.is_set(piece.text):
                    segments = segments_of(piece.other, self._values, self._path, token.line)
                    self._values.set(piece.text, segments, self._path, append=False)

    def _source(self, token: Token, depth: int) -> None:
        words = words_of(token.pieces, self._values, self._path, token.line)
        if depth >= _SOURCE_DEPTH or len(words) != 1 or words[0].open:
            return
        text = self._siblings.text(words[0].text)
        if text is not None:
            around, blocks = self._path, self._blocks
            self._blocks = []
            self.read(tokens(text), depth + 1)
            self._path, self._blocks = around, blocks

    def _start(self, words: list[Word], depth: int) -> None:
        """A command that may start a server."""
        if not words:
            return
        command = _of_variable(words) or find_in_words(words)
        if command is None or (command.program is None and command.image is None):
            if depth <= _SOURCE_DEPTH and (_SHELLS.fullmatch(words[0].text) or _wrapped(words)):
                inner = next((word for word in words[1:] if _INNER.search(word.text)), None)
                if inner is not None:
                    self.read(tokens(inner.text, inner.line), depth + 2)
            return
        if any(word.text in _ASKS_ONLY for word in command.arguments[:2]):
            return
        exported = self._values.environment(self._path)
        variables = {**{name: value for name, (value, _) in exported.items()}, **command.variables}
        places = {name: ("", line) for name, (_, line) in exported.items()}
        if len(self.found) < DEFINITIONS_LIMIT:
            self.found.append(Definition("", command._replace(variables=variables, places=places)))


def _wrapped(words: list[Word]) -> bool:
    """Whether a shell stands behind a wrapper: `nohup bash -c "…"`, `sudo -u me sh -c '…'`."""
    return any(_SHELLS.fullmatch(word.text) for word in words[1:6])


def _of_variable(words: list[Word]) -> Command | None:
    """A command whose program is a variable named after it: `"$LLAMA_SERVER" -m model.gguf`."""
    for at, word in enumerate(words[:4]):
        named = word.open and re.search(r"llama|server", word.text, re.IGNORECASE)
        following = words[at + 1].text if at + 1 < len(words) else ""
        if named and "/" not in word.text and re.fullmatch(r"--?[A-Za-z][\w-]*", following):
            return find_in_words([Word("llama-server", word.line, False), *words[at + 1 :]])
    return None
