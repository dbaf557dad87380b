"""How the server is started: the command line and the variables it reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.record import Fact, Unknown, known

if TYPE_CHECKING:
    from doctor.launch.command import Command
    from doctor.launch.fields import Origin
    from doctor.outside import Outside
    from doctor.secrets import Vault


@dataclass(frozen=True)
class LaunchOption:
    """One option as written. `name` is its canonical long name ("--ctx-size"), `value` the word(s) after it.

    `spelling` of one that came from the environment is the variable ("LLAMA_ARG_CTX_SIZE"). `negated` is whether the
    spelling switches the option off ("--no-mmap" is "--mmap", negated).
    """

    name: str
    spelling: str
    value: Fact[str]
    line: int
    negated: bool = False


@dataclass(frozen=True)
class OptionProblem:
    """Something wrong with one option on this build.

    `kind`: unknown (no option of it), slip (no option of any build, and nearly one), removed, renamed, too-new (a later
    build knows it), missing-value, bad-value,
    misread ("64K" is read as 64), equals (--option=value), joined ("-c 4096" as one word), stray-word (a word without
    an option), repeated (only the last counts), deprecated, ignored (a variable nobody reads). `replacement` is the
    right words for this build, when there are any. `fatal` is whether the server refuses to start because of it.
    """

    spelling: str
    kind: str
    message: str
    replacement: Fact[str]
    line: int
    fatal: bool = False

    def shown(self) -> str:
        """The problem as evidence."""
        return f"{self.spelling}: {self.message}"


@dataclass(frozen=True)
class Launch:
    """The launch command, parsed. Absent options are None; what the build's default then means is the rules' business.

    `source`: option, process, log, paste. `command` is the command line as one shell-quoted string, its keys replaced.
    `options` are those of the command line in order, then those that came from variables (`spelling` tells them
    apart). Numbers are as the server reads them: -c 64K is 64 tokens (and a problem). `ctx_size` is -c (tokens),
    `parallel` is -np; `n_gpu_layers` keeps words (auto, all); `flash_attn` and `reasoning` are on, off or auto, however
    they were spelt; `embeddings` is --embedding or --rerank. `model`, `mmproj`, `draft_model` and `chat_template_file`
    are paths on this machine as far as that can be told; `hf_repo` is -hf. `environment` holds LLAMA_*, GGML_*, CUDA_*,
    HF_* and the like. `api_key` is whether a key is set, `api_key_token` names it. `container` is the image or id when
    the server runs in one, `published_port` the port of this machine that leads to it. `other_pids` are further
    llama-servers that run here and were not looked at. `other_user`: the process is another user's (only root sees this
    much of it), so nothing it names is run or read; None where no process was looked at. A value the shell fills in
    ($MODEL) is unknown.
    """

    source: str
    pid: Fact[int]
    other_pids: Fact[tuple[int, ...]]
    container: Fact[str]
    published_port: Fact[int]
    program: Fact[str]
    command: Fact[str]
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


class Seen(NamedTuple):
    """A launch command that was found, not yet judged for a build."""

    command: Command
    origin: Origin


def collect(
    outside: Outside, vault: Vault, *, text: str | None, build_number: int | None, port: int | None = None
) -> Fact[Launch]:
    """The launch command of `text`, else of a running llama-server (the one on `port`, else the first).

    Absent when no llama-server runs and no text is given. Options are judged as build `build_number` reads them, as the
    newest known build when it is None.
    """
    seen = find(outside, vault, text=text, port=port)
    if not isinstance(seen, Seen):
        return seen
    return judge(outside, vault, seen, build_number)


def find(outside: Outside, vault: Vault, *, text: str | None, port: int | None = None) -> Fact[Seen]:
    """Where the launch command is, before the build is known."""
    from doctor.launch.command import parse_command

    if text is None:
        from doctor.facts.processes import find_process

        return find_process(outside, vault, port)
    from doctor.launch.fields import Origin

    command = parse_command(text)
    if command is None:
        return Unknown("the launch command given does not start llama-server: give it as one would type it")
    return Seen(command, Origin("option", outside.home()))


def judge(outside: Outside, vault: Vault, seen: Seen, build_number: int | None) -> Fact[Launch]:
    """The record of a found command, its options read as that build does."""
    from doctor.engine.reader import RuleError
    from doctor.launch.fields import launch_record
    from doctor.launch.table import load_table

    try:
        launch = launch_record(seen.command, load_table(outside), vault, build_number, seen.origin)
    except RuleError as error:
        return Unknown(str(error))
    return _with_key_of_file(outside, vault, launch)


def _with_key_of_file(outside: Outside, vault: Vault, launch: Launch) -> Launch:
    """The first key of --api-key-file, where this machine has the file."""
    from doctor.outside import OutsideError

    options = known(launch.options) or ()
    path = next((known(option.value) for option in options if option.name == "--api-key-file"), None)
    if launch.source == "paste" or known(launch.other_user):
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
