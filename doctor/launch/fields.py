"""A command and its variables as a Launch record for a build."""

from __future__ import annotations

import json
import ntpath
import posixpath
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.launch.record import Launch, LaunchOption, Misdirected, OptionProblem
from doctor.facts.record import Fact, Unknown, field_types
from doctor.launch.command_text import command_text, fixed_text
from doctor.launch.devices import unknown_devices
from doctor.launch.llama_cpp_python import with_variables
from doctor.launch.options import Reading, read_arguments
from doctor.launch.other_servers import LLAMA_CPP_PYTHON, OTHER_SERVERS
from doctor.launch.publish import HOST_NETWORK, meant_for
from doctor.launch.values import as_integer, is_filled_in
from doctor.launch.variables import kept, read_variables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.launch.command import Command
    from doctor.launch.publish import Neighbour, Published
    from doctor.launch.table import OptionTable
    from doctor.launch.words import Word
    from doctor.secrets import Vault

_ON = ("on", "enabled", "true", "1")
_OFF = ("off", "disabled", "false", "0")
_HOME = re.compile(r"^~(?=[/\\]|$)|\$\{?HOME\}?(?=[/\\]|$)|%USERPROFILE%|\$env:USERPROFILE", re.IGNORECASE)


class Origin(NamedTuple):
    """Where a command was read. `environment` is that of a process, None where the command's own variables are all.

    `file`, `kind`, `name` and `gpu` are those of a launch file's definition. `config` are the options of the config.ini
    files llama.cpp reads by itself, each word with its file. `neighbours` are the other services of a compose file that look
    for a model server on their own loopback.
    """

    source: str
    home: str
    pid: int | None = None
    other_pids: tuple[int, ...] = ()
    environment: Fact[dict[str, str]] = None
    folder: str | None = None
    container: Fact[str] = None
    other_user: Fact[bool] = None
    file: str | None = None
    kind: str | None = None
    name: str | None = None
    gpu: str | None = None
    config: tuple[Word, ...] = ()
    config_files: tuple[str, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()


def launch_record(command: Command, table: OptionTable, vault: Vault, build: int | None, origin: Origin) -> Launch:
    """The record; options are read as `build` does, as the newest known build when it is None."""
    number = table.newest if build is None else build
    if command.program == LLAMA_CPP_PYTHON:
        command = with_variables(command)
    reading = read_arguments(command.arguments, table, number, vault)
    environment: Fact[dict[str, str]] = origin.environment
    if not isinstance(environment, Unknown):
        image = table.image["variables"] if re.search(table.image["pattern"], command.image or "") else {}
        environment = kept({**image, **command.variables, **(environment or {})}, vault)
    options, problems = reading.options, () if command.program in OTHER_SERVERS else reading.problems
    if isinstance(environment, dict):
        variables = read_variables(environment, table, number, options, _places(command))
        options, problems = (*options, *variables.options), (*problems, *variables.problems)
    if origin.config:
        given = {option.name: option for option in options}
        configured = read_arguments(origin.config, table, number, vault)
        options = (*options, *(option for option in configured.options if option.name not in given))
        problems = (*problems, *configured.problems)
    if origin.file is not None:
        options = tuple(replace(option, source=option.source or origin.file) for option in options)
        problems = tuple(replace(problem, source=problem.source or origin.file) for problem in problems)
    fields = _Fields(options, reading, environment, command, origin, fixed_text(command, reading, vault))
    facts = fields.facts((*problems, *unknown_devices(options, number)), command_text(command, reading, vault))
    return Launch(**{name: facts[name] for name in field_types(Launch)})


def _places(command: Command) -> dict[str, tuple[str, int]]:
    """Variable -> (file, line): those set in front of the program, and those the reader found elsewhere."""
    found = {}
    for word in command.words[: command.first]:
        name, equals, _ = word.text.partition("=")
        if equals:
            found[name] = (word.file, word.line)
    return {**found, **command.places}


class _Fields:
    """Typed values of options by canonical name; the last one given counts."""

    def __init__(
        self,
        options: Sequence[LaunchOption],
        reading: Reading,
        environment: Fact[dict[str, str]],
        command: Command,
        origin: Origin,
        fixed: str | None,
    ) -> None:
        self._fixed = fixed
        self._options = tuple(options)
        # A variable never replaces what the command line said, so the first source to name an option has it.
        self._last = {option.name: option for option in reversed(options) if not option.spelling.startswith("-")}
        self._last.update({option.name: option for option in options if option.spelling.startswith("-")})
        self._filled_in = reading.filled_in
        self._maybe = reading.maybe
        self._environment = environment
        self._command = command
        self._origin = origin
        self._absent: Unknown | None = None
        if command.program in OTHER_SERVERS:
            self._absent = Unknown(OTHER_SERVERS[command.program])
        elif isinstance(environment, Unknown):
            self._absent = Unknown(f"not on the command line, and {environment.reason}")

    def facts(self, problems: tuple[OptionProblem, ...], command_text: str) -> dict[str, Any]:
        """Field name of Launch -> fact."""
        mlock, load_mode = self._switch("--mlock"), self._text("--load-mode")
        if isinstance(load_mode, str):
            mlock = "mlock" in load_mode
        offload = self._switch("--kv-offload")
        out = next((port for port in self._command.ports if port.inside == self._port_inside()), None)
        key, token = self._api_key()
        return {
            "source": self._origin.source,
            "pid": self._origin.pid,
            "other_pids": self._origin.other_pids or None,
            "container": self._command.image or self._origin.container,
            "published_port": out.host if out and out.address != HOST_NETWORK else None,
            "published_address": self._address(out),
            "published_place": self._place(out.file, out.line) if out and out.line else None,
            "misdirected": tuple(
                Misdirected(*item[:3], right, self._place(item.file, item.line))
                for item, right in meant_for(
                    self._origin.neighbours, self._command.ports, self._port_inside(), self._origin.name
                )
            )
            or None,
            "program": self._command.program,
            "command": command_text,
            "fixed_command": self._fixed,
            "options": self._options,
            "environment": self._environment,
            "problems": problems,
            "model": self._path("--model"),
            "hf_repo": self._text("--hf-repo"),
            "mmproj": self._path("--mmproj"),
            "ctx_size": self._integer("--ctx-size"),
            "parallel": self._integer("--parallel"),
            "kv_unified": self._switch("--kv-unified"),
            "n_gpu_layers": self._text("--n-gpu-layers"),
            "batch_size": self._integer("--batch-size"),
            "ubatch_size": self._integer("--ubatch-size"),
            "threads": self._integer("--threads"),
            "flash_attn": self._on_off_auto("--flash-attn"),
            "cache_type_k": self._text("--cache-type-k"),
            "cache_type_v": self._text("--cache-type-v"),
            "no_kv_offload": not offload if isinstance(offload, bool) else offload,
            "cpu_moe": self._switch("--cpu-moe"),
            "cache_ram_mib": self._integer("--cache-ram"),
            "n_predict": self._integer("--n-predict"),
            "spec_type": self._text("--spec-type"),
            "draft_model": self._path("--spec-draft-model"),
            "mlock": mlock,
            "jinja": self._switch("--jinja"),
            "reasoning": self._reasoning(),
            "chat_template_file": self._path("--chat-template-file"),
            "host": self._text("--host"),
            "port": self._integer("--port"),
            "alias": self._text("--alias"),
            "api_prefix": self._text("--api-prefix"),
            "api_key": key,
            "api_key_token": token,
            "other_user": self._origin.other_user,
            "embeddings": True if self._switch("--rerank") is True else self._switch("--embedding"),
            "file": self._origin.file,
            "file_kind": self._origin.kind,
            "name": self._origin.name or None,
            "gpu_request": self._origin.gpu,
            "variable_places": self._places() or None,
            "config_files": self._origin.config_files or None,
        }

    def _address(self, out: Published | None) -> Fact[str]:
        """The address of this machine that leads to the server in the container."""
        if out is None or out.address != HOST_NETWORK:
            return out.address if out else None
        host = self._text("--host")
        return host if host is not None else "127.0.0.1"

    def _place(self, file: str, line: int) -> str | None:
        source = file or self._origin.file or ""
        return f"{source}:{line}" if source else None

    def _places(self) -> dict[str, str]:
        """Variable -> "FILE:LINE", of those that are kept."""
        kept_here = self._environment if isinstance(self._environment, dict) else {}
        own = self._origin.file or ""
        return {
            name: f"{file or own}:{line}"
            for name, (file, line) in _places(self._command).items()
            if name in kept_here and (file or own)
        }

    def _text(self, name: str) -> Fact[str]:
        option = self._last.get(name)
        if option is None:
            return self._absent
        if option.name in self._maybe and option.spelling.startswith("-"):
            return Unknown(f"{option.spelling} stands in a part that only runs under a condition")
        if self._is_filled_in(option):
            return Unknown(f"the value of {option.spelling} is filled in by the shell")
        return option.value if option.value is not None else Unknown(f"{option.spelling} stands without a value")

    def _is_filled_in(self, option: LaunchOption) -> bool:
        """Whether a shell is still to put the value in: the argument was marked so; a variable's text shows it."""
        if option.spelling.startswith("-"):
            return option.name in self._filled_in
        return self._origin.source != "process" and isinstance(option.value, str) and is_filled_in(option.value)

    def _integer(self, name: str) -> Fact[int]:
        text = self._text(name)
        if not isinstance(text, str):
            return text
        number = as_integer(text)
        return Unknown(f"{self._last[name].spelling} {text[:40]} is not a whole number") if number is None else number

    def _switch(self, name: str) -> Fact[bool]:
        option = self._last.get(name)
        if option is not None and option.name in self._maybe and option.spelling.startswith("-"):
            return Unknown(f"{option.spelling} stands in a part that only runs under a condition")
        return self._absent if option is None else not option.negated

    def _on_off_auto(self, name: str) -> Fact[str]:
        option = self._last.get(name)
        if option is not None and option.value is None and option.name not in self._maybe:
            return "on"  # the switch of older builds
        text = self._text(name)
        if not isinstance(text, str):
            return text
        return "on" if text in _ON else "off" if text in _OFF else "auto" if text in ("auto", "-1") else text

    def _reasoning(self) -> Fact[str]:
        """--reasoning; else what a budget of 0 or the template's enable_thinking says."""
        if "--reasoning" in self._last:
            return self._on_off_auto("--reasoning")
        if self._integer("--reasoning-budget") == 0:
            return "off"
        arguments = self._text("--chat-template-kwargs")
        if isinstance(arguments, str) and "enable_thinking" in arguments:
            try:
                wanted = json.loads(arguments[:20_000])
            except (ValueError, RecursionError):
                wanted = None
            thinking = wanted.get("enable_thinking") if isinstance(wanted, dict) else None
            if isinstance(thinking, bool):
                return "on" if thinking else "off"
        return self._absent

    def _path(self, name: str) -> Fact[str]:
        """A path on this machine: home filled in, a process's folder in front, a container's mount replaced."""
        option = self._last.get(name)
        if option is None or not isinstance(option.value, str):
            return self._text(name)
        path = _HOME.sub(lambda _: self._origin.home, option.value)
        if self._is_filled_in(option) and is_filled_in(path):
            return self._text(name)
        for host, inside in self._command.mounts:
            if path == inside or path.startswith(inside.rstrip("/") + "/"):
                return _HOME.sub(lambda _: self._origin.home, host.rstrip("/")) + path[len(inside.rstrip("/")) :]
        if self._origin.folder and not (posixpath.isabs(path) or ntpath.isabs(path)):
            join = ntpath.join if "\\" in self._origin.folder else posixpath.join
            return join(self._origin.folder, path)
        return path

    def _port_inside(self) -> int:
        port = self._integer("--port")
        return port if isinstance(port, int) else 8080

    def _api_key(self) -> tuple[Fact[bool], Fact[str]]:
        """Whether a key is asked for, and the token of the first one."""
        option = self._last.get("--api-key")
        if option is not None and isinstance(option.value, str) and option.value:
            first = option.value.split(",")[0]
            hidden = re.fullmatch(r"<key-\d+>", first)
            return True, first if hidden else Unknown(f"the key of {option.spelling} is filled in by the shell")
        if "--api-key-file" in self._last:
            return True, Unknown("the key stands in the file of --api-key-file")
        return (False if self._absent is None else self._absent), self._absent
