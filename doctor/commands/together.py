"""Several findings about one launch command, each with its own change: the command with all of them."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from doctor.engine.finding import Correction
from doctor.facts.collect import again, build_asked, own_help
from doctor.facts.launch.record import Seen, find
from doctor.facts.record import known
from doctor.facts.server_address import port_of
from doctor.fix.launch.bench import Bench
from doctor.fix.launch.files import KINDS
from doctor.fix.launch.improve import advice_of, improve
from doctor.fix.launch.paper import Paper
from doctor.launch.table import load_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from doctor.engine.finding import Finding
    from doctor.engine.load import Knowledge
    from doctor.facts.facts import Facts
    from doctor.facts.side_by_side import Wishes
    from doctor.outside import Outside
    from doctor.secrets import Vault


def together(bench: Bench) -> tuple[Correction, ...]:
    """The commands that differ from what any one finding says of them; a server of a launch file each."""
    found = [bench.judged(at, seen.command) for at, seen in enumerate(bench.seen)]
    wanted = [_changes(judged.findings if judged else ()) for judged in found]
    if all(len(commands) < 2 for commands in wanted):
        return ()
    improved = improve(Paper([seen.command for seen in bench.seen], bench.vault), bench, careful=False)
    corrections = []
    for commands, seen, end in zip(wanted, bench.seen, improved.end, strict=True):
        command = known(end.launch.command) if end is not None else None
        if len(commands) > 1 and command is not None:
            corrections.append(Correction(seen.origin.name or "", bench.build, (), command, together=True))
    return tuple(corrections)


def all_changes(
    outside: Outside,
    vault: Vault,
    knowledge: Knowledge,
    facts: Facts,
    findings: tuple[Finding, ...],
    wishes: Wishes,
    lang: str,
    clean: Callable[[str], str],
) -> tuple[Correction, ...]:
    """The same for `check`: the command is looked for once more, where more than one finding says something of it."""
    if len(_changes(findings)) < 2:
        return ()
    seen = find(outside, vault, text=wishes.launch, port=port_of(wishes.server))
    if not isinstance(seen, Seen):
        return ()
    bench = Bench(
        outside, vault, knowledge.rules, facts, (seen, *seen.others), load_table(outside), build_asked(wishes, vars(facts)),
        own_help(outside, wishes, vars(facts)), lang, clean, again=lambda old, new: again(outside, wishes, old, new),
    )  # fmt: skip
    return together(bench)


def launch_file(facts: Facts) -> str:
    """The file in which the launch command can be changed, quoted for a shell; "" where there is none."""
    launch = known(facts.launch)
    file = known(launch.file) if launch is not None else None
    if file is None or launch is None or launch.file_kind not in KINDS:
        return ""
    return file if re.fullmatch(r"[\w./:~+-]+", file) else shlex.quote(file)


def _changes(findings: Iterable[Finding]) -> set[tuple[str, ...]]:
    return {advice.launch for finding in findings if (advice := advice_of(finding, None)) is not None}
