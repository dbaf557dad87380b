"""The running server, as it answers to a handful of GET requests that cost it no GPU time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from doctor.facts.record import Fact

if TYPE_CHECKING:
    from doctor.outside import Outside
    from doctor.secrets import Vault


@dataclass(frozen=True)
class Probe:
    """One request: what was asked, the status (None when no answer came) and the first words of the body.

    `with_key` is whether the key at hand was sent; `milliseconds` is None when no answer came.
    """

    method: str
    path: str
    with_key: bool
    status: Fact[int]
    milliseconds: Fact[float]
    body: Fact[str]


@dataclass(frozen=True)
class Server:
    """What the server at `url` says.

    `url` is what paths were appended to: with the API prefix, without /v1. `state`: ok, loading, unauthorised, refused,
    timeout, unreachable (name or route), tls, not-http, html, not-llama.cpp, wrong-path (a llama.cpp server, but not
    under this path), error. `detail` is one line about a state other than ok. `kind`: llama.cpp, llama.cpp-router,
    llama-swap, ollama, lm-studio, vllm, sglang, koboldcpp, litellm, gateway, unknown. `port_open` is whether anything
    accepts connections. `n_ctx` is the context of ONE slot in tokens, `slots` their number, `slots_busy` those at work.
    `key_required`: a request without a key is refused; `key_accepted`: the key at hand is taken (None: there is none at
    hand). `build_number` is Unknown where the server was built without it. `chat_template`: there is one (llama.cpp
    puts its own in where the model has none). `strict_system_message`: the template in use raises unless the system
    message comes first. `sleeping`: the model is unloaded until the next request. `metrics`: GET /metrics is on.
    `unreadable`: the answers of a llama.cpp server that cannot be used, each as "/path: why"; None where there are none.
    """

    url: str
    url_source: Fact[str]
    state: Fact[str]
    detail: Fact[str]
    kind: Fact[str]
    port_open: Fact[bool]
    key_required: Fact[bool]
    key_accepted: Fact[bool]
    model_ids: Fact[tuple[str, ...]]
    model_path: Fact[str]
    n_ctx: Fact[int]
    n_ctx_train: Fact[int]
    slots: Fact[int]
    slots_busy: Fact[int]
    build_info: Fact[str]
    build_number: Fact[int]
    vision: Fact[bool]
    chat_template: Fact[bool]
    strict_system_message: Fact[bool]
    sleeping: Fact[bool]
    metrics: Fact[bool]
    unreadable: Fact[tuple[str, ...]]
    probes: Fact[tuple[Probe, ...]]


def collect(
    outside: Outside,
    vault: Vault,
    *,
    url: str,
    url_source: str,
    key_token: str | None,
    build_of_commit: Callable[[str], int | None] | None = None,
) -> Server:
    """Ask the server at `url`, for at most 5 s; the key behind `key_token` is sent to a llama.cpp server only.

    `build_of_commit` finds the build number of a short commit, for servers that do not know their own.
    """
    # The record is on the start-up path of every command, the probing is not.
    from doctor.facts.server.probe import probe

    return probe(outside, vault, url, url_source, key_token, build_of_commit)
