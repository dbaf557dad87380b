"""Where a variable is set for a server, and how the text would look with another value or name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.fix.launch.spots import PLAIN, Patch, spots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.fix.launch.changes import Variable

_WORDS = re.compile(r"(?:true|false|on|off|yes|no|null|y|n)", re.IGNORECASE)


def rewritten(text: str, kind: str, line: int, change: Variable) -> Iterator[Patch]:
    """The assignment changed where it stands; for a value that comes from another variable, there."""
    if not PLAIN.fullmatch(change.new) or (change.value != change.old and not PLAIN.fullmatch(change.value)):
        return
    for spot in spots(text, change.name, line):
        if change.value == change.old:
            yield Patch(spot.start, spot.end, change.new)
            continue
        joint = re.compile(r"""(["']?[ \t]*[=:][ \t]*|[ \t]+)(["']?)""").match(text, spot.end)
        if joint is None or not text.startswith(change.old, joint.end()):
            continue
        value = change.value
        bare = kind in ("compose", "llama-swap") and ":" in joint[1] and not joint[2]
        value = f'"{value}"' if bare and _WORDS.fullmatch(value) else value
        yield Patch(spot.start, joint.end() + len(change.old), change.new + joint.group(0) + value)
    if change.new == change.name:
        for spot in spots(text, change.old, line):
            yield Patch(spot.start, spot.end, change.value)
