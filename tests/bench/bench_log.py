"""Speed of `doctor log` on a healthy server log, beside ripgrep: `python tests/bench/bench_log.py [MB] [ROUNDS] [SHARE]`.

The log is made of the lines of a real one (fixtures/logs/good) with other numbers in them; SHARE (0.1) of the bytes are
debug lines with JSON bodies, 0 leaves them out. ripgrep (when installed) counts the lines that match the same patterns,
without regard to case as doctor does. It stops at the first match of a line, and the many patterns that only say what kind
of text it is ("slot") match nearly every line at its beginning; so it is also run with the patterns that match no line of
the log, for which it has to look at all of it, as doctor does. All take turns in the same run; printed is the CPU time of
the whole process (least of the rounds, which a busy machine disturbs least, and median) and the peak of memory.
"""

import argparse
import itertools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from doctor.engine.load import load
from doctor.outside import Outside

GOOD = Path(__file__).parents[2] / "fixtures" / "logs" / "good"
# Measured in a process of its own: the peak of a child that was forked from a big parent would count the parent.
MEASURE = """
import os, resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(status, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
"""
WITHOUT = "import sys; sys.modules['hyperscan'] = None; from doctor.cli import run; run()"


def pieces(body_share):
    """The log in pieces of some MB, without end. The same on every run."""
    chance = random.Random(1)
    lines = (GOOD / "b11434_success_default.log").read_text().splitlines(keepends=True)
    debug = re.findall(
        r"^[\d.]+ D (?:srv|que|res|slot).*\n", (GOOD / "b11434_success_lv5.log").read_text(errors="replace"), re.M
    )
    yield "".join(lines[:9])
    turn = lines[9:-1]
    words = Path(argparse.__file__).read_text().split(" ")  # what coding agents send: code and words about code
    for number in itertools.count():
        out = []
        size = bodies = 0
        while size < 4_000_000:
            out += [renumbered(line, chance, number) for line in turn]
            if bodies < body_share * size:
                text = " ".join(chance.choices(words, k=chance.randint(50, 1500)))
                body = json.dumps({"messages": [{"role": "user", "content": text}], "stream": True, "temperature": 0.7})
                out += [renumbered(line, chance, number) for line in debug[:12]]
                out.append(f"{number % 60}.01.234.567 D srv  log_server_r: request:  {body}\n")
                bodies += len(body)
            size = sum(map(len, out[-80:])) + size
        yield "".join(out)


def renumbered(line, chance, number):
    """A line of the real log with other times, tasks and counts; what makes it healthy (one slot, truncated = 0) stays."""
    line = re.sub(
        r"^[\d.]{12}",
        f"{number % 60}.{chance.randint(0, 59):02}.{chance.randint(0, 999):03}.{chance.randint(0, 999):03}",
        line,
    )
    line = re.sub(r"task \d+", f"task {chance.randint(0, 99999)}", line)
    return re.sub(r"(?<==)( +)(\d{2,4})\.(\d\d)", lambda m: f"{m[1]}{chance.randint(10, 9999)}.{m[3]}", line)


def patterns():
    """The patterns of all rules as ripgrep reads them; those it cannot (look-around) are left out."""
    rules = load(Outside(environ={})).rules
    found = dict.fromkeys(p for rule in rules for s in rule.symptoms for p in (s.pattern, *s.also, *s.unless))
    plain = []
    for pattern in found:
        if re.search(r"\(\?<?[=!]", pattern):
            continue
        pattern = re.sub(r"\(\?P<\w+>", "(", pattern)
        pattern = re.sub(r"\\(.)", lambda m: m[1] if m[1] in "\"'`<>!@%,:;=/ _" else m[0], pattern)
        plain.append("".join(c if c.isascii() else "".join(f"\\x{byte:02x}" for byte in c.encode()) for c in pattern))
    return plain, len(found)


def measured(argv, environ):
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *argv], env=environ, capture_output=True, text=True, check=True
    )
    status, cpu, peak = done.stdout.split()
    return int(status), float(cpu), float(peak)


def main():
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 100
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    share = float(sys.argv[3]) if len(sys.argv) > 3 else 0.1
    with tempfile.TemporaryDirectory() as home:
        log, listed, silent = Path(home, "a.log"), Path(home, "patterns"), Path(home, "silent")
        with log.open("w") as stream:
            made = list(itertools.islice(pieces(share), 12))
            stream.write(made[0])
            turns = itertools.cycle(made[1:])
            while stream.tell() < megabytes * 1e6:
                stream.write(next(turns))
        environ = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", "PYTHONPATH": os.pathsep.join(sys.path)}
        candidates = {
            "doctor": [sys.executable, "-m", "doctor", "log", str(log)],
            "doctor, no hyperscan": [sys.executable, "-c", WITHOUT, "log", str(log)],
        }
        usable, total = patterns()
        usable = [p for p in usable if _status(["rg", "--no-unicode", "-i", "-e", p, os.devnull]) == 1]
        if usable:
            listed.write_text("\n".join(usable) + "\n")
            search = ["rg", "--no-unicode", "-a", "-c", "-i", "-f"]
            part = Path(home, "part")
            part.write_text("".join(made)[:4_000_000])
            none = [p for p in usable if _status(["rg", "--no-unicode", "-a", "-i", "-q", "-e", p, str(part)]) == 1]
            silent.write_text("\n".join(none) + "\n")
            candidates["rg"] = [*search, str(listed), str(log)]
            candidates["rg, patterns without a match"] = [*search, str(silent), str(log)]
            print(f"rg with {len(usable)} of {total} patterns, {len(none)} of which match no line")
        print(f"{log.stat().st_size / 1e6:.0f} MB, {share:.0%} JSON bodies")
        results = {name: [] for name in candidates}
        for _ in range(rounds):
            for name, argv in candidates.items():
                results[name].append(measured(argv, environ))
        for name, runs in results.items():
            times = [run[1] for run in runs]
            peak = max(run[2] for run in runs)
            print(
                f"{name:30} exit {runs[0][0]}  CPU s {min(times):6.2f} (median {statistics.median(times):6.2f})  "
                f"{log.stat().st_size / 1e6 / min(times):5.0f} MB per CPU s  peak {peak:5.0f} MiB"
            )


def _status(argv):
    try:
        return subprocess.run(argv, capture_output=True, check=False).returncode
    except OSError:
        return None


if __name__ == "__main__":
    main()
