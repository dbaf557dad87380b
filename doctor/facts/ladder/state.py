"""What a climb carries from rung to rung."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.ladder.target import headers_of
from doctor.facts.record import known
from doctor.facts.urls import parse_address

if TYPE_CHECKING:
    from doctor.facts.ladder.ask import Answer, Asker
    from doctor.facts.ladder.target import Key, Target
    from doctor.facts.server.record import Server
    from doctor.outside import Outside


class Step(NamedTuple):
    """How a rung turned out; see `Rung`."""

    state: str
    reason: str
    detail: str


def passed(detail: str) -> Step:
    """The rung holds."""
    return Step("passed", "", detail)


def warned(reason: str, detail: str) -> Step:
    """The rung holds, with a but."""
    return Step("warned", reason, detail)


def failed(reason: str, detail: str) -> Step:
    """The rung does not hold: the climb ends here."""
    return Step("failed", reason, detail)


def not_tried(detail: str) -> Step:
    """Nothing can be said about this rung; the climb goes on."""
    return Step("not-tried", "", detail)


class Climb:
    """The world, whom we stand in for, what the server said, and what was found on the way (`found`: fields of Ladder).

    `server_url` is where a llama.cpp server is known to be, "" when none is.
    """

    def __init__(self, outside: Outside, target: Target, server: Server, asker: Asker, origin: str = "") -> None:
        self.server_url = ""
        self.outside = outside
        self.target = target
        self.server = server
        self.asker = asker
        self.origin = origin
        self.address = parse_address(target.request_url or target.base)
        self.found: dict[str, Any] = {}
        self._first: Answer | None = None

    @property
    def kind(self) -> str:
        """Which program answers."""
        return known(self.server.kind) or "unknown"

    @property
    def is_llama(self) -> bool:
        """Whether a single-model llama.cpp server answers."""
        return self.kind == "llama.cpp"

    @property
    def headers(self) -> dict[str, str]:
        """The headers the client sends."""
        return self.headers_with(self.target.keys)

    def headers_with(self, keys: tuple[Key, ...]) -> dict[str, str]:
        """The same with other keys."""
        return headers_of(keys, self.target.wire_api)

    def empty_request(self) -> Answer:
        """The answer to an empty request to the client's own address: it tells key and path apart and costs nothing."""
        if self._first is None:
            self._first = self.asker.ask("POST", self.target.request_url, self.headers, {})
        return self._first

    @property
    def model(self) -> str:
        """The model that is asked for: the client's, else the first that is served."""
        served = known(self.server.model_ids) or self.found.get("models_served") or ()
        return self.target.models[0] if self.target.models else served[0] if served else "default"
