"""Dispatch and exit status: nothing else. Imports wait until they are needed, so that doctor starts fast."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING

from doctor import __version__

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from doctor.outside import Outside


def main(argv: list[str] | None = None, outside: Outside | None = None) -> int:
    """Run one command and return its exit status."""
    words = sys.argv[1:] if argv is None else argv
    if words == ["--version"]:
        print(f"doctor {__version__}")  # noqa: T201 - answered before anything is imported
        return 0
    from doctor.arguments import parse
    from doctor.exits import Exit, UsageError
    from doctor.outside import Outside

    outside = outside or Outside()
    options = parse(words, outside.environ)
    try:
        return int(_command(options.verb)(options, outside))
    except UsageError as error:
        from doctor.commands.answer import redactor
        from doctor.report.complaints import complaint
        from doctor.report.words import language

        lang = language(options.lang, dict(outside.environ))
        _complain(complaint(redactor(outside).text(str(error)), lang))
        return Exit.USAGE


def _command(verb: str) -> Callable[[argparse.Namespace, Outside], int]:
    if verb == "bench":
        from doctor.commands.bench import bench

        return bench
    if verb == "check":
        from doctor.commands.check import check

        return check
    if verb == "explain":
        from doctor.commands.explain import explain

        return explain
    if verb == "log":
        from doctor.commands.log import log

        return log
    if verb == "plan":
        from doctor.commands.plan import plan

        return plan
    if verb == "fix":
        from doctor.commands.fix import fix

        return fix
    if verb == "verify":
        from doctor.commands.verify import verify

        return verify
    if verb == "completion":
        from doctor.commands.completion import completion

        return completion
    if verb == "watch":
        from doctor.commands.watch import watch

        return watch
    from doctor.commands.rules import rules

    return rules


def run() -> None:
    """The `doctor` command."""
    if sys.stdout is None:
        _complain("standard output is closed: there is nowhere to write the answer to")
        raise SystemExit(2)
    try:
        status = _status()
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        # The reader (head, less) has gone: nothing to say and nobody to say it to.
        _drop(sys.stdout)
        status = 0
    except OSError as error:
        _drop(sys.stdout)
        _complain(f"the answer cannot be written: {error.strerror or error}")
        status = 2
    except Exception as error:
        from doctor.redact import Redactor

        _complain("a fault in doctor itself: " + Redactor().text(f"{type(error).__name__}: {error}"))
        status = 3
    raise SystemExit(status)


def _status() -> int:
    """The exit status of one command, also of one that argparse ends (--help, a wrong option)."""
    try:
        return main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 2


def _complain(words: str) -> None:
    """One line on standard error, where there is one that takes it."""
    if sys.stderr is None:
        return
    try:
        print("doctor: " + " ".join(words.replace("\t", " ").splitlines()), file=sys.stderr)  # noqa: T201
        sys.stderr.flush()
    except OSError:
        _drop(sys.stderr)


def _drop(stream: IO[str]) -> None:
    """Close a stream that cannot be written to: Python would try once more at its end, and complain."""
    try:
        stream.close()
    except OSError:
        return
