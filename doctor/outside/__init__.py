"""The one door to the world: commands, files, HTTP, NVML, processes, environment, clock.

Nothing else in the package runs a program, opens a file, reads a variable or makes a request (a test proves it), so
replacing one object replaces the world. Every call is bounded in time and size and fails with `OutsideError` alone.
Heavy modules are imported inside the method that needs them: start-up pays for none of them.
"""

from doctor.outside.files import READ_LIMIT, FileInfo, Files
from doctor.outside.hardware import Hardware
from doctor.outside.network import BODY_LIMIT, HttpReply, Network, StreamReply
from doctor.outside.programs import OUTPUT_LIMIT, Completed, Programs
from doctor.outside.world import OutsideError

__all__ = [
    "BODY_LIMIT", "OUTPUT_LIMIT", "READ_LIMIT", "Completed", "FileInfo", "HttpReply", "Outside", "OutsideError",
    "StreamReply",
]  # fmt: skip


class Outside(Programs, Files, Network, Hardware):
    """The real world. Tests give functions a subclass or a look-alike with the same methods."""
