"""Build script (run by hatchling, never by doctor): puts the compiled rules into the wheel."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface  # type: ignore[import-not-found,unused-ignore]


class CompileRules(BuildHookInterface):  # type: ignore[misc,type-arg,unused-ignore]
    """Compiles rules/*.toml into doctor/_compiled_rules.py of the wheel. A checkout compiles them for itself."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it packs a wheel or an editable install."""
        if version == "editable" or self.target_name != "wheel":
            return
        root = Path(self.root)
        sys.path.insert(0, str(root))
        try:
            from doctor.engine.load import compiled_text, read_rules, read_table
            from doctor.engine.search import build_index
            from doctor.outside import Outside
        finally:
            sys.path.pop(0)
        outside = Outside()
        folder = str(root / "rules")
        rules = read_rules(outside, folder)
        index = build_index(rules, read_table(outside, folder, "concepts"), read_table(outside, folder, "complaints"))
        target = Path(tempfile.mkdtemp()) / "_compiled_rules.py"
        target.write_text(compiled_text("wheel", rules, index), encoding="utf-8")
        build_data["force_include"][str(target)] = "doctor/_compiled_rules.py"
