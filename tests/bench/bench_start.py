"""CPU time of starting doctor, beside bare Python: `python tests/bench/bench_start.py [ROUNDS]`.

Prints the median of user+system time over the rounds, candidates interleaved, so that a busy machine slows all alike.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

DOCTOR = str(Path(sys.executable).with_name("doctor"))
LOG = "load_tensors: offloaded 33/33 layers to GPU\n" * 200
CANDIDATES = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "doctor --version": [DOCTOR, "--version"],
    "doctor explain (json)": [DOCTOR, "explain", "reading choices 为空", "--format", "json"],
    "doctor explain (text)": [DOCTOR, "explain", "reading choices 为空"],
    "doctor log, 200 lines": [DOCTOR, "log", "LOG"],
    "doctor check": [DOCTOR, "check", "--format", "json"],
}


def cpu_of(argv: list[str], environ: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    with tempfile.TemporaryDirectory() as home:
        log = Path(home, "a.log")
        log.write_text(LOG)
        environ = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8"}
        times: dict[str, list[float]] = {name: [] for name in CANDIDATES}
        for _ in range(rounds + 1):
            for name, argv in CANDIDATES.items():
                times[name].append(cpu_of([str(log) if word == "LOG" else word for word in argv], environ))
        bare = statistics.median(times["python -c pass"][1:])
        for name, values in times.items():
            median = statistics.median(values[1:])
            print(f"{name:24} {median * 1000:7.1f} ms CPU   {median / bare:4.1f}x bare python")


if __name__ == "__main__":
    main()
