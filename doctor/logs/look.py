"""What could be in the lines of a shape (their digits as 0), found out once for each shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MOST_SHAPES = 30_000
LONGEST_SHAPE = 600


class Look(NamedTuple):
    """What could be in the lines of a shape: what `sift` was asked to look for, and numbers.

    `texts`: such a line is of interest only when it holds one of these (lower case); empty when any line is.
    """

    wanted: Sequence[Any]
    numbers: bool
    texts: tuple[bytes, ...] = ()


NOTHING = Look((), False)
# Escapes, redrawn lines, broken bytes and very long lines: what the line says is not what its bytes are.
UNCLEAR = Look((), False)


class Looks(dict[bytes, "Look | None"]):
    """Shape -> what to look for in its lines; None when they need not be looked at."""

    def __init__(self, find: Callable[[bytes], Look | None]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, shape: bytes) -> Look | None:
        look = self._find(shape)
        if len(shape) <= LONGEST_SHAPE and len(self) < _MOST_SHAPES:
            self[shape] = look
        return look


def holds(raw: bytes, texts: tuple[bytes, ...]) -> bool:
    """Whether a line holds one of the texts (lower case)."""
    lowered = raw.lower()
    return any(text in lowered for text in texts)
