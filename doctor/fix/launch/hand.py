"""Carries a change of a command out in the text it is written in: tried, read again, and kept only if it is what was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.fix.launch import entries, spots, variable_spots
from doctor.fix.launch.changes import Change, Variable, outcome, revealed, state_of
from doctor.fix.plan import CannotFix

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from doctor.fix.launch.changes import State, Wanted
    from doctor.fix.launch.files import LaunchFiles
    from doctor.launch.command import Command
    from doctor.launch.definition import Definition
    from doctor.launch.words import Word
    from doctor.secrets import Vault

TRIES = 2000
"""Readings of a file in one run. A change needs a few; a file made to need more is left alone."""
ANCHORS = 24
"""Words behind which an added option is tried."""


class Hand:
    """The servers of a launch file (`now`), and the one text that is changed (`target`, a real path)."""

    def __init__(self, files: LaunchFiles, vault: Vault) -> None:
        """Raises CannotFix."""
        self.files = files
        self.vault = vault
        self.now = files.read({})
        self.changed: dict[str, str] = {}
        self.target: str | None = None
        self._left = TRIES

    def carry_out(self, at: int, change: Wanted, allowed: Mapping[int, Sequence[State]]) -> None:
        """Change server `at`. `allowed` are the other states that further servers may come to. Raises CannotFix."""
        before = self.state()
        try:
            if isinstance(change, Variable):
                self._set(at, change, allowed)
            elif change.free:
                self._add(at, change, allowed)
            else:
                self._change(at, change, allowed)
        except CannotFix:
            self.back_to(before)
            if self.target is not None and self._elsewhere(at, change, allowed):
                raise CannotFix("file", "stands in another file: run `doctor fix` once more") from None
            raise

    def _elsewhere(self, at: int, change: Wanted, allowed: Mapping[int, Sequence[State]]) -> bool:
        """Whether it could be carried out in a file other than the one that is changed."""
        before = self.state()
        self.target = None
        try:
            self.carry_out(at, change, allowed)
        except CannotFix:
            return False
        finally:
            self.back_to(before)
        return True

    def state(self) -> Any:
        """How it stands, for `back_to`."""
        return self.now, dict(self.changed), self.target

    def back_to(self, state: Any) -> None:
        """As it stood."""
        self.now, self.changed, self.target = state[0], dict(state[1]), state[2]

    # --- the kinds of change ------------------------------------------------------------------------------------------

    def _change(self, at: int, change: Change, allowed: Mapping[int, Sequence[State]]) -> None:
        words = self.now[at].command.words
        new = tuple(revealed(word, self.vault) for word in change.words)
        old = words[change.first : change.end]
        if _parted(old, new) and self._try(at, change, self._at_the_joint(old[0], new[0]), allowed):
            return
        if new:
            self._must_be_static(old or words[max(0, change.first - 1) : change.first])
        if self._try(at, change, self._whole(at, change, new), allowed):
            return
        if new and self.files.kind in entries.KINDS and any(word.text == new[0] for word in words[change.end :]):
            self._change(
                at, Change(change.first, change.end, ()), allowed
            )  # a key stands once, and the later one counts
            return
        if not old:
            anchor = change.first - 1
            self._one(at, Change(anchor, change.first, (words[anchor].text, *new)), allowed)
            return
        pairs = min(len(old), len(new))
        for number in range(len(old) - 1, pairs - 1, -1):  # what is left out, the last first
            self._one(at, Change(change.first + number, change.first + number + 1, ()), allowed)
        for number in range(pairs - 1, -1, -1):
            more = new[number:] if number == pairs - 1 else new[number : number + 1]
            if more != (old[number].text,):
                self._one(at, Change(change.first + number, change.first + number + 1, more), allowed)

    def _add(self, at: int, change: Change, allowed: Mapping[int, Sequence[State]]) -> None:
        """New options: behind the last words that are sure to be there."""
        words = self.now[at].command.words
        first = self.now[at].command.first
        new = tuple(revealed(word, self.vault) for word in change.words)
        places = [
            place for place in range(len(words), first, -1) if not (words[place - 1].open or words[place - 1].maybe)
        ]
        places += [
            place for place in range(len(words), first, -1) if words[place - 1].open and not words[place - 1].maybe
        ]
        for place in places[:ANCHORS]:
            if place < len(words) and not words[place].text.startswith("-"):
                continue  # between an option and its value
            wanted = Change(place, place, new)
            if self._try(at, wanted, self._behind(at, place - 1, new), allowed):
                return
        raise self._unclear(words[-1] if words else None)

    def _set(self, at: int, change: Variable, allowed: Mapping[int, Sequence[State]]) -> None:
        command = self.now[at].command
        file, line = _place_of(command, change.name)

        def tried() -> Iterator[tuple[str, spots.Patch]]:
            for real, text in self._texts(file):
                for patch in variable_spots.rewritten(
                    text, self.files.kind, line if real == self._first(file) else 1, change
                ):
                    yield real, patch

        if not self._try(at, change, tried(), allowed):
            raise CannotFix("place", f"{self._where(file, line)}: where {change.name} gets its value could not be told")

    def _one(self, at: int, change: Change, allowed: Mapping[int, Sequence[State]]) -> None:
        """One word replaced, by none or more."""
        word = self.now[at].command.words[change.first]
        self._must_be_static((word,))
        if not self._try(at, change, self._single(word, change.words), allowed):
            raise self._unclear(word)

    # --- where it may stand -------------------------------------------------------------------------------------------

    def _whole(self, at: int, change: Change, new: tuple[str, ...]) -> Iterator[tuple[str, spots.Patch]]:
        """Rewritings of all words of a change together."""
        words = self.now[at].command.words
        old = words[change.first : change.end]
        anchor = old[0] if old else words[change.first - 1] if change.first else None
        if anchor is None:
            return
        for real, text in self._texts(anchor.file):
            if self.files.kind in entries.KINDS:
                for patch in entries.rewritten(text, words, change.first, change.end, new):
                    yield real, patch
            elif len(old) > 1 and not new:
                for spot in spots.spots(text, old[0].text, old[0].line):
                    for patch in spots.without(text, self.files.kind, spot, len(old) - 1):
                        yield real, patch

    def _at_the_joint(self, word: Word, option: str) -> Iterator[tuple[str, spots.Patch]]:
        """`--option=$VALUE` as two words; what is filled in stays."""
        for real, text in self._texts(word.file):
            for spot in spots.spots(text, word.text.partition("=")[0] + "=", word.line):
                yield real, spots.Patch(spot.start, spot.end, f"{option} ")

    def _single(self, word: Word, new: tuple[str, ...]) -> Iterator[tuple[str, spots.Patch]]:
        for real, text in self._texts(word.file):
            spelt = word.text.lstrip("-") if self.files.kind in entries.KINDS else word.text
            for spot in spots.spots(text, spelt, word.line if real == self._first(word.file) else 1):
                found = (
                    spots.rewritten(text, self.files.kind, spot, new)
                    if new
                    else spots.without(text, self.files.kind, spot)
                )
                for patch in found:
                    yield real, patch

    def _behind(self, at: int, anchor: int, new: tuple[str, ...]) -> Iterator[tuple[str, spots.Patch]]:
        words = self.now[at].command.words
        word = words[anchor]
        for real, text in self._texts(word.file):
            if self.files.kind in entries.KINDS:
                for patch in entries.rewritten(text, words, anchor + 1, anchor + 1, new):
                    yield real, patch
                continue
            for spot in spots.spots(text, word.text, word.line):
                for patch in spots.followed(text, self.files.kind, spot, word.text, new):
                    yield real, patch

    def _texts(self, file: str) -> Iterator[tuple[str, str]]:
        """The texts a word may stand in: that of its own file first."""
        own = self._first(file)
        for real in dict.fromkeys((own, *self.files.texts)):
            if real in self.files.texts and self.target in (None, real):
                yield real, self.changed.get(real, self.files.texts[real])

    def _first(self, file: str) -> str:
        return self.files.where(file)

    # --- trying -------------------------------------------------------------------------------------------------------

    def _try(
        self,
        at: int,
        change: Wanted,
        patches: Iterator[tuple[str, spots.Patch]],
        allowed: Mapping[int, Sequence[State]],
    ) -> bool:
        """Take the first patch that makes server `at` what the change wants, and no other server anything unwanted."""
        wanted = outcome(self.now[at].command, change, self.vault)
        if wanted == state_of(self.now[at].command):
            return True
        for real, patch in patches:
            self._left -= 1
            if self._left < 0:
                raise CannotFix("place", f"{self.files.path}: too many places to try")
            text = patch.on(self.changed.get(real, self.files.texts[real]))
            try:
                read = self.files.read({**self.changed, real: text})
            except CannotFix:
                continue
            if self._is_wanted(read, at, change, wanted, allowed):
                self.now, self.target = read, real
                self.changed[real] = text
                return True
        return False

    def _is_wanted(
        self,
        read: list[Definition],
        at: int,
        change: Wanted,
        wanted: State,
        allowed: Mapping[int, Sequence[State]],
    ) -> bool:
        if len(read) != len(self.now):
            return False
        for number, (new, old) in enumerate(zip(read, self.now, strict=True)):
            if _around(new) != _around(old):
                return False
            state = state_of(new.command)
            if number == at:
                if state != wanted or not _as_sure(new.command, old.command, change):
                    return False
            elif state != state_of(old.command) and state not in allowed.get(number, ()):
                return False
        return True

    def _must_be_static(self, words: Sequence[Word]) -> None:
        word = next((word for word in words if word.open), None)
        if word is not None:
            shown = word.text if len(word.text) < 60 else f"{word.text[:57]}..."
            raise CannotFix("open", f"{self._where(word.file, word.line)}: {shown} is only known when it runs")

    def _unclear(self, word: Word | None) -> CannotFix:
        file, line = (word.file, word.line) if word else ("", 1)
        return CannotFix("place", f"{self._where(file, line)}: could not be changed alone: more depends on it")

    def _where(self, file: str, line: int) -> str:
        return f"{self.files.shown(self.files.where(file))}:{line}"


def _around(definition: Definition) -> tuple[object, ...]:
    """What no change may touch."""
    command = definition.command
    return (
        definition.name, definition.gpu, command.program, command.first, command.image,
        [port[:3] for port in command.ports], command.mounts,
    )  # fmt: skip


def _as_sure(new: Command, old: Command, change: Wanted) -> bool:
    """Whether words that were sure, conditional or not known are so still, and those added are known."""
    first, end, more = (change.first, change.end, change.words) if isinstance(change, Change) else (0, 0, ())
    kept = [*old.words[:first], *old.words[end:]]
    here = [*new.words[:first], *new.words[first + len(more) :]]
    added = new.words[first : first + len(more)]
    near = any(word.maybe for word in old.words[max(0, first - 1) : end])
    return (
        [(word.open, bool(word.maybe)) for word in kept] == [(word.open, bool(word.maybe)) for word in here]
        and not any(word.open and not _parted(old.words[first:end], tuple(more)) for word in added)
        and (near or not any(word.maybe for word in added))
    )


def _parted(old: Sequence[Word], new: Sequence[str]) -> bool:
    """Whether one word with a value that is filled in becomes two: its option and that value."""
    return len(old) == 1 and old[0].open and len(new) == 2 and old[0].text.partition("=")[2] == new[1]


def _place_of(command: Command, name: str) -> tuple[str, int]:
    for word in command.words[: command.first]:
        if word.text.partition("=")[0] == name:
            return word.file, word.line
    return command.places.get(name, ("", 1))
