"""Only doctor/outside/ touches the world: every other module is read here, name by name."""

import ast
import builtins
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "doctor"

WORLD = {
    # programs, network, files, hardware, clock, identity, and ways to reach any of them by the back door
    "subprocess", "multiprocessing", "asyncio", "concurrent", "signal", "pty", "runpy", "code", "sched",
    "socket", "socketserver", "select", "selectors", "ssl", "http", "httpx", "requests", "urllib3", "aiohttp", "ftplib",
    "smtplib", "telnetlib", "xmlrpc", "webbrowser",
    "shutil", "tempfile", "glob", "fileinput", "mmap", "zipfile", "tarfile", "gzip", "bz2", "lzma", "sqlite3", "dbm",
    "shelve", "linecache", "fcntl", "termios", "tty", "msvcrt", "winreg", "resource", "pwd", "grp", "getpass", "syslog",
    "psutil", "pynvml", "ctypes", "cffi", "platform", "time", "logging", "locale", "numpy",
}  # fmt: skip
"""Modules that no other file may import."""

PARTLY = {
    "os": {"path", "sep", "altsep", "pathsep", "linesep", "name", "extsep", "curdir", "pardir", "fspath", "PathLike"},
    "os.path": {
        "join", "split", "splitext", "splitdrive", "basename", "dirname", "normpath", "normcase", "isabs", "commonpath",
        "commonprefix", "sep", "altsep", "pathsep",
    },
    "pathlib": {"PurePath", "PurePosixPath", "PureWindowsPath"},
    "urllib": {"parse"},
    "sys": {
        "version_info", "maxsize", "byteorder", "intern", "getrecursionlimit", "exc_info", "implementation", "version",
        "exit", "hexversion",
    },
    "io": {"BytesIO", "StringIO", "TextIOBase"},
    "importlib": set(),
    "builtins": set(),
    "gguf": {"GGMLQuantizationType", "GGML_QUANT_SIZES", "GGUFValueType", "LlamaFileType", "constants", "quants"},
    "datetime": {"timezone", "timedelta"},
    "datetime.datetime": {"fromtimestamp", "fromisoformat", "strptime", "min", "max", "combine"},
    "datetime.date": {"fromtimestamp", "fromisoformat", "min", "max"},
    "threading": {"Thread", "Lock", "Event"},
}  # fmt: skip
"""Modules (and classes) of which only these names may be used; `posixpath` and `ntpath` are as `os.path`."""
PARTLY["datetime"] |= {"datetime", "date"}
PARTLY["posixpath"] = PARTLY["ntpath"] = PARTLY["os.path"]

BUILTINS = {"open", "input", "exec", "eval", "compile", "__import__", "breakpoint", "globals", "locals"}
"""Built-in functions that read, ask, or run text. `print` is ruff's business (T20)."""

EXEMPT = {
    "engine/hatch_build.py": {"*"},  # a build script: it never runs on a user's machine
    "engine/load.py": {
        "os.path.abspath",  # of __file__: where this package lies
        "importlib.import_module",  # of the package's own compiled rules
        "importlib.invalidate_caches",  # once they are written anew
        "sys.modules",  # to forget the old ones
    },
    "facts/clients/__init__.py": {"importlib.import_module"},  # of its own modules
    "arguments/__init__.py": {"importlib.import_module"},  # of its own modules
    # Help goes where argparse would print it, as wide as the terminal.
    "arguments/parser.py": {"sys.stdout", "sys.stderr", "shutil", "shutil.get_terminal_size"},
    "cli.py": {"sys.argv", "sys.stdout", "sys.stderr"},  # arguments in; one line on a fault; a reader that has left
    "commands/answer.py": {"sys.stdout"},  # the one place that prints a report
    "commands/check_wishes.py": {"sys.stderr"},  # the progress of a long hash
    "commands/bench.py": {"sys.stderr"},  # the progress of a measurement
    "commands/verify.py": {"sys.stderr"},  # the progress of a climb
}
"""File -> names of the world it may use, with the reason."""


def resolved(node, names):
    """The dotted name of an expression ("os.path.exists") whose first part was imported; None for any other."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        start = resolved(node.value, names)
        return start and f"{start}.{node.attr}"
    return None


def imports(tree):
    """(name in this file, dotted name, node) of everything imported anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (
                    alias.asname or alias.name.partition(".")[0],
                    alias.name if alias.asname else None,
                    alias.name,
                    node,
                )
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            for alias in node.names:
                dotted = f"{node.module}.{alias.name}"
                yield alias.asname or alias.name, dotted, dotted, node


def trespass(dotted):
    """The part of a dotted name that touches the world, None when it does not."""
    if dotted.partition(".")[0] in WORLD:
        return dotted
    parts = dotted.split(".")
    for length in range(len(parts) - 1, 0, -1):
        allowed = PARTLY.get(".".join(parts[:length]))
        if allowed is not None and parts[length] not in allowed:
            return ".".join(parts[: length + 1])
    return None


def uses_of_the_world(source):
    """(line, name) of every use."""
    tree = ast.parse(source)
    found = set()
    names = {}
    for local, dotted, whole, node in imports(tree):
        names[local] = dotted or local
        touched = trespass(whole)
        if touched:
            found.add((node.lineno, touched))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            dotted = resolved(node, names)
            touched = dotted and trespass(dotted)
            if touched:
                found.add((node.lineno, touched))
        elif (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Load)
            and node.id in BUILTINS
            and node.id not in names
        ):
            found.add((node.lineno, node.id))
    return sorted(found)


FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
CHECKED = [name for name in FILES if not name.startswith("outside/") and name != "_compiled_rules.py"]


@pytest.mark.parametrize("name", CHECKED)
def test_goes_through_the_door(name):
    exempt = EXEMPT.get(name, set())
    uses = uses_of_the_world((PACKAGE / name).read_text(encoding="utf-8"))
    assert [f"doctor/{name}:{line}: {what}" for line, what in uses if "*" not in exempt and what not in exempt] == []


@pytest.mark.parametrize("name", sorted(EXEMPT))
def test_every_exemption_is_needed(name):
    used = {what for _, what in uses_of_the_world((PACKAGE / name).read_text(encoding="utf-8"))}
    assert used if EXEMPT[name] == {"*"} else EXEMPT[name] <= used


def test_the_door_is_found():
    for name in ("files", "hardware", "network", "programs", "world"):
        assert uses_of_the_world((PACKAGE / "outside" / f"{name}.py").read_text(encoding="utf-8"))
    assert len(CHECKED) > 20


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import subprocess", "subprocess"),
        ("import http.client", "http.client"),
        ("from urllib.request import urlopen", "urllib.request"),
        ("import urllib.request as u", "urllib.request"),
        ("import urllib.parse\nurllib.request.urlopen('x')", "urllib.request"),
        ("from time import monotonic", "time.monotonic"),
        ("import os\nos.environ['HOME']", "os.environ"),
        ("import os as system\nsystem.listdir('.')", "os.listdir"),
        ("from os import environ", "os.environ"),
        ("from os import path\npath.exists('x')", "os.path.exists"),
        ("import os.path\nos.path.expanduser('~')", "os.path.expanduser"),
        ("import posixpath\nposixpath.realpath('x')", "posixpath.realpath"),
        ("from pathlib import Path\nPath('x').read_text()", "pathlib.Path"),
        ("import pathlib\npathlib.Path('x')", "pathlib.Path"),
        ("open('x')", "open"),
        ("def f():\n  import psutil", "psutil"),
        ("import builtins\nbuiltins.open('x')", "builtins.open"),
        ("import io\nio.open('x')", "io.open"),
        ("import sys\nsys.stdout.write('x')", "sys.stdout"),
        ("import importlib\nimportlib.import_module('os')", "importlib.import_module"),
        ("from datetime import datetime\ndatetime.now()", "datetime.datetime.now"),
        ("import datetime\ndatetime.date.today()", "datetime.date.today"),
        ("import gguf\ngguf.GGUFReader('x')", "gguf.GGUFReader"),
    ],
)
def test_a_trespass_is_seen(source, name):
    assert name in [what for _, what in uses_of_the_world(source)]


@pytest.mark.parametrize(
    "source",
    [
        "import os\nos.path.join('a', 'b')",
        "from pathlib import PurePosixPath\nPurePosixPath('x').name",
        "import urllib.parse\nurllib.parse.urlsplit('x')",
        "def f(outside):\n  return outside.open('x'), outside.now(), outside.environ",
        "import datetime\ndatetime.datetime.fromtimestamp(0, datetime.timezone.utc)",
        "text.replace('a', 'b')",
        "class Word:\n  open: bool",
        "from doctor.outside import Outside, OutsideError",
        "from types import ModuleType",
    ],
)
def test_what_stays_inside_is_not_blamed(source):
    assert uses_of_the_world(source) == []


def test_the_built_in_names_exist():
    assert all(hasattr(builtins, name) for name in BUILTINS)
