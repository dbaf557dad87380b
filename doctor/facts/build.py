"""Which llama.cpp build is in use: where it comes from, how old it is and which devices it sees."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact


@dataclass(frozen=True)
class BuildDevice:
    """A line of `llama-server --list-devices`: "CUDA0: NVIDIA … (24111 MiB, 23600 MiB free)"."""

    name: str
    description: str
    memory_total_bytes: Fact[int]
    memory_free_bytes: Fact[int]


@dataclass(frozen=True)
class Build:
    """The llama-server in use.

    `source`: option, process, path, common-place, server, log. `number` is the build ("b6143" -> 6143), resolved by commit where
    the binary only prints 1 or 0. `age_days` counts from the day of that build. `backends` are those of
    `--list-devices` and of the libraries beside the binary (CUDA, Vulkan, HIP, Metal, SYCL, CPU).
    `gpu_backend` is whether any of them drives a GPU. `cmake` holds GGML_*/LLAMA_*/CMAKE_CUDA_ARCHITECTURES of CMakeCache.txt.
    """

    path: Fact[str]
    source: Fact[str]
    version_text: Fact[str]
    number: Fact[int]
    commit: Fact[str]
    age_days: Fact[int]
    backends: Fact[tuple[str, ...]]
    gpu_backend: Fact[bool]
    devices: Fact[tuple[BuildDevice, ...]]
    cmake: Fact[dict[str, str]]
