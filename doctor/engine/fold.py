"""Consequences are told under their causes."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from doctor.engine.rules import SEVERITIES

if TYPE_CHECKING:
    from doctor.engine.finding import Finding
    from doctor.engine.rules import Rule


def fold(findings: list[Finding], rules: dict[str, Rule]) -> tuple[Finding, ...]:
    """Consequences under their causes: the first finding (in order) that explains another takes it in."""
    parent: dict[int, int] = {}
    for number, finding in enumerate(findings):
        for place, other in enumerate(findings):
            if other.rule == finding.rule or place in parent or not _same_client(finding, other):
                continue
            if _explains(rules[finding.rule], rules[other.rule]) and not _above(number, place, parent):
                parent[place] = number
    children: dict[int, list[int]] = {}
    for child, root in parent.items():
        children.setdefault(root, []).append(child)

    def build(number: int) -> Finding:
        inside = tuple(build(child) for child in children.get(number, ()))
        own = findings[number]
        severity = min((own.severity, *(item.severity for item in inside)), key=SEVERITIES.index)
        return own._replace(explains=inside, severity=severity)

    def first(number: int) -> int:
        """The best place of a finding or of what it explains: a cause is told where its worst consequence would be."""
        return min([number, *(first(child) for child in children.get(number, ()))])

    roots = [(number, build(number)) for number in range(len(findings)) if number not in parent]
    roots.sort(key=lambda root: (SEVERITIES.index(root[1].severity), first(root[0])))
    return tuple(root for _, root in roots)


def _explains(rule: Rule, other: Rule) -> bool:
    for name in rule.explains:
        if name.startswith("cause:"):
            if other.cause == name[6:]:
                return True
        elif fnmatchcase(other.id, name):
            return True
    return False


def _same_client(finding: Finding, other: Finding) -> bool:
    """Whether one can be the cause of the other: a fault of one client explains nothing about another client."""
    return not (finding.about and other.about and finding.about != other.about)


def _above(number: int, maybe_root: int, parent: dict[int, int]) -> bool:
    """Whether `maybe_root` is already above `number`, so that folding it under would make a ring."""
    while number in parent:
        number = parent[number]
        if number == maybe_root:
            return True
    return number == maybe_root
