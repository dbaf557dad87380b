"""Reads a PowerShell script and finds the servers it starts. Nothing is run: what only running tells is left open."""

from __future__ import annotations

import re
from typing import NamedTuple

from doctor.launch.command import find_in_words
from doctor.launch.definition import DEFINITIONS_LIMIT, VALUE_LIMIT, Definition, DefinitionError
from doctor.launch.words import TEXT_LIMIT, Word

_ASSIGN = re.compile(
    r"\s*(?:\[[\w.\[\]]+\]\s*)?\$(?:(env|script|global|local):)?([A-Za-z_]\w*)\s*(\+?=)\s*", re.IGNORECASE
)
_TOKEN = re.compile(
    r"""(?P<here>@(?P<mark>["'])[ \t]*\n(?P<doc>.*?)\n(?P=mark)@)"""
    r"""|(?P<single>'(?:[^']|'')*')"""
    r"""|(?P<double>"(?:[^"`]|`.|"")*")"""
    r"""|(?P<call>\$\(|@\()"""
    r"""|(?P<splat>@[A-Za-z_]\w*)"""
    r"""|(?P<comma>,)"""
    r"""|(?P<bare>[^\s"',;|(){}]+)""",
    re.DOTALL,
)
_FILLED = re.compile(r"\$\{(?:env:)?(\w+)\}|\$(env:)?([A-Za-z_]\w*)|\$\([^()]*\)", re.IGNORECASE)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": ""}
_BLOCK = re.compile(r"\s*(?:\}\s*)?(?:if|elseif|else|foreach|for|while|switch|try|catch|finally)\b", re.IGNORECASE)
_PASSED = ("-ArgumentList", "-Args", "-FilePath", "-WorkingDirectory", "-WindowStyle", "-RedirectStandardOutput")
_SWITCHES = ("-nonewwindow", "-wait", "-passthru")
_LIMIT = 4096
STATEMENT_LIMIT = 32767


class _Row(NamedTuple):
    text: str
    line: int
    depth: int


class _Variable(NamedTuple):
    words: tuple[Word, ...]
    list: bool


def read_powershell(text: str, line: int = 1) -> list[Definition]:
    """The servers a PowerShell script starts, in order. Raises DefinitionError."""
    script = _Script()
    for row in _rows(text.replace("\r\n", "\n"), line):
        script.row(row)
    return script.found[:DEFINITIONS_LIMIT]


def _rows(text: str, line: int) -> list[_Row]:
    """Statements: backticks, open brackets and here-strings go on in the next line; braces are counted for conditions."""
    if len(text) > TEXT_LIMIT:
        raise DefinitionError(f"larger than {TEXT_LIMIT >> 10} KiB")
    text = _without_remarks(text)
    last_here = max(text.rfind('\n"@'), text.rfind("\n'@"))  # where the last here-string can end
    rows: list[_Row] = []
    start = at = 0
    first = number = line
    brackets = depth = 0
    letters = list(text)  # what is read, with continuations and remarks blanked out
    while at < len(text):
        char = letters[at]
        if char == "`" and (goes_on := re.match(r"`[ \t]*\n", text[at : at + 80])):
            letters[at : at + goes_on.end()] = [" "] * (goes_on.end() - 1) + ["\v"]
            continue
        if char in "\"'" or text.startswith(('@"', "@'"), at):
            found = _TOKEN.match(text, at) if char != "@" or at < last_here else None
            end = found.end() if found and (found["here"] or found["single"] or found["double"]) else at + 1
            number += text.count("\n", at, end)
            at = end
            continue
        if char == "#" and (at == 0 or letters[at - 1] in " \t\n;\v("):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            letters[at:end] = [" "] * (end - at)
            at = end
            continue
        brackets += (char == "(") - (char == ")")
        number += char == "\v"
        if char in "{}" or (char in "\n;" and brackets <= 0):
            statement = "".join(letters[start:at])
            if len(statement) > STATEMENT_LIMIT:
                raise DefinitionError(f"line {first}: a command longer than {STATEMENT_LIMIT} characters")
            rows.append(_Row(statement, first, depth))
            conditional = bool(_BLOCK.match(statement))
            depth = max(0, depth + ((1 if conditional or depth else 0) if char == "{" else -1 if char == "}" else 0))
            number += char == "\n"
            start, first = at + 1, number
            brackets = 0
        else:
            number += char == "\n"
        at += 1
    rows.append(_Row("".join(letters[start:])[:STATEMENT_LIMIT], first, depth))
    return [row for row in rows if row.text.strip()]


def _without_remarks(text: str) -> str:
    """The text with `<# … #>` blanked out."""
    pieces: list[str] = []
    at = 0
    while (start := text.find("<#", at)) >= 0 and (end := text.find("#>", start)) >= 0:
        pieces += [text[at:start], "\n" * text.count("\n", start, end)]
        at = end + 2
    return "".join([*pieces, text[at:]])


class _Script:
    def __init__(self) -> None:
        self.found: list[Definition] = []
        self._variables: dict[str, _Variable] = {}
        self._environment: dict[str, str] = {}
        self._places: dict[str, tuple[str, int]] = {}

    def row(self, row: _Row) -> None:
        """One statement."""
        lead = len(row.text) - len(row.text.lstrip("\n\v \t"))
        text = row.text[lead:]
        line = row.line + row.text[:lead].count("\n") + row.text[:lead].count("\v")
        assign = _ASSIGN.match(text)
        if assign:
            self._assign(assign, text[assign.end() :], line, row.depth > 0)
            started = re.match(r"(?:Start-Process|&)\s", text[assign.end() :], re.IGNORECASE)
            if not started:
                return
            text = text[assign.end() :]
        self._start(re.sub(r"^(?:&|\.)\s+", "", text), line)

    def _assign(self, assign: re.Match[str], rest: str, line: int, conditional: bool) -> None:
        name = assign[2].lower()
        if assign[1] and assign[1].lower() == "env":
            words = self._words(rest, line)
            text = " ".join(word.text for word in words)
            self._environment.pop(assign[2], None)
            if not conditional and not any(word.open for word in words):
                self._environment[assign[2]], self._places[assign[2]] = text, ("", line)
            self._variables[f"env:{name}"] = _Variable(
                (Word(text, line, conditional or any(word.open for word in words)),), False
            )
            return
        before = self._variables.get(name)
        is_list = rest.lstrip().startswith("@(") or "," in re.sub(r"\"[^\"]*\"|'[^']*'|\([^()]*\)", "", rest)
        words = self._words(rest, line)
        if re.match(r"\s*(?:&|\$\(|\(|\[|[A-Za-z]+-[A-Za-z]+\b)", rest):
            words = [Word(f"${assign[2]}", line, True)]  # a call: only running it tells
        added = tuple(word._replace(maybe=conditional) for word in words)
        if assign[3] == "+=" and before is not None:
            if before.list or is_list:
                self._variables[name] = _Variable((*before.words, *added)[:_LIMIT], True)
                return
            text = "".join(word.text for word in (*before.words, *words))
            _check(text, line)
            opened = conditional or any(word.open for word in (*before.words, *words))
            self._variables[name] = _Variable((Word(text, line, opened),), False)
            return
        if conditional and before is not None and not is_list:
            added = (Word(f"${assign[2]}", line, True),)
        self._variables[name] = _Variable(added, is_list)

    def _start(self, text: str, line: int) -> None:
        words = self._words(text, line)
        if not words:
            return
        if words[0].text.lower() in ("start-process", "saps", "start"):
            words = _of_start_process(words)
        command = find_in_words(words) if words else None
        if command is not None and (command.program is not None or command.image is not None):
            variables = {**self._environment, **command.variables}
            self.found.append(Definition("", command._replace(variables=variables, places=dict(self._places))))

    def _words(self, text: str, line: int) -> list[Word]:
        """The words of an expression or a command, variables filled in, lists and splats laid out."""
        words: list[Word] = []
        end = 0
        glue = False
        for found in _TOKEN.finditer(text):
            gap = text[end : found.start()]
            here = line + text.count("\n", 0, found.start()) + text.count("\v", 0, found.start())
            if "|" in gap or ";" in gap:
                break
            end = found.end()
            if found["comma"] or found["call"]:
                glue = False
                continue
            new = self._token(found, here)
            if glue and not gap and words and new and not found["splat"]:
                last = words[-1]
                words[-1] = last._replace(text=last.text + new[0].text, open=last.open or new[0].open)
                words += new[1:]
            else:
                words += new
            glue = True
            if len(words) > _LIMIT:
                raise DefinitionError(f"line {here}: more than {_LIMIT} words in one command")
        return words

    def _token(self, found: re.Match[str], line: int) -> list[Word]:
        if found["single"]:
            return [Word(found["single"][1:-1].replace("''", "'"), line, False)]
        if found["here"] or found["double"]:
            raw = found["doc"] if found["here"] else found["double"][1:-1].replace('""', '"')
            return [Word(raw, line, False)] if found["mark"] == "'" else [self._filled(raw, line)]
        if found["splat"]:
            variable = self._variables.get(found["splat"][1:].lower())
            return list(variable.words) if variable else [Word(found["splat"], line, True)]
        bare = found["bare"]
        whole = re.fullmatch(r"\$(env:)?([A-Za-z_]\w*)", bare, re.IGNORECASE)
        variable = self._variables.get(f"{whole[1] or ''}{whole[2]}".lower()) if whole else None
        if variable is not None:
            return (
                [word._replace(line=line) for word in variable.words] if len(variable.words) == 1 else [*variable.words]
            )
        return [self._filled(bare, line)]

    def _filled(self, text: str, line: int) -> Word:
        """A text with its variables filled in."""
        opened = False

        def fill(found: re.Match[str]) -> str:
            nonlocal opened
            name = found[1] or found[3]
            key = f"env:{name}" if found[2] or "env:" in found.group(0).lower() else name
            variable = self._variables.get((key or "").lower())
            if variable is None or variable.list:
                opened = opened or (name or "").lower() not in ("true", "false", "null")
                return found.group(0)
            opened = opened or any(word.open or word.maybe for word in variable.words)
            return "".join(word.text for word in variable.words)

        filled = _FILLED.sub(fill, text)
        filled = re.sub(r"`(.)", lambda found: _ESCAPED.get(found[1], found[1]), filled)
        _check(filled, line)
        return Word(filled, line, opened)


def _check(text: str, line: int) -> None:
    if len(text) > VALUE_LIMIT:
        raise DefinitionError(f"line {line}: a variable grows beyond {VALUE_LIMIT} characters")


def _of_start_process(words: list[Word]) -> list[Word]:
    """`Start-Process -FilePath P -ArgumentList A` as `P A`; one text of arguments is split at its blanks."""
    program: list[Word] = []
    arguments: list[Word] = []
    at = 1
    taking = program
    while at < len(words):
        word = words[at]
        name = next((full for full in _PASSED if word.text.lower() == full.lower()), None)
        if name is not None:
            taking = arguments if name.lower().startswith("-arg") else program if name == "-FilePath" else []
        elif word.text.lower() not in _SWITCHES:
            if taking is program and program:
                taking = arguments
            taking.append(word)
        at += 1
    if len(arguments) == 1 and " " in arguments[0].text:
        from doctor.launch.words import split

        arguments = [item for command in split(arguments[0].text, arguments[0].line) for item in command]
    return [*program[:1], *arguments]
