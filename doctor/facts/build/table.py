"""Builds of llama.cpp: which one a commit is, and its day (rules/tables/build_commits.txt, build_dates.tsv)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.record import Fact, Unknown

if TYPE_CHECKING:
    from doctor.outside import Outside

_ROW = 10  # nine hexadecimal digits and the end of the line; row N is build N
FIRST_HONEST_BUILD = 500  # b583 has the first server; a smaller number comes from a clone without its history


class Identity(NamedTuple):
    """What a build number and a commit amount to. `upstream`: whether the commit is one of llama.cpp itself."""

    number: Fact[int]
    upstream: Fact[bool]
    age_days: Fact[int]


def identify(outside: Outside, number: int | None, commit: str | None) -> Identity:
    """The build of a number and a commit as a program prints them (build 1, commit 7e4c0a9); either may be missing."""
    from doctor.engine.load import read_table_text, rules_folder
    from doctor.engine.reader import RuleError

    try:
        commits = read_table_text(outside, rules_folder(outside), "build_commits.txt")
    except RuleError as error:
        reason = Unknown(str(error))
        return Identity(reason if number is None else number, reason, reason)
    known_as = _build_of(commits, commit)
    if known_as is not None:
        return Identity(known_as, True, age_in_days(outside, known_as))
    if number is None or number < FIRST_HONEST_BUILD:
        shown = "no build number" if number is None else f"build {number}"
        reason = Unknown(f"the program says {shown}, and its commit {commit or '(none)'} is not known here")
        return Identity(reason, reason, reason)
    upstream: Fact[bool] = Unknown(f"the commit of b{number} is not known here")
    if commit and number <= len(commits) // _ROW and commits[(number - 1) * _ROW] != "-":
        upstream = False
    return Identity(number, upstream, age_in_days(outside, number))


def age_in_days(outside: Outside, number: int) -> Fact[int]:
    """Days since the day of a build, counted from the newest build at or before it whose day is known."""
    from datetime import date, timedelta

    from doctor.engine.load import read_table_text, rules_folder
    from doctor.engine.reader import RuleError

    try:
        rows = [
            row.split("\t") for row in read_table_text(outside, rules_folder(outside), "build_dates.tsv").splitlines()
        ]
    except RuleError as error:
        return Unknown(str(error))
    if number > int(rows[-1][0]):
        return Unknown(f"b{number} is newer than every build known here (b{rows[-1][0]})")
    day = next(day for build, day in reversed(rows) if int(build) <= number)
    today = date(1970, 1, 1) + timedelta(seconds=outside.now())
    return max(0, (today - date.fromisoformat(day)).days)


def _build_of(commits: str, commit: str | None) -> int | None:
    """The one build whose commit starts with these digits (or is the start of them)."""
    digits = (commit or "").lower()[:9]
    if len(digits) < 7 or digits.strip("0123456789abcdef"):
        return None
    text = f"\n{commits}"
    at = text.find(f"\n{digits}")
    if at < 0 or text.find(f"\n{digits}", at + 1) >= 0:
        return None
    return at // _ROW + 1
