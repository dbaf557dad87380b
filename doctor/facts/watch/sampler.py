"""One sample after the other. Each part has its own time limit: a driver that hangs does not stop the rest."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from doctor.facts.watch.cards import Cards
from doctor.facts.watch.host import Host
from doctor.facts.watch.log import LogWatch
from doctor.facts.watch.sample import CardSample, HostSample, Sample, ServerSample
from doctor.facts.watch.server import ServerWatch

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.outside import Outside

T = TypeVar("T")

CARDS_SECONDS = 3.0
SENSELESS = "no sense can be made of what the server answers"
HUNG = "error"
"""State of cards whose driver does not come back with an answer."""


class Sampler:
    """What is watched. `root` "" is no server, `log` "" no log; `find` gives the number of the server's process."""

    def __init__(self, outside: Outside, root: str, key: str, log: str, find: Callable[[], int | None]) -> None:
        self._outside = outside
        self._cards = Cards(outside)
        self._host = Host(outside, find)
        self._server = ServerWatch(outside, root, key) if root else None
        self._log = LogWatch(outside, log) if log else None
        self._asking: Thread | None = None
        self._started = outside.monotonic()
        self._last = self._started
        self.sample()  # rates want something before them

    def sample(self) -> Sample:
        """Everything, now."""
        now = self._outside.monotonic()
        seconds, self._last = now - self._last, now
        late: tuple[str, tuple[CardSample, ...]] = (HUNG, ())
        state, cards = self._within(lambda: self._cards.sample(now), late)
        host = _sound(lambda: self._host.sample(now, seconds), HostSample())
        server = None
        if self._server is not None:
            watch = self._server
            server = _sound(lambda: watch.sample(now), ServerSample("error", trouble=SENSELESS))
        at, took = round(now - self._started, 3), round(seconds, 3)
        if self._log is None:
            return Sample(at, took, state, cards, host, server)
        news = self._log.sample()
        return Sample(at, took, state, cards, host, server, news.timings, news.state, news.turns or None)

    def close(self) -> None:
        """Give back what was taken."""
        if self._asking is None or not self._asking.is_alive():
            self._cards.close()

    def _within(self, task: Callable[[], T], late: T) -> T:
        """What `task` returns in time. One that hangs is left behind, and no other is begun until it is back."""
        if self._asking is not None and self._asking.is_alive():
            return late
        results: list[T] = []
        self._asking = Thread(target=lambda: results.append(_sound(task, late)), daemon=True)
        self._asking.start()
        self._asking.join(CARDS_SECONDS)
        return results[0] if results else late


def _sound(task: Callable[[], T], broken: T) -> T:
    """What `task` returns, or `broken` when it has a fault: what is watched may answer anything."""
    try:
        return task()
    except Exception:
        return broken
