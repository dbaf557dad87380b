"""What `doctor watch` costs: `python tests/bench/bench_watch.py URL [SECONDS] [LOG]`, on a terminal of its own.

Prints per cent of one core (user+system) between the fifth second and the end, so without the start, and the memory held.
"""

import os
import pty
import select
import sys
import time

import psutil


def main() -> None:
    url, seconds = sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 60.0
    log = ["--log", sys.argv[3]] if len(sys.argv) > 3 else []
    pid, terminal = pty.fork()
    if pid == 0:
        argv = [sys.executable, "-m", "doctor", "watch", "--server", url, "--for", str(seconds + 30), *log]
        os.execve(sys.executable, argv, {**os.environ, "TERM": "xterm-256color", "COLUMNS": "110", "LINES": "40"})
    process = psutil.Process(pid)
    started, begun = time.monotonic(), None
    while time.monotonic() - started < seconds + 5:
        if select.select([terminal], [], [], 0.2)[0]:
            os.read(terminal, 65536)
        if begun is None and time.monotonic() - started > 5:
            begun = process.cpu_times()
    ended = process.cpu_times()
    spent = ended.user + ended.system - begun.user - begun.system
    print(f"{100 * spent / seconds:.2f} % of one core, {process.memory_info().rss / (1 << 20):.0f} MiB")
    os.kill(pid, 2)


if __name__ == "__main__":
    main()
