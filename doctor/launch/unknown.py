"""What to say of a spelling the build does not take: gone, renamed, not there yet, another program's, or a slip."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.launch.values import check_value, is_filled_in, quoted

if TYPE_CHECKING:
    from doctor.launch.table import OptionTable, Segment

_DASHES = "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"


class Verdict(NamedTuple):
    """Why a spelling is not taken. `name` is the option that was meant, `right` the words for this build."""

    kind: str
    message: str
    right: str | None
    name: str | None


def judge(table: OptionTable, spelling: str, value: str | None, build: int, *, guess: bool = True) -> Verdict | None:
    """The verdict on a spelling the build refuses; None when it may be an option newer than everything known here.

    `guess` lets it look for a spelling that differs in a letter or two, which takes milliseconds.
    """
    life = table.life(spelling)
    served = [segment for segment in life if segment.status != "other"]
    name = life[-1].option if life else None
    right, why = _hand_written(table, spelling, value, build)
    here = table.at(spelling, build)
    if here is not None:  # known, and refused in so many words
        right = right or _first_accepted(table, here.successors, value, build)
        return Verdict("removed", _with(here.message, why), right, name)
    if served and name is not None:
        before = [segment for segment in served if segment.first <= build]
        if table.unlisted(spelling, build) and any(segment.last is None or segment.last >= build for segment in before):
            sibling = _sibling(table, served[-1], spelling, build)
            right = right or _first_accepted(table, [*sibling, *table.successors(spelling)], value, build)
            return Verdict(
                "renamed" if right else "removed", "this llama-server's own --help does not have it", right, name
            )
        sibling = _sibling(table, served[-1], spelling, build)
        right = right or _first_accepted(table, [*sibling, *table.successors(spelling)], value, build)
        if before:
            since = (before[-1].last or build) + 1
            surely = " at the latest" if since > table.exact_through + 1 else ""
            gone = f"llama-server has not taken {spelling} since b{since}{surely}"
            return Verdict("renamed" if right else "removed", _with(gone, why), right, name)
        return Verdict("too-new", _with(f"llama-server takes {spelling} from b{served[0].first}", why), right, name)
    if right is None and why is None:
        meant = _slip(table, spelling, build, guess)
        if meant is not None:
            segment = table.at(meant, build)
            right = _complete(table, meant, value, build)
            # Two letters away from an option, and no build ever took it: wrong whatever the build is.
            kind = "slip" if not life and build <= table.newest else "unknown"
            return Verdict(
                kind,
                "no build takes it" if kind == "slip" else f"b{build} does not take it",
                right,
                segment.option if segment else None,
            )
        if build > table.newest and not table.unlisted(spelling, build):
            return None
    if life:
        return Verdict("unknown", _with("only other programs of llama.cpp take it", why), right, name)
    first = right.split()[0] if right else None
    segment = table.at(first, build) if first else None
    return Verdict("unknown", _with(f"b{build} does not take it", why), right, segment.option if segment else None)


def _hand_written(table: OptionTable, spelling: str, value: str | None, build: int) -> tuple[str | None, str | None]:
    fix = table.option_fix(spelling, value)
    if fix is None:
        return None, None
    return _first_accepted(table, fix["use"], value, build), fix.get("why")


def _first_accepted(table: OptionTable, candidates: list[str], value: str | None, build: int) -> str | None:
    """The first words the build takes, with the value put in."""
    for candidate in candidates:
        if "{value}" not in candidate and " " not in candidate:
            done = _complete(table, candidate, value, build)
        else:
            parts = [part if part != "{value}" else value for part in candidate.split()]
            done = _in_build(table, [part for part in parts if part is not None], build)
        if done is not None:
            return done
    return None


def _complete(table: OptionTable, spelling: str, value: str | None, build: int) -> str | None:
    """A spelling with the value it needs on this build."""
    segment = table.at(spelling, build)
    if segment is None or segment.status == "removed":
        return None
    if segment.takes == 0:
        return spelling
    rule = table.value(segment.option, build)
    if value is None and rule is not None and "on" in rule.allowed:
        value = "off" if segment.negated else "on"
    if value is None:
        return None  # it wants a value, and there is none
    return _in_build(table, [spelling, value], build)


def _in_build(table: OptionTable, parts: list[str], build: int) -> str | None:
    """Options and values as this build takes them, a wrong value put right; None when it cannot take them."""
    done: list[str] = []
    option = None
    for part in parts:
        segment = table.at(part, build) if part.startswith("-") and option is None else None
        if segment is not None:
            if segment.status == "removed":
                return None
            option = segment.option if segment.takes else None
            done.append(part)
            continue
        if option is None:
            return None
        rule = table.value(option, build)
        known = rule is not None and not is_filled_in(part)
        fault = check_value(table, option, rule, part, build) if rule is not None and known else None
        if fault is not None and fault.kind == "bad-value" and fault.right is None:
            return None
        done.append(quoted(part if fault is None or fault.right is None else fault.right))
        option = None
    return " ".join(done)


def _sibling(table: OptionTable, segment: Segment, spelling: str, build: int) -> list[str]:
    """Another name of the same option that this build takes."""
    return [name for name in table.spellings_of(segment.option, build, negated=segment.negated) if name != spelling][:1]


def _slip(table: OptionTable, spelling: str, build: int, guess: bool) -> str | None:
    """The spelling that was meant: wrong number or kind of dashes, capitals, a letter or two."""
    bare = spelling.lstrip(_DASHES)
    for candidate in (f"--{bare}", f"-{bare}", f"--{bare.lower().replace('_', '-')}", f"-{bare.lower()}"):
        if bare and candidate != spelling and table.accepts(candidate, build):
            return candidate
    if len(bare) < 4 or not guess:
        return None
    from difflib import get_close_matches

    names = [name for name in table.accepted(build) if name.startswith("--")]
    found = get_close_matches(f"--{bare.lower()[:60]}", names, n=1, cutoff=0.86)
    return found[0] if found else None


def _with(message: str, why: str | None) -> str:
    return f"{message}; {why}" if why else message
