"""Variables of a shell script as far as reading tells: what they hold at a place, and what depends on a condition."""

from __future__ import annotations

from typing import NamedTuple

from doctor.launch.definition import VALUE_LIMIT, DefinitionError
from doctor.launch.sh_tokens import DEPTH_LIMIT, Piece
from doctor.launch.words import Word

Path = tuple[tuple[int, int], ...]
"""The branches a line stands in, outermost first: (number of the if, number of its arm)."""


class Segment(NamedTuple):
    """Part of a value: its text, the line it was set in, whether only under a condition, whether it is not known."""

    text: str
    line: int
    maybe: bool | tuple[int, int] = False
    open: bool = False


class _Setting(NamedTuple):
    path: Path
    append: bool
    segments: tuple[Segment, ...]
    items: tuple[Word, ...] | None


class Values:
    """The variables of one script."""

    def __init__(self) -> None:
        self._settings: dict[str, list[_Setting]] = {}
        self._exported: set[str] = set()
        self.export_all = False

    def set(self, name: str, segments: tuple[Segment, ...], path: Path, *, append: bool) -> None:
        """`NAME=…` or `NAME+=…` with a text."""
        if sum(len(segment.text) for segment in segments) > VALUE_LIMIT:
            line = segments[0].line
            raise DefinitionError(f"line {line}: the value of {name} grows beyond {VALUE_LIMIT} characters")
        self._settings.setdefault(name, []).append(_Setting(path, append, segments, None))
        if self.export_all:
            self._exported.add(name)

    def set_array(self, name: str, items: tuple[Word, ...], path: Path, *, append: bool) -> None:
        """`NAME=(…)` or `NAME+=(…)`."""
        if len(items) > 4096:
            raise DefinitionError(f"line {items[0].line}: the list {name} has more than 4096 words")
        self._settings.setdefault(name, []).append(_Setting(path, append, (), items))

    def export(self, name: str) -> None:
        """`export NAME`."""
        self._exported.add(name)

    def unset(self, name: str, path: Path) -> None:
        """`unset NAME`."""
        if not path:
            self._settings.pop(name, None)
        self._exported.discard(name)

    def is_set(self, name: str) -> bool:
        """Whether the script sets a variable anywhere above."""
        return name in self._settings

    def environment(self, path: Path) -> dict[str, tuple[str, int]]:
        """The exported variables whose value is known: (value, line)."""
        found = {}
        for name in sorted(self._exported):
            value = self.scalar(name, path)
            if value and not any(segment.open or segment.maybe for segment in value):
                found[name] = (_text(value), value[0].line)
        return found

    def items(self, name: str, path: Path) -> tuple[Word, ...] | None:
        """The elements of an array, None when the variable is none."""
        found: list[Word] | None = None
        for setting, branch in self._seen_from(name, path):
            if setting.items is None:
                continue
            items = [word if branch is None else word._replace(maybe=branch) for word in setting.items]
            if setting.append or branch is not None:
                found = [*(found or ()), *items]
            else:
                found = items
        return None if found is None else tuple(found)

    def scalar(self, name: str, path: Path) -> tuple[Segment, ...] | None:
        """A text variable's value; None when the script does not set it."""
        found: tuple[Segment, ...] | None = None
        for setting, branch in self._seen_from(name, path):
            if setting.items is not None:
                continue
            if branch is None:
                found = (*(found or ()), *setting.segments) if setting.append else setting.segments
                continue
            before = found or ()
            new = setting.segments
            if setting.append:
                added = new
            elif before and new[: len(before)] == before:  # ARGS="$ARGS more"
                added = new[len(before) :]
            elif _text(new) == _text(before):
                continue
            else:
                found = (Segment(f"${name}", new[0].line if new else 0, open=True),)
                continue
            found = (*before, *(segment._replace(maybe=branch) for segment in added))
        return found

    def _seen_from(self, name: str, path: Path) -> list[tuple[_Setting, tuple[int, int] | None]]:
        """The settings that can have been made on the way to `path`, and the branch they depend on (None: surely)."""
        found = []
        for setting in self._settings.get(name, ()):
            common = 0
            while common < min(len(setting.path), len(path)) and setting.path[common] == path[common]:
                common += 1
            here, there = setting.path[common : common + 1], path[common : common + 1]
            if here and there and here[0][0] == there[0][0]:
                continue  # another arm of the same if
            found.append((setting, here[0] if here else None))
        return found


def _text(segments: tuple[Segment, ...]) -> str:
    return "".join(segment.text for segment in segments)


def segments_of(
    pieces: tuple[Piece, ...], values: Values, path: Path, line: int, depth: int = 0
) -> tuple[Segment, ...]:
    """A word as one text, nothing split: the right side of an assignment."""
    found: list[Segment] = []
    for piece in pieces:
        if piece.kind == "text":
            found.append(Segment(piece.text, line))
        elif piece.kind == "open":
            found.append(Segment(piece.text, line, open=True))
        else:
            for field in _fields(piece, values, path, line, depth):
                if found and found[-1].text and piece.every and field is not None:
                    found.append(Segment(" ", line))
                found.extend(field or ())
    return tuple(segment for segment in found if segment.text or segment.open)


def words_of(pieces: tuple[Piece, ...], values: Values, path: Path, line: int) -> list[Word]:
    """The words the shell makes of one word: variables filled in, bare ones split at blanks."""
    words: list[Word] = []
    current: list[Segment] | None = None

    def close() -> None:
        nonlocal current
        if current is not None:
            words.append(_joined(current, line))
            current = None

    for piece in pieces:
        if piece.kind == "text":
            current = [*(current or ()), Segment(piece.text, line)]
            continue
        if piece.kind == "open":
            current = [*(current or ()), Segment(piece.text, line, open=True)]
            continue
        for number, field in enumerate(_fields(piece, values, path, line, 0)):
            if number:
                close()
            if piece.quoted or piece.every:
                current = [*(current or ()), *field]
                continue
            for part in _split(field):
                if part is None:
                    close()
                else:
                    current = [*(current or ()), part]
    close()
    if len(words) == 1 and not words[0].text and any(piece.every for piece in pieces):
        return []  # "${LIST[@]}" of an empty list is no word at all
    if len(words) == 1:
        words[0] = words[0]._replace(line=line)
    return words


def _joined(segments: list[Segment], line: int) -> Word:
    text = "".join(segment.text for segment in segments)
    return Word(
        text,
        segments[0].line if segments else line,
        any(segment.open for segment in segments),
        maybe=next((segment.maybe for segment in segments if segment.maybe), False),
    )


def _split(segments: tuple[Segment, ...]) -> list[Segment | None]:
    """Segments cut at blanks, None between two words."""
    found: list[Segment | None] = []
    for segment in segments:
        if segment.open:
            found.append(segment)
            continue
        parts = segment.text.split()
        if segment.text[:1].isspace():
            found.append(None)
        for number, part in enumerate(parts):
            if number:
                found.append(None)
            found.append(segment._replace(text=part))
        if parts and segment.text[-1:].isspace():
            found.append(None)
    return found


def _fields(piece: Piece, values: Values, path: Path, line: int, depth: int) -> list[tuple[Segment, ...]]:
    """What a variable stands for: one text, or the elements of an array."""
    name, operator = piece.text, piece.operator
    items = values.items(name, path)
    if items is not None:
        chosen = items if piece.every else items[:1]
        return [(Segment(word.text, word.line, word.maybe, word.open),) for word in chosen]
    value = values.scalar(name, path)
    if depth > DEPTH_LIMIT:
        return [(Segment(f"${name}", line, open=True),)]
    if value is not None:
        if operator in (":-", ":=") and not _text(value):
            return [segments_of(piece.other, values, path, line, depth + 1)]
        if operator in (":+", "+"):
            return [segments_of(piece.other, values, path, line, depth + 1)] if _text(value) else []
        return [value]
    if operator in (":-", "-", ":=", "="):
        return [segments_of(piece.other, values, path, line, depth + 1)]
    if operator in (":+", "+"):
        other = segments_of(piece.other, values, path, line, depth + 1)
        return [tuple(segment._replace(maybe=True) for segment in other)]
    shown = f"${{{name}}}" if operator else f"${name}"
    return [(Segment(shown, line, open=True),)]
