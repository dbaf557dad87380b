"""Where the llama-server is: the path given, the one in use, the one on PATH, the usual places."""

from __future__ import annotations

import ntpath
import posixpath
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.record import Fact, Unknown, known
from doctor.launch.other_servers import OTHER_SERVERS

if TYPE_CHECKING:
    from doctor.facts.launch.record import Launch
    from doctor.outside import Outside

# Where people and package managers put it; ~ is the home folder, $NAME a variable, * one folder of any name.
_PLACES = (
    "~/llama.cpp/build/bin", "~/llama.cpp", "~/src/llama.cpp/build/bin", "~/git/llama.cpp/build/bin",
    "~/code/llama.cpp/build/bin", "~/projects/llama.cpp/build/bin", "~/.local/bin", "~/bin", "/usr/local/bin",
    "/usr/bin", "/opt/llama.cpp/build/bin", "/opt/llama.cpp/bin", "/opt/llama.cpp", "/app",
    "/home/linuxbrew/.linuxbrew/bin", "/opt/homebrew/bin",
)  # fmt: skip
_WINDOWS_PLACES = (
    r"$LOCALAPPDATA\Microsoft\WinGet\Links", r"$LOCALAPPDATA\Microsoft\WinGet\Packages\ggml.llamacpp*",
    r"~\scoop\apps\llama.cpp\current", r"~\scoop\shims", r"~\llama.cpp\build\bin\Release", r"~\llama.cpp\build\bin",
    r"~\llama.cpp", r"C:\llama.cpp\build\bin\Release", r"C:\llama.cpp\build\bin", r"C:\llama.cpp",
    r"$ProgramFiles\llama.cpp",
)  # fmt: skip
# Below the current folder, where a program may be anybody's: it is pointed out, not run.
_HERE = (("build", "bin", "Release"), ("build", "bin"), ())


class Place(NamedTuple):
    """The program's path and how it was found: option, launch, process, path, common-place."""

    path: str
    source: str


def find_build(outside: Outside, option: str | None, launch: Launch | None) -> Fact[Place]:
    """The llama-server to ask; absent when this machine has none; unknown when the one in use cannot be reached."""
    if option is not None:
        return _given(outside, option)
    if launch is not None:
        used = _in_use(outside, launch)
        if used is not None:
            return used
    on_path = outside.which("llama-server")
    if on_path:
        return Place(on_path, "path")
    for folder in _folders(outside):
        found = _program_in(outside, folder)
        if found:
            return Place(found, "common-place")
    for parts in _HERE:
        found = _program_in(outside, _join(outside, outside.folder(), *parts))
        if found:
            return Unknown(f"{found} lies in the current folder and is run only when named: --binary {found}")
    return None


def _given(outside: Outside, option: str) -> Fact[Place]:
    from doctor.outside import OutsideError

    path = outside.real_path(option)
    try:
        is_folder = outside.stat(path).is_dir
    except OutsideError as error:
        name = outside.which(option)
        return Place(name, "option") if name else Unknown(str(error))
    if not is_folder:
        return Place(path, "option")
    for folder in (path, _join(outside, path, "bin"), _join(outside, path, "build", "bin")):
        found = _program_in(outside, folder)
        if found:
            return Place(found, "option")
    return Unknown(f"{option}: no llama-server in this folder")


def _in_use(outside: Outside, launch: Launch) -> Fact[Place]:
    """The program of the launch command or of its process; absent when it does not say."""
    container = known(launch.container)
    if container is not None:
        return Unknown(f"llama-server runs in a container ({container})")
    pid = known(launch.pid)
    if pid is not None and known(launch.other_user):
        return Unknown(f"process {pid} is another user's, so its program is not run: name one with --binary")
    if pid is not None:
        return _of_process(outside, pid)
    program = known(launch.program)
    if program is None or program in OTHER_SERVERS:
        return None
    if known(launch.source) in ("file", "folder"):
        return _of_file(outside, program)
    if "/" not in program and "\\" not in program:
        found = outside.which(program)
        return Place(found, "launch") if found else None
    path = outside.real_path(program)
    return Place(path, "launch") if outside.exists(path) else None


def _of_file(outside: Outside, program: str) -> Fact[Place]:
    """The program a launch file names. A file may be anybody's: what it names is run only when it is a usual one."""
    path = outside.real_path(program)
    usual = [outside.which("llama-server"), *(_program_in(outside, folder) for folder in _folders(outside))]
    if path in [outside.real_path(found) for found in usual if found]:
        return Place(path, "launch")
    if "/" not in program and "\\" not in program:
        return None
    if not outside.exists(path):
        return None
    return Unknown(f"{program} stands in a file, and is run only when you name it: --binary {program}")


def _of_process(outside: Outside, pid: int) -> Fact[Place]:
    from doctor.outside import OutsideError

    try:
        psutil = outside.psutil()
    except OutsideError as error:
        return Unknown(str(error))
    try:
        path = psutil.Process(pid).exe()
    except psutil.Error:
        return Unknown(f"the program of process {pid} cannot be read (it belongs to another user)")
    if not path or not outside.exists(path):
        return Unknown(f"the program of process {pid} is not there any more: it was replaced while it ran")
    return Place(path, "process")


def _folders(outside: Outside) -> list[str]:
    folders = []
    windows = outside.platform == "win32"
    for place in _WINDOWS_PLACES if windows else _PLACES:
        head, separator, rest = place.partition("\\" if windows else "/")
        if head == "~":
            head = outside.home()
        elif head.startswith("$"):
            head = outside.environ.get(head[1:], "")
            if not head:
                continue
        path = head + separator + rest
        folders += _matching(outside, path) if path.endswith("*") else [path]
    return folders


def _matching(outside: Outside, path: str) -> list[str]:
    """The folders whose path starts with what stands before the star."""
    from doctor.outside import OutsideError

    parent, name = ntpath.split(path[:-1])
    try:
        return [
            ntpath.join(parent, entry)
            for entry in outside.list_folder(parent)
            if entry.lower().startswith(name.lower())
        ]
    except OutsideError:
        return []


def _program_in(outside: Outside, folder: str) -> str | None:
    path = _join(outside, folder, "llama-server.exe" if outside.platform == "win32" else "llama-server")
    return path if outside.exists(path) else None


def _join(outside: Outside, *parts: str) -> str:
    joined: str = (ntpath if outside.platform == "win32" else posixpath).join(*parts)
    return joined
