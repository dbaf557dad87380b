"""Reads the arguments of llama-server the way a given build does, and collects what is wrong with them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.launch.record import LaunchOption, OptionProblem
from doctor.launch.repeated import repeated, short
from doctor.launch.spelling import ALL_OF_THEM, JOINED, apart, hide, is_option, is_secret, joined, pairs
from doctor.launch.table import UNDERSCORES_SINCE, Segment
from doctor.launch.unknown import judge
from doctor.launch.values import check_value, quoted, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.launch.table import OptionTable
    from doctor.launch.words import Word
    from doctor.secrets import Vault

_LEFT_OUT = ("unknown", "removed", "too-new", "deprecated")
"""Kinds of problem that end when the words are left out."""
_GUESSED = ("joined", "equals", "stray-word")
_OFF = ("off", "false", "0", "no", "disabled")
_OPTIONS_LIMIT = 500
_GUESSES_LIMIT = 10  # slips of the pen that are looked up; a text with more is no command line


class Edit(NamedTuple):
    """Words `first` up to `end` of the arguments and what the build wants instead, "" to leave them out.

    `kind` and `why` are those of the problem (OptionProblem) that it puts right.
    """

    first: int
    end: int
    words: str
    kind: str = ""
    why: str = ""


class Reading(NamedTuple):
    """What the arguments say. `texts` are the words again, secrets replaced by their tokens.

    `filled_in` are the canonical names of options whose value is filled in later (a shell variable, a placeholder),
    `maybe` those that may not be given at all: they stand in a part that only runs under a condition.
    """

    options: tuple[LaunchOption, ...]
    problems: tuple[OptionProblem, ...]
    texts: tuple[str, ...]
    filled_in: frozenset[str]
    maybe: frozenset[str] = frozenset()
    edits: tuple[Edit, ...] = ()


def read_arguments(arguments: Sequence[Word], table: OptionTable, build: int, vault: Vault) -> Reading:
    """The options among the arguments, in order, and what is wrong with them on this build."""
    reader = _Reader(arguments, table, build, vault)
    reader.read()
    sure = [at for at, option in enumerate(reader.options) if option.name not in reader.maybe]
    problems, dropped = repeated([reader.options[at] for at in sure], table, build)
    reader.drop([(sure[at], sure[last]) for at, last in dropped])
    return Reading(
        tuple(reader.options),
        tuple(sorted([*reader.problems, *problems], key=lambda problem: problem.line)),
        tuple(reader.texts[: reader.taken]),
        frozenset(reader.filled_in),
        frozenset(reader.maybe),
        tuple(reader.edits),
    )


class _Reader:
    def __init__(self, arguments: Sequence[Word], table: OptionTable, build: int, vault: Vault) -> None:
        self._words = arguments
        self._table = table
        self._build = build
        self._vault = vault
        self._at = 0
        self._unknowns = 0
        self.texts = [word.text for word in arguments]
        self.options: list[LaunchOption] = []
        self.problems: list[OptionProblem] = []
        self.filled_in: set[str] = set()
        self.maybe: set[str] = set()
        self.edits: list[Edit] = []
        self._first = 0  # where the option being read starts
        self._spans: list[tuple[int, int]] = []  # of each option, the words it is made of

    def read(self) -> None:
        while self._at < len(self._words) and len(self.options) < _OPTIONS_LIMIT:
            word = self._words[self._at]
            self._first = self._at
            self._at += 1
            name = self._normal(word.text)
            segment = self._table.at(name, self._build)
            if segment is not None and segment.status != "removed":
                self._known(word, segment)
            elif is_option(word.text):
                self._unknown(word, name)
            else:
                self._stray(word)

    def drop(self, options: Sequence[tuple[int, int]]) -> None:
        """Leave out options that a later one makes void, unless that one is itself a guess at what was meant."""
        changed = {edit.first: edit.kind for edit in self.edits}
        for at, last in options:
            first, end = self._spans[at]
            if first not in changed and changed.get(self._spans[last][0]) not in _GUESSED:
                self.edits.append(Edit(first, end, "", "repeated", "a later one counts"))

    @property
    def taken(self) -> int:
        """How many words were read; the rest of an endless command line is left out, unread keys with it."""
        return self._at

    def _normal(self, text: str) -> str:
        """The spelling as the build compares it."""
        if text.startswith("--") and self._build >= UNDERSCORES_SINCE and self._table.at(text, self._build) is None:
            return text.replace("_", "-")
        return text

    def _known(self, word: Word, segment: Segment) -> None:
        first = self._at
        values: list[str] = []
        for _ in range(segment.takes):
            if self._at >= len(self._words) or self._swallows_option(segment):
                break
            values.append(self._words[self._at].text)
            self._at += 1
        if segment.status == "deprecated":
            self._deprecated(word, segment)
        if len(values) < segment.takes:
            self._missing(word, segment)
            self._add(word, segment.option, None, segment.negated)
            return
        if any(self._words[at].open for at in range(first, self._at)):
            self.filled_in.add(segment.option)
        elif segment.option not in self._table.read["secret"]:
            for value in values:
                self._check(word, segment, value)
        self._add(word, segment.option, self._hidden(segment.option, first), segment.negated)

    def _swallows_option(self, segment: Segment) -> bool:
        """Whether the next word is an option and not meant as a value: the value was forgotten."""
        word = self._words[self._at]
        rule = self._table.value(segment.option, self._build)
        listed = rule is not None and bool(rule.allowed) and word.text.startswith("--")  # no value begins so
        known = is_option(word.text) and (listed or bool(self._table.life(self._normal(word.text))))
        return known and not word.open and segment.option not in ("--reverse-prompt",)

    def _hidden(self, option: str, first: int) -> str | None:
        """The value words from `first` on as one text, kept as tokens when the option is secret."""
        for at in range(first, self._at):
            if option in self._table.read["secret"] or is_secret(option):
                self.texts[at] = hide(self._vault, self.texts[at])
        return " ".join(self.texts[first : self._at]) if self._at > first else None

    def _check(self, word: Word, segment: Segment, value: str) -> None:
        rule = self._table.value(segment.option, self._build)
        fault = check_value(self._table, segment.option, rule, value, self._build) if rule else None
        if fault is None:
            return
        newer = self._build > self._table.newest and fault.message.startswith("is none of") and fault.right is None
        if not newer:  # a newer build may know newer values
            message = f"{short(value)} {fault.message}"
            right = words(word.text, fault.right) if fault.right is not None else None
            self._problem(
                words(word.text, short(value)), fault.kind, message, right, word, fatal=fault.kind == "bad-value"
            )

    def _missing(self, word: Word, segment: Segment) -> None:
        rule = self._table.value(segment.option, self._build)
        right = f"{word.text} on" if rule and "on" in rule.allowed else None
        if self._at >= len(self._words):
            self._problem(word.text, "missing-value", "expected value for argument", right, word, fatal=True)
            return
        swallowed = self._words[self._at].text
        taken = self._table.at(self._normal(swallowed), self._build)
        refused = rule is not None and (fault := check_value(self._table, segment.option, rule, swallowed, self._build))
        fatal = bool(refused and fault and fault.kind == "bad-value") or taken is None or taken.takes > 0
        message = f"needs a value; the next word, {swallowed}, would be taken for it"
        self._problem(word.text, "missing-value", message, right, word, fatal=fatal)

    def _deprecated(self, word: Word, segment: Segment) -> None:
        fix = self._table.option_fix(word.text, None)
        right = next((new for new in segment.successors if self._table.accepts(new.split()[0], self._build)), None)
        message = segment.message if not fix or "why" not in fix else f"{segment.message}; {fix['why']}"
        self._problem(word.text, "deprecated", message, right, word, fatal=False)

    def _unknown(self, word: Word, name: str) -> None:
        head, equals, tail = joined(word.text)
        known = self._table.at(self._normal(head), self._build) if equals else None
        first = self._at
        if known is not None:
            secret = known.option in self._table.read["secret"] or is_secret(head)
            tail = hide(self._vault, tail) if secret else tail
            self.texts[self._at - 1] = f"{head}{equals}{tail}"
            several = apart(self.texts[self._at - 1])
            if several:
                several = [
                    hide(self._vault, part) if before[:1] == "-" and is_secret(before) else part
                    for before, part in pairs(several)
                ]
                self.texts[self._at - 1], tail = " ".join(several), several[1]
            right = words(head, tail) if known.takes else self._switch(head, known, tail)
            right = " ".join(quoted(part) for part in several) if several else right
            kind = "equals" if equals == "=" else "joined"
            self._problem(short(self.texts[self._at - 1]), kind, JOINED[kind], right, word, fatal=True)
            self._add(word, known.option, tail if known.takes else None, known.negated, spelling=head)
            return
        while self._at < len(self._words):
            behind = self._words[self._at]
            if is_option(behind.text) and not (self._at == first and apart(behind.text)):
                break  # several options in one word right behind a foreign one are its value
            if behind.open and (self._at > first or behind.text in ALL_OF_THEM):
                break  # "$@" is no value, and what else is filled in stands behind one
            self._at += 1
        if word.open:
            return
        spelling = head if equals else name
        value = tail if equals else " ".join(self.texts[first : self._at]) or None
        if is_secret(spelling) and value is not None:
            value = hide(self._vault, value)
            if equals:
                self.texts[first - 1] = f"{head}{equals}{value}"
            self.texts[first : self._at] = [hide(self._vault, text) for text in self.texts[first : self._at]]
        self._unknowns += 1
        verdict = judge(self._table, spelling, value, self._build, guess=self._unknowns <= _GUESSES_LIMIT)
        option = verdict.name if verdict and verdict.name else spelling
        negated = any(segment.negated for segment in self._table.life(spelling)[-1:])
        self._add(word, option, value, negated, spelling=head)
        if verdict is not None:
            written = words(head, value) if not equals else f"{head}{equals}{value}"
            self._problem(short(written), verdict.kind, verdict.message, verdict.right, word, fatal=True)

    def _stray(self, word: Word) -> None:
        """A word that belongs to no option: the build refuses it."""
        if word.open:
            return
        before = self.options[-1] if self.options else None
        if before is not None and before.value is None and before.spelling.startswith("-"):
            segment = self._table.at(self._normal(before.spelling), self._build)
            right = self._switch(before.spelling, segment, word.text) if segment else None
            message = f"{before.spelling} is a switch on b{self._build}: it takes no value"
            self._problem(f"{before.spelling} {short(word.text)}", "stray-word", message, right, word, fatal=True)
            if any(other.takes for other in self._table.life(self._normal(before.spelling))):
                # Other builds take the word as the value: it says what was meant.
                self.options[-1] = replace(before, value=word.text)
            return
        given = any(option.name == "--model" for option in self.options)  # then it is some other file
        model = word.text.lower().endswith(".gguf") and not given
        right = words("-m", word.text) if model else None
        message = f"invalid argument: {short(word.text)}; a word without an option in front"
        self._problem(short(word.text), "stray-word", message, right, word, fatal=True)
        if model:
            self._add(word, "--model", word.text, False, spelling="-m")

    def _switch(self, spelling: str, segment: Segment, value: str) -> str | None:
        """A switch as it must be written to mean `value`; None when nothing is left to write."""
        if value.lower() in _OFF:
            other = self._table.spellings_of(segment.option, self._build, negated=not segment.negated)
            return other[0] if other else None
        return spelling

    def _add(self, word: Word, name: str, value: str | None, negated: bool, spelling: str | None = None) -> None:
        if word.maybe:
            self.maybe.add(name)
        self.options.append(LaunchOption(name, spelling or word.text, value, word.line, negated, word.file))
        self._spans.append((self._first, self._at))

    def _problem(self, spelling: str, kind: str, message: str, right: str | None, word: Word, *, fatal: bool) -> None:
        edit = self._edit(kind, right)
        if edit is not None and not (self.edits and self.edits[-1].first == edit.first):
            self.edits.append(edit._replace(why=message))
        if word.maybe:
            message = f"{message} (in a part that only runs under a condition)"
        self.problems.append(OptionProblem(spelling, kind, message, right, word.line, fatal, word.file))

    def _edit(self, kind: str, right: str | None) -> Edit | None:
        """What to write in place of the words just read; None when that is not known."""
        first, end = self._first, self._at
        if kind == "missing-value":
            return None if right is None else Edit(first, first + 1, right, kind)
        if kind == "deprecated" and right is not None and " " not in right:
            right = " ".join([right, *(quoted(text) for text in self.texts[first + 1 : end])])
        if kind == "stray-word" and right is not None and right.startswith("-") and not right.startswith("-m "):
            first -= 1  # the switch in front of it
        if right is None:
            return Edit(first, end, "", kind) if kind in _LEFT_OUT else None
        return Edit(first, end, right, kind)
