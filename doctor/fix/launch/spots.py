"""Where a word of a command can stand in a text, and how the text would look with other words there.

Nothing here knows which of the possible rewritings is right: each is read again, and the one that gives the wanted
command is taken. What is offered is what each language of launch files takes as the same kind of words.
"""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PLAIN = re.compile(r"[\w./:@%+=,~-]+", re.ASCII)
"""Words that need no quotes in any of the languages."""
_YAML_TEXT = re.compile(r"--?[A-Za-z][\w-]*|[A-Za-z/~.][\w./+=-]*", re.ASCII)
_YAML_OTHER = re.compile(r"(?:true|false|on|off|yes|no|null|y|n|~|\.inf|\.nan)", re.IGNORECASE)
_LISTS = ("powershell", "compose", "llama-swap", "dockerfile")
"""Languages with lists whose items are parted by commas."""
_YAML = ("compose", "llama-swap")
_GOES_ON = {"batch": "^", "powershell": "`"}
_MORE = r"""(?:[ \t]+(?:"[^"\r\n]*"|'[^'\r\n]*'|[^\s"']+))"""
SPOTS_LIMIT = 60


class Patch(NamedTuple):
    """Characters `start` up to `end` of a text and what to put there."""

    start: int
    end: int
    text: str

    def on(self, text: str) -> str:
        """The text with it."""
        return text[: self.start] + self.text + text[self.end :]


class Spot(NamedTuple):
    """A place where a word may stand; `quote` are the quotes right around it, "" for none."""

    start: int
    end: int
    quote: str

    @property
    def outer(self) -> tuple[int, int]:
        """The place with its quotes."""
        return self.start - len(self.quote), self.end + len(self.quote)


def spots(text: str, word: str, line: int) -> list[Spot]:
    """The places where a word may stand, those on or near a line first."""
    if not word or "\n" in word:
        return []
    found = []
    rows = _Rows(text)
    written = (word, word.replace("$", "$$"), word.replace("%", "%%"), word.replace("'", "''"))
    for spelling in dict.fromkeys((*written, json.dumps(word, ensure_ascii=False)[1:-1], json.dumps(word)[1:-1])):
        before = r"(?<![\w-])" if spelling.startswith("-") else r"(?<![\w./\\])"
        pattern = re.compile(before + re.escape(spelling) + r"(?![\w./-])(?!\\(?!\r?\n))")
        for match in pattern.finditer(text):
            start, end = match.span()
            quote = text[start - 1] if start and text[start - 1 : start] in ("'", '"') else ""
            quote = quote if quote and text[end : end + 1] == quote else ""
            found.append((abs(rows.line(start) - line), start, Spot(start, end, quote)))
    return [spot for _, _, spot in sorted(found)[:SPOTS_LIMIT]]


class _Rows:
    """Line numbers of places."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def line(self, at: int) -> int:
        from bisect import bisect_right

        return bisect_right(self._starts, at)


def rewritten(text: str, kind: str, spot: Spot, words: Sequence[str]) -> Iterator[Patch]:
    """A word replaced by one or more."""
    first, last = spot.outer
    item = _block_item(text, kind, spot)
    listed = item is None and _in_list(text, kind, spot)
    if len(words) == 1:
        written = _written(words[0], kind, spot.quote, item=item is not None or listed)
        if written is not None:
            yield Patch(first, last, written)
        return
    parts = [_written(word, kind, spot.quote, item=item is not None or listed) for word in words]
    if any(part is None for part in parts):
        return
    whole = [part for part in parts if part is not None]
    if item is not None:
        front, end, newline = item
        yield Patch(first, end, whole[0] + text[last:end] + "".join(f"{newline}{front}{part}" for part in whole[1:]))
    elif listed or (kind == "powershell" and spot.quote and _alone(text, spot)):
        yield Patch(first, last, ", ".join(whole))
    elif all(PLAIN.fullmatch(word) for word in words):
        yield Patch(spot.start, spot.end, " ".join(words))  # inside a longer text, or no quotes at all
        yield Patch(first, last, " ".join(words))
    if item is None and not listed:
        yield Patch(first, last, " ".join(whole))


def followed(text: str, kind: str, spot: Spot, word: str, words: Sequence[str]) -> Iterator[Patch]:
    """Words added behind one: on a line of their own where the words around have theirs, else on the same."""
    last = spot.outer[1]
    parts = [_written(part, kind, "", item=False) for part in words]
    own = None if None in parts else _own_line(text, kind, last)
    if own is not None and words[0].startswith("-") and not _in_list(text, kind, spot):
        at, front, back = own
        yield Patch(at, at, front + " ".join(part for part in parts if part is not None) + back)
    yield from rewritten(text, kind, spot, (word, *words))


def without(text: str, kind: str, spot: Spot, more: int = 0) -> Iterator[Patch]:
    """A word left out, with `more` that follow it on its line."""
    first, last = spot.outer
    if more:
        rest = re.compile(_MORE + f"{{{more}}}").match(text, last)
        if rest is None:
            return
        last = rest.end()
    start, end, line = _line(text, first)
    if _block_item(text, kind, spot) is not None and not more:
        yield Patch(start, end, "")
        return
    if not more and _in_list(text, kind, spot):
        yield from _without_item(text, first, last)
        return
    front, back = text[start:first], text[last : start + len(line)]
    if not front.strip() and back.strip() in ("", "\\", "^", "`"):
        before = text[:start]
        open_end = re.search(r"[ \t]*[\\^`][ \t]*\r?\n$", before)
        if back.strip() or open_end is None:
            yield Patch(start, end, "")
        else:  # the last line of a command: the one above ends it now
            yield Patch(open_end.start(), last, "")
    behind = Patch(first, last + len(back) - len(back.lstrip(" \t")), "")
    if front[-1:] in (" ", "\t") and front.strip():
        yield Patch(start + len(front.rstrip(" \t")), last, "")
    yield behind


def _without_item(text: str, first: int, last: int) -> Iterator[Patch]:
    """An item of a list left out with one comma; with its line where it has one of its own."""
    start, end, line = _line(text, first)
    behind = re.compile(r"\s*,[ \t]*").match(text, last)
    before = re.search(r",[\s\\`]*$", text[max(0, first - 400) : first])
    if behind is not None:
        alone = not text[start:first].strip() and not text[behind.end() : start + len(line)].strip(" \t\\`")
        yield Patch(start, end, "") if alone and behind.end() <= end else Patch(first, behind.end(), "")
    elif before is not None:
        yield Patch(max(0, first - 400) + before.start(), last, "")
    else:
        yield Patch(first, last, "")


def _line(text: str, at: int) -> tuple[int, int, str]:
    """Where the line of a place starts, where the next one does, and the line itself."""
    start = text.rfind("\n", 0, at) + 1
    stop = text.find("\n", at)
    end = len(text) if stop < 0 else stop + 1
    return start, end, text[start:end].rstrip("\r\n")


def newline(text: str, at: int) -> str:
    """The line break that is used where a place is."""
    stop = text.find("\n", at)
    stop = text.rfind("\n", 0, at) if stop < 0 else stop
    return "\r\n" if stop > 0 and text[stop - 1] == "\r" else "\n"


def _block_item(text: str, kind: str, spot: Spot) -> tuple[str, int, str] | None:
    """(what stands in front, where the line ends, line break) of a word that is an item of a YAML list in lines."""
    if kind not in _YAML:
        return None
    first, last = spot.outer
    start, _, line = _line(text, first)
    front, back = text[start:first], text[last : start + len(line)]
    if not re.fullmatch(r"[ \t]*-[ \t]+", front) or not re.fullmatch(r"[ \t]*(?:#.*)?", back):
        return None
    return front, start + len(line), newline(text, first)


def _in_list(text: str, kind: str, spot: Spot) -> bool:
    """Whether commas or brackets stand around a word, and the language has lists of that kind."""
    if kind not in _LISTS:
        return False
    first, last = spot.outer
    before, behind = text[:first].rstrip()[-1:], text[last:].lstrip()[:1]
    if kind == "dockerfile" and text[:first].rstrip(" \t\r\n\\")[-1:] in (",", "["):
        return True
    if kind in _YAML and not spot.quote:
        return before in ("[", ",") and behind in ("]", ",")
    return before in (",", "[", "(") or behind in (",", "]", ")")


def _alone(text: str, spot: Spot) -> bool:
    """Whether nothing else stands on the line."""
    first, last = spot.outer
    start, _, line = _line(text, first)
    return not text[start:first].strip() and not text[last : start + len(line)].strip()


def _own_line(text: str, kind: str, at: int) -> tuple[int, str, str] | None:
    """(place, what stands in front of new words, what behind) for a new line below the one a word is in; None where the
    lines of the command do not each begin with an option."""
    start, end, line = _line(text, max(at - 1, 0))
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    above = _line(text, start - 1)[2] if start else ""
    if not indent or not line.lstrip().startswith(("-", '"-', "'-")) or _comment(line):
        return None
    mark = _GOES_ON.get(kind, "\\")
    lead = above[: len(above) - len(above.lstrip(" \t"))]
    if lead != indent and not above.rstrip().endswith(mark):
        return None
    rest = text[at : start + len(line)]
    break_ = newline(text, at)
    if rest.strip() == mark:
        return end, indent, f" {mark}{break_}"
    if not rest.strip():
        joint = f" {mark}" if above.rstrip().endswith(mark) else ""
        return at + len(rest), f"{joint}{break_}{indent}", ""
    return None


def _comment(line: str) -> bool:
    return re.search(r"(?:^|\s)#", line) is not None


def _written(word: str, kind: str, quote: str, *, item: bool) -> str | None:
    """A word as the language writes it, in the quotes of the one it stands for; None where that is not known."""
    if PLAIN.fullmatch(word):
        if (
            not quote
            and item
            and kind in _YAML
            and not (_YAML_TEXT.fullmatch(word) and not _YAML_OTHER.fullmatch(word))
        ):
            quote = '"'
        if not quote and item and kind == "powershell":
            quote = "" if word.isdigit() else "'"
        return f"{quote}{word}{quote}"
    if not word.isprintable():
        return None
    if quote == "'" and "'" not in word and kind not in ("batch", "powershell", "systemd"):
        return f"'{word}'" if kind != "compose" else "'" + word.replace("$", "$$") + "'"
    if kind == "shell":
        return shlex.quote(word)
    if kind == "powershell" and '"' not in word:  # a quote in an argument is lost on the way to a program
        return "'" + word.replace("'", "''") + "'"
    if kind == "batch" and not quote and not re.search(r'["%!^&|<>]', word):
        return f'"{word}"'
    if item and kind in ("dockerfile", *_YAML):
        text = json.dumps(word, ensure_ascii=False)
        return text.replace("$", "$$") if kind == "compose" else text
    return None
