"""A run of the real program: one question, an empty home, nothing but loopback."""

import os
import re
import signal
import subprocess
from typing import NamedTuple

from tests.real.matrix.clients import PROMPT

LIMIT = 60
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07")


class Ran(NamedTuple):
    """`works`: it ended by itself, without an error and with an answer. `said`: all that it printed."""

    works: bool
    said: str


class Raw(NamedTuple):
    """How a run ended (`status` None: its time was up) and what it printed, without colours."""

    status: int | None
    out: str
    err: str


def run(setup, limit=LIMIT, question=PROMPT):
    """What the client's program makes of a set-up."""
    raw = run_words(setup.client.command(question), setup.home, {**setup.client.shell(), **setup.env}, limit)
    return Ran(
        setup.client.answered(raw.status, raw.out), f"{raw.err}\n{raw.out}"
    )  # as on a screen: the answer comes last


def run_words(argv, home, env, limit):
    """A run of a command in the project folder of a home; it is ended with all it has started when its time is up."""
    path = os.pathsep.join(dict.fromkeys([os.path.dirname(argv[0]), *os.environ["PATH"].split(os.pathsep)]))
    env = {"PATH": path, "HOME": str(home), "TERM": "dumb", "NO_COLOR": "1", **env}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(argv, env=env, cwd=home / "project", start_new_session=True, **pipes)
    try:
        out, err = process.communicate(timeout=limit)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            out, err = process.communicate(timeout=3)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        status = None
    return Raw(status, *(_ESCAPES.sub("", text.decode("utf-8", "replace")) for text in (out, err)))


def only_loopback():
    """Whether this process can reach nothing but this machine (it runs in a network namespace of its own)."""
    try:
        with open("/proc/net/route", encoding="ascii") as stream:
            routes = stream.read().splitlines()[1:]
    except OSError:
        return False
    return not any(line.split()[0] != "lo" for line in routes)
