"""Goose: config.yaml with variables before it, keys in secrets.yaml or the keyring, own providers in custom_providers."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import WIRES, Configured, Kind, client
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Found, Places, as_number, at
from doctor.facts.clients.program import Program, separators
from doctor.facts.clients.record import Setting, Writable, writable
from doctor.facts.clients.yaml_file import read_yaml
from doctor.facts.record import Fact, Unknown, known
from doctor.facts.urls import parse_address
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client, Credential
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Source of github.com/aaif-goose/goose: goose-providers/src/{openai,anthropic,ollama}.rs (012101cf8, a008e3fed, 25f976acb),
# goose/src/providers/openai_def.rs (021a75e2e), goose/src/config/{paths,declarative_providers}.rs, and its guide
# config-files; not run. Proxies are those of reqwest, whose defaults it leaves as they are.
KIND = Kind("goose", "Goose", Program(("goose", "goosed")), "openai-chat", proxies=("http", "https", "all"))
NO_SIGN = KIND._replace(program=Program())
"""Without settings of its own a program of this name may be another (a tool for data bases has it too)."""
CHAT, VERSIONED = "/chat/completions", "/v1/chat/completions"
WIRE_OF = {"openai": "openai-chat", "anthropic": "anthropic-messages", "ollama": "openai-chat"}
OTHERS = ("GOOSE_PLANNER", "GOOSE_LEAD")
TIMEOUTS = {"openai": "OPENAI_TIMEOUT", "ollama": "OLLAMA_TIMEOUT"}
WINDOW, LIMIT = "GOOSE_CONTEXT_LIMIT", "GOOSE_MAX_TOKENS"
MOST = 8
_VERSION = re.compile(r"/v\d+$")
_UNSAFE = re.compile(r"[^-.\w]")
_ORIGIN = re.compile(r"https?://[^/?#]+", re.IGNORECASE)
_KEYRING = "Goose keeps keys in the system's keyring, which is not read"


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """The provider in use; where none is named, every provider of the user's own."""
    join = separators(outside).join
    folder = _folder(outside)
    config, secrets = (read_yaml(outside, join(folder, name)) for name in ("config.yaml", "secrets.yaml"))
    places = Places(outside, vault, [config])
    chosen = places.first(_of(places, "GOOSE_PROVIDER", ("active_provider",)))
    if chosen is None:
        files = _own_providers(outside, folder)[:MOST]
        made = [_own(Places(outside, vault, [config, file]), file, secrets, len(files) > 1) for file in files]
        return tuple(made) or (client(places, KIND if config.found else NO_SIGN),)
    name = chosen.value.strip()
    if name in WIRE_OF:
        return (_built_in(places, name, secrets),)
    own = read_json(outside, join(folder, "custom_providers", _UNSAFE.sub("_", name) + ".json"))
    if not own.found:
        own = next((file for file in _own_providers(outside, folder) if file.get("name") == name), own)
    if own.found:
        return (_own(Places(outside, vault, [config, own]), own, secrets, False, name),)
    # Names that begin so are those of the user's own providers.
    gone = "provider-unknown" if name.startswith("custom_") else None
    found = Configured(model=_model(places, name), settings=places.settings([chosen]), unusable=gone)
    return (client(places, KIND, found),)


def _folder(outside: Outside) -> str:
    join = separators(outside).join
    root = outside.environ.get("GOOSE_PATH_ROOT", "").strip()
    if separators(outside).isabs(root):
        return str(join(root, "config"))
    if outside.platform == "win32":
        roaming = outside.environ.get("APPDATA", "").strip() or join(outside.home(), "AppData", "Roaming")
        return str(join(roaming, "Block", "goose", "config"))
    return str(join(outside.environ.get("XDG_CONFIG_HOME", "").strip() or join(outside.home(), ".config"), "goose"))


def _own_providers(outside: Outside, folder: str) -> list[DataFile]:
    join = separators(outside).join
    below = join(folder, "custom_providers")
    try:
        names = sorted(name for name in outside.list_folder(below, 200) if name.endswith(".json"))
    except OutsideError:
        return []
    return [file for file in (read_json(outside, join(below, name)) for name in names[:32]) if file.get("base_url")]


def _of(places: Places, name: str, *paths: tuple[Key, ...]) -> list[Found]:
    """A value as Goose looks it up: the variable, then config.yaml, where it may have a newer place."""
    return [*places.variable(name), *(found for path in paths for found in places.key(*path)), *places.key(name)]


def _model(places: Places, provider: str) -> Setting | None:
    return places.setting(_of(places, "GOOSE_MODEL", ("providers", provider, "model")))


def _other_models(places: Places, provider: str) -> tuple[Setting, ...]:
    """The models for planning and leading, where they are this provider's."""
    made = []
    for name in OTHERS:
        owner = places.first(_of(places, f"{name}_PROVIDER"))
        model = places.setting(_of(places, f"{name}_MODEL"))
        if model is not None and (owner is None or owner.value.strip() == provider):
            made.append(model)
    return tuple(made)


def _built_in(places: Places, name: str, secrets: DataFile) -> Client:
    """One of the built-in providers that can be pointed at a server of one's own."""
    prefix = name.upper()
    host = _of(places, f"{prefix}_HOST")
    root = VERSIONED if name != "anthropic" else "/v1/messages"
    base = places.setting(_openai(places)) if name == "openai" else places.setting(host)
    appends, versioned = root, True
    if name == "openai" and base is not None:
        appends, versioned = _openai_path(places, base)
    if name == "ollama" and base is not None and "://" not in base.value:
        base = replace(base, value=_with_port(base.value))
    window = places.setting(_of(places, WINDOW))
    made = client(
        places,
        KIND,
        Configured(
            base=base,
            credentials=() if name == "ollama" else _keys(places, secrets, f"{prefix}_API_KEY", WIRE_OF[name]),
            model=_model(places, name),
            other_models=_other_models(places, name),
            wire_api=WIRE_OF[name],
            appends=appends,
            appends_v1=versioned,
            context_window=as_number(window)
            or Unknown("no GOOSE_CONTEXT_LIMIT is set: Goose takes the window from the server or assumes one"),
            settings=places.settings(
                _of(places, "GOOSE_PROVIDER", ("active_provider",)), _of(places, "OPENAI_BASE_PATH")
            ),
            timeout=places.setting(_of(places, TIMEOUTS[name])) if name in TIMEOUTS else None,
            output_limit=places.setting(_of(places, LIMIT)),
            writable=(*_limits(places), *_key_place(secrets, f"{prefix}_API_KEY")),
        ),
    )
    absolute = name == "openai" and any(found.value.startswith("/") for found in _of(places, "OPENAI_BASE_PATH")[:1])
    return _at_origin(made) if absolute and base is not None and base.name == "OPENAI_HOST" else made


def _openai(places: Places) -> list[Found]:
    """OPENAI_HOST of the environment, OPENAI_BASE_URL of both, OPENAI_HOST of the file: in this order."""
    return [*places.variable("OPENAI_HOST"), *_of(places, "OPENAI_BASE_URL"), *places.key("OPENAI_HOST")]


def _openai_path(places: Places, base: Setting) -> tuple[str, bool]:
    """(what is added to the base URL, whether a base URL with /v1 is wrong).

    OPENAI_HOST gets the path as it is; of OPENAI_BASE_URL the /v1 may be there or not where nothing else is.
    """
    whole = base.name == "OPENAI_BASE_URL"
    path = places.first(places.variable("OPENAI_BASE_PATH") if whole else _of(places, "OPENAI_BASE_PATH"))
    url = base.value.strip().rstrip("/")
    versioned = url.endswith("/v1")
    if path is None:
        return (_derived(url, others=CHAT), False) if whole else (VERSIONED, True)
    added = "/" + path.value.strip().strip("/")
    if whole:
        # The /v1 of the URL is taken off.
        return (added.removeprefix("/v1") if versioned else added), False
    return added, added.startswith("/v1/") and not path.value.strip().startswith("/")


def _at_origin(made: Client) -> Client:
    """The same where the path takes the place of the one in the base URL."""
    base = known(made.base_url)
    origin = _ORIGIN.match(base.value.strip()) if base is not None else None
    return replace(made, request_url=origin.group() + (known(made.appends) or "")) if origin else made


def _derived(url: str, others: str) -> str:
    """What is added to a base URL that may have /v1 or not; `others` where it has some other path."""
    url = url.rstrip("/")
    if url.endswith(CHAT):
        return ""
    if _VERSION.search(url):
        return CHAT
    return others if parse_address(url).prefix else VERSIONED


def _with_port(value: str) -> str:
    """An address for Ollama that has no scheme, as Goose completes it."""
    bare = value.strip().rstrip("/")
    local = bare in ("localhost", "127.0.0.1", "::1", "0.0.0.0")
    return f"http://{bare}:11434" if local else f"http://{bare}"


def _own(places: Places, file: DataFile, secrets: DataFile, several: bool, chosen: str = "") -> Client:
    """A provider of the user's own: its file, with the model of config.yaml where it is the one in use."""
    name = chosen or str(file.get("name") or "")
    engine = places.first(at(file, "engine"))
    kind = engine.value.strip().lower().removesuffix("_compatible") if engine else "openai"
    wire = WIRE_OF.get(kind, KIND.wire_api)
    base = places.setting(at(file, "base_url"))
    appends = {"anthropic": "/v1/messages", "ollama": VERSIONED}.get(kind, VERSIONED)
    path = places.first(at(file, "base_path"))
    if kind == "openai" and base is not None:
        appends = "/" + path.value.strip().strip("/") if path else _derived(base.value.strip(), others=VERSIONED)
    if kind == "ollama" and base is not None and "://" not in base.value:
        base = replace(base, value=_with_port(base.value))
    wanted = _model(places, name) if chosen else None
    listed = [place for place, _ in file.items("models")]
    place = next((at_ for at_ in listed if wanted and file.get("models", at_, "name") == wanted.value), None)
    entry: tuple[Key, ...] = ("models", place if place is not None else listed[0]) if listed else ()
    mine = entry if place is not None or wanted is None else ()
    model = wanted or (places.setting(at(file, *entry, "name")) if entry else None)
    window = places.setting(_of(places, WINDOW) if chosen else [], at(file, *mine, "context_limit") if mine else [])
    named = places.first(at(file, "api_key_env"))
    made = client(
        places,
        KIND,
        Configured(
            base=base,
            credentials=_keys(places, secrets, named.value.strip(), wire, file) if named else (),
            model=model,
            other_models=_other_models(places, name) if chosen else (),
            wire_api=wire,
            appends=appends,
            appends_v1=kind in ("anthropic", "ollama"),
            context_window=as_number(window) or Unknown("no context_limit is set for this model"),
            settings=places.settings(at(file, "engine"), at(file, "base_path"), at(file, "requires_auth")),
            timeout=places.setting(at(file, "timeout_seconds")),
            output_limit=places.setting(_of(places, LIMIT)),
            label=name[:60] if several else "",
            writable=(
                *((writable("context_window", file.path, *mine, "context_limit", kind="number"),) if mine else ()),
                *(_key_place(secrets, named.value.strip()) if named else ()),
            ),
        ),
    )
    return _at_origin(made) if kind == "openai" and path else made


def _keys(
    places: Places, secrets: DataFile, name: str, wire: str, own: DataFile | None = None
) -> Fact[tuple[Credential, ...]]:
    """The variable, then secrets.yaml. Of the keyring nothing is known."""
    found = places.credential(WIRES[wire].header, places.variable(name), at(secrets, name))
    if found or (own is not None and own.get("requires_auth") is False):
        return found
    if secrets.found or places.variable("GOOSE_DISABLE_KEYRING"):
        needed = own is not None or wire == "anthropic-messages"
        gone = Found(name, "", own.path if own else secrets.path, own.line("api_key_env") if own else None, unset=True)
        return places.credential(WIRES[wire].header, [gone]) if needed else ()
    return Unknown(_KEYRING)


def _limits(places: Places) -> tuple[Writable, ...]:
    config = places.files[0].path
    return (
        writable("context_window", config, WINDOW, kind="number"),
        writable("max_output", config, LIMIT, kind="number"),
    )


def _key_place(secrets: DataFile, name: str) -> tuple[Writable, ...]:
    """secrets.yaml is read only where the keyring is not used."""
    return (writable("key", secrets.path, name),) if secrets.found and name else ()
