"""Lays the tensors of a graph into one buffer a backend, as ggml-alloc does: best fit, in place where it may be.

Read from ggml-alloc.c of 2026 (ggml_dyn_tallocr, ggml_gallocr_alloc_graph_impl).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

from doctor.memory.graph.tensors import IN_PLACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from doctor.memory.graph.tensors import Node

_ENDLESS = 1 << 62


class Arena:
    """A buffer that grows. Free blocks are (offset, size), sorted by offset; the last one is endless."""

    def __init__(self, alignment: int) -> None:
        self._alignment = alignment
        self._free: list[tuple[int, int]] = [(0, _ENDLESS)]
        self.size = 0

    def padded(self, size: int) -> int:
        return -(-size // self._alignment) * self._alignment

    def take(self, size: int) -> int:
        """The offset of a new block: the smallest hole that fits, of equals the last; else the end."""
        size = self.padded(size)
        free = self._free
        best, least = len(free) - 1, _ENDLESS
        for at in range(len(free) - 1):
            hole = free[at][1]
            if size <= hole <= least:
                best, least = at, hole
        offset, hole = free[best]
        if hole == size:
            del free[best]
        else:
            free[best] = (offset + size, hole - size)
        if offset + size > self.size:
            self.size = offset + size
        return offset

    def give(self, offset: int, size: int) -> None:
        """Free a block and join it with its neighbours."""
        size = self.padded(size)
        if not size:
            return
        free = self._free
        at = bisect_left(free, (offset, 0))
        if at < len(free) and offset + size == free[at][0]:
            size += free[at][1]
            del free[at]
        if at > 0 and free[at - 1][0] + free[at - 1][1] == offset:
            before = free[at - 1]
            free[at - 1] = (before[0], before[1] + size)
        else:
            insort(free, (offset, size))


def lay_out(nodes: Sequence[Node], leafs: Iterable[Node], arenas: dict[int, Arena]) -> None:
    """Allocate and free every tensor of a graph in order; the arenas hold the sizes in the end."""
    for node in nodes:
        node.owns = False
        node.children = node.views = 0
        for src in node.src:
            src.owns = False
            src.children = src.views = 0
    for leaf in leafs:
        leaf.owns = False
    for node in nodes:
        if node.view is not None:
            node.view.views += 1
        for src in node.src:
            src.children += 1
    for leaf in leafs:
        _allocate(leaf, arenas)
    for node in nodes:
        for src in node.src:
            if src.input:
                _allocate(src, arenas)
    for node in nodes:
        for src in node.src:
            _allocate(src, arenas)
        _allocate(node, arenas)
        for src in node.src:
            src.children -= 1
            if src.children == 0 and src.views == 0:
                root = src.view
                if root is not None:
                    root.views -= 1
                    if root.views == 0 and root.children == 0 and root.owns:
                        _free(root, arenas)
                elif src.owns:
                    _free(src, arenas)


def _allocate(node: Node, arenas: dict[int, Arena]) -> None:
    """A place for a tensor: that of an operand no other operation needs, else a new one. Views are never written over."""
    if node.owns or node.home is not None or node.view is not None:
        return
    node.owns = True
    if node.op in IN_PLACE:
        for parent in node.src:
            if parent.home is not None or parent.output or parent.layout != node.layout:
                continue
            if parent.view is not None or parent.children != 1 or parent.views or not parent.owns:
                continue
            node.place, node.where = parent.place, parent.where
            parent.owns = False
            arena = arenas[node.place]
            ours, theirs = arena.padded(node.bytes), arena.padded(parent.bytes)
            if theirs > ours:
                arena.give(node.where + ours, theirs - ours)
            return
    node.place = node.backend if node.backend is not None else -1
    node.where = arenas[node.place].take(node.bytes)


def _free(node: Node, arenas: dict[int, Arena]) -> None:
    if node.output:
        return
    arenas[node.place].give(node.where, node.bytes)
    node.owns = False
