"""How the server is started: the command line and the variables it reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.record import Fact, Unknown, known

if TYPE_CHECKING:
    from doctor.launch.command import Command
    from doctor.launch.fields import Origin
    from doctor.launch.help_text import HelpOption
    from doctor.launch.table import OptionTable
    from doctor.outside import Outside
    from doctor.secrets import Vault


@dataclass(frozen=True)
class LaunchOption:
    """One option as written. `name` is its canonical long name ("--ctx-size"), `value` the word(s) after it.

    `spelling` of one that came from the environment is the variable ("LLAMA_ARG_CTX_SIZE"). `negated` is whether the
    spelling switches the option off ("--no-mmap" is "--mmap", negated). `source` is the file the line is in, "" where
    the command came from none.
    """

    name: str
    spelling: str
    value: Fact[str]
    line: int
    negated: bool = False
    source: str = ""


@dataclass(frozen=True)
class OptionProblem:
    """Something wrong with one option on this build.

    `kind`: unknown (no option of it), slip (no option of any build, and nearly one), removed, renamed, too-new (a
    later build knows it), missing-value, bad-value, misread ("64K" is read as 64), equals (--option=value), joined
    ("-c 4096" as one word), stray-word (a word without an option), repeated (only the last counts), deprecated,
    ignored (a variable nobody reads), overruled (a variable the command line contradicts). `replacement` is the right
    words for this build, when there are any. `fatal` is whether the server refuses to start because of it. `source`
    is the file the line is in, "" where the command came from none.
    """

    spelling: str
    kind: str
    message: str
    replacement: Fact[str]
    line: int
    fatal: bool = False
    source: str = ""

    def shown(self) -> str:
        """The problem as evidence."""
        return f"{self.spelling}: {self.message}"


@dataclass(frozen=True)
class Misdirected:
    """Another service of the same compose file that looks for this server on its own loopback: `variable` is `url` there,
    `place` is file and line, `right` the address that leads to the server.
    """

    service: str
    variable: str
    url: str
    right: str
    place: Fact[str]


@dataclass(frozen=True)
class Launch:
    """The launch command, parsed. Absent options are None; what the build's default then means is the rules' business.

    `source`: option, file, folder (a file of the current folder that nobody named), process, log, paste. `file` is the
    launch file, `file_kind` what it is (shell, batch, powershell, compose, dockerfile, systemd, llama-swap, presets,
    config, modelfile, json, llama-cpp-python), `name` the service, model or unit in it. `gpu_request` is how a compose
    service asks for a GPU ("device reservation", "runtime nvidia"), absent where it does not or where there is no such
    thing to ask. `variable_places` says where a variable is set ("compose.yml:12"). `config_files` are the config.ini
    files of llama.cpp that this launch reads by itself. `fixed_command` is `command` as this build wants it, every
    replacement that is known put in and what it does not take left out; absent when there is nothing to put right.
    `command` is the command line as one shell-quoted string, its keys replaced. `options` are those of the command line
    in order, then those that came from variables (`spelling` tells them apart). Numbers are as the server reads them:
    -c 64K is 64 tokens (and a problem). `ctx_size` is -c (tokens), `parallel` is -np; `n_gpu_layers` keeps words (auto,
    all); `flash_attn` and `reasoning` are on, off or auto, however they were spelt; `embeddings` is --embedding or
    --rerank. `model`, `mmproj`, `draft_model` and `chat_template_file` are paths on this machine as far as that can be
    told; `hf_repo` is -hf. `environment` holds LLAMA_*, GGML_*, CUDA_*, HF_* and the like. `api_key` is whether a key
    is set, `api_key_token` names it. `container` is the image or id when the server runs in one, `published_port` the
    port of this machine that leads to it, `published_address` the address (0.0.0.0 where the mapping names none; where
    the container has the machine's network and no port is published, the server's own), `published_place` the line that
    says so. `misdirected` are other services of the compose file that look for this server on their own loopback.
    `other_pids` are further llama-servers that run here and were not looked at. `other_user`: the process is another
    user's (only root sees this much of it), so nothing it names is run or read; None where no process was looked at. A
    value the shell fills in ($MODEL) is unknown.
    """

    source: str
    pid: Fact[int]
    other_pids: Fact[tuple[int, ...]]
    container: Fact[str]
    published_port: Fact[int]
    published_address: Fact[str]
    published_place: Fact[str]
    misdirected: Fact[tuple[Misdirected, ...]]
    program: Fact[str]
    command: Fact[str]
    fixed_command: Fact[str]
    options: Fact[tuple[LaunchOption, ...]]
    environment: Fact[dict[str, str]]
    problems: Fact[tuple[OptionProblem, ...]]
    model: Fact[str]
    hf_repo: Fact[str]
    mmproj: Fact[str]
    ctx_size: Fact[int]
    parallel: Fact[int]
    kv_unified: Fact[bool]
    n_gpu_layers: Fact[str]
    batch_size: Fact[int]
    ubatch_size: Fact[int]
    threads: Fact[int]
    flash_attn: Fact[str]
    cache_type_k: Fact[str]
    cache_type_v: Fact[str]
    no_kv_offload: Fact[bool]
    cpu_moe: Fact[bool]
    cache_ram_mib: Fact[int]
    n_predict: Fact[int]
    spec_type: Fact[str]
    draft_model: Fact[str]
    mlock: Fact[bool]
    jinja: Fact[bool]
    reasoning: Fact[str]
    chat_template_file: Fact[str]
    host: Fact[str]
    port: Fact[int]
    alias: Fact[str]
    api_prefix: Fact[str]
    api_key: Fact[bool]
    api_key_token: Fact[str]
    embeddings: Fact[bool]
    other_user: Fact[bool]
    file: Fact[str]
    file_kind: Fact[str]
    name: Fact[str]
    gpu_request: Fact[str]
    variable_places: Fact[dict[str, str]]
    config_files: Fact[tuple[str, ...]]

    def place_of(self, field: str) -> tuple[str, str, int] | None:
        """(words, file, line) that a field of this record comes from; None where no file says it."""
        name, _, key = field.partition("[")
        places = known(self.variable_places) or {}
        variable = key.strip("]'\"")
        if name == "environment" and variable in places:
            source, _, line = places[variable].rpartition(":")
            return f"{variable}={(known(self.environment) or {}).get(variable, '')}", source, int(line)
        if name in ("published_address", "published_port") and (place := known(self.published_place)):
            source, _, line = place.rpartition(":")
            return f"{known(self.published_address)}:{known(self.published_port)}", source, int(line)
        if name == "misdirected" and (number := key.partition("]")[0]).isdigit():
            found = (known(self.misdirected) or ())[int(number) : int(number) + 1]
            source, _, line = (known(found[0].place) or "").rpartition(":") if found else ("", "", "")
            return (f"{found[0].variable}={found[0].url}", source, int(line)) if line else None
        wanted = OPTION_OF.get(name)
        given = [option for option in known(self.options) or () if option.name == wanted and option.source]
        if wanted is None or not given:
            return None
        last = given[-1]
        joint = "" if last.value is None else " " if last.spelling.startswith("-") else "="
        return f"{last.spelling}{joint}{known(last.value) or ''}", last.source, last.line


OPTION_OF = {
    "model": "--model", "hf_repo": "--hf-repo", "mmproj": "--mmproj", "ctx_size": "--ctx-size",
    "parallel": "--parallel", "kv_unified": "--kv-unified", "n_gpu_layers": "--n-gpu-layers",
    "batch_size": "--batch-size", "ubatch_size": "--ubatch-size", "threads": "--threads", "flash_attn": "--flash-attn",
    "cache_type_k": "--cache-type-k", "cache_type_v": "--cache-type-v", "no_kv_offload": "--kv-offload",
    "cpu_moe": "--cpu-moe", "cache_ram_mib": "--cache-ram", "n_predict": "--n-predict", "spec_type": "--spec-type",
    "draft_model": "--spec-draft-model", "mlock": "--mlock", "jinja": "--jinja", "reasoning": "--reasoning",
    "chat_template_file": "--chat-template-file", "host": "--host", "port": "--port", "alias": "--alias",
    "api_prefix": "--api-prefix", "api_key": "--api-key", "embeddings": "--embedding",
}  # fmt: skip
"""Field of Launch -> canonical name of the option it is the value of."""


class Seen(NamedTuple):
    """A launch command that was found, not yet judged for a build. `others` are further servers of the same file."""

    command: Command
    origin: Origin
    others: tuple[Seen, ...] = ()


def collect(
    outside: Outside, vault: Vault, *, text: str | None, build_number: int | None, port: int | None = None
) -> Fact[Launch]:
    """The launch command of `text`, else of a running llama-server (the one on `port`, else the first), else of a launch
    file in the current folder.

    `text` is a command, the path of a launch file or the number of a process. Absent when there is none. Options are
    judged as build `build_number` reads them, as the newest known build when it is None.
    """
    seen = find(outside, vault, text=text, port=port)
    if not isinstance(seen, Seen):
        return seen
    return judge(outside, vault, seen, build_number)


def find(outside: Outside, vault: Vault, *, text: str | None, port: int | None = None) -> Fact[Seen]:
    """Where the launch command is, before the build is known."""
    from doctor.facts.launch.files import find_here, find_named
    from doctor.facts.launch.processes import find_process

    if text is not None and not text.strip().isdigit():
        return find_named(outside, text)
    if text is not None:
        return find_process(outside, vault, None, pid=int(text.strip()[:9]))
    running = find_process(outside, vault, port)
    if isinstance(running, Seen):
        return running
    return find_here(outside) or running


def judge(
    outside: Outside,
    vault: Vault,
    seen: Seen,
    build_number: int | None,
    listed: dict[str, HelpOption] | None = None,
    table: OptionTable | None = None,
) -> Fact[Launch]:
    """The record of a found command, its options read as that build does; `listed` is what its own --help says.

    `table` holds the options where they were loaded before.
    """
    from doctor.engine.reader import RuleError
    from doctor.facts.launch.config import with_config
    from doctor.launch.fields import launch_record
    from doctor.launch.table import load_table

    try:
        table = load_table(outside) if table is None else table
        if listed:
            build_number = table.newest if build_number is None else build_number
            table = table.of_program(listed, build_number)
        origin = with_config(outside, seen.command, seen.origin, table, build_number)
        launch = launch_record(seen.command, table, vault, build_number, origin)
    except RuleError as error:
        return Unknown(str(error))
    return _with_key_of_file(outside, vault, launch)


def _with_key_of_file(outside: Outside, vault: Vault, launch: Launch) -> Launch:
    """The first key of --api-key-file, where this machine has the file."""
    from doctor.outside import OutsideError

    options = known(launch.options) or ()
    path = next((known(option.value) for option in options if option.name == "--api-key-file"), None)
    if launch.source in ("paste", "folder") or known(launch.other_user):
        return launch  # a stranger must not make us read a file and send its first line
    if path is None or known(launch.api_key_token) is not None:
        return launch
    try:
        lines = outside.read_text(outside.real_path(path), 65536).splitlines()
    except OutsideError as error:
        return replace(launch, api_key_token=Unknown(str(error)))
    keys = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    tokens = [vault.put(key) for key in keys[:100]]
    return replace(launch, api_key_token=tokens[0] if tokens else None, api_key=bool(tokens))
