"""What a pasted text says of asking a server: the addresses a client is given, and the requests that were made."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact


@dataclass(frozen=True)
class Endpoint:
    """An address that some client's settings, program or command line holds, whatever client it is.

    `name` is the setting as written ("api_base", ":host", "--api-base"). `role` is what the client makes of it: base (it
    appends /chat/completions and the like), host (it appends the whole path), either (clients differ). `dialect` is the
    API the client speaks there as far as the lines around say it: openai, ollama, anthropic, unknown. `url` is as
    written; `scheme` is absent where none is written, `path` has no slash at its end ("" for the root). `local`: this
    machine or a private network; `loopback`: this machine. `key` is what stands beside it as the key: given, variable,
    placeholder, empty; absent where no key is spoken of. `model` is the model named beside it.
    """

    name: str
    role: str
    dialect: str
    url: str
    scheme: Fact[str]
    host: str
    port: Fact[int]
    path: str
    local: bool
    loopback: bool
    key: Fact[str]
    model: Fact[str]
    line: int
    text: str

    def shown(self) -> str:
        """The line it stands in, as evidence."""
        return self.text


@dataclass(frozen=True)
class Request:
    """A request to a whole URL that the text tells of, by whatever client.

    `path` has no slash at its end and no query. `status` is the HTTP status of the answer; `failure` is refused, reset or
    timeout where there was none; `answered` is whether the text says that it went well. `inside` is whether it was made
    at a prompt inside a container.
    """

    method: Fact[str]
    url: str
    scheme: str
    host: str
    port: Fact[int]
    path: str
    local: bool
    loopback: bool
    status: Fact[int]
    failure: Fact[str]
    answered: bool
    inside: bool
    line: int
    text: str

    def shown(self) -> str:
        """The line it stands in, as evidence."""
        return self.text


@dataclass(frozen=True)
class Asked:
    """`listens` are the ports a server in the same text says it listens at; `serves` the models it says it has. `statuses`
    are the HTTP errors (400 and above) the text tells of, those of a model that is not there left out. `proxies` are the
    addresses that its settings call a proxy.
    """

    endpoints: tuple[Endpoint, ...]
    requests: tuple[Request, ...]
    listens: tuple[int, ...]
    serves: tuple[str, ...]
    statuses: tuple[int, ...]
    proxies: tuple[str, ...]
