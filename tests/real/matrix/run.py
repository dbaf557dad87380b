"""A run of the real program: one question, an empty home, nothing but loopback."""

import os
import re
import shutil
import subprocess
from typing import NamedTuple

from tests.real.matrix.clients import PROMPT

LIMIT = 60
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")


class Ran(NamedTuple):
    """`works`: it ended by itself, without an error and with an answer. `said`: all that it printed."""

    works: bool
    said: str


def run(setup, limit=LIMIT, question=PROMPT):
    """What the client's program makes of a set-up."""
    argv = setup.client.command(question)
    path = os.pathsep.join(dict.fromkeys([os.path.dirname(argv[0]), *os.environ["PATH"].split(os.pathsep)]))
    env = {"PATH": path, "HOME": str(setup.home), "TERM": "dumb", "NO_COLOR": "1", **setup.client.shell(), **setup.env}
    try:
        done = subprocess.run(
            [*_alone(), *argv],
            env=env,
            cwd=setup.home / "project",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
        )
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as error:
        status, out, err = None, error.stdout or b"", error.stderr or b""
    text = _ESCAPES.sub("", out.decode("utf-8", "replace")), _ESCAPES.sub("", err.decode("utf-8", "replace"))
    return Ran(setup.client.answered(status, text[0]), "\n".join(text))


def _alone():
    """The words that end a program with everything it has started when its time is up."""
    return ["timeout", "-k", "3", str(LIMIT)] if shutil.which("timeout") else []


def only_loopback():
    """Whether this process can reach nothing but this machine (it runs in a network namespace of its own)."""
    try:
        with open("/proc/net/route", encoding="ascii") as stream:
            routes = stream.read().splitlines()[1:]
    except OSError:
        return False
    return not any(line.split()[0] != "lo" for line in routes)
