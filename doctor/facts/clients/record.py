"""What every client's triplet looks like: base URL, API key, model ID, each with the place it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact

WRITABLE = {
    "base_url": "the base URL",
    "model": "the model id",
    "small_model": "the model for titles and other small work",
    "key": "the API key",
    "key_variable": "the name of the variable that holds the API key",
    "context_window": "the context window it counts with, in tokens",
    "max_output": "the most tokens of an answer",
    "model_entry": "the entry that makes a model id known to the client",
    "billing_line": "whether a line in front of the prompt names the release",
    "no_proxy": "the list of hosts that are asked without a proxy",
    "onboarded": "whether the first-run set-up is done",
    "rejected_key": "the note that a key was once answered with No",
    "provider": "the id of the provider in use",
    "provider_name": "what the provider is called",
    "profile": "the profile that is always used",
}
"""What rules may change in a client's settings (`edit` of a remedy), by name."""


@dataclass(frozen=True)
class Writable:
    """A place where a setting can be written, whether it stands there or not.

    `setting` is a name of `WRITABLE`, or a variable. `file` is the full path; `pointer` the place in it as a JSON pointer
    ("/env/ANTHROPIC_BASE_URL"; in a .env file or a shell profile "/NAME"). `kind`: text, number, bool, or object (which
    may stay empty). `prefix` is what the client wants in front of the value there ("local/" of "local/qwen").
    """

    setting: str
    file: str
    pointer: str
    kind: str
    prefix: str = ""


def writable(setting: str, file: str, *path: str | int, kind: str = "text", prefix: str = "") -> Writable:
    """A place under a path of keys."""
    return Writable(setting, file, pointer(*path), kind, prefix)


def pointer(*path: str | int) -> str:
    """A path of keys as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)


def standing(item: Setting | Credential) -> tuple[str, str] | None:
    """(file, pointer) of the place a value comes from: a settings file, or the shell profile that sets the variable."""
    if isinstance(item.pointer, str):
        return item.source, item.pointer
    if isinstance(item.profile, str):
        return item.profile.rpartition(":")[0], pointer(item.name)
    return None


@dataclass(frozen=True)
class Setting:
    """A value that is in effect, and where it was set: a file with line, or `environment`.

    `name` is the variable or the key in the file. `profile`: the shell profile and line ("~/.bashrc:12") that give a
    variable this value; None where no profile does, or the value comes from a file. `pointer` is the place in the file as
    a JSON pointer, None where it is in none; `prefix` what stands in front of the value there and is not sent.
    """

    name: str
    value: str
    source: str
    line: Fact[int]
    profile: Fact[str] = None
    pointer: Fact[str] = None
    prefix: str = ""

    def shown(self) -> str:
        """The setting as evidence."""
        return f"{self.name} = {self.value}" + _from_profile(self.profile)


@dataclass(frozen=True)
class Credential:
    """A key that would be sent, or would be if it were not empty.

    `token` stands for the secret, which is never in a record; "" for an empty key and for one that only running a
    helper would tell.

    `header`: authorization, x-api-key or x-goog-api-key. `problems`: whitespace, newline, quotes, bearer-prefix, empty,
    placeholder, non-ascii, rejected (the user once said No to it, so the client leaves it out), unset (the settings
    name a variable, `name`, that does not exist). `profile` and `pointer` are as in `Setting`.
    """

    name: str
    token: str
    header: str
    source: str
    line: Fact[int]
    problems: tuple[str, ...]
    profile: Fact[str] = None
    pointer: Fact[str] = None

    def shown(self) -> str:
        """The credential as evidence: its name, never more of its value than the token."""
        empty = "(not set)" if "unset" in self.problems else "(empty)"
        return f"{self.name} = {self.token or empty}" + _from_profile(self.profile)


def _from_profile(profile: Fact[str]) -> str:
    return f" (set in {profile})" if isinstance(profile, str) else ""


UNUSABLE = {
    "wire-chat": 'wire_api is "chat", which it no longer speaks',
    "profile-key": "the key `profile` of its settings is one it no longer knows",
    "provider-unknown": "the provider it is told to use is not defined",
    "provider-reserved": "it does not let its own providers be defined anew",
    "model-unlisted": "the model it is told to use is not in its list",
    "model-prefix": "the model id lacks the name of its provider in front",
}
"""Why a client will not send anything although it has a base URL, as `Client.unusable` names it."""


@dataclass(frozen=True)
class Client:
    """One coding agent as configured here. One that is set up for several servers has a record for each.

    `wire_api`: anthropic-messages, openai-chat, openai-responses, google-genai, ollama. `base_url` is None where
    nothing sets one; the client then talks to its maker. `request_url` is the URL its first request goes to, None when
    the base URL is none. `appends` is the path it adds to the base URL, "" where the base URL must be the whole
    endpoint; `appends_v1`: that path begins with /v1, so a base URL ending in /v1 is wrong. `port_open`: something
    accepts connections there, None where it is not on this machine. `credentials`: first the one a server looks at
    first. `model` is the id that is sent (`local/qwen` and `openai/qwen` without what stands before the slash where the
    client takes it off), `small_model` the one for titles and other small work, `other_models` those for sub-agents,
    planning, editing. `context_window` is the window (tokens) it assumes for this model, None where it assumes none and
    never shortens a conversation; `context_needed` is what its first request takes. `settings` are further values in
    effect, `overridden` those that lose against others or are not read (keys as tokens). `problems` are files that
    cannot be read. `proxy` is the proxy variable that would take its requests. `listens` is the address of a client
    that is itself a server (LiteLLM, claude-code-router). `unusable` says why it will not start or send anything: a
    word of `UNUSABLE`. `timeout` is the setting that says how long it waits for an answer, `timeout_seconds` the same in
    seconds; None where nothing sets it. `output_limit` is the setting that says how many tokens an answer may have,
    `max_output` the same as a number; None where none does. `uses_tools`: its requests bring tools.
    `writable` are the places where its settings can
    be written: the first one of a name counts.
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
    appends: Fact[str] = None
    port_open: Fact[bool] = None
    other_models: Fact[tuple[Setting, ...]] = ()
    listens: Fact[str] = None
    unusable: Fact[str] = None
    timeout: Fact[Setting] = None
    timeout_seconds: Fact[float] = None
    output_limit: Fact[Setting] = None
    max_output: Fact[int] = None
    uses_tools: Fact[bool] = True
    writable: Fact[tuple[Writable, ...]] = ()

    def shown(self) -> str:
        """The client as evidence."""
        return f"{self.name} → {self.request_url}" if isinstance(self.request_url, str) else self.name
