"""What an edit changes, as lines to read: only what is near the change, and never a key."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.fix.plan import Plan
    from doctor.redact import Redactor

NEAR = 4_000
"""Characters around a change that are looked at, so that a key is known by the name in front of it."""
CONTEXT = 3
LONGEST = 160
"""Characters of a line that are shown."""


def diff(plan: Plan, clean: Redactor) -> tuple[str, ...]:
    """A unified diff, without the header. Texts are made safe first, then compared: a key's own lines show its token."""
    old = (plan.before or b"").decode("utf-8", "replace")
    new = plan.after.decode("utf-8", "replace")
    first, last = _common(old, new)
    start = old.rfind("\n", 0, max(0, first - NEAR)) + 1
    if first - start > 2 * NEAR:
        start = first - NEAR  # one endless line
    tail = min(NEAR, last)
    texts = [text[start : len(text) - last + tail] for text in (old, new)]
    before, after = (clean.text(text).split("\n") for text in texts)
    for lines in (before, after):  # what stands behind the last line break is no line
        if lines[-1] == "":
            lines.pop()
    offset = old.count("\n", 0, start)
    return tuple(_hunks(before, after, offset, cut=(start > 0 and old[start - 1] != "\n", tail < last)))


def _common(old: str, new: str) -> tuple[int, int]:
    """Lengths of what both begin with and both end with."""
    limit = min(len(old), len(new))
    first = next((at for at in range(limit) if old[at] != new[at]), limit)
    limit -= first
    last = next((at for at in range(limit) if old[-1 - at] != new[-1 - at]), limit)
    return first, last


def _hunks(before: list[str], after: list[str], offset: int, cut: tuple[bool, bool]) -> Iterator[str]:
    """Groups of changed lines with a few around them; a line that is not whole is left out of those around."""
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(CONTEXT):
        top, bottom = group[0], group[-1]
        yield (f"@@ -{offset + top[1] + 1},{bottom[2] - top[1]} +{offset + top[3] + 1},{bottom[4] - top[3]} @@")
        for kind, old_start, old_end, new_start, new_end in group:
            if kind == "equal":
                for at in range(old_start, old_end):
                    partial = (cut[0] and at == 0) or (cut[1] and at == len(before) - 1)
                    yield "  …" if partial else " " + _short(before[at])
                continue
            olds, news = before[old_start:old_end], after[new_start:new_end]
            for at, line in enumerate(olds):
                yield "-" + _around(line, news[at] if at < len(news) else "")
            for at, line in enumerate(news):
                yield "+" + _around(line, olds[at] if at < len(olds) else "")


def _short(line: str) -> str:
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def _around(line: str, other: str) -> str:
    """A line as far as it differs from the other, with something before and behind it."""
    if len(line) <= LONGEST:
        return line
    first, last = _common(line, other)
    start, end = max(0, first - LONGEST // 3), min(len(line), max(len(line) - last, first) + LONGEST // 3)
    middle = line[start:end] if end - start <= 3 * LONGEST else line[start : start + 3 * LONGEST] + "…"
    return ("…" if start else "") + middle + ("…" if end < len(line) else "")
