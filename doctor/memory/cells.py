"""Cells of a cache: one for each token that a layer can look back to."""

from __future__ import annotations


def pad(count: int, multiple: int) -> int:
    """The next multiple."""
    return -(-count // multiple) * multiple


def window_cells(ctx_seq: int, window: int, ubatch: int, sharing: int) -> int:
    """Cells of a sliding-window layer in one stream: what `sharing` slots see of it, and one step of new tokens."""
    return pad(min(ctx_seq, window * sharing + ubatch), 256)
