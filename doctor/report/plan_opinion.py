"""What llama-fit-params says of a command, beside our own numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.budget.fit_params import by_device
from doctor.facts.record import Unknown
from doctor.report.bars import GIB
from doctor.report.plan_words import tell
from doctor.report.rows import Row
from doctor.report.spoken import spoken
from doctor.report.text import finding_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.commands.plan_opinion import Opinion
    from doctor.redact import Redactor


def opinion_rows(opinion: Opinion, clean: Redactor, lang: str, *, unicode: bool) -> Iterator[Row]:
    """Its numbers and ours, a row a device, and what the difference means when there is one."""
    said = opinion.said
    if isinstance(said, Unknown):
        yield Row((("quiet", tell("opinion_none", lang, why=clean.text(spoken(said.reason, lang)))),))
        return
    yield Row((("head", tell("opinion", lang)),))
    theirs, ours = by_device(said, opinion.ours, opinion.logits)
    for name in dict.fromkeys((*theirs, *ours)):
        there, here = (f"{table.get(name, 0) / GIB:.2f}" for table in (theirs, ours))
        yield Row((("", tell("opinion_row", lang, device=name, theirs=there, ours=here)),), 4)
    if not opinion.findings:
        yield Row((("ok", tell("opinion_agrees", lang)),), 4)
    for finding in opinion.findings:
        yield from finding_rows(finding, lang, unicode=unicode)
