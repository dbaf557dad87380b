"""What the build folder of a program says: CMakeCache.txt and what cmake found out about the compilers. Nothing is run."""

from __future__ import annotations

import ntpath
import posixpath
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.cuda.host import HostCompiler
from doctor.facts.record import Fact, Unknown, known

if TYPE_CHECKING:
    from doctor.outside import Outside

CACHE_LIMIT = 4 << 20
FILE_LIMIT = 1 << 18
SETTINGS_LIMIT = 500
_CACHE_LINE = re.compile(
    r"((?:GGML|LLAMA)_\w+|CMAKE_(?:CUDA|HIP)_(?:ARCHITECTURES|COMPILER|HOST_COMPILER)|CMAKE_BUILD_TYPE|CMAKE_GENERATOR)"
    r":([A-Z]+)=(.*)"
)
_ONLY_GIVEN = "//No help, variable specified on the command line."
"""What stands above a variable of the command line that no option() or set(CACHE) was met for: nobody declares it."""
_ARCHITECTURE = re.compile(r"\s*(\d{2,3})([af]?)(?:-(real|virtual))?\s*")
_SETTING = re.compile(r"^set\((CMAKE_\w+) \"([^\"]{0,300})\"\)", re.MULTILINE)
_ON = ("ON", "1", "TRUE", "YES")


class Cache(NamedTuple):
    """What the files say; the fields are those of `Build`. `native` and `ptx` are unknown for CMAKE_CUDA_ARCHITECTURES=native."""

    settings: dict[str, str]
    unused: tuple[str, ...]
    renamed: tuple[str, ...]
    native: Fact[tuple[int, ...]]
    ptx: Fact[tuple[int, ...]]
    cuda_version: Fact[str]
    host: Fact[HostCompiler]


def cmake_of(outside: Outside, folder: str) -> Fact[Cache]:
    """Settings of the build folder the program lies in (build/bin, build/bin/Release); absent when it lies in none."""
    from doctor.outside import OutsideError

    join = (ntpath if "\\" in folder else posixpath).join
    for _ in range(3):
        try:
            text = outside.read_text(join(folder, "CMakeCache.txt"), CACHE_LIMIT)
        except OutsideError as error:
            if error.kind != "missing":
                return Unknown(str(error))
            folder = (ntpath if "\\" in folder else posixpath).dirname(folder)
            continue
        settings, given = _settings(text)
        unused, renamed = _without_effect(outside, settings, given)
        native, ptx = _architectures(settings.get("CMAKE_CUDA_ARCHITECTURES"))
        compilers = _compilers(outside, join(folder, "CMakeFiles"))
        return Cache(settings, unused, renamed, native, ptx, *_pair(compilers, settings))
    return None


def _settings(text: str) -> tuple[dict[str, str], list[str]]:
    """The settings that matter here, and the names of those that only the command line knows."""
    found: dict[str, str] = {}
    given: list[str] = []
    above = ""
    for line in text.splitlines():
        entry = _CACHE_LINE.fullmatch(line.strip())
        kept = entry and (entry[2] not in ("INTERNAL", "STATIC") or entry[1] == "CMAKE_GENERATOR")
        if entry and kept and len(found) < SETTINGS_LIMIT:
            found[entry[1]] = entry[3][:500]
            # -DNAME=… alone leaves this type, too, until an option() of that name is met: none was.
            only_given = entry[2] == "UNINITIALIZED" or above == _ONLY_GIVEN
            if only_given and not entry[1].startswith("CMAKE_"):
                given.append(entry[1])
        above = line.strip()
    return found, given


def _without_effect(
    outside: Outside, settings: dict[str, str], given: list[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of what nobody declares: what nobody reads either, and what to give instead, "-DGGML_HIP=ON"."""
    from doctor.engine.load import read_table, rules_folder
    from doctor.engine.reader import RuleError

    try:
        table = read_table(outside, rules_folder(outside), "cmake_options")
    except RuleError:
        table = {"undeclared": [], "translated": [], "renamed": {}}
    unused = [
        name
        for name in given
        if name not in table["undeclared"] and not (name in table["translated"] and settings[name].upper() in _ON)
    ]
    renamed = {table["renamed"][name]: settings[name] for name in unused if name in table["renamed"]}
    return tuple(unused), tuple(f"-D{name}={value}" for name, value in renamed.items())


def _architectures(text: str | None) -> tuple[Fact[tuple[int, ...]], Fact[tuple[int, ...]]]:
    """Machine code and PTX that "86;89", "75-virtual;86-real", "120a-real" make (CUDA_ARCHITECTURES of cmake)."""
    if text is None:
        return None, None
    parts = [_ARCHITECTURE.fullmatch(part) for part in text.split(";")]
    named = [part for part in parts if part]
    if not named:
        unknown = Unknown(f"CMAKE_CUDA_ARCHITECTURES is {text[:40]!r}: what that was is known only where it was built")
        return unknown, unknown
    # PTX of an architecture with a letter serves no other card: it counts as code for that one.
    native = {int(part[1]) for part in named if part[3] != "virtual" or part[2]}
    ptx = {int(part[1]) for part in named if part[3] != "real" and not part[2]}
    return tuple(sorted(native)), tuple(sorted(ptx))


def _compilers(outside: Outside, folder: str) -> dict[str, str]:
    """What cmake wrote down about the compilers: CMakeFiles/VERSION/CMakeCUDACompiler.cmake and …CXX…."""
    from doctor.outside import OutsideError

    found: dict[str, str] = {}
    join = (ntpath if "\\" in folder else posixpath).join
    try:
        versions = [name for name in outside.list_folder(folder, 500) if re.fullmatch(r"\d+\.[\w.-]{1,20}", name)]
    except OutsideError:
        return found
    for version in versions[:4]:
        for name in ("CMakeCXXCompiler.cmake", "CMakeCUDACompiler.cmake"):
            try:
                found.update(_SETTING.findall(outside.read_text(join(folder, version, name), FILE_LIMIT)))
            except OutsideError:
                continue
    return found


def _pair(told: dict[str, str], settings: dict[str, str]) -> tuple[Fact[str], Fact[HostCompiler]]:
    """The version of nvcc, "12.4", and the C++ compiler it hands code to; absent in a build without CUDA."""
    if "CMAKE_CUDA_COMPILER" not in settings and "CMAKE_CUDA_COMPILER" not in told:
        return None, None
    version = re.match(r"\d+\.\d+", told.get("CMAKE_CUDA_COMPILER_VERSION", ""))
    cuda: Fact[str] = version.group(0) if version else Unknown("cmake did not write down nvcc's version")
    path = settings.get("CMAKE_CUDA_HOST_COMPILER") or told.get("CMAKE_CUDA_HOST_COMPILER", "")
    if path and path != told.get("CMAKE_CXX_COMPILER"):
        named = re.search(r"(g\+\+|gcc|clang\+\+|clang)-(\d{1,2})$", path)
        kind = "clang" if "clang" in path else "gcc"
        own = told.get("CMAKE_CUDA_HOST_COMPILER_VERSION") or (named[2] if named else "")
        return cuda, HostCompiler(kind, path, own or Unknown(f"cmake did not write down the version of {path}"))
    names = {"GNU": "gcc", "Clang": "clang", "MSVC": "msvc"}
    kind = names.get(told.get("CMAKE_CXX_COMPILER_ID", ""), "")
    own = told.get("CMAKE_CXX_COMPILER_VERSION", "")
    if not kind or not own:
        return cuda, Unknown("cmake did not write down the C++ compiler")
    if kind == "msvc":
        own = "".join(own.split(".")[:2])  # 19.41.34120 is _MSC_VER 1941
    return cuda, HostCompiler(kind, told.get("CMAKE_CXX_COMPILER", ""), own)


def of_cache(cache: Fact[Cache]) -> dict[str, Any]:
    """The fields of Build that only a build folder tells."""
    if not isinstance(cache, Cache):
        names = ("cmake_unused", "cmake_renamed", "generator", "cuda_compiler_version", "host_compiler")
        return dict.fromkeys(names, cache)
    return {
        "cmake_unused": cache.unused,
        "cmake_renamed": cache.renamed,
        "generator": cache.settings.get("CMAKE_GENERATOR"),
        "cuda_compiler_version": cache.cuda_version,
        "host_compiler": cache.host,
    }


def code_of_cache(cache: Cache) -> dict[str, Any]:
    """The compute capabilities as cmake was told."""
    native, ptx = cache.native, cache.ptx
    both = native if isinstance(native, Unknown) else None
    if isinstance(native, tuple) and isinstance(ptx, tuple):
        both = tuple(sorted({*native, *ptx}))  # type: ignore[assignment]
    source = "CMakeCache.txt" if native is not None else None
    return {"cuda_native": native, "cuda_ptx": ptx, "cuda_architectures": both, "cuda_read_from": source}


def configured(cmake: Fact[dict[str, str]]) -> set[str]:
    """Backends a build folder was configured for."""
    from doctor.facts.build.output import CMAKE_BACKENDS

    settings = known(cmake) or {}
    return {backend for name, backend in CMAKE_BACKENDS.items() if settings.get(name, "").upper() in _ON}
