"""What each block of a model keeps for every token: nothing, a KV cache, one with a sliding window, a recurrent state.

Which blocks attend and which are recurrent is read off the tensors they have, so that it holds for architectures nobody
here has heard of. Only the pattern of sliding windows cannot be seen in a file; it stands in `WINDOWS`.
"""

from __future__ import annotations

from typing import NamedTuple

from doctor.gguf.header import Header, Tensor

MAX_LAYERS = 512
"""LLAMA_MAX_LAYERS of b11434."""


MAX_HEADS = 1 << 20
"""More heads in a block, or elements in a head, than any model could have."""


class Window(NamedTuple):
    """Of every `period` blocks the last (or the first: `dense_first`) attends to everything, the others to a window.

    `size` is the window where the header has no `attention.sliding_window`; 0: without that key there is no window.
    """

    period: int
    size: int = 0
    dense_first: bool = False


WINDOWS: dict[str, Window] = {
    "afmoe": Window(4),
    "cohere2": Window(4),
    "cohere2moe": Window(4),
    "exaone-moe": Window(4, 128),
    "exaone4": Window(4),
    "gemma-embedding": Window(6),
    "gemma2": Window(2, 4096),
    "gemma3": Window(6),
    "gemma3n": Window(5),
    "gpt-oss": Window(2),
    "llama4": Window(4, 8192),
    "modern-bert": Window(3, 0, True),
    "olmo2": Window(4),
    "plamo3": Window(8),
    "smallthinker": Window(4, 0, True),
}
"""set_swa_pattern() of each architecture in llama.cpp b11434. Others write `attention.sliding_window_pattern`."""

NO_WINDOW = frozenset({"llama", "mistral3", "phi3", "phimoe", "qwen2", "qwen2moe", "qwen2vl", "qwen3", "qwen3moe"})
"""Architectures whose `attention.sliding_window` llama.cpp does not read, or reads and switches off (phi3)."""

NO_CACHE = frozenset({
    "bert", "dream", "eurobert", "gemma-embedding", "jina-bert-v2", "jina-bert-v3", "llada", "llada-moe",
    "modern-bert", "neo-bert", "nomic-bert", "nomic-bert-moe", "rnd1", "wavtokenizer-dec",
})  # fmt: skip
"""Architectures that run without a KV cache (llama_model::create_memory of b11434)."""

UNCOUNTED = frozenset({"deepseek4", "t5"})
"""Architectures whose cache is laid out in a way this module does not know."""

_SHARED_KV_FROM = {"gemma3n": 20}
"""Blocks from this one on reuse the cache of earlier ones, although the header does not say so."""

_RECURRENT = ("ssm_", "time_mix_", "shortconv.")


class Layer(NamedTuple):
    """One block. `attention`: it has a KV cache, of a `window` or of everything; `recurrent`: it has a state."""

    attention: bool
    window: bool
    recurrent: bool


class Layers(NamedTuple):
    """The blocks of the main context, without the `mtp` ones for multi-token prediction.

    `heads` and `heads_kv` have an entry for every block; `unknown` says what could not be told.
    """

    layers: tuple[Layer, ...]
    window: int
    mtp: int
    mla: bool
    heads: tuple[int, ...]
    heads_kv: tuple[int, ...]
    key_length: int
    value_length: int
    unknown: str | None

    @property
    def attention(self) -> int:
        """Blocks with a KV cache."""
        return sum(layer.attention for layer in self.layers)

    @property
    def recurrent(self) -> int:
        """Blocks with a recurrent state."""
        return sum(layer.recurrent for layer in self.layers)

    @property
    def windowed(self) -> int:
        """Blocks whose KV cache holds a window only."""
        return sum(layer.attention and layer.window for layer in self.layers)

    def kv_elements(self) -> int:
        """Elements of K and V that one token adds to the blocks that attend to everything."""
        total = 0
        for layer, heads in zip(self.layers, self.heads_kv, strict=False):
            if layer.attention and not layer.window:
                # MLA keeps one compressed row, which serves as both K and V.
                total += heads * (self.key_length + (0 if self.mla else self.value_length))
        return total


def read_layers(header: Header, tensors: tuple[Tensor, ...], arch: str) -> Layers | str:
    """The blocks of a model whose parts hold `tensors`. A text when the header does not describe a model's blocks."""

    def number(key: str, default: int = 0) -> int:
        found = header.number(f"{arch}.{key}")
        return default if found is None else found

    count = number("block_count")
    if not 0 < count <= MAX_LAYERS:
        return f"the header says {count} blocks" if count else "the header does not say how many blocks there are"
    found_heads = header.numbers(f"{arch}.attention.head_count", count)
    heads = (0,) * count if found_heads is None else found_heads
    found_heads = header.numbers(f"{arch}.attention.head_count_kv", count)
    heads_kv = heads if found_heads is None else found_heads
    head_size = number("embedding_length") // max(heads) if heads and max(heads) > 0 else 0
    key_length, value_length = number("attention.key_length", head_size), number("attention.value_length", head_size)
    numbers = (*heads, *heads_kv, key_length, value_length)
    if len(numbers) != 2 * count + 2 or min(numbers) < 0 or max(numbers) > MAX_HEADS:
        return "the header's numbers of heads and their sizes make no sense"
    blocks = _blocks(tensors, count)
    mtp = sum(any(name.startswith("nextn.") for name in block) for block in blocks)
    main = max(0, count - max(0, min(number("nextn_predict_layers"), count)))
    shared_from = _SHARED_KV_FROM.get(arch, count - number("attention.shared_kv_layers"))
    window, windowed, unknown = _windows(header, arch, count)
    layers = []
    for index in range(main):
        block = blocks[index]
        recurrent = any(name.startswith(_RECURRENT) for name in block)
        cached = arch not in NO_CACHE and index < shared_from and heads_kv[index] > 0
        layers.append(Layer(cached and _attends(block, recurrent), windowed[index], recurrent))
    if not all(blocks):
        unknown = f"there are no tensors for block {blocks.index(frozenset())}"
    if arch in UNCOUNTED or header.number(f"{arch}.attention.indexer.key_length") is not None:
        unknown = f"the cache of {arch} has parts that are not counted here"
    mla = bool(number("attention.key_length_mla") and number("attention.value_length_mla"))
    return Layers(tuple(layers), window, mtp, mla, heads, heads_kv, key_length, value_length, unknown)


def _blocks(tensors: tuple[Tensor, ...], count: int) -> list[frozenset[str]]:
    """For each block the names of its tensors, without `blk.N.`."""
    found: list[set[str]] = [set() for _ in range(count)]
    for tensor in tensors:
        parts = tensor.name.split(".", 2)
        if len(parts) == 3 and parts[0] == "blk" and len(parts[1]) < 4 and parts[1].isascii() and parts[1].isdigit():
            index = int(parts[1])
            if index < count:
                found[index].add(parts[2])
    return [frozenset(names) for names in found]


def _attends(block: frozenset[str], recurrent: bool) -> bool:
    """Whether a block has an attention of its own. A gated delta net has a fused attn_qkv too, but no keys to keep."""
    if "attn_k.weight" in block or "attn_kv_a_mqa.weight" in block:
        return True
    return "attn_qkv.weight" in block and not recurrent


def _windows(header: Header, arch: str, count: int) -> tuple[int, tuple[bool, ...], str | None]:
    """Size of the sliding window (0: none), which blocks have it, and what is not known."""
    none = (False,) * count
    size = header.number(f"{arch}.attention.sliding_window")
    known = WINDOWS.get(arch)
    if size is None and known is not None:
        size = known.size
    if not size or size < 0 or arch in NO_WINDOW:
        return 0, none, None
    pattern = header.values.get(f"{arch}.attention.sliding_window_pattern")
    if isinstance(pattern, tuple) and pattern:
        # A pattern shorter than the model is repeated.
        return size, tuple(bool(pattern[index % len(pattern)]) for index in range(count)), None
    if isinstance(pattern, int) and not isinstance(pattern, bool) and pattern >= 0:
        known = Window(pattern, size, known.dense_first if known else False)
    if known is None:
        return size, none, f"which blocks of {arch} have a sliding window is not known here"
    if known.period == 0:
        return size, (True,) * count, None
    dense = 0 if known.dense_first else known.period - 1
    return size, tuple(index % known.period != dense for index in range(count)), None
