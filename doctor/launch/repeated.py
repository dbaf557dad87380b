"""Options given more than once, of which only the last counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.launch.record import LaunchOption, OptionProblem
from doctor.launch.values import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.launch.table import OptionTable


def repeated(
    options: Sequence[LaunchOption], table: OptionTable, build: int
) -> tuple[list[OptionProblem], list[tuple[int, int]]]:
    """Options given more than once of which only the last counts, and of those that do not the places: (its own, the last's)."""
    seen: dict[str, list[int]] = {}
    for at, option in enumerate(options):
        segment = table.at(option.spelling, build) or table.at(option.spelling.replace("_", "-"), build)
        whole = segment is not None and segment.status != "removed" and (segment.takes == 0) == (option.value is None)
        if whole and option.name not in table.read["adds_up"]:
            seen.setdefault(option.name, []).append(at)
    problems: list[OptionProblem] = []
    void: list[tuple[int, int]] = []
    for places in seen.values():
        group = [options[at] for at in places]
        last = group[-1]
        if len(group) < 2 or (last.value is None and len({option.negated for option in group}) == 1):
            continue
        right = words(last.spelling, last.value if isinstance(last.value, str) else None)
        message = f"given {len(group)} times; only the last one, {short(right)}, counts"
        problems.append(OptionProblem(last.spelling, "repeated", message, right, last.line, False, last.source))
        void += [(at, places[-1]) for at in places[:-1]]
    return problems, void


def short(text: str) -> str:
    """A text cut to what fits in a line."""
    return text if len(text) <= 120 else text[:117] + "..."
