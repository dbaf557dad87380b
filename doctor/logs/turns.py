"""Requests out of the lines a server prints about its slots, in the wordings of all builds since 2024."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.facts.timeline.record import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doctor.logs.lines import Line

SLOT_MARK = "| task "
"""What every line about a slot holds; old builds print the timings after it on lines of their own."""
MOST_LINES = 24_000
"""Lines about slots that are looked at, the last of a log: some thousand requests."""
MOST_TURNS = 1_000
MOST_AT_WORK = 256

_N = r"(\d{1,12})"
_F = r"(\d{1,12}(?:\.\d{1,9})?)"
_SLOT = re.compile(rf"id\s+{_N} \| task\s+(-?\d{{1,12}}) \|")
_TIMING = re.compile(
    rf"(prompt eval|eval) time\s*=\s*{_F} ms /\s*{_N} (?:tokens|runs)\s*\(.{{0,120}}?{_F} tokens per second"
)
_PROMPT = re.compile(rf"new prompt, .{{0,80}}(?:task\.n_tokens|n_prompt_tokens) = {_N}")
_CACHED = re.compile(rf"(?:cached n_tokens = {_N}|kv cache rm \[{_N},)")
_LIKE = re.compile(rf"by LCP similarity, (?:f_)?sim_best = {_F}")
_REUSED = re.compile(rf"graphs reused\s*=\s*{_N}")
_DRAFT = re.compile(
    rf"draft acceptance(?: rate)? = {_F} \(\s*{_N} accepted /\s*{_N} generated\)(?:, mean len =\s*{_F})?"
)
_END = re.compile(rf"stop processing: n_(?:tokens|past) = {_N}, truncated = (\d)")
_EVENTS = (
    ("context shift", "context-shift"),
    ("forcing full prompt re-processing", "full-reprocess"),
)


class _Open:
    """A request whose lines are still coming."""

    def __init__(self, slot: int | None, task: int | None) -> None:
        self.slot, self.task = slot, task
        self.line = 0
        self.whole: int | None = None
        self.cached: int | None = None
        self.prompt: tuple[int, float] | None = None
        self.decoded: tuple[int, float] | None = None
        self.depth: int | None = None
        self.truncated = False
        self.together = 1
        self.likeness: float | None = None
        self.reused: int | None = None
        self.draft: tuple[int, int, float | None] | None = None
        self.events: list[str] = []

    def cache(self) -> int | None:
        """Tokens found in the cache: as printed, else what is left of the whole."""
        if self.cached is not None:
            return self.cached
        if self.prompt is None:
            return None
        if self.whole is not None:
            return max(0, self.whole - self.prompt[0])
        if self.depth is None or self.decoded is None or self.truncated or "context-shift" in self.events:
            return None
        left = self.depth - self.prompt[0] - self.decoded[0]
        return max(0, left + 1)  # the last token written is not in the cache

    def turn(self) -> Turn:
        prompt, decoded, draft = self.prompt or (None, None), self.decoded or (None, None), self.draft or (None,) * 3
        return Turn(
            line=self.line,
            slot=self.slot,
            task=self.task,
            prompt_tokens=prompt[0],
            cached_tokens=self.cache(),
            prompt_per_second=prompt[1],
            decoded_tokens=decoded[0],
            decoded_per_second=decoded[1],
            depth=self.depth,
            together=self.together,
            similarity=self.likeness,
            graphs_reused=self.reused,
            mean_length=draft[2],
            drafted=draft[1],
            accepted=draft[0],
            events=tuple(dict.fromkeys(self.events)),
        )


class TurnReader:
    """Takes lines about slots, and lone timings, in order; `turns` are the requests that were answered."""

    def __init__(self) -> None:
        self._all: list[_Open] = []
        self._working: dict[tuple[int, int], _Open] = {}
        self._recent: dict[tuple[int, int], _Open] = {}
        self._chosen: dict[int, tuple[float | None, str]] = {}
        self._last: _Open | None = None
        self._ended: list[_Open] = []
        self._graphs = 0

    def take(self, line: Line) -> None:
        """Read one line."""
        found = _SLOT.search(line.text)
        if found is None:
            if _TIMING.search(line.text):
                self._number(self._last or self._lone(), line)
            return
        slot, task = int(found[1]), int(found[2])
        if task < 0:
            self._choose(slot, line.text)
            return
        key = (slot, task)
        one = self._recent.get(key)
        if one is None or "processing task" in line.text:
            one = self._begin(key)
        self._last = one
        self._number(one, line)

    def _choose(self, slot: int, text: str) -> None:
        like = _LIKE.search(text)
        if like:
            self._chosen[slot] = (float(like[1]), "")
        elif "selected slot by LRU" in text:
            self._chosen[slot] = (None, "slot-by-age" if "t_last = -1" not in text else "")

    def _begin(self, key: tuple[int, int]) -> _Open:
        one = _Open(*key)
        one.likeness, event = self._chosen.pop(key[0], (None, ""))
        one.events += [event] if event else []
        self._add(one)
        self._recent[key] = self._working[key] = one
        if len(self._working) > MOST_AT_WORK:  # requests whose end the log never tells
            self._working.pop(next(iter(self._working)))
        if len(self._recent) > MOST_AT_WORK:
            self._recent.pop(next(iter(self._recent)))
        for other in self._working.values():
            other.together = max(other.together, len(self._working))
        return one

    def _lone(self) -> _Open:
        """A request of which only timings are known."""
        self._last = _Open(None, None)
        self._add(self._last)
        return self._last

    def _add(self, one: _Open) -> None:
        self._all.append(one)
        if len(self._all) > 2 * MOST_TURNS:
            del self._all[:MOST_TURNS]

    def _number(self, one: _Open, line: Line) -> None:
        text = line.text
        timing = _TIMING.search(text)
        if timing:
            self._timing(one, line.number, timing)
            return
        prompt, cached = _PROMPT.search(text), _CACHED.search(text)
        if prompt:
            one.whole = int(prompt[1])
        elif cached and one.cached is None:
            one.cached = int(cached[1] or cached[2])
        reused, draft, end = _REUSED.search(text), _DRAFT.search(text), _END.search(text)
        if reused:
            count = int(reused[1])  # of the process so far
            one.reused = count - self._graphs if count >= self._graphs else count
            self._graphs = count
        if draft:
            one.draft = (int(draft[2]), int(draft[3]), float(draft[4]) if draft[4] else None)
        one.events += [event for words, event in _EVENTS if words in text]
        if end:
            one.depth, one.truncated = int(end[1]), end[2] == "1"
            self._working.pop((one.slot, one.task), None)  # type: ignore[arg-type]
            self._ended = [*self._ended[-MOST_TURNS:], one]

    def _timing(self, one: _Open, number: int, timing: re.Match[str]) -> None:
        value = (int(timing[3]), float(timing[4]))
        first = timing[1] == "prompt eval"
        if one.slot is None and (one.decoded or (first and one.prompt)):  # the next of those without a name
            one = self._lone()
        one.line = number
        if first:
            one.prompt = value
        else:
            one.decoded = value

    def ended(self) -> tuple[Turn, ...]:
        """The requests whose end came since this was asked before."""
        done, self._ended = self._ended, []
        return tuple(one.turn() for one in done if one.prompt or one.decoded)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The requests that were answered, in the order of their beginnings."""
        answered = [one for one in self._all if one.prompt or one.decoded]
        return tuple(one.turn() for one in answered[-MOST_TURNS:])


def read_turns(lines: Iterable[Line]) -> tuple[Turn, ...]:
    """The requests of a log. `lines` are those about slots and those with timings, in order."""
    reader = TurnReader()
    for line in lines:
        reader.take(line)
    return reader.turns
