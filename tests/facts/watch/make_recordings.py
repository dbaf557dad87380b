"""Writes fixtures/watch/*.jsonl: `python -m tests.facts.watch.make_recordings`.

Each is 40 seconds of a made-up machine in one state, in the form `doctor watch --save` writes. The figures are those that
the reports behind the rules give: 11 % of the card and eight cores for layers on the processor, 62 % of PCIe for a spill.
"""

import json
import math
from dataclasses import replace
from pathlib import Path

from doctor.facts.log import Timing
from doctor.facts.machine.record import Machine
from doctor.facts.record import from_json
from doctor.facts.watch.recording import empty, head_line, sample_line
from doctor.facts.watch.sample import CardSample, HostSample, Sample, ServerSample

FIXTURES = Path(__file__).parents[3] / "fixtures"
GIB = 1 << 30
CARD = CardSample(
    0, "NVIDIA GeForce RTX 3090", 96.0, 82.0, 338.0, 350.0, 1755, 2100, 68, (), 22 * GIB, 24 * GIB, 9_000_000, 2_000_000,
    31_504_000_000,
)  # fmt: skip
HOST = HostSample(9.0, 64 * GIB, 41 * GIB, 0, 0.0, 0.0, 4242, 1.0, 3 * GIB, 0.0, 0.0, 0.0)
SERVER = ServerSample("ok", 2, 1, 0, 38, 9000, 0.0, 0.0, 0.0, 0.0)
IDLE = ServerSample("ok", 2, 0, 0, 0, None, 0.0, 0.0, 0.0, 0.0)


def minute(change, seconds=40):
    """Samples one second apart; `change` gives (card, host, server, timings) at a second."""
    for at in range(1, seconds + 1):
        wave = math.sin(at / 3)
        card = replace(CARD, sm_percent=round(96 + 2 * wave, 1), power_watts=round(338 + 6 * wave, 1))
        card, host, server, timings = change(at, card, HOST, replace(SERVER, decode_tokens=38 + round(2 * wave)))
        state = "ok" if card is not None else "lost"
        yield Sample(float(at), 1.0, state, (card,) if card is not None else (), host, server, tuple(timings), "ok")


def turn(at, prompt, prompt_speed, decoded, speed):
    return Timing(prompt, prompt_speed, decoded, speed, at)


STATES = {
    "at-the-limit": lambda at, card, host, server: (card, host, server, ()),
    "card-waits": lambda at, card, host, server: (
        replace(card, sm_percent=11.0 + at % 3, memory_percent=6.0, power_watts=118.0),
        replace(host, server_cores=7.6, cpu_percent=66.0),
        replace(server, decode_tokens=6),
        (),
    ),
    "spilled": lambda at, card, host, server: (
        replace(card, sm_percent=74.0, pcie_in_per_second=19_500_000_000, memory_used_bytes=24 * GIB - (GIB >> 4)),
        host,
        replace(server, decode_tokens=9),
        (),
    ),
    "too-hot": lambda at, card, host, server: (
        replace(
            card,
            temperature_c=min(91, 66 + at),
            reasons=("sw-thermal-slowdown",) if at > 25 else (),
            clock_sm_mhz=1755 if at <= 25 else 1100,
        ),
        host,
        replace(server, decode_tokens=38 if at <= 25 else 21),
        (),
    ),
    "swapping": lambda at, card, host, server: (
        replace(card, sm_percent=18.0),
        replace(
            host,
            server_cores=2.2,
            swap_in_per_second=41e6,
            swap_out_per_second=38e6,
            swap_used_bytes=9 * GIB,
            ram_available_bytes=GIB // 3,
        ),
        replace(server, decode_tokens=2),
        (),
    ),
    "disk-reads": lambda at, card, host, server: (
        replace(card, sm_percent=21.0),
        replace(
            host, server_cores=2.6, read_bytes_per_second=9.1e8, major_faults_per_second=7000.0, ram_available_bytes=GIB
        ),
        replace(server, decode_tokens=2),
        (),
    ),
    "cpu-quota": lambda at, card, host, server: (
        replace(card, sm_percent=24.0),
        replace(host, server_cores=2.0, throttled=0.86),
        replace(server, decode_tokens=5),
        (),
    ),
    "waiting": lambda at, card, host, server: (
        card,
        host,
        replace(server, slots=1, busy=1, waiting=3),
        (),
    ),
    "mostly-prompts": lambda at, card, host, server: (
        card,
        host,
        replace(server, decode_tokens=0 if at % 10 < 8 else 38),
        (turn(at, 18200, 1180.0, 140, 39.5),) if at % 10 == 0 else (),
    ),
    "other-program": lambda at, card, host, server: (
        replace(card, sm_percent=63.0) if at % 30 < 20 else card,
        host,
        IDLE if at % 30 < 20 else server,
        (),
    ),
    "driver-lost": lambda at, card, host, server: (
        card if at <= 35 else None,
        host,
        server if at <= 36 else ServerSample("refused"),
        (),
    ),
    "restarts": lambda at, card, host, server: (
        card,
        replace(host, server_pid=4242 if at <= 30 else 5151),
        ServerSample("refused") if at in (31, 32) else ServerSample("loading") if 33 <= at <= 38 else server,
        (),
    ),
    "idle": lambda at, card, host, server: (
        replace(card, sm_percent=0.0, memory_percent=1.0, power_watts=22.0),
        replace(host, server_cores=0.0),
        IDLE,
        (),
    ),
}


def texts():
    """Name -> the text of each recording."""
    machine = from_json(
        Machine, json.loads((FIXTURES / "machines" / "rtx-3090-24gb-linux.json").read_text())["machine"]
    )
    head = head_line(
        replace(empty(1.0), machine=machine, launch=None, server="http://127.0.0.1:8080"), lambda data: data
    )
    return {
        name: head + "".join(sample_line(one, lambda data: data) for one in minute(state))
        for name, state in STATES.items()
    }


if __name__ == "__main__":
    for name, text in texts().items():
        (FIXTURES / "watch" / f"{name}.jsonl").write_text(text)
