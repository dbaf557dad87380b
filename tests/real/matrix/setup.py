"""A set-up: a home with one client's settings and variables, and the server they are meant for."""

import copy
import dataclasses
import json
import shlex
import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

from tests.real.matrix.servers import Command

PROFILE = ".bashrc"
"""Where the variables of the shell are set."""
LAUNCH = "project/start.sh"
"""Where the command that starts the server is written, where it is the client's own."""


@dataclasses.dataclass
class Setup:
    """What a fault changes and a remedy changes back.

    `files` are settings files below the home as data, `env` the variables of the shell the client starts from, which its
    profile sets.
    `own`: the server's command is written in a file. `secret` is the key the server was started with, "" for none. `alive`: whether the server runs (None: it
    was never started, False: it is to be started again). `ready`: when a loading server will be. `certificate`: the
    server's. `update` puts a current server in the place of an old one. `cached` are the shares of the
    prompts that came from the cache, where a fault takes them down.
    """

    client: Any
    home: Path
    command: Command
    secret: str = ""
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    files: dict[str, Any] = dataclasses.field(default_factory=dict)
    own: bool = False
    alive: bool = True
    ready: float = 0.0
    certificate: str = ""
    update: Any = None
    cached: list[float] = dataclasses.field(default_factory=list)

    # --- settings by the name doctor shows ------------------------------------------------------------------------

    def holders(self, name, place=""):
        """Every (mapping, key) that holds a setting of this name, those of the place named first."""
        found = []
        for path, data in self.files.items():
            for mapping, key in _inside(data, name):
                found.append((path.rpartition("/")[2] in place, mapping, key))
        if name in self.env:
            found.append(("environment" in place or not place, self.env, name))
        return [(mapping, key) for _, mapping, key in sorted(found, key=lambda item: not item[0])]

    def get(self, name):
        """A setting's value."""
        holders = self.holders(name)
        return holders[0][0][holders[0][1]] if holders else None

    def put(self, name, value, place=""):
        """Write a setting where it stands, else where the client keeps such settings."""
        holders = self.holders(name, place)
        if holders:
            mapping, key = holders[0]
            mapping[key] = value
        else:
            self.client.add(self, name, value)

    def drop(self, name, place=""):
        """Take a setting away."""
        for mapping, key in self.holders(name, place)[:1]:
            del mapping[key]

    def point(self, url):
        """Write the base URL."""
        self.put(self.client.base, url)

    def state(self):
        """All that an edit may change, as it stands."""
        return copy.deepcopy((self.files, self.env, self.command))

    # --- on disk --------------------------------------------------------------------------------------------------

    def reload(self):
        """Take over what somebody else has written into the files."""
        for path in self.files:
            text = (self.home / path).read_text("utf-8")
            read = {".json": json.loads, ".toml": tomllib.loads, ".env": variables}
            self.files[path] = read.get(path[path.rindex(".") :], flat)(text)
        if self.own:
            line = (self.home / LAUNCH).read_text("utf-8").splitlines()[-1]
            self.command = self.command.printed(line, self.home)
        kept = {name: value for name, value in self.env.items() if "\n" in value}
        self.env = kept | variables((self.home / PROFILE).read_text("utf-8"))

    def write(self):
        """The files as the client reads them."""
        for path, data in self.files.items():
            target = self.home / path
            target.parent.mkdir(parents=True, exist_ok=True)
            text = data if isinstance(data, str) else _toml(data) if path.endswith(".toml") else _other(path, data)
            target.write_text(text, encoding="utf-8")
        if self.own:
            (self.home / LAUNCH).write_text(f"#!/bin/sh\n{self.command.text()}\n", encoding="utf-8")
        (self.home / PROFILE).write_text(_assigned(self.env, "export "), encoding="utf-8")


def _inside(data, name):
    """Where a name stands in settings: as it is, in a block of variables, or as a path with dots."""
    if not isinstance(data, dict):
        return []
    found = []
    for mapping in (data, data.get("env")):
        if isinstance(mapping, dict) and name in mapping and not isinstance(mapping[name], dict):
            found.append((mapping, name))
    mapping = data
    *heads, last = name.split(".")
    for head in heads:
        mapping = mapping.get(head) if isinstance(mapping, dict) else None
    if heads and isinstance(mapping, dict) and not isinstance(mapping.get(last, {}), dict):
        found.append((mapping, last))
    return found or _leaves(data, name)


def _leaves(data, name):
    """The same name at any depth."""
    found = [(data, name)] if name in data and not isinstance(data[name], dict) else []
    return found + [item for value in data.values() if isinstance(value, dict) for item in _leaves(value, name)]


def _other(path, data):
    if path.endswith(".env"):
        return _assigned(data)
    if path.endswith((".yml", ".yaml")):
        return "".join(f"{key}: {json.dumps(value)}\n" for key, value in data.items())
    return json.dumps(data, indent=2) + "\n"


def variables(text):
    """The variables that lines of a shell set."""
    lines = (shlex.split(line.removeprefix("export ")) for line in text.splitlines())
    return dict(words[0].split("=", 1) for words in lines if words)


def _assigned(env, before=""):
    return "".join(f"{before}{name}={shlex.quote(value)}\n" for name, value in env.items() if "\n" not in value)


def flat(text):
    """YAML that is a line a setting, each value as JSON or as it stands."""
    pairs = (line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return {name: json.loads(value) if value[:1] in '"0123456789tf' else value for name, value in pairs}


def _toml(data, prefix=""):
    """TOML of texts, numbers and tables."""
    plain = [f"{key} = {json.dumps(value)}" for key, value in data.items() if not isinstance(value, dict)]
    text = "\n".join(plain) + "\n"
    for key, value in data.items():
        if isinstance(value, dict):
            head = f"[{prefix}{key}]\n" if any(not isinstance(item, dict) for item in value.values()) else ""
            text += f"\n{head}{_toml(value, f'{prefix}{key}.')}"
    return text
