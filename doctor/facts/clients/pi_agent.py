"""pi: the providers of models.json with their servers, the default of settings.json, keys in either or in auth.json."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.clients.assemble import Configured, Kind, client
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Found, Places, as_number, at
from doctor.facts.clients.program import Program, installation, separators
from doctor.facts.clients.record import Setting, writable
from doctor.facts.record import Fact, Unknown, known

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client, Credential
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Measured with 0.74.2, but for Google's protocol and how later versions write variables, which packages/coding-agent/docs of
# github.com/earendil-works/pi tell (models.md 02c271570, settings.md 01b7d1059).
KIND = Kind("pi", "pi", Program(("pi",), "@earendil-works/pi-coding-agent"), "openai-chat", proxies=("http", "https"))
NO_SIGN = KIND._replace(program=Program())
"""Without settings of its own a program of so short a name may be any."""


class Api(NamedTuple):
    """What a value of `api` stands for: its wire, what is added to the base URL, and the header of the key."""

    wire_api: str
    appends: str
    header: str


APIS = {
    "openai-completions": Api("openai-chat", "/chat/completions", "authorization"),
    "openai-responses": Api("openai-responses", "/responses", "authorization"),
    "anthropic-messages": Api("anthropic-messages", "/v1/messages", "x-api-key"),
    "google-generative-ai": Api("google-genai", "/models/{model}:streamGenerateContent?alt=sse", "x-goog-api-key"),
}
BUILT_IN = {"anthropic": "anthropic-messages", "openai": "openai-responses", "google": "google-generative-ai"}
"""Providers of its own whose address can be changed without saying the api."""
ASSUMED_WINDOW = 128_000
"""Tokens of a model of models.json without a contextWindow."""
MOST = 8
PLAIN_NAMES = (0, 74)
"""The last release that was measured to take a bare NAME for a variable, and $NAME for the key itself."""
_REFERENCE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")
_OLD_REFERENCE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """A record for every provider with an address, the one that is the default first."""
    join = separators(outside).join
    folder = outside.environ.get("PI_CODING_AGENT_DIR", "").strip() or join(outside.home(), ".pi", "agent")
    models = read_json(outside, join(folder, "models.json"), comments=True)
    auth = read_json(outside, join(folder, "auth.json"))
    paths = [join(outside.folder(), ".pi", "settings.json"), join(folder, "settings.json")]
    settings = [read_json(outside, path, comments=True) for path in dict.fromkeys(paths)]
    places = Places(outside, vault, [*settings, models])
    chosen = places.first(places.key("defaultProvider"))
    names = [name for name, table in models.items("providers") if table.get("baseUrl")]
    names.sort(key=lambda name: chosen is None or name != chosen.value.strip())
    made = [
        _provider(Places(outside, vault, [*settings, models]), models, auth, name, len(names) > 1)
        for name in names[:MOST]
    ]
    found = models.found or any(file.found for file in settings)
    return tuple(made) or (client(places, KIND if found else NO_SIGN),)


def _provider(places: Places, file: DataFile, auth: DataFile, name: Key, several: bool) -> Client:
    table: tuple[Key, ...] = ("providers", name)
    listed = [place for place, _ in file.items(*table, "models")]
    chosen, entry = _chosen(places, file, table, listed)
    kind = places.first(at(file, *table, "models", entry, "api") if entry is not None else [], at(file, *table, "api"))
    api = APIS.get(kind.value.strip() if kind else BUILT_IN.get(str(name), ""), APIS["openai-completions"])
    model: tuple[Key, ...] = (*table, "models", entry) if entry is not None else ()
    window = as_number(places.setting(at(file, *model, "contextWindow"))) if model else None
    return client(
        places,
        KIND,
        Configured(
            base=places.setting(at(file, *table, "baseUrl")),
            credentials=_keys(places, file, auth, name, api.header),
            model=chosen or (places.setting(at(file, *model, "id")) if model else None),
            wire_api=api.wire_api,
            appends=api.appends,
            appends_v1=api.appends.startswith("/v1/"),
            context_window=window or (ASSUMED_WINDOW if model else Unknown("pi knows the windows of its own models")),
            settings=places.settings(
                at(file, *table, "api"), places.key("defaultProvider"), places.key("httpIdleTimeoutMs")
            ),
            timeout=places.setting(places.key("retry", "provider", "timeoutMs")),
            timeout_unit=0.001,
            output_limit=places.setting(at(file, *model, "maxTokens")) if model else None,
            label=str(name)[:60] if several else "",
            writable=(
                *(
                    (
                        writable("context_window", file.path, *model, "contextWindow", kind="number"),
                        writable("max_output", file.path, *model, "maxTokens", kind="number"),
                    )
                    if model
                    else ()
                ),
                writable("key", file.path, *table, "apiKey"),
            ),
        ),
    )


def _chosen(
    places: Places, file: DataFile, table: tuple[Key, ...], listed: list[Key]
) -> tuple[Setting | None, Key | None]:
    """(the default model where it is one of this provider, the entry of the list that is used).

    A default that a provider of the user's own does not list is passed over; one without a list has pi's own models.
    """
    owner = places.first(places.key("defaultProvider"))
    wanted = places.first(places.key("defaultModel"))
    first = listed[0] if listed else None
    if owner is None or wanted is None or owner.value.strip() != table[-1]:
        return None, first
    same = next((place for place in listed if file.get(*table, "models", place, "id") == wanted.value), None)
    if same is None and listed and table[-1] not in BUILT_IN:
        places.loses(wanted)
        return None, first
    return places.record(wanted), same


def _keys(places: Places, file: DataFile, auth: DataFile, name: Key, header: str) -> Fact[tuple[Credential, ...]]:
    """The key of auth.json, then the provider's. Where there is none pi does not offer the models: an empty key."""
    if auth.problem:
        return Unknown(auth.problem)
    if isinstance(auth.get(str(name), "access"), str):
        return ()  # a login, not a key
    stored, written = at(auth, str(name), "key"), at(file, "providers", name, "apiKey")
    resolved = _resolved(places, written[0]) if written else []
    if resolved is None and not stored:
        return Unknown("the key is the name of a variable: older versions of pi send its value, newer ones the name")
    missing = [Found(f"providers.{name}.apiKey", "", file.path, file.line("providers", name))]
    found = [*stored, *(resolved or [])] or missing
    both = file.get("providers", name, "authHeader") is True and header != "authorization"
    return tuple(
        key for kind in (*(("authorization",) if both else ()), header) for key in places.credential(kind, found)
    )


def _resolved(places: Places, item: Found) -> list[Found] | None:
    """The key that is sent for what is written; None where that depends on a version that is not known."""
    if item.value.startswith("!"):
        # A command: nobody knows its output before it runs.
        return [item._replace(value="$(command)", pointer=None)]
    version = known(installation(places.outside, KIND.program)[1])
    old = version is not None and tuple(int(part) for part in version.split(".")[:2]) <= PLAIN_NAMES
    if old:
        return places.variable(item.value)[:1] or [item]
    if version is None and _OLD_REFERENCE.fullmatch(item.value) and places.variable(item.value):
        return None
    return places.resolved([item], _REFERENCE)
