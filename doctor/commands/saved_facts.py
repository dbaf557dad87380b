"""The facts of a check in a file: redacted when they are written, bounded and typed when they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.exits import UsageError
from doctor.facts.facts import Facts
from doctor.facts.record import FactsFormatError, from_json
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

SAVED_LIMIT = 2 << 20
"""Bytes of a file of saved facts. A machine with eight cards and a long log saves some 0.5 MB."""


def load_facts(outside: Outside, path: str) -> Facts:
    """Saved facts. Raises UsageError when the file is not what `--save` writes."""
    import json

    try:
        data = json.loads(outside.read_text(path, SAVED_LIMIT))
        if isinstance(data, dict) and "facts" in data:
            data = data["facts"]
        facts = from_json(Facts, data)
        assert isinstance(facts, Facts)
        return facts
    except OutsideError as error:
        raise UsageError(f"--from: {error}") from None
    except (ValueError, RecursionError) as error:
        detail = str(error) if isinstance(error, FactsFormatError) else f"not JSON ({error})"
        raise UsageError(f"--from: {path} does not hold facts saved with --save: {detail}") from None


def save_facts(outside: Outside, path: str, plain: dict[str, Any]) -> None:
    """Write redacted facts. Raises UsageError when that is not possible."""
    import json

    from doctor import __version__

    data = {"schema_version": 1, "tool": {"name": "llama-doctor", "version": __version__}, "facts": plain}
    try:
        outside.write_text(path, json.dumps(data, ensure_ascii=False, indent=2) + "\n")
    except OutsideError as error:
        raise UsageError(f"--save: {error}") from None
