"""`--html FILE`: the answer as a page, written only where nothing else would be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.exits import UsageError
from doctor.outside import OutsideError

if TYPE_CHECKING:
    import argparse

    from doctor.engine.finding import Report
    from doctor.outside import Outside
    from doctor.report.bars import Bar
    from doctor.report.rows import Row
    from doctor.report.text import Subject

_LOOKED_AT = 4096
"""Bytes at the beginning of a file in which a page says that it is one."""


def must_be_writable(outside: Outside, options: argparse.Namespace) -> None:
    """Raises UsageError when --html names a file that is no page of doctor's, before any work is done for it.

    An older page is replaced; anything else only with --force.
    """
    path = getattr(options, "html", None)
    if path is None:
        return
    if not path:
        raise UsageError("--html wants a file name, such as report.html")
    try:
        there = outside.stat(path)
    except OutsideError as error:
        if error.kind == "missing":
            return
        raise UsageError(f"--html: {error}") from None
    if not there.is_file:
        raise UsageError(f"--html: {path}: {'is a folder' if there.is_dir else 'not a regular file'}")
    if not options.force and there.size and not _is_page(outside, path):
        raise UsageError(f"--html: {path} is there and no page of doctor's: name another file, or add --force")


def _is_page(outside: Outside, path: str) -> bool:
    from doctor.report.html import MARK

    try:
        with outside.open(path) as stream:
            head = next(outside.chunks(stream, _LOOKED_AT), b"")
    except OutsideError as error:
        raise UsageError(f"--html: {error}") from None
    return MARK.encode() in head


def write_page(
    outside: Outside,
    options: argparse.Namespace,
    report: Report,
    lang: str,
    *,
    subjects: tuple[Subject, ...] = (),
    bars: tuple[Bar, ...] = (),
    head: tuple[Row, ...] = (),
    title: str = "",
) -> None:
    """Write the page. The report is redacted already. Raises UsageError when it cannot be written."""
    from doctor.report.html import render
    from doctor.report.html.page import Page

    page = Page(report, subjects, bars, head, lang, outside.now(), title)
    must_be_writable(outside, options)  # once more: somebody may have put a file there meanwhile
    try:
        outside.write_text(options.html, render(page))
    except OutsideError as error:
        raise UsageError(f"--html: {error}") from None
