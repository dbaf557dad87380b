"""What `doctor watch` shows while it watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.commands.answer import on_terminal, speaks_unicode, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from doctor.engine.finding import Finding
    from doctor.facts.watch.recording import Recording
    from doctor.facts.watch.sample import Sample
    from doctor.redact import Redactor

    Judge = Callable[[Sequence[Sample], Sequence[Sample]], tuple[Finding, ...]]
    """The findings about the last samples; the requests of a log over a longer time."""

WINDOW = 30.0
"""Seconds that the screen judges: what was before has passed. Requests of a log it judges over ten minutes."""
MOST_SHOWN = 600
"""Samples the screen knows of."""


class Silent:
    """Shows nothing: the answer is for a program."""

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *_: object) -> None:
        return

    def take(self, samples: Sequence[Sample]) -> None:
        """One more sample is there."""


class _Lines(Silent):
    """A line a sample, for a pipe or a file."""

    def __init__(self, clean: Redactor, lang: str) -> None:
        self._clean, self._lang = clean, lang

    def take(self, samples: Sequence[Sample]) -> None:
        """Write its line."""
        from doctor.report.watch import line

        before = samples[-2] if len(samples) > 1 else None
        write(self._clean.text(line(samples[-1], self._lang, before)) + "\n", flush=True)


class _Screen(Silent):
    """One screen that is drawn anew with each sample; `judge` gives the findings."""

    def __init__(self, record: Recording, clean: Redactor, lang: str, judge: Judge, colour: bool) -> None:
        from doctor.report.watch import LiveScreen

        self._record, self._clean, self._lang, self._judge = record, clean, lang, judge
        self._live = LiveScreen(colour=colour)

    def __enter__(self) -> _Screen:
        self._live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.__exit__()

    def take(self, samples: Sequence[Sample]) -> None:
        """Draw it."""
        from doctor.report.watch import screen

        recent = list(samples)[-MOST_SHOWN:]
        last = [sample for sample in recent if sample.at_seconds > recent[-1].at_seconds - WINDOW]
        rows = screen(
            recent,
            self._judge(last, recent),
            url=self._record.server,
            interval=self._record.interval,
            lang=self._lang,
            unicode=speaks_unicode(),
        )
        self._live.show(self._clean.tree(tuple(rows)))


def shower(
    options: argparse.Namespace, record: Recording, clean: Redactor, lang: str, judge: Judge, dumb: bool
) -> Silent:
    """A screen on a terminal (no `dumb` one), lines anywhere else, nothing where the answer is for a program."""
    if options.format != "text":
        return Silent()
    return (
        _Screen(record, clean, lang, judge, not options.no_color) if on_terminal() and not dumb else _Lines(clean, lang)
    )
