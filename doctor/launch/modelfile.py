"""Reads an Ollama Modelfile as far as it maps to llama.cpp: FROM, ADAPTER and the PARAMETERs of loading and sampling."""

from __future__ import annotations

import re

from doctor.launch.command import Command
from doctor.launch.definition import Definition
from doctor.launch.other_servers import OLLAMA
from doctor.launch.words import Word

_INSTRUCTION = re.compile(r"\s*(FROM|ADAPTER|PARAMETER)\s+(.*?)\s*", re.IGNORECASE)
_QUOTED_TEXT = re.compile(r"\"\"\"")
_OPTIONS = {
    "num_ctx": "--ctx-size", "num_gpu": "--n-gpu-layers", "num_thread": "--threads", "num_batch": "--batch-size",
    "num_predict": "--predict", "main_gpu": "--main-gpu", "num_keep": "--keep", "seed": "--seed", "temperature": "--temp",
    "top_k": "--top-k", "top_p": "--top-p", "min_p": "--min-p", "typical_p": "--typical",
    "repeat_penalty": "--repeat-penalty", "repeat_last_n": "--repeat-last-n", "presence_penalty": "--presence-penalty",
    "frequency_penalty": "--frequency-penalty", "mirostat": "--mirostat", "mirostat_eta": "--mirostat-lr",
    "mirostat_tau": "--mirostat-ent",
}  # fmt: skip
"""Parameters of a Modelfile (ollama docs/modelfile.md, api/types.go) -> llama-server's option of the same meaning."""


def read_modelfile(text: str) -> list[Definition]:
    """The model as a command, its program "ollama": what it does not say is Ollama's own affair."""
    words: list[Word] = []
    inside = False  # a text in three quotes
    for number, row in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        found = None if inside else _INSTRUCTION.fullmatch(row)
        if len(_QUOTED_TEXT.findall(row)) % 2:
            inside = not inside
        if found is None:
            continue
        kind, value = found[1].upper(), found[2].strip("\"'")
        if kind == "FROM" and re.search(r"[/\\]|\.gguf$", value) and not re.match(r"hf\.co/|huggingface\.co/", value):
            words += [Word("--model", number, False), Word(value, number, False)]
        elif kind == "ADAPTER":
            words += [Word("--lora", number, False), Word(value, number, False)]
        elif kind == "PARAMETER":
            name, _, setting = value.partition(" ")
            option = _OPTIONS.get(name.lower())
            if option:
                words += [Word(option, number, False), Word(setting.strip().strip("\"'"), number, False)]
    return [Definition("", Command(OLLAMA, tuple(words), 0, {}, None))]
