"""Tensors of a graph and the order in which they are computed (ggml_build_forward_expand)."""

from __future__ import annotations

from collections.abc import Sequence

HOST = -1
"""Backend of the processor, the last one in llama.cpp's order."""


IN_PLACE = frozenset({"add", "add_id", "mul", "sub", "div", "scale", "rms_norm", "rope", "soft_max", "unary", "sqr"})
"""Operations that may write over their operand (ggml_op_can_inplace)."""


class Node:
    """A tensor: a leaf (input, weight, cache) or the result of an operation.

    `shape` are elements per dimension, fastest first; `layout` tells tensors apart whose strides differ although the
    shape is the same. `bytes` is what it takes in a buffer of a card. `view` is the tensor whose memory it shows;
    `start` whether it begins where that begins. `home` is the backend of a leaf that lies in memory already.
    """

    __slots__ = (
        "backend", "bytes", "children", "home", "input", "layout", "op", "output", "owns", "place", "seen", "shape",
        "src", "start", "view", "views", "weight", "where",
    )  # fmt: skip

    def __init__(self, op: str, shape: tuple[int, ...], src: list[Node], size: int) -> None:
        self.op = op
        self.shape = shape
        self.layout: object = shape
        self.src = src
        self.bytes = size
        self.view: Node | None = None
        self.start = True
        self.home: int | None = None
        self.weight = False
        self.input = False
        self.output = False
        self.seen = False
        self.backend: int | None = None
        # The allocator's notes.
        self.children = 0
        self.views = 0
        self.owns = False
        self.where = 0
        self.place = 0

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        count = 1
        for length in self.shape:
            count *= length
        return count


class Graph:
    """Operations in the order of computing. `leafs` are inputs, weights and caches that are used."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.leafs: list[Node] = []

    def input(self, *shape: int, size: int = 4) -> Node:
        """A tensor the host fills before each step; `size` bytes an element."""
        node = Node("leaf", shape, [], _count(shape) * size)
        node.input = True
        return node

    def stored(self, home: int, shape: tuple[int, ...], size: int, *, weight: bool) -> Node:
        """A weight or a cache, which lies on backend `home` already."""
        node = Node("leaf", shape, [], size)
        node.home, node.weight = home, weight
        return node

    def op(self, name: str, shape: tuple[int, ...], *src: Node | None, extra: int = 0) -> Node:
        """An operation with a result of f32; `extra` bytes are set aside behind it."""
        return Node(name, shape, [item for item in src if item is not None], 4 * _count(shape) + extra)

    def show(
        self, of: Node, shape: tuple[int, ...], *, start: bool = True, strided: bool = False, size: int | None = None
    ) -> Node:
        """A view: the same memory in another shape. `size` are its bytes, which a copy for another device would take."""
        node = Node("view", shape, [of], 4 * _count(shape) if size is None else size)
        node.view = of.view or of
        node.start = start and of.start
        node.layout = (shape, id(node)) if strided else shape
        return node

    def stored_copy(self, size: int, *src: Node) -> Node:
        """A copy of a part of a cache, `size` bytes, in a layout of its own."""
        return Node("cont", (size,), list(src), size)

    def reshape(self, of: Node, *shape: int) -> Node:
        """The same elements in other dimensions."""
        return self.show(of, shape, size=of.bytes)

    def write(self, rows: Node, into: Node, *index: Node) -> Node:
        """Rows written into a cache (set_rows, cpy): takes no memory of its own."""
        node = Node("write", into.shape, [rows, *index, into], 0)
        node.view = into.view or into
        return node

    def expand(self, node: Node) -> None:
        """Put a tensor and all that it needs in order: operands first, left to right."""
        stack: list[tuple[Node, int]] = [(node, 0)]
        if node.seen:
            return
        node.seen = True
        while stack:
            top, at = stack.pop()
            src = top.src
            while at < len(src) and src[at].seen:
                at += 1
            if at < len(src):
                stack.append((top, at + 1))
                src[at].seen = True
                stack.append((src[at], 0))
            elif top.op == "leaf":
                self.leafs.append(top)
            else:
                self.nodes.append(top)


def _count(shape: Sequence[int]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count
