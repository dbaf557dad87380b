"""Settings files of LM Studio as llama-server's options of the same meaning: those saved for a model, and its server's.

A model's are ~/.lmstudio/.internal/user-concrete-model-default-config/PUBLISHER/REPO/FILE.gguf.json (older: ~/.cache/lm-studio):
{"load": {"fields": [{"key": "llm.load.contextLength", "value": 32768}, …]}, "operation": {…}}. Keys: schema.ts and
llmLoadModelConfig.ts of packages/lms-kv-config in lmstudio-ai/lmstudio-js. The server's: .internal/http-server-config.json.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.launch.command import Command
from doctor.launch.definition import Definition
from doctor.launch.other_servers import LM_STUDIO
from doctor.launch.words import Word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.launch.definition import Siblings
    from doctor.launch.yaml_tree import Node, Tree

_LOAD = "llm.load."
_PREDICTION = "llm.prediction."
_NUMBERS = {
    "llm.load.contextLength": "--ctx-size", "llm.load.numParallelSessions": "--parallel", "llm.load.seed": "--seed",
    "llm.load.llama.cpuThreadPoolSize": "--threads", "llm.load.llama.evalBatchSize": "--batch-size",
    "llm.load.llama.physicalBatchSize": "--ubatch-size", "llm.load.llama.ropeFrequencyBase": "--rope-freq-base",
    "llm.load.llama.ropeFrequencyScale": "--rope-freq-scale", "llm.load.llama.kCacheQuantizationType": "--cache-type-k",
    "llm.load.llama.vCacheQuantizationType": "--cache-type-v", "llm.load.llama.contextCheckpoints": "--ctx-checkpoints",
    "llm.prediction.temperature": "--temp", "llm.prediction.topKSampling": "--top-k",
    "llm.prediction.topPSampling": "--top-p", "llm.prediction.minPSampling": "--min-p",
    "llm.prediction.repeatPenalty": "--repeat-penalty", "llm.prediction.maxPredictedTokens": "--predict",
    "llm.prediction.llama.presencePenalty": "--presence-penalty",
    "llm.prediction.llama.frequencyPenalty": "--frequency-penalty",
}  # fmt: skip
_SWITCHES = {
    "llm.load.offloadKVCacheToGpu": (None, "--no-kv-offload"), "llm.load.llama.keepModelInMemory": ("--mlock", None),
    "llm.load.llama.tryMmap": (None, "--no-mmap"),
}  # fmt: skip
_FLASH_ATTENTION = "llm.load.llama.flashAttention"
_OFFLOAD = "llm.load.llama.acceleration.offloadRatio"
_MODEL_FILE = re.compile(
    r"(?P<root>.*[/\\])\.internal[/\\]user-concrete-model-default-config[/\\](?P<model>.+\.gguf)\.json"
)


def is_settings(tree: Tree) -> bool:
    """Whether a file is a model's settings."""
    fields = tree.get(tree.root, "load", "fields")
    return fields is not None and fields.kind == "list"


def read_model_settings(tree: Tree, name: str, siblings: Siblings) -> list[Definition]:
    """The model whose settings these are, with the address of the server where its file is beside."""
    words: list[Word] = []
    place = _MODEL_FILE.fullmatch(name)
    if place:
        parts = re.split(r"[/\\]", place["model"])
        up = "../" * (len(parts) - 1)
        words += _model(parts, place["root"], up, siblings)
        words += _server(siblings.text(f"{up}../http-server-config.json"))
    for group in ("load", "operation"):
        for item in tree.items(tree.get(tree.root, group, "fields")):
            words += _field(tree, item)
    model = re.split(r"[/\\]", place["model"])[-1] if place else ""
    return [Definition(model, Command(LM_STUDIO, tuple(words), 0, {}, None))]


def read_server_settings(tree: Tree) -> list[Definition]:
    """The server's address alone: which model it loads is asked for by its clients."""
    return [Definition("", Command(LM_STUDIO, tuple(_address(tree)), 0, {}, None))]


def _model(parts: list[str], root: str, up: str, siblings: Siblings) -> Iterator[Word]:
    """The model's file, where it lies in LM Studio's own folder (it can be moved)."""
    names = siblings.names("/".join([f"{up}../../models", *parts[:-1]]))
    if names is not None and parts[-1] in names:
        yield Word("--model", 1, False)
        yield Word(root + "/".join(["models", *parts]), 1, False)


def _server(text: str | None) -> Iterator[Word]:
    from doctor.launch.definition import DefinitionError
    from doctor.launch.json_settings import load_json

    if text is not None:
        try:
            yield from _address(load_json(text))
        except DefinitionError:
            return


def _address(tree: Tree) -> Iterator[Word]:
    for key, option in (("networkInterface", "--host"), ("port", "--port")):
        node = tree.get(tree.root, key)
        if node is not None and node.kind == "text":
            yield Word(option, node.line, False)
            yield Word(node.text, node.line, False)


def _field(tree: Tree, item: Node) -> Iterator[Word]:
    """A field as words; nothing for one that llama-server has no option for, or whose box is not ticked."""
    key_node, node = tree.get(item, "key"), tree.get(item, "value")
    key = key_node.text if key_node is not None else ""
    if node is None or not key.startswith((_LOAD, _PREDICTION)):
        return
    if node.kind == "map":  # {"checked": true, "value": "q8_0"}
        checked, node = tree.get(node, "checked"), tree.get(node, "value")
        if node is None or checked is None or checked.text != "true":
            return
    value = node.text
    made: tuple[str | None, ...] = ()
    if key in _NUMBERS and node.kind == "text":
        made = (_NUMBERS[key], value)
    elif key in _SWITCHES:
        made = (_SWITCHES[key][0 if value == "true" else 1],)
    elif key == _FLASH_ATTENTION and value in ("true", "false"):
        made = ("--flash-attn", "on" if value == "true" else "off")
    elif key == _OFFLOAD and (layers := _layers(value)) is not None:
        made = ("--n-gpu-layers", layers)
    yield from (Word(text, node.line, False) for text in made if text is not None)


def _layers(value: str) -> str | None:
    """max, off, 1 and 0 say all and none; older files have a number of layers. A share of the layers is no number of them."""
    if value in ("max", "1", "1.0"):
        return "all"
    if value in ("off", "0", "0.0"):
        return "0"
    return value if re.fullmatch(r"[2-9]|[1-9]\d{1,3}", value) else None
