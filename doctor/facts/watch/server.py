"""The server, asked again and again: /slots and /metrics. It may go away and come back; nothing is raised."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from doctor.facts.server.answers import odd_number, whole
from doctor.facts.server.kinds import NO_UTF8, body_fault, parse_json, request_fault
from doctor.facts.watch.sample import ServerSample
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import HttpReply, Outside

REQUEST_SECONDS = 2.0
BODY_LIMIT = 1 << 20
AGAIN = 30.0
"""Seconds until an address that the server does not have (501, 404) is asked again, and until a sleeper is looked at."""
MOST_SLOTS = 256
_METRIC = re.compile(r"^llamacpp:(\w{1,60})\s+([0-9.eE+-]{1,30})\s*$", re.MULTILINE)
_TOTALS = {
    "done_prompt_tokens": "prompt_tokens_total",
    "done_prompt_seconds": "prompt_seconds_total",
    "done_decode_tokens": "tokens_predicted_total",
    "done_decode_seconds": "tokens_predicted_seconds_total",
}


class ServerWatch:
    """The server at `root`, asked with `key` where there is one ("" for none)."""

    def __init__(self, outside: Outside, root: str, key: str) -> None:
        self._outside = outside
        self._root = root
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._silent: dict[str, float] = {}
        self._totals: dict[str, float] = {}
        self._decoded: dict[int, tuple[Any, int]] = {}
        self._trouble: str | None = None
        self._asleep: bool | None = None

    def sample(self, now: float) -> ServerSample:
        """What the server says at the moment `now`."""
        self._trouble = None
        try:
            if self._asleep is not False:
                state = self._awake(now)
                if state != "ok":
                    return ServerSample(state, trouble=self._trouble)
            slots = self._get("/slots", now)
            metrics = self._get("/metrics", now)
            if slots is None and metrics is None:
                return ServerSample(_health(self._ask("/health")), trouble=self._trouble)
        except OutsideError as error:
            self._asleep = None
            return ServerSample(error.kind if error.kind in ("refused", "timeout") else "error", trouble=self._trouble)
        for reply in (slots, metrics):
            if reply is not None and reply.status != 200:
                self._asleep = None
                return ServerSample(_health(reply), trouble=self._trouble)
        return self._read(slots, metrics)

    def _awake(self, now: float) -> str:
        """The state before anything is asked that would wake a sleeping server up."""
        if self._asleep and now < self._silent.get("/props", 0.0):
            return "sleeping"
        reply = self._ask("/props")
        if reply.status == 200:
            data = self._json("/props", reply)
            self._asleep = isinstance(data, dict) and data.get("is_sleeping") is True
            self._silent["/props"] = now + AGAIN / 3
            return "sleeping" if self._asleep else "ok"
        if reply.status == 404:  # an old build, which never sleeps
            self._asleep = False
            return "ok"
        return _health(reply)

    def _get(self, path: str, now: float) -> HttpReply | None:
        """The answer, None where the server does not have that address."""
        if now < self._silent.get(path, 0.0):
            return None
        reply = self._ask(path)
        if reply.status in (404, 501):
            self._silent[path] = now + AGAIN
            return None
        return reply

    def _ask(self, path: str) -> HttpReply:
        url = self._root + path
        try:
            reply = self._outside.http("GET", url, headers=self._headers, timeout=REQUEST_SECONDS, limit=BODY_LIMIT)
        except OutsideError as error:
            self._trouble = f"{path}: {request_fault(error, url)}"
            raise
        if reply.status not in (200, 401, 403, 404, 501, 503):
            self._trouble = f"{path}: HTTP {reply.status}"
        return reply

    def _text(self, path: str, reply: HttpReply) -> str:
        """The body, "" for one that no client could read."""
        fault = body_fault(reply.headers, reply.body, BODY_LIMIT if reply.truncated else 0)
        if fault:
            self._trouble = f"{path}: {fault}"
        return reply.body.decode("utf-8", "replace") if fault in ("", NO_UTF8) else ""

    def _json(self, path: str, reply: HttpReply) -> Any:
        text = self._text(path, reply)
        data = parse_json(text)
        if text and data is None:
            self._trouble = f"{path}: the answer is no JSON"
        return data

    def _read(self, slots: HttpReply | None, metrics: HttpReply | None) -> ServerSample:
        listed = self._json("/slots", slots) if slots is not None else None
        entries = [slot for slot in listed if isinstance(slot, dict)][:MOST_SLOTS] if isinstance(listed, list) else None
        values = _metrics(self._text("/metrics", metrics)) if metrics is not None else {}
        if slots is not None and entries is None:
            self._trouble = self._trouble or "/slots: the answer is no list"
        if odd := odd_number("/slots", entries):
            self._trouble = f"/slots: what stands for {odd} is no sensible number"
        if metrics is not None and not values:
            self._trouble = self._trouble or "/metrics: no figure in it can be read"
        if entries is None and not values:
            return ServerSample("error", trouble=self._trouble)
        totals = {name: values[metric] for name, metric in _TOTALS.items() if metric in values}
        restarted = any(value < self._totals.get(name, 0.0) for name, value in totals.items())
        done = {name: value - self._totals[name] for name, value in totals.items() if name in self._totals}
        self._totals = totals
        busy = sum(slot.get("is_processing") is True or slot.get("state") == 1 for slot in entries or ())
        if entries is None and "requests_processing" in values:
            busy = int(values["requests_processing"])
        return ServerSample(
            state="ok",
            slots=len(entries) if entries is not None else None,
            busy=busy if entries is not None or "requests_processing" in values else None,
            waiting=int(values["requests_deferred"]) if "requests_deferred" in values else None,
            decode_tokens=self._decode(entries) if entries is not None else None,
            depth=max((depth for slot in entries if (depth := _depth(slot))), default=None) if entries else None,
            restarted=restarted,
            trouble=self._trouble,
            **({} if restarted else done),
        )

    def _decode(self, entries: list[dict[str, Any]]) -> int | None:
        """Tokens generated since the last time; None the first time, when the counters say nothing yet."""
        before, self._decoded = self._decoded, {}
        total = 0
        for slot in entries:
            number, task, count = whole(slot.get("id")), slot.get("id_task"), _count(slot)
            if number is not None and count is not None:
                known = before.get(number)
                self._decoded[number] = (task, count)
                total += max(0, count - known[1]) if known and known[0] == task else count if before else 0
        return total if before else None


def _health(reply: HttpReply) -> str:
    if reply.status == 200:
        return "ok"
    return {401: "unauthorised", 403: "unauthorised", 503: "loading"}.get(reply.status, "error")


def _metrics(text: str) -> dict[str, float]:
    values = {}
    for name, value in _METRIC.findall(text):
        try:
            number = float(value)
        except ValueError:
            continue
        if 0 <= number < 1e15:
            values[name] = number
    return values


def _next(slot: dict[str, Any]) -> dict[str, Any]:
    """Where a slot keeps its counters: an object up to b6800 or so, a list of one since."""
    found = slot.get("next_token")
    found = found[0] if isinstance(found, list) and found else found
    return found if isinstance(found, dict) else {}


def _count(slot: dict[str, Any]) -> int | None:
    return whole(_next(slot).get("n_decoded", slot.get("n_decoded")))


def _depth(slot: dict[str, Any]) -> int | None:
    """Tokens in the context of a busy slot."""
    if slot.get("is_processing") is not True:
        return None
    cached, done = whole(slot.get("n_prompt_tokens_cache")), whole(slot.get("n_prompt_tokens_processed"))
    if cached is not None and done is not None:
        return cached + done + (_count(slot) or 0)
    return whole(slot.get("n_prompt_tokens"))  # in newer builds with what was generated
