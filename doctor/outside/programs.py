"""Running programs: an argument list, a time limit, an output limit; and asking the user."""

from __future__ import annotations

import os
import sys
import time
from typing import IO, TYPE_CHECKING, NamedTuple

from doctor.outside.world import OutsideError, World

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

OUTPUT_LIMIT = 1 << 20


class Completed(NamedTuple):
    """A command that ended: exit status (negative: the signal) and what it printed, cut at the output limit."""

    status: int
    stdout: str
    stderr: str
    truncated: bool


class Programs(World):
    """Other programs, and the person at the terminal."""

    def which(self, program: str) -> str | None:
        """The full path of a program on PATH."""
        import shutil

        return shutil.which(program, path=self.environ.get("PATH"))

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout: float,
        limit: int = OUTPUT_LIMIT,
        environ: Mapping[str, str] | None = None,
    ) -> Completed:
        """Run a program (an argument list, never a shell) with no standard input and return what it printed.

        Raises OutsideError: missing, denied, timeout (the program and its children are ended), invalid.
        """
        import signal
        import subprocess
        import tempfile

        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                process = subprocess.Popen(
                    list(argv),
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env=dict(self.environ if environ is None else environ),
                    start_new_session=os.name == "posix",
                )
            except FileNotFoundError:
                raise OutsideError("missing", f"{argv[0]}: no such program") from None
            except PermissionError:
                raise OutsideError("denied", f"{argv[0]}: not allowed to run it") from None
            except (OSError, ValueError) as error:
                raise OutsideError("invalid", f"{argv[0]}: cannot be run ({error})") from None
            deadline = time.monotonic() + timeout
            try:
                while process.poll() is None:
                    written = os.fstat(out.fileno()).st_size + os.fstat(err.fileno()).st_size
                    if time.monotonic() > deadline:
                        raise OutsideError("timeout", f"{argv[0]}: no end after {timeout:g} s")
                    if written > 16 * limit:
                        raise OutsideError("too-large", f"{argv[0]}: prints without end")
                    try:
                        process.wait(0.02)
                    except subprocess.TimeoutExpired:
                        continue
            finally:
                if process.poll() is None:
                    if os.name == "posix":
                        os.killpg(process.pid, signal.SIGKILL)
                    else:
                        process.kill()
                    process.wait()
            texts = []
            truncated = False
            for stream in (out, err):
                stream.seek(0)
                data = stream.read(limit + 1)
                truncated = truncated or len(data) > limit
                texts.append(data[:limit].decode("utf-8", "replace"))
        return Completed(process.returncode, texts[0], texts[1], truncated)

    def is_asking(self) -> bool:
        """Whether there is somebody to ask: standard input and output are a terminal."""
        return bool(sys.stdin and sys.stdout and sys.stdin.isatty() and sys.stdout.isatty())

    def redraws(self) -> bool:
        """Whether standard error is a terminal on which a line can be drawn over: no dumb one."""
        return bool(sys.stderr and sys.stderr.isatty()) and self.environ.get("TERM") != "dumb"

    def ask(self, question: str) -> str:
        """The line a user types after a question, "" at the end of input."""
        if sys.stdin is None or sys.stdout is None:
            return ""
        sys.stdout.write(question)
        sys.stdout.flush()
        return sys.stdin.readline(1000).strip()

    def stdin(self) -> IO[bytes]:
        """Standard input as bytes. Raises OutsideError when it is closed."""
        if sys.stdin is None:
            raise OutsideError("missing", "standard input is closed")
        return sys.stdin.buffer
