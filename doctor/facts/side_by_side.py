"""Runs collectors side by side, each with a deadline, none able to take the others down."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.facts import DERIVED, SUBJECTS
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from collections.abc import Callable

DEADLINES = {
    "machine": 5.0,
    "gpu": 8.0,
    "cuda": 6.0,
    "build": 20.0,
    "gguf": 20.0,
    "launch": 5.0,
    "server": 8.0,
    "clients": 4.0,
    "ladders": 20.0,
    "budget": 10.0,
    "speed": 5.0,
    "process": 5.0,
}
"""Seconds a collector may take. Starting a CUDA program can take long on a machine with several cards."""
HASH_DEADLINE = 24 * 3600.0
LEFT_OUT = "left out by --only or --skip"
CRASHED = "the check crashed: "
LOOKED_AT = tuple(name for name in SUBJECTS if name not in DERIVED)


class Wishes(NamedTuple):
    """What the user named. None: find it out.

    `client`: its way is looked at wherever it leads; `far`: so is everybody's.
    """

    model: str | None = None
    launch: str | None = None
    server: str | None = None
    binary: str | None = None
    key_token: str | None = None
    want_hash: bool = False
    subjects: tuple[str, ...] = LOOKED_AT
    progress: Callable[[int, int], None] | None = None
    build_number: int | None = None
    build_dir: str | None = None
    client: str | None = None
    far: bool = False


def side_by_side(wishes: Wishes, tasks: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """Run every wanted task in a thread of its own; what is not done by its deadline is unknown."""
    results: dict[str, Any] = {}

    def run(name: str, task: Callable[[], Any]) -> None:
        try:
            results.setdefault(name, task())
        except Exception as error:
            results.setdefault(name, Unknown(f"{CRASHED}{type(error).__name__}: {error}"))

    threads = {}
    for name, task in tasks.items():
        if name not in wishes.subjects:
            results[name] = Unknown(LEFT_OUT)
            continue
        threads[name] = threading.Thread(target=run, args=(name, task), daemon=True)
        threads[name].start()
    for name, thread in threads.items():
        deadline = HASH_DEADLINE if name == "gguf" and wishes.want_hash else DEADLINES[name]
        thread.join(deadline)
        results.setdefault(name, Unknown(f"no result within {deadline:g} s"))
    return {name: results[name] for name in tasks}
