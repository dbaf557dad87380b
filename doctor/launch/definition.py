"""A launch definition: what a file (a script, a compose file, a unit …) says about how servers are started."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from doctor.launch.command import Command
    from doctor.launch.publish import Neighbour

FILE_LIMIT = 256 << 10
"""Bytes of a launch file that are read. Real ones have a few kB."""
VALUE_LIMIT = 64 << 10
"""Characters a value may grow to when variables are filled in: more is a file made to fill memory."""
DEFINITIONS_LIMIT = 64


class DefinitionError(Exception):
    """A file that cannot be read as what it claims to be; the message is one line for a user, with the line number."""


class Definition(NamedTuple):
    """A server that a file starts. `name` is its service, model, unit or section, "" where it has none.

    `gpu`: how the file asks for a GPU for a container ("device reservation", "runtime nvidia", …), None where it does not.
    `unsure` are remarks on what could not be decided by reading alone. `neighbours` are the places where other services of
    a compose file look for a model server on their own loopback.
    """

    name: str
    command: Command
    gpu: str | None = None
    unsure: tuple[str, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()


class Siblings(Protocol):
    """Other files that a launch file names. Both answer None where there is none (or none that may be read)."""

    def text(self, path: str) -> str | None:
        """A file's text; the path is taken from the folder of the launch file."""

    def names(self, folder: str) -> list[str] | None:
        """The names in a folder."""


class NoSiblings:
    """For a text without a place of its own."""

    def text(self, path: str) -> str | None:
        return None

    def names(self, folder: str) -> list[str] | None:
        return None
