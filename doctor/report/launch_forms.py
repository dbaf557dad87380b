"""A launch command in the form it is wanted: a shell line, a compose service, a systemd unit, a preset for llama-server."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FORMS = ("shell", "compose", "systemd", "preset")
PRESETS_SINCE = 7352
"""--models-preset FILE.ini."""
_IMAGES = {"vulkan": "server-vulkan", "rocm": "server-rocm", "cpu": "server", "sycl": "server-intel"}


def shell(words: Sequence[str], name: str, backend: str) -> str:
    """One line for sh."""
    return " ".join(word if re.fullmatch(r"[\w./:@%+=,~-]+", word) else shlex.quote(word) for word in words)


def compose(words: Sequence[str], name: str, backend: str) -> str:
    """A service of a compose file. The folder of the model is mounted read-only; the port is open to this machine only."""
    arguments = _arguments(words)
    volumes: list[tuple[str, str]] = []
    for at, word in enumerate(arguments[:-1]):
        if word in ("--model", "-m", "--mmproj", "--model-draft", "-md", "--spec-draft-model", "-mm"):
            folder, file = posixpath.split(arguments[at + 1].replace("\\", "/"))
            inside = f"/models{len(volumes) or ''}"
            known = next((inside for outer, inside in volumes if outer == (folder or ".")), None)
            if known is None:
                volumes.append((folder or ".", inside))
            arguments[at + 1] = f"{known or inside}/{file}"
    port = _value(arguments, "--port") or "8080"
    arguments = _set(arguments, "--host", "0.0.0.0")
    lines = [
        "services:",
        f"  {_slug(name)}:",
        f"    image: ghcr.io/ggml-org/llama.cpp:{_IMAGES.get(backend, 'server-cuda')}",
    ]
    lines += ["    command:", *(f"      - {_yaml(word)}" for word in arguments)]
    lines += ["    ports:", f'      - "127.0.0.1:{port}:{port}"', "    volumes:"]
    lines += [f"      - {_yaml(f'{outer}:{inside}:ro')}" for outer, inside in volumes]
    if backend == "cuda":
        lines += ["    deploy:", "      resources:", "        reservations:", "          devices:"]
        lines += ["            - driver: nvidia", "              count: all", "              capabilities: [gpu]"]
    lines += ["    restart: unless-stopped"]
    return "\n".join(lines)


def systemd(words: Sequence[str], name: str, backend: str) -> str:
    """A unit; `llama-server` is looked up in systemd's own PATH (/usr/local/bin, /usr/bin)."""
    quoted = " ".join(_unit(word) for word in words)
    return "\n".join(
        (
            "[Unit]",
            f"Description=llama-server {_slug(name)}",
            "After=network-online.target",
            "",
            "[Service]",
            f"ExecStart={quoted}",
            "Restart=on-failure",
            "",
            "[Install]",
            "WantedBy=multi-user.target",
        )
    )


def preset(words: Sequence[str], name: str, backend: str) -> str:
    """A section for the file of --models-preset: the long options without their dashes."""
    lines = [f"[{_slug(name)}]"]
    arguments = _arguments(words)
    at = 0
    while at < len(arguments):
        key = arguments[at].lstrip("-")
        follows = arguments[at + 1] if at + 1 < len(arguments) else "--"
        takes = not re.match(r"-[A-Za-z-]", follows)
        value = follows if takes else "true"
        if key.startswith("no-") and not takes:
            key, value = key[3:], "false"
        lines.append(f"{key} = {value}")
        at += 2 if takes else 1
    return "\n".join(lines)


FORM: dict[str, Callable[[Sequence[str], str, str], str]] = {
    "shell": shell,
    "compose": compose,
    "systemd": systemd,
    "preset": preset,
}


def _arguments(words: Sequence[str]) -> list[str]:
    """The words after the program."""
    start = next(
        (at for at, word in enumerate(words) if re.search(r"(?:^|[/\\])(?:llama-)?server(?:\.exe)?$", word)), None
    )
    return list(words[1 if start is None else start + 1 :])


def _value(arguments: Sequence[str], name: str) -> str | None:
    return next((arguments[at + 1] for at, word in enumerate(arguments[:-1]) if word == name), None)


def _set(arguments: list[str], name: str, value: str) -> list[str]:
    for at, word in enumerate(arguments[:-1]):
        if word == name:
            return [*arguments[: at + 1], value, *arguments[at + 2 :]]
    return [*arguments, name, value]


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "model"


def _yaml(word: str) -> str:
    return json.dumps(word.replace("$", "$$"), ensure_ascii=False)


def _unit(word: str) -> str:
    word = word.replace("%", "%%").replace("$", "$$")
    if re.fullmatch(r"[\w./:@%$+=,~-]+", word):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
