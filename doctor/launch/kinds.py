"""What kind of launch definition a file is, by its name and by what stands in it; and which reader reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.launch.definition import FILE_LIMIT, Definition, DefinitionError

if TYPE_CHECKING:
    from doctor.launch.definition import Siblings
    from doctor.launch.table import OptionTable

_COMPOSE_NAME = re.compile(r"(?:docker-|podman-)?compose(?:[.-][\w.-]+)?\.ya?ml", re.IGNORECASE)
_DOCKER_NAME = re.compile(
    r"(?:Dockerfile|Containerfile)(?:\.[\w.-]+)?|[\w.-]+\.(?:dockerfile|containerfile)", re.IGNORECASE
)
_SWAP_NAME = re.compile(r"llama-?swap[\w.-]*\.ya?ml", re.IGNORECASE)
_UNIT_SECTION = re.compile(r"^[ \t]*\[Service\]", re.MULTILINE)
_INI_SECTION = re.compile(r"^\[[^\]\n]+\]", re.MULTILINE)
_INI_PAIR = re.compile(r"^[A-Za-z_][\w.-]*[ \t]*=", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*FROM\s", re.MULTILINE | re.IGNORECASE)
_PARAMETER = re.compile(r"^[ \t]*(?:PARAMETER|TEMPLATE|SYSTEM)\s", re.MULTILINE | re.IGNORECASE)
_SHEBANG = re.compile(r"#!.*\b(?:ba|da|z|k|a)?sh\b")

FOUND_BY_THEMSELVES = re.compile(
    r"(?:docker-)?compose\.ya?ml|llama-?swap\.ya?ml|Modelfile|llama[\w-]*\.(?:sh|bat|cmd|ps1|service)|"
    r"(?:run|start|serve|launch|server)[\w-]*\.(?:sh|bat|cmd|ps1)|Dockerfile|(?:models?|presets?)[\w-]*\.ini",
    re.IGNORECASE,
)
"""Names in the current folder that are looked into when nothing else is known."""


class Reading(NamedTuple):
    """What a file is and the servers it starts."""

    kind: str
    definitions: list[Definition]


def kind_of(name: str, text: str) -> str:
    """compose, llama-swap, llama-cpp-python, yaml, json, dockerfile, modelfile, systemd, presets, batch, powershell or shell."""
    base = re.split(r"[/\\]", name)[-1]
    extension = base.rpartition(".")[2].lower() if "." in base else ""
    if _COMPOSE_NAME.fullmatch(base):
        return "compose"
    if _SWAP_NAME.fullmatch(base):
        return "llama-swap"
    if extension == "json":
        return "json"
    if extension in ("yml", "yaml"):
        return _kind_of_yaml(text)
    if _DOCKER_NAME.fullmatch(base):
        return "dockerfile"
    if extension in ("sh", "bash", "zsh", "command") or _SHEBANG.match(text):
        return "shell"
    if extension in ("bat", "cmd"):
        return "batch"
    if extension in ("ps1", "psm1"):
        return "powershell"
    if extension in ("service",) or _UNIT_SECTION.search(text):
        return "systemd"
    if base == "config.ini":
        return "config"
    if extension == "ini" or (_INI_SECTION.search(text) and _INI_PAIR.search(text)):
        return "presets"
    if base.lower().startswith("modelfile") or (_FROM.search(text) and _PARAMETER.search(text)):
        return "modelfile"
    return "dockerfile" if _FROM.match(text) else "shell"


def _kind_of_yaml(text: str) -> str:
    if re.search(r"^services\s*:", text, re.MULTILINE):
        return "compose"
    if re.search(r"^models\s*:", text, re.MULTILINE) and re.search(r"^\s+cmd\s*:", text, re.MULTILINE):
        return "llama-swap"
    if re.search(r"^models\s*:", text, re.MULTILINE) and re.search(r"\bn_ctx\b|\bn_gpu_layers\b|\.gguf\b", text):
        return "llama-cpp-python"
    return "yaml"


def read_definitions(name: str, text: str, siblings: Siblings, table: OptionTable) -> Reading:
    """The servers a launch file starts. Raises DefinitionError with one line."""
    if len(text) > FILE_LIMIT:
        raise DefinitionError(f"larger than {FILE_LIMIT >> 10} KiB: no launch file is")
    if "\0" in text[:4096]:
        raise DefinitionError("not a text")
    kind = kind_of(name, text)
    try:
        return Reading(kind, _read(kind, name, text, siblings, table))
    except RecursionError:
        raise DefinitionError("nested too deeply") from None


def _read(kind: str, name: str, text: str, siblings: Siblings, table: OptionTable) -> list[Definition]:
    base = re.split(r"[/\\]", name)[-1]
    if kind == "compose":
        from doctor.launch.compose_file import read_compose

        return read_compose(text, siblings, base)
    if kind == "llama-swap":
        from doctor.launch.llama_swap import read_llama_swap

        return read_llama_swap(text)
    if kind in ("json", "llama-cpp-python"):
        return _read_settings(kind, name, text, siblings)
    if kind == "dockerfile":
        from doctor.launch.dockerfile import read_dockerfile

        return read_dockerfile(text, siblings)
    if kind == "systemd":
        from doctor.launch.systemd import read_unit

        return read_unit(text, siblings, base)
    if kind == "modelfile":
        from doctor.launch.modelfile import read_modelfile

        return read_modelfile(text)
    if kind in ("presets", "config"):
        return _read_ini(kind, text, table)
    if kind == "batch":
        from doctor.launch.batch import read_batch

        return read_batch(text)
    if kind == "powershell":
        from doctor.launch.powershell import read_powershell

        return read_powershell(text)
    if kind == "yaml":
        raise DefinitionError("neither a compose file (services:) nor a llama-swap configuration (models: with cmd:)")
    from doctor.launch.shell import read_script

    return read_script(text, siblings)


def _read_settings(kind: str, name: str, text: str, siblings: Siblings) -> list[Definition]:
    if kind == "json":
        from doctor.launch.json_settings import read_json

        return read_json(text, name, siblings)
    from doctor.launch.llama_cpp_python import read_settings
    from doctor.launch.yaml_tree import load_yaml

    return read_settings(load_yaml(text))


def _read_ini(kind: str, text: str, table: OptionTable) -> list[Definition]:
    from doctor.launch.command import Command
    from doctor.launch.ini import read_config, read_presets

    if kind == "presets":
        return read_presets(text, table)
    words, _ = read_config(text, table)
    return [Definition("config.ini", Command(None, tuple(words), 0, {}, None))]
