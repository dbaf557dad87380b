"""Crush: crush.json, or the newer crushrc with commands such as `provider add llamacpp --base-url …`."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from doctor.facts.clients.assemble import WIRES, Configured, Kind, client
from doctor.facts.clients.data_file import Key, Parsed, read
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Places, as_number
from doctor.facts.clients.program import Program, separators
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# README of github.com/charmbracelet/crush (37f36e938); not run.
KIND = Kind("crush", "Crush", Program(("crush",), "@charmland/crush"), "openai-chat")
WIRE_OF = {"anthropic": "anthropic-messages", "ollama": "ollama"}
# Providers that want a base URL without /v1; what they then add. For Anthropic's protocol it takes both.
APPENDS = {"llamacpp": "/v1/chat/completions"}
MOST = 8
_REFERENCE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """A record for every provider with an address."""
    path = separators(outside)
    here, home = outside.folder(), outside.home()
    config = outside.environ.get("XDG_CONFIG_HOME", "").strip() or path.join(home, ".config")
    user = outside.environ.get("CRUSH_GLOBAL_CONFIG", "").strip() or path.join(config, "crush")
    commands = [path.join(here, ".crushrc"), path.join(here, "crushrc"), path.join(user, "crushrc")]
    older = [path.join(here, ".crush.json"), path.join(here, "crush.json"), path.join(user, "crush.json")]
    files = [read(outside, name, parse_commands, command_line) for name in dict.fromkeys(commands)]
    files += [read_json(outside, name, comments=True) for name in dict.fromkeys(older)]
    names = list(
        dict.fromkeys(name for file in files for name, table in file.items("providers") if table.get("base_url"))
    )
    made = [_provider(Places(outside, vault, files), name, len(names) > 1) for name in names[:MOST]]
    return tuple(made) or (client(Places(outside, vault, files), KIND),)


def _provider(places: Places, name: Key, several: bool) -> Client:
    table: tuple[Key, ...] = ("providers", name)
    kind = places.first(places.key(*table, "type"))
    kind_name = kind.value.strip() if kind else str(name)
    wire = WIRE_OF.get(kind_name, KIND.wire_api)
    base = places.setting(places.resolved(places.key(*table, "base_url"), _REFERENCE))
    appends = APPENDS.get(kind_name)
    if wire == "anthropic-messages" and base is not None and not base.value.rstrip("/").endswith("/v1"):
        appends = "/v1/messages"
    model = places.setting(places.key(*table, "models", 0, "id"))
    window = as_number(places.setting(places.key(*table, "models", 0, "context_window")))
    return client(
        places,
        KIND,
        Configured(
            base=base,
            credentials=places.credential(
                WIRES[wire].header, places.resolved(places.key(*table, "api_key"), _REFERENCE)
            ),
            model=_chosen(places, name, "large") or model,
            small_model=_chosen(places, name, "small"),
            wire_api=wire,
            appends=appends,
            appends_v1=kind_name in APPENDS,
            context_window=window or Unknown("no context_window is set for this model"),
            output_limit=places.setting(places.key(*table, "models", 0, "default_max_tokens")),
            settings=places.settings(places.key(*table, "type"), places.key(*table, "models", 0, "default_max_tokens")),
            label=str(name)[:60] if several else "",
        ),
    )


def _chosen(places: Places, provider: Key, size: str) -> Any:
    """The model that is chosen as the large or the small one, where it is this provider's."""
    owner = places.first(places.key("models", size, "provider"))
    same = owner is not None and owner.value == provider
    return places.setting(places.key("models", size, "model")) if same else None


def parse_commands(text: str) -> Parsed:
    """What the `provider add` and `model add` lines of a crushrc set, in the shape of crush.json. Nothing is run."""
    providers: dict[str, Any] = {}
    for _, words in _commands(text):
        options = {word[2:].replace("-", "_"): value for word, value in pairwise(words) if word.startswith("--")}
        if words[:2] == ["provider", "add"] and len(words) > 2:
            providers.setdefault(words[2], {"models": []}).update(options)
        elif words[:2] == ["model", "add"] and len(words) > 3:
            entry = {"id": words[3], **options}
            models = providers.setdefault(words[2], {"models": []}).setdefault("models", [])
            models += [entry] if isinstance(models, list) else []
    return {"providers": providers}, ""


def command_line(text: str, keys: tuple[Key, ...]) -> int | None:
    """The line of the command that sets a key."""
    what = ["model", "add"] if "models" in keys[2:3] else ["provider", "add"]
    for number, words in _commands(text):
        if words[:2] == what and list(map(str, keys[1:2])) == words[2:3]:
            return number
    return None


def _commands(text: str) -> list[tuple[int, list[str]]]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) < 2000 and re.match(r"\s*(?:provider|model)\s+add\s", line):
            try:
                found.append((number, shlex.split(line, comments=True)))
            except ValueError:
                continue
    return found
