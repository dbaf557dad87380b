"""Settings of llama-cpp-python's server (`python -m llama_cpp.server`) as llama-server's options of the same meaning.

Names are those of ModelSettings and ServerSettings (llama_cpp/server/settings.py, 0.3.16); a file is that of `--config_file`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.launch.command import Command
from doctor.launch.definition import DEFINITIONS_LIMIT, Definition
from doctor.launch.other_servers import LLAMA_CPP_PYTHON
from doctor.launch.words import Word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from doctor.launch.yaml_tree import Node, Tree

_OPTIONS = {
    "model": "--model", "model_alias": "--alias", "n_gpu_layers": "--n-gpu-layers", "split_mode": "--split-mode",
    "main_gpu": "--main-gpu", "tensor_split": "--tensor-split", "rpc_servers": "--rpc", "seed": "--seed",
    "n_ctx": "--ctx-size", "n_batch": "--batch-size", "n_ubatch": "--ubatch-size", "n_threads": "--threads",
    "n_threads_batch": "--threads-batch", "rope_freq_base": "--rope-freq-base", "rope_freq_scale": "--rope-freq-scale",
    "flash_attn": "--flash-attn", "lora_path": "--lora", "clip_model_path": "--mmproj", "type_k": "--cache-type-k",
    "type_v": "--cache-type-v", "host": "--host", "port": "--port", "api_key": "--api-key",
}  # fmt: skip
_SWITCHES = {"use_mlock": ("--mlock", None), "use_mmap": (None, "--no-mmap"), "offload_kqv": (None, "--no-kv-offload"),
             "embedding": ("--embedding", None)}  # fmt: skip
"""Setting -> the option when it is true, and when it is false."""
_ON_OFF = ("flash_attn",)
_SPLIT_MODES = {"0": "none", "1": "layer", "2": "row"}
_CACHE_TYPES = {
    "0": "f32", "1": "f16", "2": "q4_0", "3": "q4_1", "6": "q5_0", "7": "q5_1", "8": "q8_0", "20": "iq4_nl", "30": "bf16",
}  # fmt: skip
"""Numbers of ggml_type (ggml.h) that a KV cache may have."""
_OF_THE_MODEL = ("rope_freq_base", "rope_freq_scale")
"""Settings of which 0 means what the model says."""
_NOTHING = ("", "null", "none", "~")
_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


def is_settings(tree: Tree) -> bool:
    """Whether a file is one of `--config_file`: a list of models, each a map with its path."""
    models = tree.get(tree.root, "models")
    return models is not None and models.kind == "list" and any(tree.get(item, "model") for item in tree.items(models))


def read_settings(tree: Tree) -> list[Definition]:
    """The models of a config file, each with the server's own settings."""
    server = [word for key, node in tree.pairs(tree.root) for word in _words(key, _text(tree, node), node)]
    found = []
    for item in tree.items(tree.get(tree.root, "models")):
        words = [word for key, node in tree.pairs(item) for word in _words(key, _text(tree, node), node)]
        alias, model = tree.get(item, "model_alias"), tree.get(item, "model")
        name = alias.text if alias is not None else model.text if model is not None else ""
        found.append(Definition(name, Command(LLAMA_CPP_PYTHON, (*server, *words), 0, {}, None)))
    return found[:DEFINITIONS_LIMIT]


def translated(command: Command) -> Command:
    """A command line of that server with the names llama-server has for its options; words it has none for are left out."""
    words: list[Word] = []
    front = list(command.words[: command.first])
    arguments = command.arguments
    at = 0
    while at < len(arguments):
        name, equals, value = arguments[at].text.partition("=")
        if name == "--config_file":  # what is in it is not known here: it stays in front, for whoever reads the command
            front += arguments[at : at + (1 if equals else 2)]
            at += 0 if equals else 1
        elif name.startswith("--") and not equals and at + 1 < len(arguments):
            at += 1
            words += _renamed(name, arguments[at], arguments[at - 1])
        elif name.startswith("--") and equals:
            words += _renamed(name, arguments[at]._replace(text=value), arguments[at])
        at += 1
    return command._replace(program=LLAMA_CPP_PYTHON, words=(*front, *words), first=len(front))


def with_variables(command: Command) -> Command:
    """The command with what its variables say (N_CTX=4096) and its own words do not."""
    given = {word.text for word in command.arguments}
    words: list[Word] = []
    for name, value in _settings_in(command.variables).items():
        file, line = command.places.get(name, ("", 0))
        made = list(_words(name.lower(), value, None, line, file))
        words += [] if made and made[0].text in given else made
    return command._replace(words=(*command.words, *words))


def _settings_in(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in variables.items() if name.lower() in _OPTIONS or name.lower() in _SWITCHES}


def _renamed(name: str, value: Word, own: Word) -> list[Word]:
    made = list(_words(name.removeprefix("--"), value.text, None, own.line, own.file))
    return [word._replace(open=value.open and at > 0, maybe=own.maybe) for at, word in enumerate(made)]


def _words(key: str, value: str, node: Node | None, line: int = 0, file: str = "") -> Iterator[Word]:
    """A setting as words; nothing for one that llama-server has no option for."""
    line, file = (node.line, node.file) if node is not None else (line, file)
    made: Sequence[str | None] = ()
    if key in _SWITCHES:
        when_true, when_false = _SWITCHES[key]
        made = (when_true if value.lower() in _TRUE else when_false if value.lower() in _FALSE else None,)
    elif key in _OPTIONS and value.lower() not in _NOTHING and (value.strip("0.") or key not in _OF_THE_MODEL):
        made = (_OPTIONS[key], _value(key, value))
    yield from (Word(text, line, False, file) for text in made if text is not None)


def _value(key: str, value: str) -> str:
    if key == "n_gpu_layers" and value == "-1":
        return "all"
    if key == "split_mode":
        return _SPLIT_MODES.get(value, value)
    if key in ("type_k", "type_v"):
        return _CACHE_TYPES.get(value, value)
    if key in _ON_OFF:
        return "on" if value.lower() in _TRUE else "off" if value.lower() in _FALSE else value
    return value


def _text(tree: Tree, node: Node) -> str:
    return ",".join(item.text for item in tree.items(node)) if node.kind == "list" else node.text
