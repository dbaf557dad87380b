"""Qwen Code: settings files for the model, variables and .env files before them for the address and the key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import Configured, Kind, client
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.env_file import read_env
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Found, Places, as_number
from doctor.facts.clients.program import Program, folders_above, separators
from doctor.facts.clients.record import Writable, writable
from doctor.facts.record import Fact, Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Measured with 0.24.4; folders of the system and their order from qwenlm.github.io/qwen-code-docs.
KIND = Kind(
    id="qwen-code",
    name="Qwen Code",
    program=Program(("qwen",), "@qwen-code/qwen-code"),
    wire_api="openai-chat",
    proxies=("http", "https"),
    default_base="https://dashscope.aliyuncs.com/compatible-mode/v1",
)
SYSTEM = {"win32": "C:\\ProgramData\\qwen-code", "darwin": "/Library/Application Support/QwenCode"}
SYSTEM_ELSEWHERE = "/etc/qwen-code"
AUTH: tuple[Key, ...] = ("security", "auth")
WIRE_OF = {"openai": "openai-chat", "anthropic": "anthropic-messages", "gemini": "google-genai"}
# For Anthropic's protocol too the key is a Bearer token (0.24.4; 0.15.10 sent x-api-key).
HEADERS = {"openai": "authorization", "anthropic": "authorization", "gemini": "x-goog-api-key"}
VARIABLES = {"openai": "OPENAI", "anthropic": "ANTHROPIC", "gemini": "GEMINI"}
SETTINGS = (
    (*AUTH, "selectedType"),
    ("model", "generationConfig", "timeout"),
    ("model", "generationConfig", "maxRetries"),
    ("model", "generationConfig", "samplingParams", "max_tokens"),
)
_REFERENCE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")


def collect(outside: Outside, vault: Vault) -> Client:
    """Qwen Code as it would run in the current folder."""
    join = separators(outside).join
    system = SYSTEM.get(outside.platform, SYSTEM_ELSEWHERE)
    user, project = join(outside.home(), ".qwen"), join(outside.folder(), ".qwen")
    files = [
        join(system, "settings.json"),
        join(project, "settings.json"),
        join(user, "settings.json"),
        join(system, "system-defaults.json"),
    ]
    above = folders_above(outside, to_the_root=True)
    envs = [join(folder, *name) for folder in (*above, outside.home()) for name in ((".qwen", ".env"), (".env",))]
    # Of the .env files only the first one that exists is read.
    env = next((file for file in (read_env(outside, path) for path in dict.fromkeys(envs)) if file.found), None)
    places = Places(
        outside,
        vault,
        [read_json(outside, path, comments=True) for path in dict.fromkeys(files)],
        [env] if env else [],
    )
    return client(places, KIND, _configured(places))


def _configured(places: Places) -> Configured:
    chosen = places.first(places.key(*AUTH, "selectedType"))
    kind = chosen.value.strip() if chosen and chosen.value.strip() in WIRE_OF else "openai"
    prefix = VARIABLES[kind]
    model = places.setting(places.key("model", "name"), places.variable(f"{prefix}_MODEL"))
    file, entry = _entry(places, kind, model.value if model else "")
    listed = Places(places.outside, places.vault, [file] if file else [])

    def own(*path: Key) -> list[Found]:
        """A value of the entry that lists this model."""
        return listed.key(*entry, *path) if file else []

    named = [
        found
        for name in own("envKey")
        for found in places.variable(name.value)[:1] or [Found(name.value, "", name.source, name.line, unset=True)]
    ]
    keys = (named or places.variable(f"{prefix}_API_KEY")) + places.resolved(places.key(*AUTH, "apiKey"), _REFERENCE)
    wire = WIRE_OF[kind]
    window = as_number(
        places.setting(
            own("generationConfig", "contextWindowSize"), places.key("model", "generationConfig", "contextWindowSize")
        )
    )
    return Configured(
        base=places.setting(own("baseUrl"), places.variable(f"{prefix}_BASE_URL"), places.key(*AUTH, "baseUrl")),
        credentials=places.credential(HEADERS[kind], keys),
        model=model,
        wire_api=wire,
        appends="/v1/messages" if kind == "anthropic" else None,
        appends_v1=kind == "anthropic",
        context_window=window or Unknown("Qwen Code takes the window from a table of model names"),
        settings=places.settings(*(places.key(*path) for path in SETTINGS)),
        timeout=places.setting(places.key("model", "generationConfig", "timeout")),
        timeout_unit=0.001,
        output_limit=places.setting(
            own("generationConfig", "samplingParams", "max_tokens"),
            places.key("model", "generationConfig", "samplingParams", "max_tokens"),
        ),
        logged_in=_logged_in(places),
        writable=_writable(places, file, entry, bool(keys)),
    )


def _writable(places: Places, file: DataFile | None, entry: tuple[Key, ...], has_key: bool) -> tuple[Writable, ...]:
    """The entry of modelProviders where there is one, else where it is set, else the user's file."""
    join = separators(places.outside).join
    user = join(places.outside.home(), ".qwen", "settings.json")
    common: tuple[Key, ...] = ("model", "generationConfig", "contextWindowSize")
    found = places.key(*common)
    owner, path = (file.path, (*entry, *common[1:])) if file else (found[0].source if found else user, common)
    return (
        writable("context_window", owner, *path, kind="number"),
        *(writable("no_proxy", env.path, "NO_PROXY") for env in places.env_files),
        *(() if has_key else (writable("key", user, *AUTH, "apiKey"),)),
    )


def _entry(places: Places, kind: str, model: str) -> tuple[DataFile | None, tuple[Key, ...]]:
    """The file and path of the entry of modelProviders with this id."""
    for file in places.files:
        for place, entry in file.items("modelProviders", kind):
            if model and entry.get("id") == model:
                return file, ("modelProviders", kind, place)
    return None, ()


def _logged_in(places: Places) -> Fact[bool]:
    join = separators(places.outside).join
    login = read_json(places.outside, join(places.outside.home(), ".qwen", "oauth_creds.json"))
    places.vault.put(str(login.get("access_token") or ""))
    return Unknown(login.problem) if login.problem else login.found
