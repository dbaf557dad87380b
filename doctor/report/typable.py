"""Commands as they can be typed: a home folder that was redacted to `~` must not stand inside quotes, where it stays a letter.

Commands are kept as sh writes them. A path of Windows with blanks gets double quotes, which sh, PowerShell and cmd all read.
"""

from __future__ import annotations

import re
import shlex

_HOME = re.compile(r"(?<![^\s=])'~/([^'\n]+)'")
_WINDOWS = re.compile(r"(?<![^\s=])'((?:[A-Za-z]:\\|~\\|\.{1,2}\\|\\\\(?=\w))[^'\"\n$`%<>|*?]*)'")
_WINDOWS_HOME = re.compile(r'(?<![^\s="])(")?~\\([^\s"\']*)')
VARIABLES = {"cmd": "%USERPROFILE%", "powershell": "$HOME"}
"""Shell of Windows -> the variable of the home folder; sh on Windows knows $HOME too."""


def typable(command: str, file_kind: str = "") -> str:
    """A command that can be pasted. `file_kind` is that of the launch file it comes from: a batch file is read by cmd."""
    if "~" not in command and "\\" not in command:
        return command
    home = VARIABLES["cmd" if file_kind == "batch" else "powershell"]
    command = _HOME.sub(lambda found: "~/" + shlex.quote(found[1]), command)
    command = _WINDOWS.sub(r'"\1"', command)
    return _WINDOWS_HOME.sub(lambda found: f'"{home}\\{found[2]}' + ("" if found[1] else '"'), command)
