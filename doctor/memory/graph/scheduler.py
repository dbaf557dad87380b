"""Which backend computes what, and what is copied between them (ggml_backend_sched_split_graph of 2026)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.memory.graph.allocator import Arena, lay_out
from doctor.memory.graph.tensors import HOST, Node

if TYPE_CHECKING:
    from doctor.memory.graph.tensors import Graph

CARD_ALIGNMENT = 128
HOST_ALIGNMENT = 64


class Sizes(NamedTuple):
    """Bytes of the buffer of each card and of the host; how many pieces the graph was cut into."""

    cards: tuple[int, ...]
    host: int
    splits: int


def schedule(graph: Graph, cards: int, *, op_offload: bool, copies: int = 1) -> Sizes:
    """The buffers of a graph on `cards` cards and the host. `copies` of the inputs are kept for pipelining."""
    _assign(graph, cards, op_offload)
    nodes, leafs, splits = _split(graph, copies)
    arenas = {HOST: Arena(HOST_ALIGNMENT)} | {card: Arena(CARD_ALIGNMENT) for card in range(cards)}
    lay_out(nodes, leafs, arenas)
    return Sizes(tuple(arenas[card].size for card in range(cards)), arenas[HOST].size, splits)


OFFLOAD_BATCH = 32
"""Operations on fewer tokens leave weights on the host where they are (GGML_OP_OFFLOAD_MIN_BATCH)."""


def _batch(node: Node) -> int:
    """How many tokens an operation works on, as ggml-cuda counts them."""
    if node.op == "get_rows":
        return 0
    at = {"mul_mat": 1, "mul_mat_id": 2, "rope": 2}.get(node.op)
    if at is not None:
        return node.shape[at] if at < len(node.shape) else 1
    return node.elements // max(1, node.shape[0])


def _from_memory(node: Node) -> int | None:
    """The backend whose memory a tensor lies in already."""
    root = node.view or node
    return root.home


def _assign(graph: Graph, cards: int, offload: bool) -> None:
    """Passes 1 to 4: by memory, by weights, then by the neighbours, cards first."""
    for leaf in graph.leafs:
        leaf.backend = HOST if leaf.input else leaf.home
    nodes = graph.nodes
    for node in nodes:
        node.backend = node.backend if node.backend is not None else _first_choice(node, cards, offload)
    work = [node for node in nodes if node.op != "view"]
    for order in (work, work[::-1]):
        current = None
        for node in order:
            if node.backend is not None:
                current = None if node.backend == HOST else node.backend
            elif current is not None:
                node.backend = current
    for order in (work, work[::-1]):
        current = None
        for node in order:
            if node.backend is not None:
                current = node.backend
            elif current is not None:
                node.backend = current
    for node in nodes:
        if node.backend is None and node.view is not None:
            node.backend = node.view.backend
        for src in node.src:
            if src.backend is None:
                src.backend = src.view.backend if src.view is not None else node.backend
        if node.backend is None:
            node.backend = 0 if cards else HOST


def _first_choice(node: Node, cards: int, offload: bool) -> int | None:
    home = _from_memory(node)
    if home is not None:
        return home
    if node.input:
        return HOST
    for src in node.src:
        if src.weight and node.op != "rope":
            if src.home == HOST and cards and offload and _batch(node) >= OFFLOAD_BATCH:
                return 0
            return src.home
    return None


def _split(graph: Graph, copies: int) -> tuple[list[Node], list[Node], int]:
    """Pass 5: (nodes with the copies between backends, leafs in the order of allocation, number of splits)."""
    duplicates: dict[tuple[int, int], list[Node]] = {}
    inputs: list[Node] = []
    known_inputs: set[int] = set()
    out: list[Node] = []
    begin: list[Node] = []  # of the current split: dependencies and copies
    body: list[Node] = []
    current: int | None = None
    taken = 0
    splits = 1
    for node in graph.nodes:
        if node.op == "view":
            body.append(node)
            continue
        backend = node.backend
        assert backend is not None
        if current is None:
            current = backend
        fresh = backend != current
        if not fresh and taken:
            fresh = any(src.weight and src.home != backend for src in node.src)
        if fresh:
            out += begin
            out += body
            begin, body, taken = [], [], 0
            current = backend
            splits += 1
        for at, src in enumerate(node.src):
            root = src.view or src
            lies = root.home if root.home is not None else src.backend
            if copies > 1 and src.input and id(src) not in known_inputs:
                known_inputs.add(id(src))
                inputs.append(src)
            if lies is None or lies == backend:
                continue
            key = (id(src), backend)
            if key not in duplicates:
                made = [_duplicate(src, backend, copies > 1) for _ in range(copies)]
                duplicates[key] = made
                # A node that only keeps the source alive until the copy is made.
                depend = Node("view", src.shape, [src], 0)
                depend.home = lies
                begin += [depend, made[0]]
                taken += 1
            node.src[at] = duplicates[key][0]
        body.append(node)
    out += begin
    out += body
    leafs: list[Node] = []
    if copies > 1:
        for node in inputs:
            node.output = True
            leafs.append(node)
            leafs += [_duplicate(node, HOST, True) for _ in range(copies - 1)]
        leafs += [copy for made in duplicates.values() for copy in made]
    leafs += [leaf for leaf in graph.leafs if leaf.home is None]
    return out, leafs, splits


def _duplicate(node: Node, backend: int, kept: bool) -> Node:
    """A copy of a tensor for another backend; kept ones are never written over."""
    copy = Node("copy", node.shape, [], node.bytes)
    copy.backend = backend
    copy.layout = node.layout
    copy.input = copy.output = kept
    return copy
