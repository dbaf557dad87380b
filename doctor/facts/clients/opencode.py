"""OpenCode, and the settings files that Kilo Code shares with it: a provider per server, its models listed below it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.clients.assemble import WIRES, Configured, Kind, client, renamed
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.json_file import key_line, parse_json, read_json, without_comments
from doctor.facts.clients.places import ENVIRONMENT, Found, Places, as_number, at
from doctor.facts.clients.program import Program, folders_above, separators
from doctor.facts.clients.record import Writable, writable
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client, Setting
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Measured with 1.18.33; the order of the files is told by opencode.ai/docs/config.
KIND = Kind(
    id="opencode",
    name="OpenCode",
    program=Program(("opencode",), "opencode-"),
    wire_api="openai-chat",
    proxies=("http", "https"),
    first_request=7_612,
)
# The protocol goes by the npm package of a provider, or by its id where it is one of OpenCode's own.
WIRE_OF = {
    "@ai-sdk/openai-compatible": "openai-chat",
    "@ai-sdk/openai": "openai-responses",
    "@ai-sdk/anthropic": "anthropic-messages",
    "openai": "openai-responses",
    "anthropic": "anthropic-messages",
}
REFERENCE = re.compile(r"\{env:([A-Za-z_]\w*)\}")
_FILE = re.compile(r"\{file:([^{}]{1,500})\}")


class Layout(NamedTuple):
    """Names of one of the two programs: of its folder, its files (the one that wins first) and its variables."""

    folder: str
    files: tuple[str, ...]
    config: str
    content: str


OPENCODE = Layout("opencode", ("opencode.jsonc", "opencode.json"), "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT")


def collect(outside: Outside, vault: Vault) -> Client:
    """OpenCode as it would run in the current folder."""
    return collect_like(outside, vault, KIND, OPENCODE)


def collect_like(outside: Outside, vault: Vault, kind: Kind, layout: Layout) -> Client:
    """A program that reads OpenCode's settings."""
    places = Places(outside, vault, _files(outside, layout))
    join = separators(outside).join
    share = outside.environ.get("XDG_DATA_HOME", "").strip() or join(outside.home(), ".local", "share")
    return client(places, kind, _configured(places, read_json(outside, join(share, layout.folder, "auth.json"))))


def _files(outside: Outside, layout: Layout) -> list[DataFile]:
    path = separators(outside)
    user = outside.environ.get("XDG_CONFIG_HOME", "").strip() or path.join(outside.home(), ".config")
    named = outside.environ.get(layout.config, "").strip()
    above = folders_above(outside, to_the_root=True)
    folders = [*(path.join(folder, f".{layout.folder}") for folder in above), *above]
    paths = [path.join(folder, name) for folder in folders for name in layout.files]
    paths += [named] if named else []
    paths += [path.join(user, layout.folder, name) for name in (*layout.files, "config.json")]
    inline = outside.environ.get(layout.content, "")
    return _inline(inline, layout) + [read_json(outside, name, comments=True) for name in dict.fromkeys(paths)]


def _inline(text: str, layout: Layout) -> list[DataFile]:
    if not text.strip():
        return []
    plain = without_comments(text[: 1 << 20])
    data, problem = parse_json(plain)
    where = f"{layout.content}{problem}" if problem else ""
    return [DataFile(ENVIRONMENT, True, data, where, "" if problem else plain, key_line)]


def _configured(places: Places, login: DataFile) -> Configured:
    chosen = places.setting(places.key("model"))
    provider, model = _split(chosen) if chosen else _only_model(places)
    if not provider:
        return Configured()
    table: tuple[Key, ...] = ("provider", provider)
    entry: tuple[Key, ...] = (*table, "models", model)
    package = places.first(places.key(*entry, "provider", "npm"), places.key(*table, "npm"))
    wire = WIRE_OF.get((package.value if package else provider).strip(), KIND.wire_api)
    listed = any(isinstance(file.get(*entry), dict) for file in places.files)
    defined = any(isinstance(file.get(*table), dict) for file in places.files)
    small = places.setting(places.key("small_model"))
    key = places.resolved(_read_files(places, places.key(*table, "options", "apiKey")), REFERENCE)
    key += at(login, provider, "key")
    return Configured(
        base=places.setting(places.resolved(places.key(*table, "options", "baseURL"), REFERENCE)),
        credentials=places.credential(WIRES[wire].header, key),
        model=_sent(places, provider, model, chosen),
        small_model=_sent(places, provider, _split(small)[1], small)
        if small and _split(small)[0] == provider
        else None,
        wire_api=wire,
        # Without a limit it takes the window for 0 and never shortens a conversation.
        context_window=as_number(places.setting(places.key(*entry, "limit", "context"))),
        settings=places.settings(
            places.key(*table, "npm"), places.key(*entry, "limit", "output"), places.key(*table, "options", "timeout")
        ),
        timeout=places.setting(places.key(*table, "options", "timeout")),
        timeout_unit=0.001,
        output_limit=places.setting(places.key(*entry, "limit", "output")),
        unusable="model-unlisted" if chosen and defined and not listed and provider not in WIRE_OF else None,
        writable=_writable(places, table, entry, listed),
    )


def _writable(places: Places, table: tuple[Key, ...], entry: tuple[Key, ...], listed: bool) -> tuple[Writable, ...]:
    """The provider's table, in the file that has the model's entry where one has it.

    Another id is written into the entry (`id`): to name another model in `model` would want an entry for it too.
    """
    holders = [file.path for path in (entry, table) for file in places.files if isinstance(file.get(*path), dict)]
    if not holders or holders[0] == ENVIRONMENT:
        return ()
    file = holders[0]
    return (
        *((writable("model", file, *entry, "id"),) if listed else ()),
        writable("model_entry", file, *entry, kind="object"),
        writable("context_window", file, *entry, "limit", "context", kind="number"),
        writable("max_output", file, *entry, "limit", "output", kind="number"),
        writable("key", file, *table, "options", "apiKey"),
    )


def _read_files(places: Places, found: list[Found]) -> list[Found]:
    """The values with a file's content in place of `{file:path}`."""
    results = []
    for item in found:
        named = _FILE.fullmatch(item.value.strip())
        if named is None:
            results.append(item)
            continue
        path = separators(places.outside)
        target = named[1] if named[1].startswith("~") else path.join(path.dirname(item.source), named[1])
        try:
            content = places.outside.read_text(places.outside.real_path(target), 64 << 10)
        except OutsideError:
            results.append(item._replace(name=item.value.strip(), value="", unset=True))
            continue
        results.append(Found(item.name, content.strip(), target, 1))
    return results


def _split(chosen: Setting) -> tuple[str, str]:
    provider, _, model = chosen.value.strip().partition("/")
    return provider, model


def _only_model(places: Places) -> tuple[str, str]:
    """The provider and model where no setting chooses and there is just one with an address of its own."""
    found = {
        (str(provider), str(model))
        for file in places.files
        for provider, _ in file.items("provider")
        if at(file, "provider", provider, "options", "baseURL")
        for model, _ in file.items("provider", provider, "models") or [("", {})]
    }
    return min(found) if len(found) == 1 else ("", "")


def _sent(places: Places, provider: str, model: str, chosen: Setting | None) -> Setting | None:
    """The id that is sent: what stands behind the provider's name, or the `id` of the list's entry."""
    named = places.setting(places.key("provider", provider, "models", model, "id"))
    if named is not None or chosen is not None:
        return named or renamed(chosen, model)
    entry: tuple[Key, ...] = ("provider", provider, "models", model)
    file = next((file for file in places.files if model and file.get(*entry) is not None), None)
    if file is None:
        return None
    return places.record(Found(f"provider.{provider}.models", model, file.path, file.line(*entry)))
