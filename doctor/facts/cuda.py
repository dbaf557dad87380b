"""The CUDA toolkits and run-time libraries that can be found, and the variables that steer CUDA."""

from __future__ import annotations

from dataclasses import dataclass

from doctor.facts.record import Fact


@dataclass(frozen=True)
class Toolkit:
    """A CUDA toolkit folder; `version` as nvcc or version.json says it ("12.8")."""

    path: str
    version: Fact[str]


@dataclass(frozen=True)
class Library:
    """A shared library the loader can find; `version` from the file name where it tells ("12")."""

    name: str
    path: str
    version: Fact[str]


@dataclass(frozen=True)
class Cuda:
    """Facts about CUDA on this machine. `environment` holds the CUDA_* / GGML_CUDA_* variables that are set."""

    toolkits: Fact[tuple[Toolkit, ...]]
    nvcc: Fact[str]
    nvcc_version: Fact[str]
    libcuda: Fact[tuple[Library, ...]]
    libcudart: Fact[tuple[Library, ...]]
    libcublas: Fact[tuple[Library, ...]]
    environment: Fact[dict[str, str]]
