"""What every part of a graph needs: the step's size, weights by name, caches, and the operations all models share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.memory.graph.tensors import HOST, Graph, Node
from doctor.memory.types import CACHE_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doctor.memory.defaults import Settings
    from doctor.memory.kv import BlockCache
    from doctor.memory.model import Model
    from doctor.memory.placement import Placement


class Masks(NamedTuple):
    """Inputs of one kind of attention: its mask, where rows are written, rotations of a quantised cache."""

    mask: Node
    k_index: Node
    v_index: Node
    k_turn: Node | None
    v_turn: Node | None


class Step:
    """A graph under construction for `tokens` tokens of `slots` sequences, `outputs` of which give logits."""

    def __init__(
        self,
        model: Model,
        settings: Settings,
        place: Placement,
        caches: Mapping[int, BlockCache],
        tokens: int,
        outputs: int,
    ) -> None:
        self.graph = Graph()
        self.model = model
        self.settings = settings
        self.place = place
        self.caches = caches
        self.tokens = tokens
        self.outputs = outputs
        self.slots = settings.slots
        self.first_value: Node | None = None
        self.cards = {device.name: at for at, device in enumerate(place.devices)}
        self.streams = settings.streams
        self._weights: dict[str, Node | None] = {}
        self._masks: dict[bool, Masks] = {}
        self.stores: dict[str, tuple[Node, Node]] = {}
        self._states: dict[str, Node] = {}
        self._inputs: dict[str, Node] = {}
        self.positions = self.graph.input(tokens)
        self.out_rows = self.graph.input(outputs)

    # Weights

    def weight(self, block: int, name: str) -> Node | None:
        """A block's tensor by its name without "blk.N.", None when the model has none."""
        tensor = self.model.blocks[block].get(name)
        if tensor is None:
            return None
        return self._leaf(tensor.name, self.place.blocks[block])

    def outer(self, name: str, home: str) -> Node | None:
        """A tensor outside the blocks."""
        return self._leaf(name, home) if name in self.model.tensors else None

    def _leaf(self, name: str, home: str) -> Node:
        key = f"{name}@{home}"
        found = self._weights.get(key)
        if found is None:
            tensor = self.model.tensors[name]
            backend = self.cards.get(self.place.place_of(name, home), HOST)
            found = self.graph.stored(backend, tensor.shape, tensor.bytes or 0, weight=True)
            self._weights[key] = found
        return found

    def cache_home(self, block: int) -> int:
        """The backend of a block's cache and state."""
        if not self.settings.options.kv_offload:
            return HOST
        return self.cards.get(self.place.blocks[block], HOST)

    def source(self, block: int) -> int | None:
        """The block whose cache a block looks into: its own, else the last one before with the same kind of window."""
        if block in self.caches:
            return block
        layers = self.model.layers.layers
        window = block < len(layers) and layers[block].window
        return next(
            (at for at in range(block - 1, -1, -1) if at in self.caches and self.caches[at].window == window), None
        )

    def cache(self, block: int) -> BlockCache:
        """The cache a block looks into."""
        found = self.source(block)
        assert found is not None
        return self.caches[found]

    def state(self, block: int, part: str, size: int) -> Node:
        """A block's stored state of all slots, `size` elements each."""
        key = f"{part}{block}"
        if key not in self._states:
            rows = self.slots * (1 + self.settings.rs_copies)
            self._states[key] = self.graph.stored(self.cache_home(block), (size, rows), 4 * size * rows, weight=False)
        return self._states[key]

    def copies(self) -> Node:
        """The input that says which stored state belongs to which sequence."""
        return self._inputs.setdefault("copies", self.graph.input(self.slots))

    def temperature(self) -> Node:
        """The input that scales Q by position (llama4, mistral3)."""
        return self._inputs.setdefault("temperature", self.graph.input(1, 1, self.tokens))

    # Operations

    def mul_mat(self, weight: Node, x: Node) -> Node:
        """A matrix times the columns of x."""
        rows = weight.shape[1] if len(weight.shape) > 1 else 1
        return self.graph.op("mul_mat", (rows, *x.shape[1:]), weight, x)

    def linear(self, block: int, name: str, x: Node) -> Node:
        """`name`.weight times x, plus `name`.bias where the model has one. x itself without the weight."""
        weight = self.weight(block, f"{name}.weight")
        if weight is None:
            return x
        cur = self.mul_mat(weight, x)
        bias = self.weight(block, f"{name}.bias")
        return cur if bias is None else self.graph.op("add", cur.shape, cur, bias)

    def same(self, name: str, x: Node, *others: Node | None) -> Node:
        """An operation whose result has the shape of its operand."""
        return self.graph.op(name, x.shape, x, *others)

    def norm(self, x: Node, weight: Node | None, bias: Node | None = None, name: str = "rms_norm") -> Node:
        """Normalised, then scaled by a weight."""
        cur = self.same(name, x)
        if weight is not None:
            cur = self.same("mul", cur, weight)
        return cur if bias is None else self.same("add", cur, bias)

    def block_norm(self, block: int, name: str, x: Node) -> Node:
        """The norm of this name, x itself when the block has none."""
        weight = self.weight(block, f"{name}.weight")
        if weight is None:
            return x
        bias = self.weight(block, f"{name}.bias")
        return self.norm(x, weight, bias, "norm" if bias is not None else "rms_norm")

    def rows(self, x: Node) -> Node:
        """Only the rows that give logits."""
        return self.graph.op("get_rows", (*x.shape[:-1], self.outputs), x, self.out_rows)

    # Attention inputs

    def masks(self, window: bool) -> Masks:
        """The inputs of attention over everything, or over the window."""
        found = self._masks.get(window)
        if found is None:
            cache = next(item for item in self.caches.values() if item.window == window)
            element = 2 if self.settings.flash else 4
            graph, tokens = self.graph, self.tokens
            v_rows = tokens if self.settings.flash else tokens * max(1, cache.v)
            found = Masks(
                graph.input(cache.cells, tokens, size=element),
                graph.input(tokens, size=8),
                graph.input(v_rows, size=8),
                self._turn(self.settings.type_k, cache.head_k, True),
                self._turn(self.settings.type_v, cache.head_v, False) if cache.v else None,
            )
            self._masks[window] = found
        return found

    def _turn(self, kind: str, head: int, widest: bool) -> Node | None:
        """The rotation that evens out a quantised cache: the widest power of two for K, 64 for V."""
        if CACHE_TYPES[kind].block == 1 or head % 64 or not head or self.model.layers.mla:
            return None
        size = 64
        while widest and head % (size * 2) == 0:
            size *= 2
        return self.graph.input(size, size)
