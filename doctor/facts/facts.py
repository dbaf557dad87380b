"""Everything that is known about one set-up: the only thing the engine ever sees."""

from __future__ import annotations

from dataclasses import dataclass, fields

from doctor.facts.asked import Asked
from doctor.facts.bench import Bench
from doctor.facts.budget.fit_params import FitParams
from doctor.facts.budget.record import MemoryBudget
from doctor.facts.build.record import Build
from doctor.facts.clients.record import Client
from doctor.facts.cuda.record import Cuda
from doctor.facts.gguf.record import Gguf
from doctor.facts.gpu.record import Gpu
from doctor.facts.ladder.record import Ladder
from doctor.facts.launch.record import Launch
from doctor.facts.log import Log
from doctor.facts.machine.record import Machine
from doctor.facts.process.record import Process
from doctor.facts.record import Fact, Unknown
from doctor.facts.server.record import Server
from doctor.facts.speed import Speed
from doctor.facts.timeline.record import Timeline
from doctor.facts.watch.record import Watch


@dataclass(frozen=True)
class Facts:
    """One record a subject. A subject that was not looked at is Unknown with the reason.

    What is only asked for is absent otherwise: `fit_params` (`doctor plan --verify`), `speed` (what this card and model
    allow, where both are known), `timeline` (the requests of a log), `bench` (`doctor bench`),
    `watch` (`doctor watch`), `asked` (what a pasted text says of addresses and requests). `process` is absent where the
    server's process is not known or does not run here.
    """

    machine: Fact[Machine]
    gpu: Fact[Gpu]
    cuda: Fact[Cuda]
    build: Fact[Build]
    gguf: Fact[Gguf]
    launch: Fact[Launch]
    server: Fact[Server]
    clients: Fact[tuple[Client, ...]]
    ladders: Fact[tuple[Ladder, ...]]
    budget: Fact[MemoryBudget]
    log: Fact[Log]
    fit_params: Fact[FitParams] = None
    speed: Fact[Speed] = None
    timeline: Fact[Timeline] = None
    bench: Fact[Bench] = None
    watch: Fact[Watch] = None
    process: Fact[Process] = None
    asked: Fact[Asked] = None


ON_REQUEST = frozenset({"fit_params", "speed", "timeline", "bench", "watch", "process", "asked"})
"""Subjects that are there only for commands that ask for them, or where there is something to look at."""
SUBJECTS = tuple(field.name for field in fields(Facts) if field.name not in ON_REQUEST)
DERIVED = frozenset({"budget", "log"})
"""Subjects that are not looked at but follow from others, or from a text."""


def nothing_known(reason: str) -> Facts:
    """Facts in which every subject is unknown for the same reason."""
    return Facts(**{name: Unknown(reason) for name in SUBJECTS})
