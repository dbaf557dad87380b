"""A report as one self-contained HTML page: no network, no script, light and dark, on screen and on paper."""

from __future__ import annotations

from doctor.report.html.page import MARK, render

__all__ = ["MARK", "render"]
