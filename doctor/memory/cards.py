"""Cards by name, and how much of a card's memory a program gets. The table is rules/tables/gpus.toml."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MIB = 1 << 20
MOST_SUGGESTIONS = 4
ALIKE = 0.6
"""A name less like another than this is no slip of the pen."""


class Card(NamedTuple):
    """A kind of card. `memory_mib` is the total of nvidia-smi, `bandwidth` of its memory in GB/s.

    `measured`: the total was seen in output of that very card, not taken from one like it.
    """

    name: str
    memory_mib: int
    compute_capability: str
    bandwidth: int
    measured: bool


class Reserve(NamedTuple):
    """Bytes of a card that no program gets: at least, what a plan takes, at most (a Windows desktop with a browser)."""

    low: int
    plan: int
    high: int


class CardTable:
    """The table as read."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.cards = tuple(Card(row[0], row[1], row[2], row[3], row[4] == "seen") for row in table["cards"])
        self._reserve = table["reserve"]
        self._words = [(card, _words(card.name)) for card in self.cards]

    def reserve(self, memory_mib: int) -> Reserve:
        """What is kept back on a card of this size."""
        kept = self._reserve
        driver = max(int(kept["driver"]), int(memory_mib * float(kept["driver_percent"]) / 100))
        driver = min(driver, memory_mib // 8)  # of tiny cards not more than an eighth

        def desktop(name: str) -> int:
            return (driver + min(int(kept[f"desktop_{name}"]), memory_mib // 8)) * MIB

        return Reserve(desktop("low"), desktop("plan"), desktop("high"))

    def margin(self, size: int) -> int:
        """Bytes that a plan leaves free on a card of so many bytes."""
        return min(int(self._reserve["margin"]) * MIB, size // 16)

    def find(self, text: str) -> tuple[Card, ...]:
        """The cards a name can mean: one; several that differ in memory; none when no card is called that."""
        asked = _words(text)
        if not asked.model:
            return ()
        same = [card for card, words in self._words if words.model == asked.model]
        if not same:  # "RTX 5090 Founders": words that no card has tell nothing
            known = frozenset().union(*(words.model for _, words in self._words))
            same = [card for card, words in self._words if words.model == asked.model & known]
        if asked.gib is not None:
            exact = [card for card in same if abs(card.memory_mib / 1024 - asked.gib) <= asked.gib * 0.08]
            return tuple(exact)
        # "3060" is the card that carries no size in its name; "4060 Ti" could be either.
        return tuple([card for card in same if not _SIZE.search(card.name.lower())][:1] or same)

    def nearest(self, text: str) -> tuple[str, ...]:
        """Names that look like an unknown one, best first."""
        from difflib import SequenceMatcher

        asked = _words(text)
        numbers = {word for word in asked.model if any(map(str.isdigit, word))}

        def likeness(entry: tuple[Card, _Words]) -> tuple[int, float]:
            card, words = entry
            ratio = SequenceMatcher(None, text.lower(), card.name.lower().removeprefix("geforce ")).ratio()
            return len(numbers & words.model), ratio

        ranked = sorted(((likeness(entry), entry[0].name) for entry in self._words), reverse=True)
        return tuple(
            name for (shared, ratio), name in ranked[:MOST_SUGGESTIONS] if shared or ratio >= ALIKE or not asked.model
        )

    def of_memory(self, name: str) -> Card | None:
        """The card that NVML calls `name`, for its bandwidth; None when it is not in the table."""
        found = self.find(name)
        return found[0] if found else None


class _Words(NamedTuple):
    """What tells a card from others: the words of its name, and the size of its memory when the name has it."""

    model: frozenset[str]
    gib: float | None


_NOISE = frozenset(
    "nvidia geforce rtx gtx tesla gpu graphics card desktop generation edition workstation server founders oc blackwell "
    "sxm sxm2 sxm3 sxm4 sxm5 hbm2 hbm2e hbm3 hbm3e max q".split()
)
_SIZE = re.compile(r"\b(\d{1,3})\s*(?:gib|gb|g)\b")


def _words(text: str) -> _Words:
    text = re.sub(r"\((?:tm|r)\)", " ", text.lower()[:200])
    text = re.sub(r"(?<=\d)(?=(?:ti|super|laptop|mobile|d)(?![a-z0-9])|(?:ti|super)\d)", " ", text)
    text = re.sub(r"\b(rtx|gtx|titan|quadro|tesla|ti|super)(?=\d|[a-z]\d)", r"\1 ", text)
    size = _SIZE.search(text)
    text = _SIZE.sub(" ", text)
    words = {word.replace("mobile", "laptop") for word in re.findall(r"[a-z0-9]+", text)}
    return _Words(frozenset(words - _NOISE), float(size[1]) if size else None)


def choose(table: CardTable, text: str) -> Card | str:
    """The card of a name, or one line that says what to write instead."""
    found: Sequence[Card] = table.find(text)
    shown = " ".join(text.split())[:60]
    if len(found) == 1:
        return found[0]
    if found:
        return f"{shown}: there are {' and '.join(card.name.removeprefix('GeForce ') for card in found)}: say which"
    nearest = ", ".join(table.nearest(text))
    known = f"; nearest: {nearest}" if nearest else " (NVIDIA cards are, by name)"
    return f"no card called {shown!r} is known{known}. Any card: --vram GiB"
