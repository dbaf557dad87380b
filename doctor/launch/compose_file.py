"""Reads a docker compose file as YAML: every service of llama.cpp with its command, variables, ports, folders and GPU.

`docker compose config` is never run. What stands in `.env`, env_file, an override file or an extended service is read too.
"""

from __future__ import annotations

import posixpath
import re
from itertools import pairwise
from typing import TYPE_CHECKING

from doctor.launch.command import composed
from doctor.launch.compose import Service
from doctor.launch.definition import DEFINITIONS_LIMIT, Definition, DefinitionError
from doctor.launch.dotenv import fill_in, read_dotenv
from doctor.launch.publish import Neighbour, looked_for
from doctor.launch.shell import read_script
from doctor.launch.words import Word, split
from doctor.launch.yaml_tree import Node, Tree, load_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.launch.definition import Siblings

_SHELL = re.compile(r"(?:.*/)?(?:ba|da|z|a)?sh")
_OPEN = re.compile(r"\$\{?[A-Za-z_]")
_GPU_DEVICE = re.compile(r"nvidia\.com/gpu|/dev/(?:nvidia|dri|kfd|dxg)|amd\.com/gpu")
_EXTENDS_LIMIT = 5
_Layer = tuple[Tree, Node]  # a service as one file has it; later ones are laid over earlier ones


def read_compose(text: str, siblings: Siblings, name: str = "") -> list[Definition]:
    """The llama.cpp services of a compose file. Raises DefinitionError."""
    tree = load_yaml(text)
    override_name = _override(name)
    override_text = siblings.text(override_name) if override_name else None
    override = load_yaml(override_text, override_name) if override_text is not None else None
    dotenv = _dotenv(siblings, ".env")
    values = {key: value for key, (value, _) in dotenv.items()}
    found: list[Definition] = []
    neighbours: list[Neighbour] = []
    for service_name, node in tree.pairs(tree.get(tree.root, "services")):
        layers = _layers(tree, node, siblings, 0)
        if override is not None and (over := override.get(override.root, "services", service_name)) is not None:
            layers.append((override, over))
        service = _Service(service_name, layers, values, siblings)
        servers = service.definitions()
        found += servers
        neighbours += [] if servers else service.neighbours()
    return [item._replace(neighbours=tuple(neighbours)) for item in found[:DEFINITIONS_LIMIT]]


def _dotenv(siblings: Siblings, path: str) -> dict[str, tuple[str, int]]:
    """The variables of an environment file; none where it is not there. Raises DefinitionError that names it."""
    try:
        return read_dotenv(siblings.text(path) or "") if path else {}
    except DefinitionError as error:
        raise DefinitionError(f"{path}: {error}") from None


def _override(name: str) -> str:
    """The file that compose lays over one of a usual name by itself."""
    stem, extension = posixpath.splitext(name.replace("\\", "/"))
    return f"{stem}.override{extension}" if posixpath.basename(stem) in ("compose", "docker-compose") else ""


def _layers(tree: Tree, node: Node, siblings: Siblings, depth: int) -> list[_Layer]:
    """A service with those it extends, the furthest first."""
    extends = tree.get(node, "extends")
    if extends is None or depth >= _EXTENDS_LIMIT:
        return [(tree, node)]
    named = extends.text if extends.kind == "text" else _text(tree.get(extends, "service"))
    other = tree
    file = _text(tree.get(extends, "file"))
    if file:
        text = siblings.text(file)
        if text is None:
            return [(tree, node)]
        other = load_yaml(text, file)
    base = other.get(other.root, "services", named)
    if base is None or base is node:
        return [(tree, node)]
    return [*_layers(other, base, siblings, depth + 1), (tree, node)]


class _Service:
    def __init__(self, name: str, layers: list[_Layer], values: dict[str, str], siblings: Siblings) -> None:
        self._name = name
        self._layers = layers
        self._values = values
        self._siblings = siblings

    def definitions(self) -> list[Definition]:
        """The server of this service; none when it is another program."""
        environment, places = self._environment()
        entrypoint, command = self._words("entrypoint"), self._words("command")
        service = Service(
            image=self._scalar("image"),
            command=command,
            entrypoint=entrypoint,
            environment=environment,
            ports=tuple(self._ports()),
            volumes=tuple(self._volumes()),
            own_network=self._scalar("network_mode") == "host",
        )
        gpu = self._gpu()
        script = self._script((*entrypoint, *command))
        if script:
            return [
                item._replace(
                    name=self._name,
                    gpu=gpu,
                    command=item.command._replace(
                        variables={**environment, **item.command.variables},
                        places=places,
                        image=service.image or None,
                    ),
                )
                for item in script
            ]
        found = composed(service)
        return [] if found is None else [Definition(self._name, found._replace(places=places), gpu)]

    def _script(self, words: tuple[Word, ...]) -> list[Definition]:
        """What `sh -c "…"` starts in the container."""
        for at, word in enumerate(words[:-1]):
            if re.fullmatch(r"-\w*c", word.text) and at and _SHELL.fullmatch(words[at - 1].text):
                return read_script(words[at + 1].text, self._siblings, words[at + 1].line)
        return []

    def _last(self, *keys: str) -> tuple[Tree, Node] | None:
        """The value in the topmost layer that has it."""
        for tree, node in reversed(self._layers):
            found = tree.get(node, *keys)
            if found is not None:
                return tree, found
        return None

    def _every(self, *keys: str) -> Iterator[tuple[Tree, Node]]:
        for tree, node in self._layers:
            found = tree.get(node, *keys)
            if found is not None:
                yield tree, found

    def _fill(self, text: str, line: int) -> str:
        return fill_in(text, self._values, line)

    def _scalar(self, *keys: str) -> str:
        found = self._last(*keys)
        return self._fill(found[1].text, found[1].line) if found else ""

    def _words(self, key: str) -> tuple[Word, ...]:
        """A command or entry point: a list is words, a text is split as a shell would."""
        found = self._last(key)
        if found is None:
            return ()
        tree, node = found
        words: list[Word] = []
        if node.kind == "list":
            for item in tree.items(node):
                if item.kind != "text":
                    raise DefinitionError(f"line {item.line}: a {item.kind} inside `{key}`: docker compose refuses it")
                text = self._fill(item.text, item.line)
                line = item.rows[0][1] if item.rows else item.line
                words.append(Word(text, line, _OPEN.search(text) is not None, item.file))
            return tuple(words)
        rows = node.rows
        if len(rows) > 1 and any(row.count('"') % 2 or row.count("'") % 2 for row, _ in rows):
            rows = ((node.text, node.line),)  # a quote goes over several lines
        for row, line in rows:
            text = self._fill(row.rstrip("\\ "), line)
            words += [word._replace(file=node.file) for command in split(text, line) for word in command]
        return tuple(words)

    def _environment(self) -> tuple[dict[str, str], dict[str, tuple[str, int]]]:
        values: dict[str, str] = {}
        places: dict[str, tuple[str, int]] = {}
        for tree, node in self._every("env_file"):
            for item in tree.items(node):
                path = item.text if item.kind == "text" else _text(tree.get(item, "path"))
                for name, (value, line) in _dotenv(self._siblings, self._fill(path, item.line)).items():
                    values[name], places[name] = value, (path, line)
        for tree, node in self._every("environment"):
            for name, raw, line in _assignments(tree, node):
                values[name] = f"${{{name}}}" if raw is None else self._fill(raw, line)
                if raw is None and name in self._values:
                    values[name] = self._values[name]
                places[name] = (node.file, line)
        return values, places

    def _ports(self) -> Iterator[Word]:
        for tree, node in self._every("ports"):
            for item in tree.items(node):
                text = item.text
                if item.kind == "map":
                    parts = [_text(tree.get(item, name)) for name in ("host_ip", "published", "target")]
                    text = ":".join(parts if parts[0] else parts[1:])
                yield Word(self._fill(text, item.line), item.line, False, item.file)

    def neighbours(self) -> Iterator[Neighbour]:
        """Where this service looks for a model server on its own loopback; none when it shares the machine's network."""
        mode = self._scalar("network_mode")
        if mode == "host" or mode.startswith(("service:", "container:")):
            return
        values, places = self._environment()
        for variable, value in values.items():
            file, line = places[variable]
            yield from looked_for(self._name, variable, value, line, file)
        for option, word in pairwise(self._words("command")):
            if option.text.startswith("--"):
                name = option.text.strip("-").replace("-", "_")
                yield from looked_for(self._name, name, word.text, word.line, word.file)

    def _volumes(self) -> Iterator[str]:
        for tree, node in self._every("volumes"):
            for item in tree.items(node):
                if item.kind == "map":
                    source, target = _text(tree.get(item, "source")), _text(tree.get(item, "target"))
                    yield self._fill(f"{source}:{target}", item.line)
                else:
                    yield self._fill(item.text, item.line)

    def _gpu(self) -> str | None:
        """How the service asks for a GPU."""
        if self._last("gpus"):
            return "gpus"
        runtime = self._scalar("runtime")
        if runtime:
            return f"runtime {runtime}"
        for tree, node in self._every("deploy", "resources", "reservations", "devices"):
            for item in tree.items(node):
                words = [value.text for value in tree.items(tree.get(item, "capabilities"))]
                if not words:
                    return "device reservation without capabilities"
                if "gpu" in words or _text(tree.get(item, "driver")) in ("nvidia", "cdi"):
                    return "device reservation"
        for tree, node in self._every("devices"):
            if any(_GPU_DEVICE.search(item.text) for item in tree.items(node)):
                return "devices"
        return "privileged" if self._scalar("privileged").lower() == "true" else None


def _assignments(tree: Tree, node: Node) -> Iterator[tuple[str, str | None, int]]:
    """(name, value, line) of a list of NAME=value or a map; the value None where only a name stands."""
    if node.kind == "map":
        for name, value in tree.pairs(node):
            yield name, value.text, value.line
        return
    for item in tree.items(node):
        key, equals, text = item.text.partition("=")
        yield key, text if equals else None, item.line


def _text(node: Node | None) -> str:
    return node.text if node is not None else ""
