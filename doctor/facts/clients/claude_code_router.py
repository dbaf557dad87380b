"""claude-code-router: a server for Claude Code that passes requests on to the providers of its config.json."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import Configured, Kind, client
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Places, as_number, at
from doctor.facts.clients.program import Program, separators
from doctor.facts.clients.record import Setting, pointer
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Releases 1 and 2, from its issues and README; not run. Release 3 keeps its settings in a database, which is not read.
KIND = Kind(
    "claude-code-router", "claude-code-router", Program(("ccr",), "@musistudio/claude-code-router"), "openai-chat"
)
PORT = 3456
ROUTES = ("think", "longContext", "webSearch", "image")
_REFERENCE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")


def collect(outside: Outside, vault: Vault) -> Client:
    """The provider that Router.default leads to."""
    join = separators(outside).join
    folder = join(outside.home(), ".claude-code-router")
    file = read_json(outside, join(folder, "config.json"), comments=True)
    places = Places(outside, vault, [file])
    places.credential("authorization", at(file, "APIKEY"))  # hidden, and no key of a request to the provider
    if not file.data:
        newer = outside.exists(join(folder, "config.sqlite"))
        unseen = Unknown("it keeps its settings in config.sqlite, which is not read")
        return client(places, KIND, Configured(base=unseen if newer else None))
    return client(places, KIND, _configured(places, file))


def _configured(places: Places, file: DataFile) -> Configured:
    chosen = places.setting(at(file, "Router", "default"))
    provider, _, model = chosen.value.partition(",") if chosen else ("", "", "")
    table = _provider(file, provider.strip())
    host, port = places.setting(at(file, "HOST")), as_number(places.setting(at(file, "PORT"))) or PORT
    listens = f"http://{host.value if host and host.value != '0.0.0.0' else '127.0.0.1'}:{port}"
    if table is None:
        return Configured(listens=listens, unusable="provider-unknown" if chosen else None)
    background = places.setting(at(file, "Router", "background"))
    return Configured(
        base=places.setting(at(file, *table, "api_base_url")),
        credentials=places.credential("authorization", places.resolved(at(file, *table, "api_key"), _REFERENCE)),
        model=_named(file, "default", model.strip()),
        small_model=_of_route(file, "background", provider) if background else None,
        other_models=tuple(filter(None, (_of_route(file, name, provider) for name in ROUTES))),
        appends="",  # api_base_url is the whole endpoint
        settings=places.settings(at(file, "API_TIMEOUT_MS"), at(file, "PROXY_URL")),
        listens=listens,
    )


def _provider(file: DataFile, name: str) -> tuple[Key, ...] | None:
    for block in ("Providers", "providers"):
        for place, entry in file.items(block):
            if entry.get("name") == name:
                return block, place
    return None


def _of_route(file: DataFile, route: str, provider: str) -> Setting | None:
    """The model of a route that leads to the same provider."""
    for found in at(file, "Router", route):
        name, _, model = found.value.partition(",")
        return _named(file, route, model.strip()) if name.strip() == provider.strip() else None
    return None


def _named(file: DataFile, route: str, model: str) -> Setting | None:
    if not model:
        return None
    written = str(file.get("Router", route) or "").strip()
    prefix = written[: -len(model)] if written.endswith(model) else ""
    line = file.line("Router", route)
    return Setting(f"Router.{route}", model, file.path, line, pointer=pointer("Router", route), prefix=prefix)
