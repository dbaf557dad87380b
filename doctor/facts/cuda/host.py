"""The C++ compilers of this machine, and the newest ones that a CUDA toolkit lets nvcc hand its code to."""

from __future__ import annotations

import ntpath
import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.record import Fact, Unknown
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.outside import Outside

_COMMAND_SECONDS = 1.5
_MAX_FOUND = 24
_NEWEST = 30
"""Versioned names are looked for up to this major version; gcc is at 16, clang at 22 (December 2026)."""
_OLDEST = {"g++": 9, "clang++": 12}
_GCC = re.compile(r"^(?:\S*g\+\+|\S*gcc|\S*c\+\+)\S* \(.{0,200}\) (\d{1,2}(?:\.\d{1,3}){0,2})", re.MULTILINE)
_CLANG = re.compile(r"\bclang version (\d{1,2}(?:\.\d{1,3}){0,2})")
_MSVC = re.compile(r"Microsoft .{0,60}\b19\.(\d{2})\.\d{1,6}")
_BY_NAME = re.compile(r"(?:.*[/\\])?(?:[\w-]*-)?(g\+\+|gcc|clang\+\+|clang)-(\d{1,2})(?:\.exe)?")
_HEADERS = ("include/crt/host_config.h", "targets/x86_64-linux/include/crt/host_config.h",
            "targets/sbsa-linux/include/crt/host_config.h")  # fmt: skip
_LIMITS = {
    "gcc": re.compile(r"^#\s*if __GNUC__ > (\d{1,2})\s*$", re.MULTILINE),
    "clang": re.compile(r"^#\s*if \(__clang_major__ >= (\d{1,2})\)", re.MULTILINE),
    "msvc": re.compile(r"^#\s*if _MSC_VER < \d{4} \|\| _MSC_VER >= (\d{4})\s*$", re.MULTILINE),
}


@dataclass(frozen=True)
class HostCompiler:
    """A C++ compiler. `kind`: gcc, clang, msvc. `version` as it says itself ("13.2.0"), of msvc the _MSC_VER (1941).

    Of one with its version in its name (g++-13) that is the version: it was not asked.
    """

    kind: str
    path: str
    version: Fact[str]

    def major(self) -> int | None:
        """The number that nvcc looks at."""
        return int(self.version.split(".")[0]) if isinstance(self.version, str) else None


class Limits(NamedTuple):
    """The newest major versions (of msvc the highest _MSC_VER) a toolkit takes."""

    gcc: Fact[int]
    clang: Fact[int]
    msvc: Fact[int]


def find_compilers(outside: Outside) -> tuple[HostCompiler, ...]:
    """The C++ compilers on PATH, the plain names first, each file once. Raises nothing."""
    found: dict[str, HostCompiler] = {}
    for path in _paths(outside):
        real = outside.real_path(path)
        if real not in found and len(found) < _MAX_FOUND and (compiler := _compiler(outside, path, real)) is not None:
            found[real] = compiler
    return tuple(found.values())


def _paths(outside: Outside) -> Iterator[str]:
    names = ["cl"] if outside.platform == "win32" else ["g++", "clang++"]
    if outside.platform == "linux":
        names += [f"{name}-{major}" for name, oldest in _OLDEST.items() for major in range(_NEWEST, oldest - 1, -1)]
    for name in names:
        path = outside.which(name)
        if path:
            yield path


def _compiler(outside: Outside, path: str, real: str) -> HostCompiler | None:
    named = _BY_NAME.fullmatch(path) or _BY_NAME.fullmatch(real)
    if named:
        return HostCompiler("gcc" if named[1].startswith("g") else "clang", path, named[2])
    return ask(outside, path)


def ask(outside: Outside, path: str) -> HostCompiler | None:
    """A compiler by what it prints for --version; None when it is none that is known here."""
    kind = "msvc" if re.fullmatch(r"(?:.*[/\\])?cl(?:\.exe)?", path, re.IGNORECASE) else ""
    try:
        # cl has no --version: it shows its name and what it was called with.
        shown = outside.run([path] if kind else [path, "--version"], timeout=_COMMAND_SECONDS, limit=1 << 16)
    except OutsideError as error:
        return HostCompiler(kind or ("clang" if "clang" in path else "gcc"), path, Unknown(str(error)))
    text = f"{shown.stdout}\n{shown.stderr}"
    if (msvc := _MSVC.search(text)) is not None:
        return HostCompiler("msvc", path, f"19{msvc[1]}")
    if (clang := _CLANG.search(text)) is not None:
        return HostCompiler("clang", path, clang[1])
    if (gcc := _GCC.search(text)) is not None:
        return HostCompiler("gcc", path, gcc[1])
    return None


def taken(outside: Outside, nvcc: Fact[str], compilers: tuple[HostCompiler, ...]) -> Fact[HostCompiler]:
    """The compiler nvcc hands C++ code to when cmake is not told another: that of a variable, one beside nvcc, PATH's."""
    if not isinstance(nvcc, str):
        return nvcc
    for variable in ("CUDAHOSTCXX", "NVCC_CCBIN"):
        value = outside.environ.get(variable, "")
        path = outside.which(value) if value else None
        if path:
            return _compiler(outside, path, outside.real_path(path))
    paths = ntpath if outside.platform == "win32" else posixpath
    beside = paths.join(paths.dirname(outside.real_path(nvcc)), "g++")
    if outside.platform == "linux" and outside.exists(beside):  # Debian's and hand-made links: nvcc looks there first
        return _compiler(outside, beside, outside.real_path(beside))
    wanted = "msvc" if outside.platform == "win32" else ("gcc", "clang")
    return next((item for item in compilers if item.kind in wanted), None)


def limits(outside: Outside, folder: str | None, version: Fact[str]) -> Limits:
    """What a toolkit takes: by its own header, else by the table of this package."""
    paths = ntpath if outside.platform == "win32" else posixpath
    places = [paths.join(folder, *header.split("/")) for header in _HEADERS] if folder else []
    for path in [*places, "/usr/include/crt/host_config.h"]:  # the last is Debian's nvidia-cuda-toolkit
        try:
            read = _of_header(outside.read_text(path, 1 << 17))
        except OutsideError:
            continue
        if isinstance(read.gcc, int):
            return read
    if not isinstance(version, str):
        return Limits(version, version, version)
    return _of_table(outside, version)


def _of_header(text: str) -> Limits:
    found: dict[str, Fact[int]] = {}
    for kind, pattern in _LIMITS.items():
        numbers = [int(number) for number in pattern.findall(text)]
        # Clang and Visual Studio are refused from a number on; two lines for clang: the stricter is Arm's compiler.
        found[kind] = max(numbers) - (kind != "gcc") if numbers else Unknown("the toolkit's header does not say")
    return Limits(**found)


def _of_table(outside: Outside, version: str) -> Limits:
    from doctor.engine.load import read_table, rules_folder
    from doctor.engine.reader import RuleError
    from doctor.facts.build.cmake_line import row_of

    try:
        row: dict[str, Any] | None = row_of(read_table(outside, rules_folder(outside), "cuda"), version)
    except RuleError as error:
        unknown = Unknown(str(error))
        return Limits(unknown, unknown, unknown)
    if row is None:
        none = Unknown(f"CUDA {version} is not in the table")
        return Limits(none, none, none)
    msvc = row["msvc"][1] if "msvc" in row else Unknown("not found in public text")
    return Limits(row["gcc"], row["clang"], msvc)


def fitting(compilers: tuple[HostCompiler, ...], limit: Limits) -> HostCompiler | None:
    """The newest compiler here that the toolkit takes; gcc before clang."""
    fits = [
        item
        for item in compilers
        if (major := item.major()) is not None and isinstance(most := getattr(limit, item.kind), int) and major <= most
    ]
    return max(fits, key=lambda item: (item.kind == "gcc", item.major() or 0), default=None)
