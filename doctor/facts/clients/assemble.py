"""The record of a client, put together from what its module knows and what was found."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from doctor.facts.clients.places import as_number
from doctor.facts.clients.program import Program, installation
from doctor.facts.clients.record import Client, Credential, Setting, Writable, pointer, standing
from doctor.facts.record import Fact, Unknown, known
from doctor.facts.urls import parse_address

if TYPE_CHECKING:
    from doctor.facts.clients.places import Places

T = TypeVar("T", Setting, Credential)


class Wire(NamedTuple):
    """A protocol: what most clients add to the base URL for it, and the header they put the key in."""

    appends: str
    header: str


WIRES = {
    "openai-chat": Wire("/chat/completions", "authorization"),
    "openai-responses": Wire("/responses", "authorization"),
    "anthropic-messages": Wire("/messages", "x-api-key"),
    "google-genai": Wire("/v1beta/models/{model}:streamGenerateContent?alt=sse", "x-goog-api-key"),
    "ollama": Wire("/api/chat", "authorization"),
}


class Kind(NamedTuple):
    """What is always so about a client.

    `proxies`: the proxy variables it obeys, None where that was never tried. `first_request`: tokens of the first
    request of an empty project (counted with the tokenizer of gemma 3). `tools`: its requests bring tools.
    """

    id: str
    name: str
    program: Program
    wire_api: str
    proxies: tuple[str, ...] | None = None
    first_request: int | None = None
    default_base: str | None = None
    tools: bool = True


class Configured(NamedTuple):
    """What was found for one client or one of its servers. `appends`: None for what its wire has.

    `timeout_unit` are the seconds that a 1 in `timeout` stands for. `writable`: places for settings that are not set yet,
    or are better written elsewhere than where they stand.
    """

    base: Fact[Setting] = None
    credentials: Fact[tuple[Credential, ...]] = ()
    model: Setting | None = None
    small_model: Setting | None = None
    other_models: tuple[Setting, ...] = ()
    wire_api: str | None = None
    appends: str | None = None
    appends_v1: bool = False
    context_window: Fact[int] = Unknown("this client has no setting for it that is read here")
    settings: tuple[Setting, ...] = ()
    listens: str | None = None
    unusable: str | None = None
    timeout: Setting | None = None
    timeout_unit: float = 1.0
    output_limit: Setting | None = None
    label: str = ""
    logged_in: Fact[bool] = None
    writable: tuple[Writable, ...] = ()


def client(places: Places, kind: Kind, found: Configured = Configured()) -> Client:  # noqa: B008 - it is immutable
    """The record. Every value has been asked for by now, so every loser is known."""
    installed, version = installation(places.outside, kind.program)
    wire_api = found.wire_api or kind.wire_api
    appends = WIRES[wire_api].appends if found.appends is None else found.appends
    problems = places.problems()
    if found.base is None and problems:
        # What cannot be read may hold the address.
        found = found._replace(base=Unknown(problems[0]))
    base = known(found.base)
    model = known(found.model)
    request_url = request(base.value if base else kind.default_base, appends, model.value if model else "")
    made = Client(
        id=kind.id,
        name=f"{kind.name} ({found.label})" if found.label else kind.name,
        installed=installed,
        version=version,
        wire_api=wire_api,
        appends_v1=found.appends_v1,
        base_url=found.base,
        request_url=Unknown(found.base.reason) if isinstance(found.base, Unknown) else request_url,
        credentials=found.credentials,
        model=found.model,
        small_model=found.small_model,
        context_window=found.context_window,
        context_needed=kind.first_request or Unknown("its first request was never measured"),
        onboarded=None,
        logged_in=found.logged_in,
        proxy=Unknown("not known which proxy variables it obeys")
        if kind.proxies is None
        else places.proxy(request_url, kind.proxies),
        settings=found.settings,
        overridden=(),
        problems=problems,
        appends=appends,
        other_models=found.other_models,
        listens=found.listens,
        unusable=found.unusable,
        timeout=found.timeout,
        timeout_seconds=seconds(found.timeout, found.timeout_unit),
        output_limit=found.output_limit,
        max_output=as_number(found.output_limit),
        uses_tools=kind.tools,
        writable=found.writable,
    )
    return with_profiles(made, places)


def seconds(setting: Setting | None, unit: float) -> float | None:
    """A time limit in seconds, None where there is none."""
    text = setting.value.strip() if setting is not None else ""
    return round(float(text) * unit, 3) if re.fullmatch(r"\d{1,12}(?:\.\d{1,6})?", text) and float(text) > 0 else None


def request(base: str | None, appends: str, model: str = "") -> str | None:
    """The URL of the first request; None where the base URL is none."""
    value = (base or "").strip()
    if not re.match(r"https?://", value, re.IGNORECASE) or parse_address(value).problem:
        return None
    return value.rstrip("/") + appends.replace("{model}", model)


def with_profiles(made: Client, places: Places) -> Client:
    """The record with the shell profiles that its variables come from, and with the values that lost."""

    def told(item: T) -> T:
        return dataclasses.replace(item, profile=places.profile_of(item.name, item.source))

    changes: dict[str, Any] = {
        name: told(value)
        for name in ("base_url", "model", "small_model", "proxy", "timeout", "output_limit")
        if isinstance(value := getattr(made, name), Setting)
    }
    made = dataclasses.replace(
        made,
        **changes,
        credentials=made.credentials
        if isinstance(made.credentials, Unknown)
        else tuple(told(item) for item in made.credentials or ()),
        settings=tuple(told(item) for item in known(made.settings) or ()),
        other_models=tuple(told(item) for item in known(made.other_models) or ()),
        overridden=tuple(told(item) for item in places.overridden()),
    )
    return dataclasses.replace(made, writable=(*(known(made.writable) or ()), *_where_they_stand(made)))


def _where_they_stand(made: Client) -> tuple[Writable, ...]:
    """Places of the settings that are set; the list of hosts without a proxy belongs beside the proxy."""
    keys = known(made.credentials) or ()
    items = {
        "base_url": made.base_url,
        "model": made.model,
        "small_model": made.small_model,
        "key": next(iter(keys), None),
    }
    found = []
    for name, item in items.items():
        place = standing(item) if isinstance(item, (Setting, Credential)) else None
        if place is not None:
            found.append(Writable(name, *place, "text", item.prefix if isinstance(item, Setting) else ""))
    proxy = known(made.proxy)
    place = standing(proxy) if proxy is not None else None
    if place is not None:
        found.append(Writable("no_proxy", place[0], place[1].rpartition("/")[0] + pointer("NO_PROXY"), "text"))
    return tuple(found)


def renamed(setting: Setting | None, value: str) -> Setting | None:
    """The same setting with the value that is sent in place of the one that is written."""
    if setting is None:
        return None
    written = setting.value.strip()
    prefix = written[: -len(value)] if value and written.endswith(value) else ""
    return dataclasses.replace(setting, value=value, prefix=prefix)
