"""Huge and hostile input costs little memory, and time in step with its length."""

import collections
import itertools
import os
import subprocess
import sys
import time

import pytest

from doctor.engine.load import load
from doctor.engine.match import Matcher
from doctor.logs.paste import Paste
from doctor.outside import Outside

RULES = load(Outside(environ={})).rules
LINE = "0.33.599.419 I slot print_timing: id  0 | task 82 |        eval time =     642.99 ms /   125 tokens (    5.14 ms per token,   194.41 tokens per second)\n"
BODY = '0.33.599.419 D srv  request: {"messages":[{"role":"user","content":"word %d %s"}]}\n'
# Measured from a small process in between: a child of this big one would be counted with its size.
SCRIPT = """
import resource, subprocess, sys
status = subprocess.run([sys.executable, "-m", "doctor", "log", "-"]).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_of(pieces):
    """MiB of memory at most while doctor reads these from a pipe."""
    environ = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
    )
    for piece in pieces:
        process.stdin.write(piece)
    process.stdin.close()
    words = process.stdout.read().split()
    assert process.wait() == 0 and words[-2] == b"0"
    return int(words[-1]) / (1 << 20 if sys.platform == "darwin" else 1 << 10)


@pytest.mark.skipif(sys.platform == "win32", reason="counts memory the Unix way")
@pytest.mark.parametrize("form", ["timings", "one line", "bodies", "empty lines"])
def test_memory_is_flat(form):
    piece = {
        "timings": (LINE * 7000).encode(),
        "one line": b"x" * (1 << 20),
        "bodies": "".join(BODY % (n, "token " * (n % 700)) for n in range(500)).encode(),
        "empty lines": b"\n" * (1 << 18),
    }[form]
    peak_of([piece])  # rules that have changed are compiled by whoever needs them first, which takes more than any log
    megabytes = 300 if form in ("timings", "one line") else 30
    assert peak_of(piece for _ in range(megabytes * 1_000_000 // len(piece))) < 150


def seconds(data):
    started = time.process_time()
    Matcher(RULES).sift(Paste(data[at : at + (1 << 20)] for at in range(0, len(data), 1 << 20)))
    return time.process_time() - started


@pytest.mark.parametrize("end", ["", "\n"])
def test_time_grows_with_length_on_repeated_texts(end):
    """Each text a rule looks for, over and over: in lines of its own, and in lines without end."""
    texts = sorted({text for rule in RULES for symptom in rule.symptoms for text in symptom.literals})[::60]
    once = "".join((text + " 1") * 300 + end for text in texts).encode()
    seconds(once)
    assert seconds(once * 12) < 5 * seconds(once * 3) + 0.2


def test_no_pattern_is_tried_on_every_line_of_a_healthy_log(monkeypatch):
    """One that can never have all its hits, of a form that common lines have, makes long logs several times slower."""
    from tests.bench.bench_log import pieces

    first, *more = itertools.islice(pieces(0), 4)
    tried = collections.Counter()
    seen = sum(piece.count("\n") for piece in (first, more[0]))
    real = Matcher._try

    def counting(self, line, trials, hits):
        if line.number > seen:
            tried.update(trial.pattern for trial in trials)
        return real(self, line, trials, hits)

    monkeypatch.setattr(Matcher, "_try", counting)
    Matcher(RULES).sift(Paste([piece.encode() for piece in (first, *more)]))
    lines = sum(piece.count("\n") for piece in more[1:])
    assert lines > 10_000 and {pattern: count for pattern, count in tried.items() if count > lines / 100} == {}
