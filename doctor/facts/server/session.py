"""The requests to one server: each bounded, all of them together bounded, every one noted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.server.kinds import NO_UTF8, Reply, body_fault, parse_json, request_fault
from doctor.facts.server.record import Probe
from doctor.outside import OutsideError
from doctor.redact import sanitize

if TYPE_CHECKING:
    from doctor.facts.urls import Address
    from doctor.outside import Outside

TOTAL_SECONDS = 4.5
REQUEST_SECONDS = 2.0
BODY_LIMIT = 1 << 20
WORDS_SHOWN = 160
EXPECTED = frozenset({200, 400, 401, 403, 404, 405, 501, 503})
"""Statuses of a GET that llama-server has a reason for."""
NO_JSON = frozenset({"/metrics"})
"""Paths whose answer is no JSON."""


class Session:
    """The requests to one server: each bounded, all of them together bounded, every one noted.

    `faults` is path -> what is wrong with the last answer there, in words.
    """

    def __init__(self, outside: Outside, address: Address, key: str) -> None:
        self.outside = outside
        self.address = address
        self.key = key
        self.probes: list[Probe] = []
        self.faults: dict[str, str] = {}
        self._end = outside.monotonic() + TOTAL_SECONDS

    def left(self, at_most: float) -> float:
        """Seconds the next step may take."""
        return max(0.05, min(at_most, self._end - self.outside.monotonic()))

    def get(self, path: str, *, with_key: bool = False, root: str = "") -> Reply:
        """The answer to one request. Raises OutsideError."""
        headers = {"Authorization": f"Bearer {self.key}"} if with_key else {}
        url = (root or self.address.root) + path
        try:
            if self._end - self.outside.monotonic() < 0.05:
                raise OutsideError("timeout", f"{url}: not asked, the server is too slow")
            got = self.outside.http("GET", url, headers=headers, timeout=self.left(REQUEST_SECONDS), limit=BODY_LIMIT)
        except OutsideError as error:
            self.probes.append(Probe("GET", path, with_key, None, None, None))
            self.faults[path] = request_fault(error, url)
            raise
        text = got.body.decode("utf-8", "replace")
        words = sanitize(" ".join(text[: 4 * WORDS_SHOWN].split()))[:WORDS_SHOWN]
        self.probes.append(Probe("GET", path, with_key, got.status, round(got.milliseconds, 1), words))
        fault = body_fault(got.headers, got.body, BODY_LIMIT if got.truncated else 0)
        data = parse_json(text) if fault in ("", NO_UTF8) else None
        if got.status not in EXPECTED:
            fault = f"HTTP {got.status}"
        elif got.status == 200 and data is None and path not in NO_JSON:
            fault = fault or "the answer is no JSON"
        self.faults.pop(path, None)
        if fault:
            self.faults[path] = fault
        return Reply(path, got.status, got.headers, text, data)

    def try_get(self, path: str, *, with_key: bool = False, root: str = "") -> Reply | None:
        """The answer to one request, None when none came."""
        try:
            return self.get(path, with_key=with_key, root=root)
        except OutsideError:
            return None
