"""Requests of a climb: to one origin only, each bounded in time and size, all of them together bounded."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.server.kinds import parse_json
from doctor.outside import OutsideError
from doctor.redact import sanitize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doctor.outside import Outside, StreamReply

CHEAP_SECONDS = 2.0
"""One request that makes no model work."""
CHEAP_TOTAL = 8.0
"""All requests of the rungs that make no model work, beyond those of the server's own record (4.5 s)."""
DEEP_SECONDS = 60.0
"""One request that makes the model work, unless --timeout says otherwise."""
DEEP_REQUESTS = 6
"""At most: reply, stream, tools, two turns for the cache, and one to spare."""
BODY_LIMIT = 1 << 20
WORDS = 200


class Answer(NamedTuple):
    """An answer: status (0 when none came, `trouble` then says why in one word), headers, body, JSON or None."""

    status: int
    headers: dict[str, str]
    text: str
    data: Any
    trouble: str
    words: str

    @property
    def message(self) -> str:
        """The error message in it, else its first words."""
        error = self.data.get("error") if isinstance(self.data, dict) else None
        if isinstance(error, dict) and isinstance(error.get("message"), str):
            return short(error["message"])
        if isinstance(error, str):
            return short(error)
        detail = self.data.get("detail") if isinstance(self.data, dict) else None
        return short(detail) if isinstance(detail, str) else self.words

    @property
    def is_html(self) -> bool:
        """Whether it is a web page."""
        return "html" in self.headers.get("content-type", "").lower() or self.text.lstrip()[:9].lower() in (
            "<!doctype",
            "<html>",
        )

    @property
    def broken_text(self) -> bool:
        """Whether its bytes were no UTF-8."""
        return "\ufffd" in self.text


class Asker:
    """Asks one origin. Never raises; a request that cannot be made is an answer with a trouble."""

    def __init__(self, outside: Outside, deep_seconds: float = DEEP_SECONDS) -> None:
        self.outside = outside
        self.deep_seconds = deep_seconds
        self._cheap_end = outside.monotonic() + CHEAP_TOTAL
        self._deep_left = DEEP_REQUESTS

    def ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: Any = None,
    ) -> Answer:
        """A request that makes no model work."""
        left = self._cheap_end - self.outside.monotonic()
        if left < 0.05:
            return _none("timeout", "not asked: the answers before took too long")
        return self._ask(method, url, headers, body, min(CHEAP_SECONDS, left))

    def work(self, url: str, headers: Mapping[str, str], body: Any) -> Answer:
        """A request that makes the model work."""
        if self._deep_left <= 0:
            return _none("timeout", "not asked: too many requests before")
        self._deep_left -= 1
        return self._ask("POST", url, headers, body, self.deep_seconds)

    def stream(self, url: str, headers: Mapping[str, str], body: Any) -> StreamReply | Answer:
        """The same, read as it comes."""
        self._deep_left -= 1
        try:
            return self.outside.http_stream(
                "POST",
                url,
                headers=headers,
                body=json.dumps(body).encode(),
                timeout=self.deep_seconds,
                limit=BODY_LIMIT,
            )
        except OutsideError as error:
            return _none(error.kind, str(error))

    def _ask(self, method: str, url: str, headers: Mapping[str, str], body: Any, timeout: float) -> Answer:
        data = None if body is None else json.dumps(body).encode()
        try:
            got = self.outside.http(method, url, headers=headers, body=data, timeout=timeout, limit=BODY_LIMIT)
        except OutsideError as error:
            return _none(error.kind, str(error))
        if got.truncated:
            return _none("too-large", f"the answer is larger than {BODY_LIMIT >> 20} MiB", got.status)
        text = got.body.decode("utf-8", "replace")
        return Answer(got.status, got.headers, text, parse_json(text), "", short(text))


def short(text: str) -> str:
    """The first words of a text on one line, safe to show."""
    return sanitize(" ".join(text[: 8 * WORDS].split()))[:WORDS]


def _none(trouble: str, words: str, status: int = 0) -> Answer:
    return Answer(status, {}, "", None, trouble, short(words))
