"""A build folder of llama.cpp: what CMakeCache.txt was told, and the logs of configuring and compiling. Nothing is run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from doctor.facts.build.cache import cmake_of, configured, of_cache
from doctor.facts.build.output import GPU_BACKENDS
from doctor.facts.build.record import Build, code_in
from doctor.facts.record import Unknown, known, not_collected
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

LOG_LIMIT = 4 << 20
LOGS_LIMIT = 16
_LOG_NAMES = ("build.log", "make.log", "cmake.log", "configure.log", "compile.log", "ninja.log", "log.txt")
_CMAKE_LOGS = ("CMakeFiles/CMakeError.log", "CMakeFiles/CMakeConfigureLog.yaml")


def collect(outside: Outside, folder: str) -> Build:
    """The build that lies in a folder, by its CMakeCache.txt alone."""
    found = cmake_of(outside, folder)
    if found is None or isinstance(found, Unknown):
        reason = found.reason if isinstance(found, Unknown) else f"{folder}: no CMakeCache.txt here or above it"
        return replace(not_collected(Build, reason), source="build-dir")
    backends = configured(found.settings)
    return replace(
        not_collected(Build, "only the build folder was read; the program in it is run when you name it: --binary"),
        source="build-dir",
        cmake=found.settings,
        backends=tuple(sorted(backends)) if backends else ("CPU",),
        gpu_backend=bool(backends & GPU_BACKENDS),
        **of_cache(found),
        **code_in(outside, None, f"{folder.rstrip('/')}/bin", found),
    )


def logs(outside: Outside, folder: str) -> list[tuple[str, str]]:
    """(path, text) of the logs in a build folder and beside it."""
    names: list[str] = []
    for place in (folder, f"{folder.rstrip('/')}/.."):
        try:
            listed = outside.list_folder(place, 500)
        except OutsideError:
            continue
        names += [f"{place.rstrip('/')}/{name}" for name in listed if name.lower() in _LOG_NAMES]
    found = []
    for path in [*names, *(f"{folder.rstrip('/')}/{name}" for name in _CMAKE_LOGS)][:LOGS_LIMIT]:
        try:
            found.append((path, outside.read_text(path, LOG_LIMIT)))
        except OutsideError:
            continue
    return found


def has_cache(outside: Outside, folder: str) -> bool:
    """Whether a folder is a build folder at all."""
    return known(cmake_of(outside, folder)) is not None
