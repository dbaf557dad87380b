"""A judged launch command as a list of corrections, each with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.engine.finding import Correction
from doctor.facts.record import known

if TYPE_CHECKING:
    from doctor.facts.launch.record import Launch, OptionProblem

_LEFT_OUT = ("unknown", "removed", "too-new", "ignored")


def correction(launch: Launch, build: int | None) -> Correction:
    """What to change in a launch command so that the build takes it as it was meant."""
    problems = known(launch.problems) or ()
    changes = tuple(_change(problem) for problem in problems if problem.kind != "overruled")
    name = ", ".join(part for part in (known(launch.file), known(launch.name)) if part)
    return Correction(name, build, changes, known(launch.fixed_command))


def _change(problem: OptionProblem) -> tuple[str, str, str | None, str]:
    right = known(problem.replacement)
    if right is None and problem.kind in (*_LEFT_OUT, "deprecated"):
        right = ""
    place = f"{problem.source}:{problem.line}" if problem.source and problem.line else problem.source
    return place, problem.spelling, right, problem.message
