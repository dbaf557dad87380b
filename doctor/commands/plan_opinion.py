"""`doctor plan --verify`: the same command put to llama.cpp's own llama-fit-params, and both answers side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from doctor.exits import UsageError
from doctor.facts.budget.fit_params import FitParams, collect, compared
from doctor.facts.record import Unknown, known

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.engine.finding import Finding
    from doctor.facts.build.record import Build
    from doctor.facts.facts import Facts
    from doctor.facts.launch.record import Launch
    from doctor.memory.options import Options
    from doctor.memory.rooms import Scales
    from doctor.outside import Outside


class Opinion(NamedTuple):
    """What llama-fit-params said of a command, compared with ours: `said` is unknown, with the reason, where it said nothing.

    `ours` is our own breakdown for the very question that it was asked, `logits` the bytes that only the program reserves.
    `findings` hold what rules make of it.
    """

    said: FitParams | Unknown
    ours: dict[str, dict[str, int]]
    logits: int
    findings: tuple[Finding, ...]


def second_opinion(
    outside: Outside, facts: Facts | None, launch: Launch | None, path: str, options: Options, scales: Scales, lang: str
) -> Opinion:
    """Run the program on the model at `path` with the options of the launch. Raises UsageError without a launch."""
    if launch is None:
        raise UsageError("--verify wants the command to ask about: --launch CMD")
    build = known(facts.build) if facts is not None else None
    # The program knows no unified cache, no drafting and no projector: both are asked about the same thing.
    slots = max(1, options.parallel or 1)
    plain = replace(options, parallel=slots, unified=False, spec_types=(), draft_model=False, mmproj=False)
    needed = scales.weigh(plain).budget
    said = _asked(outside, build, launch, path, slots)
    if needed is None or isinstance(said, Unknown):
        return Opinion(said, {}, 0, ())
    ours = needed.breakdown()
    logits = 4 * needed.n_ubatch * scales.wish.model.vocabulary
    said = compared(said, ours, logits)
    return Opinion(said, ours, logits, _judged(outside, said, lang, str))


def _asked(outside: Outside, build: Build | None, launch: Launch, path: str, slots: int) -> FitParams | Unknown:
    if build is None or known(build.path) is None:
        return Unknown("no llama-server was found whose llama-fit-params could be asked")
    return collect(
        outside,
        known(build.path),
        known(build.number),
        path,
        known(launch.options) or (),
        slots=slots,
        named=known(build.source) == "option",
        launch=launch,
    )


def _judged(outside: Outside, said: FitParams, lang: str, clean: Callable[[str], str]) -> tuple[Finding, ...]:
    from doctor.engine.diagnose import diagnose
    from doctor.engine.load import load
    from doctor.facts.facts import nothing_known

    facts = replace(nothing_known("not looked at"), fit_params=said)
    return diagnose(load(outside).rules, facts, lang=lang, clean=clean).findings
