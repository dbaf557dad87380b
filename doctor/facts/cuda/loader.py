"""Which CUDA libraries a program gets: the places the system's loader looks in, in its order.

Orders: ld.so(8) of glibc; "Dynamic-link library search order" of Windows, without the program's own folder.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.outside import OutsideError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.outside import Outside

_COMMAND_SECONDS = 1.5
_MAX_FOLDERS = 100
_MAX_FOUND = 40
_WSL_FOLDER = "/usr/lib/wsl/lib"
_NIXOS_FOLDER = "/run/opengl-driver/lib"
_LDCONFIG = ("/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig")
_CACHE_LINE = re.compile(r"\s*(\S+) \(([^)]*)\) => (/.*)")
_ARCHITECTURES = {"x86_64": ("x86-64", "x86_64-linux-gnu"), "aarch64": ("AArch64", "aarch64-linux-gnu")}
"""Machine -> (its mark in the cache of ldconfig, its folder on Debian)."""

_LINUX_NAME = re.compile(r"(libcuda|libcudart|libcublas)\.so(?:\.([\d.]+))?")
_WINDOWS_NAME = re.compile(r"(nvcuda|cudart64|cublas64)(?:_(\d+))?\.dll", re.IGNORECASE)
_WINDOWS_STEMS = {"nvcuda": "libcuda", "cudart64": "libcudart", "cublas64": "libcublas"}


class Found(NamedTuple):
    """A library. `stem`: libcuda, libcudart, libcublas. `real_path` is where its links end."""

    stem: str
    name: str
    path: str
    real_path: str
    version: str | None


def find_libraries(outside: Outside) -> tuple[Found, ...]:
    """CUDA's libraries, the one the loader takes first before the others. Raises OutsideError."""
    if outside.platform == "win32":
        return _distinct(_windows(outside))
    if outside.platform == "linux":
        return _distinct(_linux(outside))
    return ()


def _distinct(found: Iterator[Found]) -> tuple[Found, ...]:
    """Each file once, under the first name it has."""
    kept: dict[str, Found] = {}
    for library in found:
        if len(kept) < _MAX_FOUND:
            kept.setdefault(library.real_path, library)
    return tuple(kept.values())


def _linux(outside: Outside) -> Iterator[Found]:
    for folder in outside.environ.get("LD_LIBRARY_PATH", "").split(":")[:_MAX_FOLDERS]:
        if folder:
            yield from _in_folder(outside, folder)
    mark, debian = _ARCHITECTURES.get(outside.uname()[2], ("", ""))
    cached = _cache(outside, mark)
    if cached is None:
        for folder in _configured(outside):
            yield from _in_folder(outside, folder)
    for path in cached or ():
        yield from _library(outside, path)
    for folder in (f"/lib/{debian}", f"/usr/lib/{debian}", "/lib64", "/usr/lib64", "/lib", "/usr/lib"):
        yield from _in_folder(outside, folder)
    for folder in (_WSL_FOLDER, _NIXOS_FOLDER):
        yield from _in_folder(outside, folder)


def _in_folder(outside: Outside, folder: str) -> Iterator[Found]:
    """The libraries of a folder; names that programs ask for (libcuda.so.1) before those of builds (libcuda.so)."""
    try:
        names = [name for name in outside.list_folder(folder) if _LINUX_NAME.fullmatch(name)]
    except OutsideError:
        return
    for name in sorted(names, key=lambda name: (name.endswith(".so"), len(name), name)):
        yield from _library(outside, posixpath.join(folder, name))


def _library(outside: Outside, path: str) -> Iterator[Found]:
    name = posixpath.basename(path)
    match = _LINUX_NAME.fullmatch(name)
    if match and outside.exists(path):
        real = outside.real_path(path)
        own = _LINUX_NAME.fullmatch(posixpath.basename(real))
        yield Found(match.group(1), name, path, real, _version(match.group(1), own.group(2) if own else match.group(2)))


def _version(stem: str, digits: str | None) -> str | None:
    """libcuda carries the driver's version in its file name ("580.95.05"); its "1" is only the interface's number."""
    if stem == "libcuda" and not re.match(r"\d{3,}\.", digits or ""):
        return None
    return digits


def _cache(outside: Outside, mark: str) -> list[str] | None:
    """Paths in the loader's cache, in its order; None when it cannot be read."""
    for program in _LDCONFIG:
        try:
            shown = outside.run([program, "-p"], timeout=_COMMAND_SECONDS, limit=4 << 20)
        except OutsideError as error:
            if error.kind == "timeout":
                return None
            continue
        lines = [match for match in map(_CACHE_LINE.fullmatch, shown.stdout.splitlines()) if match]
        if shown.status == 0 and lines:
            named = [match for match in lines if _LINUX_NAME.fullmatch(match.group(1)) and mark in match.group(2)]
            named.sort(key=lambda match: match.group(1).endswith(".so"))
            return [match.group(3) for match in named]
    return None


def _configured(outside: Outside) -> list[str]:
    """The folders of /etc/ld.so.conf and /etc/ld.so.conf.d."""
    try:
        names = outside.list_folder("/etc/ld.so.conf.d", 200)
    except OutsideError:
        names = []
    files = ["/etc/ld.so.conf", *(f"/etc/ld.so.conf.d/{name}" for name in names)]
    folders = []
    for path in files:
        try:
            lines = outside.read_text(path, 1 << 16).splitlines()
        except OutsideError:
            continue
        folders += [line.strip() for line in lines if line.strip().startswith("/")]
    return folders[:_MAX_FOLDERS]


def _windows(outside: Outside) -> Iterator[Found]:
    root = outside.environ.get("SYSTEMROOT") or outside.environ.get("WINDIR") or r"C:\Windows"
    folders = [ntpath.join(root, "System32"), root, *outside.environ.get("PATH", "").split(";")]
    for folder in folders[:_MAX_FOLDERS]:
        try:
            names = outside.list_folder(folder) if folder else []
        except OutsideError:
            continue
        for name in names:
            match = _WINDOWS_NAME.fullmatch(name)
            if match:
                path = ntpath.join(folder, name)
                version = _windows_version(match.group(2))
                yield Found(_WINDOWS_STEMS[match.group(1).lower()], name, path, outside.real_path(path), version)


def _windows_version(digits: str | None) -> str | None:
    """cudart64_12.dll is of CUDA 12, cudart64_110.dll of CUDA 11.0."""
    return f"{digits[:-1]}.{digits[-1]}" if digits and len(digits) == 3 else digits
