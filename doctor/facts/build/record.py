"""Which llama.cpp build is in use: where it comes from, how old it is and which devices it sees."""

from __future__ import annotations

import ntpath
import posixpath
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from doctor.facts.build.cache import Cache, cmake_of, code_of_cache, configured, of_cache
from doctor.facts.cuda.host import HostCompiler
from doctor.facts.record import Fact, Unknown, known, not_collected

if TYPE_CHECKING:
    from doctor.facts.launch.record import Launch
    from doctor.launch.help_text import HelpOption
    from doctor.outside import Completed, Outside

VERSION_SECONDS = 15.0
HELP_SECONDS = 4.0
DEVICES_SECONDS = 30.0  # starting CUDA on a slow driver takes seconds
DEVICES_SINCE = 4167  # --list-devices
_MISSING_LIBRARY = re.compile(
    r"error while loading shared libraries: .{1,300}|Library not loaded: .{1,300}|image not found.{0,100}"
)
# What a launch file says of these is not passed on: a library it names would be run.
_LOADED = ("LD_LIBRARY_PATH", "GGML_BACKEND_PATH", "GGML_METAL_PATH_RESOURCES")
# Variables that decide which devices a server sees: --list-devices is asked with those of the launch.
_DEVICE_VARIABLES = (
    "CUDA_",
    "HIP_",
    "ROCR_",
    "HSA_",
    "GGML_",
    "NVIDIA_",
    "VK_",
    "ZE_",
    "SYCL_",
    "ONEAPI_",
    "LD_LIBRARY_PATH",
)


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

    `source`: option, launch, process, path, common-place, build-dir, server, log. `number` is the build ("b6143" -> 6143),
    resolved by commit where the binary only prints 1 or 0. `upstream` is whether the commit is one of llama.cpp itself;
    a fork's numbers and options mean something else. `age_days` counts from the day of that build. `backends` are those
    of `--list-devices`, of the libraries beside the binary and of its build folder (CUDA, Vulkan, HIP, Metal, SYCL,
    CPU, …). `gpu_backend` is whether any of them drives a GPU. `devices` are those `--list-devices` names, none on a
    CPU build. `cmake` holds GGML_*, LLAMA_*, CMAKE_CUDA_ARCHITECTURES and the like of CMakeCache.txt, absent outside a
    build folder; `cmake_unused` are those of them that were given and that llama.cpp never asked for, `cmake_renamed`
    what to give instead ("-DGGML_HIP=ON"), `generator` what cmake made ("Ninja"). `cuda_compiler_version` ("12.4") and
    `host_compiler` are nvcc and the C++ compiler it was configured with. `cuda_native` are the compute capabilities it
    holds machine code for (86: serves later ones of the same major number), `cuda_ptx` those of code that the driver
    translates for them and any later one, `cuda_architectures` both; read from `cuda_read_from`: the CUDA library, or
    CMakeCache.txt, where "native" leaves them unknown. Absent without CUDA.
    """

    path: Fact[str]
    source: Fact[str]
    version_text: Fact[str]
    number: Fact[int]
    commit: Fact[str]
    upstream: Fact[bool]
    age_days: Fact[int]
    backends: Fact[tuple[str, ...]]
    gpu_backend: Fact[bool]
    devices: Fact[tuple[BuildDevice, ...]]
    cmake: Fact[dict[str, str]]
    cmake_unused: Fact[tuple[str, ...]]
    cmake_renamed: Fact[tuple[str, ...]]
    generator: Fact[str]
    cuda_compiler_version: Fact[str]
    host_compiler: Fact[HostCompiler]
    cuda_architectures: Fact[tuple[int, ...]]
    cuda_native: Fact[tuple[int, ...]]
    cuda_ptx: Fact[tuple[int, ...]]
    cuda_read_from: Fact[str]


def collect(outside: Outside, *, option: str | None, launch: Fact[Launch]) -> Build:
    """Find the llama-server in use and ask it. `option` is a path the user gave (the program or its folder)."""
    from doctor.facts.build.places import Place, find_build

    place = find_build(outside, option, known(launch))
    if isinstance(place, Place):
        return _asked(outside, place.path, place.source, device_environment(outside, known(launch)))
    if place is None:
        return replace(not_collected(Build, "no llama-server was found on this machine"), path=None, source=None)
    return not_collected(Build, place.reason)


def from_number(outside: Outside, number: Fact[int], *, source: str, commit: str | None = None) -> Fact[Build]:
    """The build that a log or a server names by its number, without the program itself; unknown without a number."""
    from doctor.facts.build.table import identify

    if known(number) is None and commit is None:
        return number if isinstance(number, Unknown) else Unknown("the text names no build")
    identity = identify(outside, known(number), commit)
    return replace(
        not_collected(Build, "only its number is known, not the program itself"),
        source=source,
        number=identity.number,
        commit=commit,
        upstream=identity.upstream,
        age_days=identity.age_days,
    )


def _asked(outside: Outside, path: str, source: str, environ: dict[str, str]) -> Build:
    from doctor.facts.build.output import GPU_BACKENDS, backends_of, parse_devices, parse_version
    from doctor.facts.build.table import identify

    folder = _parent(outside.real_path(path))
    cache = cmake_of(outside, folder)
    cmake: Fact[dict[str, str]] = cache.settings if isinstance(cache, Cache) else cache
    answer = _run(outside, [path, "--version"], VERSION_SECONDS, environ)
    if isinstance(answer, Unknown):
        silent = not_collected(Build, answer.reason)
        told = {**of_cache(cache), **code_in(outside, path, folder, cache)}
        return replace(silent, path=path, source=source, cmake=cmake, **told)
    version = parse_version(f"{answer.stdout}\n{answer.stderr}")
    identity = identify(outside, version.number, version.commit) if version else None
    number = known(identity.number) if identity else None
    devices: Fact[tuple[BuildDevice, ...]] = Unknown("this build has no --list-devices")
    words = ""
    if number is None or number >= DEVICES_SINCE:
        listed = _run(outside, [path, "--list-devices"], DEVICES_SECONDS, environ)
        if isinstance(listed, Unknown):
            devices = listed
        else:
            words = f"{listed.stdout}\n{listed.stderr}"
            found = parse_devices(words)
            devices = Unknown("--list-devices printed no list") if found is None else found
    libraries = [name for _, name in _libraries(outside, folder)]
    backends = backends_of(known(devices) or (), libraries, words) | configured(cmake)
    if not backends and isinstance(devices, tuple):
        backends = {
            "CPU"
        }  # it started, listed nothing and has no library of a backend: built in one piece, for the CPU
    unread = Unknown("what it was built for cannot be told: it lists no devices and has no libraries beside it")
    strange = Unknown("--version printed no version")
    return Build(
        path=path,
        source=source,
        version_text=version.text if version else strange,
        number=identity.number if identity else strange,
        commit=version.commit if version else strange,
        upstream=identity.upstream if identity else strange,
        age_days=identity.age_days if identity else strange,
        backends=tuple(sorted(backends)) if backends else unread,
        gpu_backend=bool(backends & GPU_BACKENDS) if backends else unread,
        devices=devices,
        cmake=cmake,
        **{**of_cache(cache), **code_in(outside, path, folder, cache)},
    )


def _run(outside: Outside, argv: list[str], seconds: float, environ: dict[str, str]) -> Completed | Unknown:
    """What the program printed; unknown, with the reason, when it does not run."""
    from doctor.outside import OutsideError

    try:
        answer = outside.run(argv, timeout=seconds, environ=environ)
    except OutsideError as error:
        return Unknown(str(error))
    if answer.status == 0:
        return answer
    words = f"{answer.stdout}\n{answer.stderr}"
    missing = _MISSING_LIBRARY.search(words)
    if missing:
        return Unknown(f"{argv[0]} does not start: {missing.group(0)}")
    first = next((line.strip() for line in words.splitlines() if line.strip()), "it printed nothing")
    ended = f"signal {-answer.status}" if answer.status < 0 else f"status {answer.status}"
    return Unknown(f"{argv[0]} {argv[1]} ended with {ended}: {first[:200]}")


def device_environment(outside: Outside, launch: Launch | None) -> dict[str, str]:
    """Our variables without LLAMA_* (a bad one would stop --version), with those of the launch that choose devices."""
    variables = known(launch.environment) if launch is not None and not known(launch.other_user) else None
    if launch is not None and known(launch.source) in ("file", "folder"):
        variables = {name: value for name, value in (variables or {}).items() if name not in _LOADED}
    environ = {name: value for name, value in outside.environ.items() if not name.startswith("LLAMA_")}
    for name, value in (variables or {}).items():
        if name.startswith(_DEVICE_VARIABLES):
            environ[name] = value
    return environ


def own_options(outside: Outside, path: str) -> dict[str, HelpOption] | None:
    """The options a llama-server lists in its --help; None when it does not run or prints something else."""
    from doctor.launch.help_text import read_help

    environ = {name: value for name, value in outside.environ.items() if not name.startswith("LLAMA_")}
    answer = _run(outside, [path, "--help"], HELP_SECONDS, environ)
    return None if isinstance(answer, Unknown) else read_help(f"{answer.stdout}\n{answer.stderr}")


def _parent(path: str) -> str:
    folder: str = (ntpath if "\\" in path else posixpath).dirname(path)
    return folder


def _libraries(outside: Outside, folder: str) -> list[tuple[str, str]]:
    """(folder, name) of the libraries beside the program and in the lib folders that belong to it."""
    from doctor.outside import OutsideError

    found = []
    join = (ntpath if "\\" in folder else posixpath).join
    above = _parent(folder)
    for place in (folder, join(above, "lib"), join(above, "lib64"), join(above, "libexec")):
        try:
            found += [(place, name) for name in outside.list_folder(place) if "ggml-" in name.lower()]
        except OutsideError:
            continue
    return found


def code_in(outside: Outside, path: str | None, folder: str, cache: Fact[Cache]) -> dict[str, Any]:
    """The compute capabilities compiled in: as the CUDA library in a folder or the program itself has them, else as cmake was
    told.
    """
    from doctor.facts.build.device_code import DeviceCode, device_code, library_in

    place = next((f"{where}/{name}" for where, name in _libraries(outside, folder) if library_in([name])), None)
    file = place or (outside.real_path(path) if path else None)
    found = device_code(outside, file) if file else None
    if isinstance(found, DeviceCode):
        return {
            "cuda_native": found.native,
            "cuda_ptx": found.ptx,
            "cuda_architectures": tuple(sorted({*found.native, *found.ptx})),
            "cuda_read_from": found.source,
        }
    if isinstance(cache, Cache) and (place is None or isinstance(found, Unknown)):
        return code_of_cache(cache)
    return dict.fromkeys(("cuda_native", "cuda_ptx", "cuda_architectures", "cuda_read_from"), found)
