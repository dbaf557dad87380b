"""A model as the arithmetic sees it: its keys, its tensors by name, and what each block keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from doctor.gguf.layers import read_layers
from doctor.memory.result import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doctor.gguf.header import Header, Tensor, Value
    from doctor.gguf.layers import Layers

MAX_NUMBER = 1 << 40
"""No true size, count or length in a header is larger. Larger ones are taken for damage."""


@dataclass(frozen=True)
class Model:
    """A model file (all its parts together). Built by `read_model`.

    `values` are the header's keys, `tensors` all tensors by name, `blocks[i]` those of block i without "blk.i." in
    front. `layers` describes the blocks without the ones for multi-token prediction. `vocabulary` counts tokens.
    """

    arch: str
    values: Mapping[str, Value]
    tensors: Mapping[str, Tensor]
    blocks: tuple[Mapping[str, Tensor], ...]
    layers: Layers
    vocabulary: int

    def number(self, key: str, default: int = 0) -> int:
        """The whole number of a key of this architecture, `default` when it is not there or no such number."""
        value = self.values.get(f"{self.arch}.{key}")
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_NUMBER:
            return default
        return value

    def per_block(self, key: str, default: int = 0) -> tuple[int, ...]:
        """One number a block: an array, or one for all."""
        value = self.values.get(f"{self.arch}.{key}")
        if isinstance(value, tuple):
            found = [int(item) if isinstance(item, int) and 0 <= item <= MAX_NUMBER else default for item in value]
            return tuple((found + [default] * self.block_count)[: self.block_count])
        return (self.number(key, default),) * self.block_count

    def kv_size(self, index: int) -> tuple[int, int]:
        """Elements of K and of V that block `index` keeps for a token; MLA keeps one row for both."""
        layers = self.layers
        heads = layers.heads_kv[index]
        window = index < len(layers.layers) and layers.layers[index].window
        k = self.number("attention.key_length_swa", layers.key_length) if window else layers.key_length
        v = self.number("attention.value_length_swa", layers.value_length) if window else layers.value_length
        return heads * k, 0 if layers.mla else heads * v

    @property
    def block_count(self) -> int:
        """All blocks, those for multi-token prediction included: what -ngl counts."""
        return len(self.blocks)

    @property
    def main_count(self) -> int:
        """Blocks of the main context."""
        return len(self.layers.layers)

    @property
    def embedding(self) -> int:
        """Elements of a token's embedding."""
        return self.number("embedding_length")

    @property
    def tied(self) -> bool:
        """Whether the output layer uses the token embedding a second time."""
        return "output.weight" not in self.tensors


def read_model(header: Header, tensors: tuple[Tensor, ...] | None = None) -> Model | Refusal:
    """The model of a header; `tensors` are those of all parts of a split file (default: the header's own)."""
    if header.data_offset is None:
        return Refusal("header", header.problem or "the header could not be read to its end")
    if header.problem:
        return Refusal("header", header.problem)
    arch = header.text("general.architecture")
    if not arch:
        return Refusal("header", "the header does not say which architecture the model has")
    tensors = header.tensors if tensors is None else tensors
    layers = read_layers(header, tensors, arch)
    if isinstance(layers, str):
        return Refusal("header", layers)
    if any(tensor.bytes is None for tensor in tensors):
        return Refusal("header", "a tensor has a type of unknown size")
    blocks: tuple[dict[str, Tensor], ...] = tuple({} for _ in layers.heads)
    for tensor in tensors:
        parts = tensor.name.split(".", 2)
        if len(parts) == 3 and parts[0] == "blk" and parts[1].isascii() and parts[1].isdigit() and len(parts[1]) < 5:
            index = int(parts[1])
            if index < len(blocks):
                blocks[index][parts[2]] = tensor
    vocabulary = header.lengths.get("tokenizer.ggml.tokens", header.number(f"{arch}.vocab_size") or 0)
    embedding = next((tensor for tensor in tensors if tensor.name == "token_embd.weight"), None)
    if not 0 < vocabulary <= 1 << 24 and embedding is not None and len(embedding.shape) > 1:
        vocabulary = min(embedding.shape[1], 1 << 24)
    model = Model(
        arch,
        header.values,
        {tensor.name: tensor for tensor in tensors},
        blocks,
        layers,
        max(0, min(vocabulary, 1 << 24)),
    )
    if not 0 < model.embedding <= 1 << 20:
        return Refusal("header", "the header does not say how long the embedding is")
    return model
