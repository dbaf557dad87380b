"""What llama-server prints for --version and --list-devices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.build.record import BuildDevice

if TYPE_CHECKING:
    from collections.abc import Iterable

_VERSION = re.compile(r"^version: (?P<text>.{1,200})$", re.MULTILINE)
_BUILT = re.compile(r"^built with (?P<text>.{1,200})$", re.MULTILINE)
_FORMATS = (
    re.compile(r"\(build (?P<number>\d{1,9}), commit (?P<commit>[0-9a-fA-F]{7,40})?"),  # b10394 and newer
    re.compile(r"^(?P<number>\d{1,9}) \((?P<commit>[0-9a-fA-F]{7,40})?"),  # before: "6143 (abc1234)"
)
_DEVICE = re.compile(
    r"\s+(?P<name>\S{1,80}): (?P<text>.{0,200}?) \((?P<total>\d{1,9}) MiB, (?P<free>\d{1,9}) MiB free\)"
)
_DEVICES_LIMIT = 64
MIB = 1 << 20

# Device names and library names (ggml/src/ggml-*/, b11434) -> the backend's name here.
_DEVICE_BACKENDS = {
    "CUDA": "CUDA", "ROCM": "HIP", "HIP": "HIP", "MUSA": "MUSA", "VULKAN": "Vulkan", "METAL": "Metal", "MTL": "Metal",
    "SYCL": "SYCL", "CANN": "CANN", "GPUOPENCL": "OpenCL", "OPENCL": "OpenCL", "WEBGPU": "WebGPU", "HTP": "Hexagon",
    "RPC": "RPC", "BLAS": "BLAS",
}  # fmt: skip
_LIBRARY_BACKENDS = {
    "cuda": "CUDA", "hip": "HIP", "musa": "MUSA", "vulkan": "Vulkan", "metal": "Metal", "sycl": "SYCL", "cann": "CANN",
    "opencl": "OpenCL", "webgpu": "WebGPU", "hexagon": "Hexagon", "rpc": "RPC", "blas": "BLAS", "cpu": "CPU",
}  # fmt: skip
# What a backend prints while it starts, even when it finds no device.
_STARTS = {
    "ggml_cuda_init": "CUDA",
    "ggml_vulkan": "Vulkan",
    "ggml_metal": "Metal",
    "ggml_sycl": "SYCL",
    "ggml_opencl": "OpenCL",
}
CMAKE_BACKENDS = {
    "GGML_CUDA": "CUDA", "GGML_HIP": "HIP", "GGML_MUSA": "MUSA", "GGML_VULKAN": "Vulkan", "GGML_METAL": "Metal",
    "GGML_SYCL": "SYCL", "GGML_CANN": "CANN", "GGML_OPENCL": "OpenCL", "GGML_WEBGPU": "WebGPU", "GGML_CPU": "CPU",
}  # fmt: skip
_LIBRARY = re.compile(r"(?:lib)?ggml-([a-z]+)(?:-[\w.]+)?\.(?:so|dll|dylib)(?:\.[\d.]+)?", re.IGNORECASE)
GPU_BACKENDS = frozenset({"CUDA", "HIP", "MUSA", "Vulkan", "Metal", "SYCL", "CANN", "OpenCL", "WebGPU", "Hexagon"})


class Version(NamedTuple):
    """`text` is what follows "version:", with the compiler; `number` and `commit` as printed."""

    text: str
    number: int
    commit: str | None


def parse_version(output: str) -> Version | None:
    """The version out of what --version printed on either stream; None when it is not there."""
    found = _VERSION.search(output)
    if not found:
        return None
    text = found["text"].strip()
    built = _BUILT.search(output)
    for pattern in _FORMATS:
        match = pattern.search(text)
        if match:
            whole = f"{text}, built with {built['text'].strip()}" if built else text
            commit = match["commit"]
            return Version(whole, int(match["number"]), commit.lower() if commit else None)
    return None


def parse_devices(output: str) -> tuple[BuildDevice, ...] | None:
    """The devices under "Available devices:"; None when that line is not there."""
    _, heading, rest = output.partition("Available devices:")
    if not heading:
        return None
    devices: list[BuildDevice] = []
    for line in rest.splitlines()[:1000]:
        found = _DEVICE.match(line)
        if found and len(devices) < _DEVICES_LIMIT:
            # A device that reports no memory (BLAS, some RPC servers) has none to speak of.
            total, free = int(found["total"]) * MIB, int(found["free"]) * MIB
            devices.append(BuildDevice(found["name"], found["text"], total or None, free if total else None))
    return tuple(devices)


def backends_of(devices: Iterable[BuildDevice], libraries: Iterable[str], output: str) -> set[str]:
    """The backends that devices, libraries beside the program and its own words give away."""
    found = set()
    for device in devices:
        kind = re.match(r"[A-Za-z]+", device.name)
        backend = _DEVICE_BACKENDS.get(kind.group(0).upper()) if kind else None
        if backend:
            found.add(backend)
    for name in libraries:
        library = _LIBRARY.fullmatch(name)
        if library and library[1].lower() in _LIBRARY_BACKENDS:
            found.add(_LIBRARY_BACKENDS[library[1].lower()])
    found.update(backend for word, backend in _STARTS.items() if f"{word}:" in output)
    return found
