"""Throughput of `doctor log` on a healthy server log: `python tests/bench/bench_log.py [MB]`.

Prints MB per CPU second of the whole process and its peak memory.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

DOCTOR = str(Path(sys.executable).with_name("doctor"))
LINES = (
    "0.33.{n:03d}.415 I slot print_timing: id  0 | task {n} | prompt eval time =       5.52 ms /     1 tokens (    5.52 ms per token,   181.06 tokens per second)\n"
    "0.33.{n:03d}.419 I slot print_timing: id  0 | task {n} |        eval time =     642.99 ms /   125 tokens (    5.14 ms per token,   194.41 tokens per second)\n"
    "0.33.{n:03d}.450 I slot      release: id  0 | task {n} | stop processing: n_tokens = 163, truncated = 0\n"
    "0.33.{n:03d}.455 I srv  update_slots: all slots are idle\n"
)


def main() -> None:
    size = int(float(sys.argv[1]) * 1e6) if len(sys.argv) > 1 else 20_000_000
    with tempfile.TemporaryDirectory() as home:
        log = Path(home, "a.log")
        with log.open("w") as stream:
            number = 0
            while stream.tell() < size:
                stream.write("".join(LINES.format(n=(number + i) % 1000) for i in range(500)))
                number += 500
        environ = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8"}
        subprocess.run([DOCTOR, "log", str(log)], env=environ, stdout=subprocess.DEVNULL, check=False)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = used.ru_utime + used.ru_stime
        print(
            f"{log.stat().st_size / 1e6:.0f} MB in {cpu:.2f} CPU s: {log.stat().st_size / 1e6 / cpu:.1f} MB/CPU s, peak {used.ru_maxrss / 1024:.0f} MiB"
        )


if __name__ == "__main__":
    main()
