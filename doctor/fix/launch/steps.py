"""What became of a launch command: the changes made and not made, and what is wrong before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.engine.finding import every

if TYPE_CHECKING:
    from doctor.engine.finding import Finding
    from doctor.fix.launch.bench import Judged


class Step(NamedTuple):
    """A change that was made, or was not: where, what stood there, what comes in its place, and why (not)."""

    at: int
    line: int
    file: str
    old: str
    new: str
    why: str


class Improved(NamedTuple):
    """What was done and what could not be; the findings before, and of every server the judgement at the end.

    `rules` are those of the remedies that were carried out.
    """

    done: tuple[Step, ...]
    refused: tuple[Step, ...]
    rules: tuple[str, ...]
    told: tuple[Finding, ...]
    end: tuple[Judged | None, ...]

    def left(self) -> tuple[Finding, ...]:
        """What is still wrong, with any of the servers."""
        return tuple(finding for judged in self.end if judged for finding in judged.findings)

    def gone(self) -> tuple[Finding, ...]:
        """The findings that are no more."""
        left = {finding.rule for finding in every(self.left())}
        told: dict[str, Finding] = {}
        for finding in self.told:
            told.setdefault(finding.rule, finding)
        return tuple(finding for rule, finding in told.items() if rule not in left)
