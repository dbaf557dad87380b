"""What every client's triplet looks like: base URL, API key, model ID, each with the place it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact


@dataclass(frozen=True)
class Setting:
    """A value that is in effect, and where it was set: a file with line, or `environment`.

    `name` is the variable or the key in the file.
    """

    name: str
    value: str
    source: str
    line: Fact[int]

    def shown(self) -> str:
        """The setting as evidence."""
        return f"{self.name} = {self.value}"


@dataclass(frozen=True)
class Credential:
    """A key that would be sent, or would be if it were not empty.

    `token` stands for the secret, which is never in a record; "" for an empty key and for one that only running a
    helper would tell.

    `header`: authorization or x-api-key. `problems`: whitespace, newline, quotes, bearer-prefix, empty, placeholder,
    non-ascii, rejected (the user once said No to it, so the client leaves it out).
    """

    name: str
    token: str
    header: str
    source: str
    line: Fact[int]
    problems: tuple[str, ...]

    def shown(self) -> str:
        """The credential as evidence: its name, never more of its value than the token."""
        return f"{self.name} = {self.token or '(empty)'}"


@dataclass(frozen=True)
class Client:
    """One coding agent as configured here.

    `wire_api`: anthropic-messages, openai-chat, openai-responses. `base_url` is None where nothing sets one; the client
    then talks to its maker. `request_url` is the URL its first request goes to, None when the base URL is none.
    `appends_v1`: the client adds /v1 itself, so a base URL ending in /v1 is wrong. `credentials`: first the one a
    server looks at first. `context_window` is the window (tokens) it assumes for this model, `context_needed` what its
    first request takes. `settings` are further values in effect, `overridden` those that lose against others (keys as
    tokens). `problems` are files that cannot be read. `proxy` is the proxy variable that would take its requests.
    """

    id: str
    name: str
    installed: Fact[bool]
    version: Fact[str]
    wire_api: str
    appends_v1: bool
    base_url: Fact[Setting]
    request_url: Fact[str]
    credentials: Fact[tuple[Credential, ...]]
    model: Fact[Setting]
    small_model: Fact[Setting]
    context_window: Fact[int]
    context_needed: Fact[int]
    onboarded: Fact[bool]
    logged_in: Fact[bool]
    proxy: Fact[Setting]
    settings: Fact[tuple[Setting, ...]]
    overridden: Fact[tuple[Setting, ...]]
    problems: Fact[tuple[str, ...]]

    def shown(self) -> str:
        """The client as evidence."""
        return f"{self.name}, which asks {self.request_url}" if isinstance(self.request_url, str) else self.name
