"""What a line must hold before a pattern is tried on it: the plain texts of a regular expression, as and/or.

Lines are told apart by their shape: every digit is a 0. Most shapes of a log can be put aside for good by asking their
text for these plain texts; a pattern is compiled and tried only on what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.engine.literals import REPEATS, parse_pattern
from doctor.logs.scan import DIGIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_SPELLINGS = 12
"""So many ways to write a text are told apart: (?:empty|no) choices? has four."""
_TO_SHAPE = str.maketrans("123456789" + DIGIT, "0" * 10)
_DIGIT_RANGE = (ord("0"), ord("9"))


class Need(NamedTuple):
    """What lines must hold: every one of `texts` and `parts`, or (not `every`) any one of them. Texts are as in a shape.

    `exact`: what the line itself must hold besides, because a text has certain digits in it; "" when nothing.
    """

    texts: tuple[str, ...]
    exact: str
    every: bool
    parts: tuple[Need, ...]


ANYTHING = Need((), "", True, ())
"""What every line fulfils."""


def shape_of(text: str) -> str:
    """A text with every digit as 0."""
    return text.translate(_TO_SHAPE)


def need_of(pattern: str) -> Need:
    """What a lower-case line must hold for the pattern to match it."""
    try:
        return _all_of(parse_pattern(pattern))
    except Exception:
        return ANYTHING


def left_to_ask(need: Need, shape: str) -> tuple[str, ...] | None:
    """None when no line of this lower-case shape can match; else the texts one of which the line itself must hold.

    An empty answer asks for nothing more: the shape alone fulfils the need.
    """
    for text in need.texts:
        if (text in shape) is not need.every:
            return None if need.every else ()
    answers = []
    for part in need.parts:
        answer = left_to_ask(part, shape)
        if need.every and answer is None:
            return None
        if not need.every and answer == ():
            return ()
        if answer:
            answers.append(answer)
    if need.exact:
        answers.append((need.exact,))
    if need.every:
        return min(answers, key=len, default=())
    return tuple(text for answer in answers for text in answer) or None


def rarest(need: Need, count: Callable[[str], int]) -> tuple[int, tuple[str, ...]]:
    """Texts of which every line that can match holds one (DIGIT for any digit), where there is a choice the ones that `count`
    counts least, and how often that is. No texts when any line could match.
    """
    choices = [rarest(part, count) for part in need.parts]
    choices += [_rarest_of(text, count) for text in need.texts]
    if not need.every:
        if not all(texts for _, texts in choices):
            return 0, ()
        return sum(often for often, _ in choices), tuple(text for _, texts in choices for text in texts)
    if need.exact:
        choices.append((count(need.exact), (need.exact,)))
    return min((choice for choice in choices if choice[1]), key=_dearness, default=(0, ()))


def _rarest_of(text: str, count: Callable[[str], int]) -> tuple[int, tuple[str, ...]]:
    """The same for one text in which 0 is any digit: its longest piece without digits, or the whole."""
    choices = {max(text.split("0"), key=len), text.replace("0", DIGIT)}
    return min(((count(choice), (choice,)) for choice in choices if choice), key=_dearness)


def _dearness(choice: tuple[int, tuple[str, ...]]) -> tuple[int, bool, int]:
    """The fewest finds first; then texts without digits, of which any is slow to look for; then the longest."""
    often, texts = choice
    return often, any(DIGIT in text for text in texts), -min(map(len, texts))


def _all_of(tree: Any) -> Need:
    parts: list[Need] = []
    runs: tuple[str, ...] = ("",)
    for name, argument in _flat(tree):
        spellings = _spellings_of(name, argument)
        if spellings and len(runs) * len(spellings) <= MOST_SPELLINGS:
            runs = tuple(run + text for run in runs for text in spellings)
            continue
        more, _ = _run(name, argument)
        parts.append(_any_of(tuple(run + more for run in runs)))
        # The last of a repeated text stands right before what follows.
        runs = spellings or (more,)
        if spellings:
            continue
        if name == "BRANCH":
            branches = [_all_of(branch) for branch in argument[1]]
            parts.append(ANYTHING if ANYTHING in branches else _joined(branches, every=False))
        elif (name in REPEATS and argument[0] >= 1 and not more) or name == "ATOMIC_GROUP":
            parts.append(_all_of(argument[2] if name in REPEATS else argument))
    parts.append(_any_of(runs))
    return _joined(parts, every=True)


def _any_of(texts: tuple[str, ...]) -> Need:
    """A text that has a few spellings; those with another one in them say nothing more than that."""
    needs = [_text(text) for text in texts if not any(other in text and other != text for other in texts)]
    return ANYTHING if ANYTHING in needs else _joined(needs, every=False)


def _spellings(tree: Any) -> tuple[str, ...]:
    """The texts a piece of a pattern matches, when they are few; else ()."""
    found: tuple[str, ...] = ("",)
    for name, argument in _flat(tree):
        texts = _spellings_of(name, argument)
        if not texts or len(found) * len(texts) > MOST_SPELLINGS:
            return ()
        found = tuple(text + more for text in found for more in texts)
    return found


def _spellings_of(name: str, argument: Any) -> tuple[str, ...]:
    if name == "AT":  # a place, not a character
        return ("",)
    if name == "IN" and all(str(kind) == "LITERAL" for kind, _ in argument):
        found: tuple[str, ...] = tuple(chr(value).lower() for _, value in argument)
    elif name == "BRANCH":
        branches = [_spellings(branch) for branch in argument[1]]
        found = tuple(text for branch in branches for text in branch) if all(branches) else ()
    elif name in REPEATS and argument[:2] == (0, 1):
        body = _spellings(argument[2])
        found = ("", *body) if body else ()
    else:
        more, repeated = _run(name, argument)
        found = (more,) if more and not repeated else ()
    return tuple(dict.fromkeys(found)) if len(found) <= MOST_SPELLINGS else ()


def _joined(needs: list[Need], *, every: bool) -> Need:
    """One need of several. What fails soonest (long texts, few choices) stands first."""
    needs = [need for need in dict.fromkeys(needs) if need != ANYTHING]
    if len(needs) == 1:
        return needs[0]
    texts = [need.texts[0] for need in needs if need.exact == "" and not need.parts and len(need.texts) == 1]
    parts = [need for need in needs if need.exact or need.parts or len(need.texts) != 1]
    return Need(tuple(sorted(texts, key=len, reverse=True)), "", every, tuple(sorted(parts, key=_size)))


def _size(need: Need) -> int:
    return len(need.texts) + sum(_size(part) for part in need.parts)


def _text(text: str) -> Need:
    if len(text) < 2:  # a single letter rules hardly any line out
        return ANYTHING
    exact = [piece for piece in text.split(DIGIT) if any("0" <= character <= "9" for character in piece)]
    return Need((shape_of(text),), max(exact, key=len, default=""), True, ())


def _flat(tree: Any) -> Iterator[tuple[str, Any]]:
    """The pieces of a pattern one after the other, those in groups too."""
    for op, argument in tree:
        if str(op) == "SUBPATTERN":
            yield from _flat(argument[3])
        else:
            yield str(op), argument


def _run(name: str, argument: Any) -> tuple[str, bool]:
    """(what a piece of a pattern adds to the text before it, whether there may be more of the same)."""
    if name == "LITERAL":
        return chr(argument).lower(), False
    if name == "IN" and _only_digits(argument):
        return DIGIT, False
    if name in REPEATS and len(argument[2]) == 1 and 1 <= argument[0] <= 20:
        more, repeated = _run(str(argument[2][0][0]), argument[2][0][1])
        return more * argument[0], repeated or argument[0] != argument[1]
    return "", True


def _only_digits(items: Any) -> bool:
    for kind, value in items:
        low, high = value if str(kind) == "RANGE" else (value, value)
        if str(kind) not in ("RANGE", "LITERAL") and str(value) != "CATEGORY_DIGIT":
            return False
        if str(kind) in ("RANGE", "LITERAL") and not (_DIGIT_RANGE[0] <= low and high <= _DIGIT_RANGE[1]):
            return False
    return True
