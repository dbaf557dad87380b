""".env files, and the lines of shell profiles that set variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.clients.data_file import DataFile, Key, Parsed, read
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.outside import Outside

LIMIT = 256 << 10
ENV_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=[ \t]*(.*)")
_QUOTED = re.compile(r"""(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:#.*)?$""")
# export NAME=value, NAME=value, set -gx NAME value (fish), $env:NAME = "value" (PowerShell), set NAME=value (cmd)
PROFILE_LINE = re.compile(
    r"\s*(?:(?:export|declare -x|typeset -x)\s+(?P<sh>[A-Za-z_]\w*)=|set\s+(?:-\w+\s+)*-\w*x\w*\s+(?P<fish>[A-Za-z_]\w*)\s+|"
    r"\$env:(?P<ps>[A-Za-z_]\w*)\s*=\s*|setenv\s+(?P<csh>[A-Za-z_]\w*)\s+)(?P<value>.*)",
    re.IGNORECASE,
)
# Below the home folder; later ones are read later by the shells that read several, so the last setting counts.
PROFILES = (
    ".profile",
    ".bash_profile",
    ".bash_login",
    ".bashrc",
    ".zshenv",
    ".zprofile",
    ".zshrc",
    ".config/fish/config.fish",
    ".config/powershell/Microsoft.PowerShell_profile.ps1",
)
PROFILES_WINDOWS = (
    "Documents\\PowerShell\\Microsoft.PowerShell_profile.ps1",
    "Documents\\WindowsPowerShell\\Microsoft.PowerShell_profile.ps1",
    ".bash_profile",
    ".bashrc",
)
# The profiles of the other shells are not read.
_READS = {"bash": (".profile", ".bash"), "zsh": (".z",), "fish": (".config/fish",), "pwsh": (".config/powershell",)}


class Exported(NamedTuple):
    """A variable set in a shell profile. `value` is None where the shell would have to work it out."""

    name: str
    value: str | None
    path: str
    line: int


def read_env(outside: Outside, path: str, limit: int = LIMIT) -> DataFile:
    """A .env file: what it sets, by name."""
    return read(outside, path, parse_env, env_line, limit)


def parse_env(text: str) -> Parsed:
    """(data, "") of a .env text: nothing in it can be wrong, lines that set nothing are passed over."""
    return {name: value for name, value, _ in _pairs(text)}, ""


def env_line(text: str, keys: tuple[Key, ...]) -> int | None:
    """The line of the last setting of a variable."""
    numbers = [number for name, _, number in _pairs(text) if (name,) == keys]
    return numbers[-1] if numbers else None


def _pairs(text: str) -> Iterator[tuple[str, str, int]]:
    for number, line in enumerate(text.splitlines(), 1):
        found = ENV_LINE.match(line)
        if found:
            yield found[1], unquoted(found[2]), number


def unquoted(value: str) -> str:
    """The value of a line without quotes and the remark after it."""
    value = value.strip()
    quoted = _QUOTED.match(value)
    if quoted:
        return quoted[1] if quoted[1] is not None else quoted[2]
    return re.split(r"\s#", value, maxsplit=1)[0].rstrip()


def exported(outside: Outside, names: set[str]) -> list[Exported]:
    """Where the user's shell profiles set these variables, in the order in which shells read them."""
    windows = outside.platform == "win32"
    shell = outside.environ.get("SHELL", "").rpartition("/")[2]
    home, slash = outside.home(), "\\" if windows else "/"
    found = []
    for name in PROFILES_WINDOWS if windows else PROFILES:
        if shell in _READS and not name.startswith(_READS[shell]):
            continue
        path = f"{home.rstrip(slash)}{slash}{name}"
        try:
            text = outside.read_text(path, LIMIT)
        except OutsideError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            match = PROFILE_LINE.match(line) if len(line) < 2000 else None
            if match is None:
                continue
            variable = match["sh"] or match["fish"] or match["ps"] or match["csh"]
            if variable in names:
                value = unquoted(match["value"].split(";")[0])
                found.append(Exported(variable, None if re.search(r"[$`]", value) else value, path, number))
    return found
