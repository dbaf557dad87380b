"""What a log cannot hold because of its verbosity: absent there proves nothing, so it is unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.log import Log

QUIET = 3
"""Up to this verbosity (the default) builds that have -lv leave out the INFO lines of the libraries (b10434, b11434)."""
LEFT_OUT = "newer builds print this only from -lv 4 on, and this log was written at -lv {level}"
_LIBRARY = (
    "devices layers_offloaded layers_total buffers gpu_model_bytes host_model_bytes kv_bytes n_ctx n_ctx_train n_ubatch "
    "flash_attn graph_splits threads_total"
).split()
"""Facts that stand in INFO lines of the libraries (and in system_info) alone."""


def hide(log: Log, level: int | None) -> Log:
    """The log with facts unknown that a log of this verbosity leaves out. `level` is None when the log does not say it."""
    if level is None or level > QUIET:
        return log
    reason = Unknown(LEFT_OUT.format(level=level))
    hidden: dict[str, Any] = {name: reason for name in _LIBRARY if getattr(log, name) is None}
    return replace(log, **hidden)
