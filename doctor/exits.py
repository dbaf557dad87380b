"""How a run ends: the exit statuses, and the error that means the call itself was wrong."""

from enum import IntEnum


class Exit(IntEnum):
    """What the exit status says."""

    OK = 0
    """Nothing at or above the threshold (--fail-on)."""
    FINDINGS = 1
    """A finding at or above the threshold."""
    USAGE = 2
    """The call cannot be carried out as it stands: a wrong option, a file that cannot be read."""
    INTERNAL = 3
    """A fault of doctor itself."""


class UsageError(Exception):
    """The user's call cannot be carried out; the message is one line that says why and what to do."""
