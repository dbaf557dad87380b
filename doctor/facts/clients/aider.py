"""aider: .env files, variables, .aider.conf.yml; what is sent goes through LiteLLM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import Configured, Kind, client, renamed
from doctor.facts.clients.env_file import read_env
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Found, Places, as_number, at
from doctor.facts.clients.program import Program, folders_above, separators
from doctor.facts.clients.record import Setting, Writable, writable
from doctor.facts.clients.yaml_file import read_yaml
from doctor.facts.record import Fact, Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# From the source of 0.86.2 (main.py: .env files override the environment, later ones earlier ones) and of LiteLLM
# (main.py: OPENAI_BASE_URL before OPENAI_API_BASE); LiteLLM 1.110.2 itself was run.
# Its first request in an empty folder has 598 tokens by its own count, and no tools (0.86.2).
KIND = Kind(
    "aider",
    "aider",
    Program(("aider",)),
    "openai-chat",
    proxies=("http", "https", "all"),
    first_request=600,
    tools=False,
)
# What LiteLLM takes off the model id, and the wire it then speaks. Without one of them it knows no provider.
PREFIXES = {
    "openai/": "openai-chat",
    "openai_like/": "openai-chat",
    "litellm_proxy/": "openai-chat",
    "hosted_vllm/": "openai-chat",
    "lm_studio/": "openai-chat",
    "anthropic/": "anthropic-messages",
}
SETTINGS = ("timeout", "edit-format")


def collect(outside: Outside, vault: Vault) -> Client:
    """aider as it would run in the current folder."""
    join = separators(outside).join
    folders = list(dict.fromkeys((outside.folder(), folders_above(outside)[-1], outside.home())))
    places = Places(
        outside,
        vault,
        [read_yaml(outside, join(folder, ".aider.conf.yml")) for folder in folders],
        [read_env(outside, join(folder, ".env")) for folder in folders],
        env_win=True,
    )
    model = places.setting(_option(places, "model"))
    base = places.setting(_option(places, "openai-api-base"), places.variable("OPENAI_BASE_URL", "OPENAI_API_BASE"))
    key = _option(places, "openai-api-key") + places.variable("OPENAI_API_KEY")
    known_model = model is None or any(model.value.strip().startswith(prefix) for prefix in PREFIXES)
    return client(
        places,
        KIND,
        Configured(
            base=base,
            credentials=places.credential("authorization", key),
            model=_sent(model),
            small_model=_sent(places.setting(_option(places, "weak-model"))),
            other_models=tuple(filter(None, (_sent(places.setting(_option(places, "editor-model"))),))),
            context_window=_window(outside, folders, model),
            settings=places.settings(*(_option(places, name) for name in SETTINGS)),
            timeout=places.setting(_option(places, "timeout")),
            unusable=None if known_model or base is None else "model-prefix",
            writable=_writable(places, folders, model, bool(key)),
        ),
    )


def _writable(places: Places, folders: list[str], model: Setting | None, has_key: bool) -> tuple[Writable, ...]:
    """Files that are there: aider reads several of each kind."""
    join = separators(places.outside).join
    windows = [join(folder, ".aider.model.metadata.json") for folder in folders]
    there = [path for path in windows if places.outside.exists(path)]
    conf = [file.path for file in places.files if file.found]
    envs = [file.path for file in places.env_files if file.found]
    name = model.value.strip() if model else ""
    return (
        *(writable("context_window", path, name, "max_input_tokens", kind="number") for path in there[:1] if name),
        *(writable("no_proxy", path, "NO_PROXY") for path in envs[:1]),
        *(writable("key", path, "openai-api-key") for path in conf[:1] if not has_key),
    )


def _option(places: Places, name: str) -> list[Found]:
    """An option of aider: AIDER_… variables before the settings files."""
    return places.variable("AIDER_" + name.replace("-", "_").upper()) + places.key(name)


def _sent(model: Setting | None) -> Setting | None:
    for prefix in PREFIXES:
        if model is not None and model.value.strip().startswith(prefix):
            return renamed(model, model.value.strip()[len(prefix) :])
    return model


def _window(outside: Outside, folders: list[str], model: Setting | None) -> Fact[int]:
    """max_input_tokens of the model's entry in .aider.model.metadata.json."""
    join = separators(outside).join
    for folder in folders if model else ():
        file = read_json(outside, join(folder, ".aider.model.metadata.json"))
        for found in at(file, model.value.strip() if model else "", "max_input_tokens"):
            return as_number(Setting(*found[:4]))
    return Unknown("aider knows no window for a model that is not in .aider.model.metadata.json")
