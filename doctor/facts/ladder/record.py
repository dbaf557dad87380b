"""What a climb leaves: every rung with its state, and what the first failed one is about."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact

RUNGS = (
    "name",
    "proxy",
    "port",
    "http",
    "kind",
    "ready",
    "key",
    "path",
    "cors",
    "model",
    "context",
    "template",
    "reply",
    "stream",
    "tools",
    "cache",
    "speed",
)
"""All rungs from the ground up."""
DEEP = ("reply", "stream", "tools", "cache", "speed")
"""Rungs that make the model work: only climbed when asked for."""


@dataclass(frozen=True)
class Rung:
    """One step. `state`: passed, warned (it holds, but not for long or not for all), failed, or not-tried.

    `reason` is a word for rules ("key-shadowed"), "" where nothing is wrong; `detail` one line for people.
    """

    name: str
    state: str
    reason: str
    detail: str


@dataclass(frozen=True)
class Ladder:
    """The way of one client to its model, as far as it carries.

    `client` is the client's id ("" when an address alone was given), `name` what it is called in texts. `url` is the
    base URL as it stands in the settings, `url_source` where, `request_url` what the client makes of it. `failed` is
    the first rung that does not hold, `reason` and `detail` those of that rung; `reasons` holds that of the failed
    rung, or those of all that warn. `right_url` is a base URL that works where `url` does not; `other_address` one
    where the same port is open; `direct_url` the base URL that asks the llama.cpp server which is known to be
    elsewhere. `openai_base` and `anthropic_base`, of a bare address only, are the base URLs under which clients of
    OpenAI's and of Anthropic's API find their paths there, absent where there is none; `base_works` is whether the
    first of them would find its path under the very address given. `key_name`, `key_source` and `key_header` are
    those of the credential the server looks at; `key_hint` is the other credential or header that would be taken.
    `models_missing` are names of `models_wanted` that are not served. `n_ctx` is the context of one slot,
    `context_needed` what the client's first request takes, both in tokens. `status` is the HTTP status of the answer
    that failed. `prefill` and `decode` are tokens per second as measured, `first_request_seconds` how long the
    client's first request is read at that speed. `cached_tokens` of `prompt_tokens` came from the cache on the second
    turn. `location` is where a redirect leads, `origin` the page that --origin names. `same_server` is whether the
    address is that of the server's record.
    """

    client: str
    name: str
    url: str
    url_source: str
    request_url: str
    wire_api: str
    deep: bool
    same_server: bool
    rungs: tuple[Rung, ...]
    failed: Fact[str]
    reason: Fact[str]
    detail: Fact[str]
    reasons: tuple[str, ...]
    kind: Fact[str]
    right_url: Fact[str]
    other_address: Fact[str]
    proxy_name: Fact[str]
    proxy_value: Fact[str]
    proxy_source: Fact[str]
    key_name: Fact[str]
    key_source: Fact[str]
    key_header: Fact[str]
    key_hint: Fact[str]
    location: Fact[str]
    origin: Fact[str]
    models_wanted: Fact[tuple[str, ...]]
    models_missing: Fact[tuple[str, ...]]
    models_served: Fact[tuple[str, ...]]
    n_ctx: Fact[int]
    slots: Fact[int]
    context_needed: Fact[int]
    status: Fact[int]
    prompt_tokens: Fact[int]
    cached_tokens: Fact[int]
    prefill: Fact[float]
    decode: Fact[float]
    first_token_ms: Fact[float]
    first_request_seconds: Fact[float]
    direct_url: Fact[str] = None
    openai_base: Fact[str] = None
    anthropic_base: Fact[str] = None
    base_works: Fact[bool] = None

    def shown(self) -> str:
        """The climb as evidence: who asked where, and what the first failed (or a warning) rung said."""
        worst = [rung for rung in self.rungs if rung.state == "failed"] or [
            rung for rung in self.rungs if rung.state == "warned"
        ]
        said = "; ".join(f"{rung.name}: {rung.detail}" for rung in worst[:3])
        who = f"{self.name} → {self.request_url}" if self.client else self.request_url
        return f"{who} — {said}" if said else who
