"""The CUDA toolkits and run-time libraries that can be found, and the variables that steer CUDA."""

from __future__ import annotations

import json
import ntpath
import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from doctor.facts.attempt import attempt
from doctor.facts.cuda.host import HostCompiler, Limits, find_compilers, fitting, limits, taken
from doctor.facts.cuda.loader import find_libraries
from doctor.facts.record import Fact, Unknown
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from doctor.outside import Outside

_COMMAND_SECONDS = 1.5
_MAX_TOOLKITS = 20
_MAX_ASKED = 2
_FOLDER_VARIABLE = re.compile(r"CUDA_(?:PATH(?:_V\d+_\d+)?|HOME|ROOT|TOOLKIT_ROOT_DIR)|CUDAToolkit_ROOT")
_LINUX_PARENTS = (("/usr/local", re.compile(r"cuda(?:-[\d.]+)?")), ("/opt", re.compile(r"cuda(?:-[\d.]+)?")))
_MARKS = ("version.json", "version.txt", "bin/nvcc", "bin/nvcc.exe", "include/cuda_runtime.h")
"""A folder is a toolkit when it has one of these; an image for running programs only has none."""

_STEERING = re.compile(r"(?:GGML_)?CUDA_\w+|NVIDIA_(?:VISIBLE_DEVICES|DRIVER_CAPABILITIES)")
_CONTAINER_TOOLS = ("nvidia-container-runtime", "nvidia-ctk")
_MAX_VARIABLES = 100
_MAX_VALUE = 500


@dataclass(frozen=True)
class Toolkit:
    """A CUDA toolkit folder, its links resolved; `version` as nvcc or version.json says it, two numbers: "12.8"."""

    path: str
    version: Fact[str]


@dataclass(frozen=True)
class Library:
    """A shared library the loader can find, by the name programs ask for ("libcudart.so.12").

    `real_path` is the file behind the links: a libcuda there in a `stubs` or `compat` folder is not the driver's.
    `version` is the file name's: "12.8.90" of libcudart, the driver's ("580.95.05") of libcuda; None where it has none.
    """

    name: str
    path: str
    real_path: str
    version: Fact[str]


@dataclass(frozen=True)
class Cuda:
    """Facts about CUDA on this machine.

    Of each library the one the loader takes comes first: `LD_LIBRARY_PATH`, the loader's cache, the usual folders; on
    Windows System32, then PATH. A folder that only a program's own search path names is not among them.
    `nvcc` is the compiler on PATH. `environment` holds the CUDA_*, GGML_CUDA_*, NVIDIA_VISIBLE_DEVICES and
    NVIDIA_DRIVER_CAPABILITIES variables that are set here; a service may have others. `host_compilers` are the C++
    compilers on PATH, `host_compiler` the one nvcc takes unless it is told another; `newest_gcc`, `newest_clang` (major
    versions) and `newest_msvc` (_MSC_VER) the newest that this toolkit accepts; `fitting_compiler` the newest one here
    that it accepts, None when there is none. `container_toolkit` is the program that gives containers a GPU
    (nvidia-container-runtime or nvidia-ctk), None where neither is installed.
    """

    toolkits: Fact[tuple[Toolkit, ...]]
    nvcc: Fact[str]
    nvcc_version: Fact[str]
    libcuda: Fact[tuple[Library, ...]]
    libcudart: Fact[tuple[Library, ...]]
    libcublas: Fact[tuple[Library, ...]]
    environment: Fact[dict[str, str]]
    host_compilers: Fact[tuple[HostCompiler, ...]]
    host_compiler: Fact[HostCompiler]
    newest_gcc: Fact[int]
    newest_clang: Fact[int]
    newest_msvc: Fact[int]
    fitting_compiler: Fact[HostCompiler]
    container_toolkit: Fact[str]


def collect(outside: Outside) -> Cuda:
    """What of CUDA can be found without loading it. Never raises."""
    compiler = _Compiler(outside)
    nvcc = attempt(lambda: outside.which("nvcc"))
    nvcc_version = compiler.version(nvcc) if isinstance(nvcc, str) else nvcc
    found = attempt(lambda: find_libraries(outside))

    def libraries(stem: str) -> Fact[tuple[Library, ...]]:
        if isinstance(found, Unknown):
            return found
        return tuple(Library(item.name, item.path, item.real_path, item.version) for item in found if item.stem == stem)

    toolkits = attempt(lambda: _toolkits(outside, compiler, nvcc))
    compilers = attempt(lambda: find_compilers(outside))
    most = _limits(outside, nvcc, nvcc_version, toolkits)
    return Cuda(
        toolkits=toolkits,
        nvcc=nvcc,
        nvcc_version=nvcc_version,
        libcuda=libraries("libcuda"),
        libcudart=libraries("libcudart"),
        libcublas=libraries("libcublas"),
        environment=attempt(lambda: _environment(outside)),
        host_compilers=compilers,
        host_compiler=_with(compilers, lambda found: taken(outside, nvcc, found)),
        newest_gcc=most.gcc,
        newest_clang=most.clang,
        newest_msvc=most.msvc,
        fitting_compiler=_with(compilers, lambda found: fitting(found, most)),
        container_toolkit=attempt(lambda: _container_toolkit(outside)),
    )


def _container_toolkit(outside: Outside) -> str | None:
    """NVIDIA's container toolkit, on PATH or where its packages put it."""
    on_path = (outside.which(name) for name in _CONTAINER_TOOLS)
    usual = (f"/usr/bin/{name}" for name in _CONTAINER_TOOLS)
    return next((path for path in on_path if path), None) or next(
        (path for path in usual if outside.exists(path)), None
    )


def _with(compilers: Any, what: Callable[[tuple[HostCompiler, ...]], Fact[HostCompiler]]) -> Fact[HostCompiler]:
    """What follows from the compilers here; unknown where they are."""
    if isinstance(compilers, Unknown):
        return compilers
    found: Fact[HostCompiler] = attempt(lambda: what(compilers))
    return found


def _limits(outside: Outside, nvcc: Fact[str], version: Fact[str], toolkits: Fact[tuple[Toolkit, ...]]) -> Limits:
    """The host compilers that the nvcc on PATH takes, else the first toolkit's; absent where there is no toolkit."""
    path = ntpath if outside.platform == "win32" else posixpath
    folder: str | None = None
    if isinstance(nvcc, str):
        folder = path.dirname(path.dirname(outside.real_path(nvcc)))
    elif isinstance(toolkits, tuple) and toolkits:
        folder, version = toolkits[0].path, toolkits[0].version
    nothing = version if isinstance(version, Unknown) else None
    found = Limits(nothing, nothing, nothing) if folder is None else attempt(lambda: limits(outside, folder, version))
    return Limits(found, found, found) if isinstance(found, Unknown) else found


class _Compiler:
    """Asks each nvcc for its version once, and few of them: starting one takes time."""

    def __init__(self, outside: Outside) -> None:
        self.outside = outside
        self.known: dict[str, Fact[str]] = {}

    def version(self, path: str) -> Fact[str]:
        """The release `nvcc --version` names, "12.8"."""
        real = self.outside.real_path(path)
        if real not in self.known:
            if len(self.known) >= _MAX_ASKED:
                return Unknown("too many compilers to ask them all")
            self.known[real] = attempt(lambda: self._ask(path))
        return self.known[real]

    def _ask(self, path: str) -> Fact[str]:
        shown = self.outside.run([path, "--version"], timeout=_COMMAND_SECONDS, limit=1 << 16)
        match = re.search(r"\brelease (\d{1,3}\.\d{1,3})", shown.stdout)
        return match.group(1) if match else Unknown(f"{path} --version does not tell its release")


def _toolkits(outside: Outside, compiler: _Compiler, nvcc: Fact[str]) -> tuple[Toolkit, ...]:
    """The toolkits in the order they were named: by variables, by the nvcc on PATH, by the usual folders."""
    join = ntpath.join if outside.platform == "win32" else posixpath.join
    found: dict[str, Toolkit] = {}
    for folder in _folders(outside, nvcc):
        real = outside.real_path(folder)
        if real not in found and any(outside.exists(join(real, *mark.split("/"))) for mark in _MARKS):
            found[real] = Toolkit(real, attempt(lambda real=real: _version(outside, compiler, real)))  # type: ignore[misc]
        if len(found) >= _MAX_TOOLKITS:
            break
    return tuple(found.values())


def _folders(outside: Outside, nvcc: Fact[str]) -> Iterator[str]:
    for name, value in sorted(outside.environ.items()):
        if _FOLDER_VARIABLE.fullmatch(name) and value:
            yield value
    path = ntpath if outside.platform == "win32" else posixpath
    if isinstance(nvcc, str):
        folder = path.dirname(path.dirname(outside.real_path(nvcc)))
        if outside.exists(path.join(folder, "include", "cuda_runtime.h")):  # /usr/bin/nvcc is no toolkit in /usr
            yield folder
    if outside.platform == "win32":
        parent = ntpath.join(
            outside.environ.get("PROGRAMFILES", r"C:\Program Files"), "NVIDIA GPU Computing Toolkit", "CUDA"
        )
        yield from (ntpath.join(parent, name) for name in _names(outside, parent) if name.lower().startswith("v"))
        return
    for parent, pattern in _LINUX_PARENTS:
        yield from (posixpath.join(parent, name) for name in _names(outside, parent) if pattern.fullmatch(name))
    yield "/usr/lib/cuda"


def _names(outside: Outside, folder: str) -> list[str]:
    try:
        return outside.list_folder(folder)
    except OutsideError:
        return []


def _version(outside: Outside, compiler: _Compiler, folder: str) -> Fact[str]:
    """From version.json, version.txt (CUDA 10 and older), nvcc, or the folder's name."""
    path = ntpath if outside.platform == "win32" else posixpath
    told = _two_numbers(_told(outside, path.join(folder, "version.json")))
    told = told or _two_numbers(_text(outside, path.join(folder, "version.txt")))
    if told:
        return told
    for name in ("nvcc", "nvcc.exe"):
        if outside.exists(path.join(folder, "bin", name)):
            asked = compiler.version(path.join(folder, "bin", name))
            if isinstance(asked, str):
                return asked
    return _two_numbers(path.basename(folder)) or Unknown(f"{folder} does not tell its version")


def _told(outside: Outside, path: str) -> str:
    """The version in version.json: {"cuda": {"version": "12.8.1"}}."""
    try:
        data: Any = json.loads(_text(outside, path))
        return str(data["cuda"]["version"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def _text(outside: Outside, path: str) -> str:
    try:
        return outside.read_text(path, 1 << 16)
    except OutsideError:
        return ""


def _two_numbers(text: str) -> str | None:
    match = re.search(r"(?<![\d.])\d{1,2}\.\d{1,2}", text[:1000])
    return match.group(0) if match else None


def _environment(outside: Outside) -> dict[str, str]:
    names = [name for name in sorted(outside.environ) if _STEERING.fullmatch(name)]
    return {name: outside.environ[name][:_MAX_VALUE] for name in names[:_MAX_VARIABLES]}
