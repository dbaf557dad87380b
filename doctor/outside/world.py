"""What every door has in common: the variables, the clock, who and where we are; and the one error."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class OutsideError(Exception):
    """Something outside could not be had.

    `kind`: missing, denied, timeout, too-large, refused, unreachable, tls, redirect, not-http, invalid, changed, failed.
    The message is one line for a user.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class World:
    """Variables, clock and identity."""

    def __init__(self, environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> None:
        self.environ: Mapping[str, str] = os.environ if environ is None else environ
        self.platform = platform

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds of a clock that never goes back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(max(0.0, seconds))

    def home(self) -> str:
        """The user's home folder. On Windows HOME is a shell's affair: programs there go by USERPROFILE."""
        if self.platform == "win32" and self.environ.get("USERPROFILE"):
            return self.environ["USERPROFILE"]
        return self.environ.get("HOME") or self.environ.get("USERPROFILE") or os.path.expanduser("~")

    def folder(self) -> str:
        """The current folder."""
        try:
            return os.getcwd()
        except OSError:
            return "."

    def identity(self) -> tuple[str, ...]:
        """Names that identify this user and machine and must never be printed: user and host name."""
        names = {self.environ.get(name, "") for name in ("USER", "LOGNAME", "USERNAME", "HOSTNAME", "COMPUTERNAME")}
        names.add(os.uname().nodename if hasattr(os, "uname") else "")  # elsewhere (Windows) COMPUTERNAME says it
        names |= {name.partition(".")[0] for name in names}  # a host is also called by the first part of its name
        above, _, user = self.home().replace("\\", "/").rstrip("/").rpartition("/")
        if above.rpartition("/")[2].lower() in ("home", "users"):
            names.add(user)
        return tuple(sorted(name for name in names if name))

    def user_ids(self) -> tuple[int, ...]:
        """Numbers of the users whose processes are ours: who we run as, and under sudo who called. () on Windows."""
        if not hasattr(os, "getuid"):
            return ()
        caller = self.environ.get("SUDO_UID", "")
        return (os.getuid(), int(caller)) if os.getuid() == 0 and caller.isdecimal() else (os.getuid(),)
