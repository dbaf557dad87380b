"""How the server is started: the command line and the variables it reads."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact


@dataclass(frozen=True)
class LaunchOption:
    """One option as written. `name` is its canonical long name ("--ctx-size"), `value` the word(s) after it."""

    name: str
    spelling: str
    value: Fact[str]
    line: int


@dataclass(frozen=True)
class OptionProblem:
    """Something wrong with one option on this build.

    `kind`: unknown, removed, renamed, missing-value, bad-value, deprecated. `replacement` is the right words, when there are any.
    """

    spelling: str
    kind: str
    message: str
    replacement: Fact[str]
    line: int


@dataclass(frozen=True)
class Launch:
    """The launch command, parsed. Absent options are None; what the build's default then means is the rules' business.

    `source`: option, process, log, paste. `command` is the command line as one shell-quoted string, its key replaced.
    `ctx_size` is -c as given (tokens); `parallel` is -np; `n_gpu_layers` keeps words (auto, all). `environment` holds
    LLAMA_*, GGML_*, CUDA_* and HF_* variables of the server. `api_key` is whether a key is set, `api_key_token` names it.
    """

    source: str
    pid: Fact[int]
    program: Fact[str]
    command: Fact[str]
    options: Fact[tuple[LaunchOption, ...]]
    environment: Fact[dict[str, str]]
    problems: Fact[tuple[OptionProblem, ...]]
    model: Fact[str]
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
