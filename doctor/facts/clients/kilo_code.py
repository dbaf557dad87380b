"""Kilo Code: its command line reads OpenCode's settings under a name of its own; the extension keeps its settings in VS Code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import Kind
from doctor.facts.clients.opencode import Layout, collect_like
from doctor.facts.clients.program import Program

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Not run; from the pages of its maker and of Alibaba Cloud about @kilocode/cli 7.
KIND = Kind(
    "kilo-code", "Kilo Code", Program(("kilo", "kilocode"), "@kilocode/cli", ("kilocode.kilo-code",)), "openai-chat"
)
LAYOUT = Layout("kilo", ("kilo.jsonc", "kilo.json"), "KILO_CONFIG", "KILO_CONFIG_CONTENT")


def collect(outside: Outside, vault: Vault) -> Client:
    """Kilo Code as it would run in the current folder."""
    return collect_like(outside, vault, KIND, LAYOUT)
