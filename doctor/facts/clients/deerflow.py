"""DeerFlow: conf.yaml (release 1) or config.yaml (release 2) of the current folder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import Configured, Kind, client
from doctor.facts.clients.data_file import DataFile, Key
from doctor.facts.clients.env_file import read_env
from doctor.facts.clients.places import Places, as_number, at
from doctor.facts.clients.program import Program, separators
from doctor.facts.clients.record import writable
from doctor.facts.clients.yaml_file import read_yaml
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# conf.yaml.example (main-1.x) and backend/docs/CONFIGURATION.md of github.com/bytedance/deer-flow; not run, but
# langchain-openai 1.7.4, which it sends with, was.
KIND = Kind("deerflow", "DeerFlow", Program(), "openai-chat", proxies=("http", "https", "all"))
ROLES = ("BASIC_MODEL", "REASONING_MODEL", "CODE_MODEL", "VISION_MODEL")
SETTINGS = ("max_tokens", "request_timeout", "max_retries", "verify_ssl")
MOST = 8
_REFERENCE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?")


def collect(outside: Outside, vault: Vault) -> tuple[Client, ...]:
    """A record for every model that has an address."""
    join = separators(outside).join
    here = outside.folder()
    env = [read_env(outside, join(here, ".env"))]
    older = read_yaml(outside, join(here, "conf.yaml"))
    named = outside.environ.get("DEER_FLOW_CONFIG_PATH", "").strip()
    newer = read_yaml(outside, named or join(here, "config.yaml"))
    tables: list[tuple[DataFile, tuple[Key, ...]]] = [(older, (role,)) for role in ROLES]
    # config.yaml is a name that many programs use: DeerFlow's models say which class of LangChain they use.
    tables += [(newer, ("models", place)) for place, model in newer.items("models") if "use" in model]
    wanted = [(file, table) for file, table in tables if _base(file, table)][:MOST]
    made = [_model(Places(outside, vault, [file], env), file, table, len(wanted) > 1) for file, table in wanted]
    return tuple(made) or (client(Places(outside, vault), KIND),)


def _base(file: DataFile, table: tuple[Key, ...]) -> str | None:
    return next((name for name in ("base_url", "api_base") if at(file, *table, name)), None)


def _model(places: Places, file: DataFile, table: tuple[Key, ...], several: bool) -> Client:
    window = as_number(places.setting(at(file, *table, "token_limit")))
    return client(
        places,
        KIND,
        Configured(
            base=places.setting(places.resolved(at(file, *table, _base(file, table) or ""), _REFERENCE)),
            credentials=places.credential("authorization", places.resolved(at(file, *table, "api_key"), _REFERENCE)),
            model=places.setting(at(file, *table, "model")),
            context_window=window or Unknown("no token_limit is set for this model"),
            timeout=places.setting(at(file, *table, "request_timeout")),
            output_limit=places.setting(at(file, *table, "max_tokens")),
            settings=places.settings(*(at(file, *table, name) for name in SETTINGS)),
            label=str(file.get(*table, "name") or table[0])[:60] if several else "",
            writable=(
                writable("context_window", file.path, *table, "token_limit", kind="number"),
                writable("key", file.path, *table, "api_key"),
            ),
        ),
    )
