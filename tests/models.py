"""Model files for tests: real tiny models that llama.cpp loads and answers with, and files that are not one.

`tiny_llama` takes about 0.1 s with the import of the gguf package. Its weights are random with a fixed seed: it
answers with letters that mean nothing, thousands of tokens a second, and mostly ends by itself after some dozens.
"""

from __future__ import annotations

import gzip
import json
import os
import struct
import zipfile
from pathlib import Path
from typing import Any

END_TOKEN = 2

CHAT_TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
"""A template that takes messages in any order and prints nothing but their text."""

STRICT_TEMPLATE = (
    "{% for message in messages %}{% if message.role == 'system' and not loop.first %}"
    "{{ raise_exception('System message must be at the beginning.') }}{% endif %}"
    "<|{{ message.role }}|>{{ message.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
"""The refusal of the Qwen3.5 templates: a system message after the first place stops the request."""

TOOL_TEMPLATE = (
    "{% if tools %}<|tools|>{% for tool in tools %}{{ tool | tojson }}{% endfor %}</s>{% endif %}"
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content or '' }}"
    "{% if message.tool_calls %}{% for call in message.tool_calls %}{{ call.function | tojson }}{% endfor %}{% endif %}"
    "</s>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
"""A template that prints tools and tool calls, so that requests with tools pass."""


def tiny_llama(
    path: str | Path,
    *,
    vocab: int = 320,
    ctx_train: int = 4096,
    chat_template: str | None = CHAT_TEMPLATE,
    arch: str = "llama",
    layers: int = 2,
    embedding: int = 64,
    heads: int = 4,
    heads_kv: int = 2,
    name: str = "tiny",
    seed: int = 1,
    split_tensors: int = 0,
    extra: dict[str, Any] | None = None,
    words: tuple[str, ...] = (),
    answer: str = "",
    endless: bool = False,
    call: str = "",
) -> Path:
    """Write a real dense transformer that llama.cpp loads (llama, qwen2, qwen3, others with the same tensors) at f16.

    `vocab` tokens (at least 259): three control tokens, 256 bytes, then pieces of text; an SPM tokenizer. `extra` adds
    metadata (key -> str, int, float, bool or list) and may overwrite what is written here. `words` get tokens of their
    own (as many as `vocab` has room for), so that text takes fewer tokens than letters. With an `answer` (a word of
    different letters) the model says that word and ends, whenever a prompt ends in ">" or a new line; an `endless` one
    says it over and over. A `call` is what it says whenever a prompt ends in "~". With `split_tensors` the model comes in parts of so many tensors; the path returned is then that of the first part.
    """
    import gguf
    import numpy as np

    path = Path(path)
    rng = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(path, arch, split_max_tensors=split_tensors)
    feed_forward = embedding * 2
    head = embedding // heads
    values: dict[str, Any] = {
        "general.name": name,
        "general.file_type": int(gguf.LlamaFileType.MOSTLY_F16),
        f"{arch}.context_length": ctx_train,
        f"{arch}.embedding_length": embedding,
        f"{arch}.block_count": layers,
        f"{arch}.feed_forward_length": feed_forward,
        f"{arch}.attention.head_count": heads,
        f"{arch}.attention.head_count_kv": heads_kv,
        f"{arch}.attention.layer_norm_rms_epsilon": 1e-5,
        f"{arch}.rope.dimension_count": head,
        f"{arch}.vocab_size": vocab,
    }
    if chat_template is not None:
        values["tokenizer.chat_template"] = chat_template
    values.update(extra or {})
    for key, value in values.items():
        _add(writer, key, value)
    _tokenizer(writer, vocab, words, call)

    def weights(tensor: str, *shape: int) -> None:
        writer.add_tensor(tensor, (rng.standard_normal(shape) * 0.2).astype(np.float16))

    def nothing(tensor: str, *shape: int) -> None:
        writer.add_tensor(tensor, np.zeros(shape, dtype=np.float16))

    def ones(tensor: str, size: int) -> None:
        writer.add_tensor(tensor, np.ones(size, dtype=np.float32))

    chain = _chain(answer, embedding, endless) + _call(call, vocab)
    embedded = (rng.standard_normal((vocab, embedding)) * 0.2).astype(np.float16)
    embedded[:, embedding - len(chain) :] = 0
    for place, (before, _) in enumerate(chain):
        for token in before:
            embedded[token] = np.eye(embedding)[embedding - 1 - place]
    writer.add_tensor("token_embd.weight", embedded)
    # Only letters, the space and the end of the text have a score: a chat parser never meets "<" or half a character.
    scores = np.zeros((vocab, embedding), dtype=np.float16)
    spoken = [END_TOKEN, *(3 + code for code in b" abcdefghijklmnopqrstuvwxyz")]
    scores[spoken] = rng.standard_normal((len(spoken), embedding)) * 2
    for place, (_, after) in enumerate(chain):
        scores[:, embedding - 1 - place] = 0
        scores[after, embedding - 1 - place] = 9
    writer.add_tensor("output.weight", scores)
    ones("output_norm.weight", embedding)
    for layer in range(layers):
        block = f"blk.{layer}"
        ones(f"{block}.attn_norm.weight", embedding)
        ones(f"{block}.ffn_norm.weight", embedding)
        weights(f"{block}.attn_q.weight", heads * head, embedding)
        weights(f"{block}.attn_k.weight", heads_kv * head, embedding)
        weights(f"{block}.attn_v.weight", heads_kv * head, embedding)
        (nothing if answer else weights)(f"{block}.attn_output.weight", embedding, heads * head)
        weights(f"{block}.ffn_gate.weight", feed_forward, embedding)
        weights(f"{block}.ffn_up.weight", feed_forward, embedding)
        (nothing if answer else weights)(f"{block}.ffn_down.weight", embedding, feed_forward)
        if arch == "qwen2":
            ones(f"{block}.attn_q.bias", heads * head)
            ones(f"{block}.attn_k.bias", heads_kv * head)
            ones(f"{block}.attn_v.bias", heads_kv * head)
        if arch == "qwen3":
            ones(f"{block}.attn_q_norm.weight", head)
            ones(f"{block}.attn_k_norm.weight", head)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path if not split_tensors else next(path.parent.glob(f"{path.stem}-00001-of-*.gguf"))


def _chain(answer: str, embedding: int, endless: bool) -> list[tuple[list[int], int]]:
    """(tokens, the one that follows them): what starts the answer, each letter, the end (or the first letter again)."""
    if not answer:
        return []
    letters = [3 + ord(letter) for letter in answer]
    start = [3 + ord("\n"), 3 + ord(">"), 260 + ord(">") - 33]
    assert len(letters) + 1 < embedding and len(set(letters)) == len(letters)
    last = letters[0] if endless else END_TOKEN
    return list(zip([start, *([letter] for letter in letters)], [*letters, last], strict=True))


def _call(call: str, vocab: int) -> list[tuple[list[int], int]]:
    """The same for a call, which is the last token of all."""
    return [([3 + ord("~"), 260 + ord("~") - 33], vocab - 1), ([vocab - 1], END_TOKEN)] if call else []


def _add(writer: Any, key: str, value: Any) -> None:
    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    else:
        writer.add_array(key, value)


def _tokenizer(writer: Any, vocab: int, words: tuple[str, ...], call: str) -> None:
    """An SPM vocabulary: <unk> <s> </s>, the 256 bytes, printable ASCII, given words, words nothing contains, a call."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [2, 3, 3] + [6] * 256
    pieces = ["\u2581"] + [chr(code) for code in range(33, 127)]
    # The tokenizer joins two tokens at a time: a word needs all its beginnings.
    starts = (space + word[:size] for word in words for space in ("\u2581", "") for size in range(1, len(word) + 1))
    pieces += [piece for piece in dict.fromkeys(starts) if piece not in set(pieces)][
        : vocab - len(tokens) - len(pieces)
    ]
    pieces += [f"piece{number}" for number in range(max(0, vocab - len(tokens) - len(pieces)))]
    tokens = (tokens + pieces)[:vocab]
    tokens[-1] = call or tokens[-1]
    kinds = (kinds + [1] * len(pieces))[:vocab]
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_scores([-float(index) for index in range(vocab)])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(END_TOKEN)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)


SHA256 = "4f0c1a86ee2a2e7a2d5f0d9b4a6e3c8f6b1d7a9c0e5f3b2a1d4c6e8f0a9b7c5d"


def lfs_pointer(path: str | Path, size: int = 16_536_457_408) -> Path:
    """What `git clone` leaves without git-lfs."""
    return _write(path, f"version https://git-lfs.github.com/spec/v1\noid sha256:{SHA256}\nsize {size}\n".encode())


def html_page(path: str | Path, compressed: bool = False) -> Path:
    """What a browser download of the wrong link leaves."""
    page = (
        b"<!doctype html>\n<html class=''><head><title>Access denied - Example Hub</title></head><body>x</body></html>"
    )
    return _write(path, gzip.compress(page) if compressed else page)


def json_error(path: str | Path) -> Path:
    """What `curl -o model.gguf` leaves of a gated repository."""
    return _write(path, json.dumps({"error": "Access to model example/model is restricted."}).encode())


def safetensors(path: str | Path) -> Path:
    """A safetensors file with one tensor."""
    head = json.dumps({"weight": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    return _write(path, struct.pack("<Q", len(head)) + head + bytes(8))


def pytorch_zip(path: str | Path) -> Path:
    """A checkpoint as torch.save writes it since 1.6, with a pickle that must never be loaded."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"cos\nsystem\n(S'exit 1'\ntR.")
        archive.writestr("archive/version", "3\n")
    return Path(path)


def truncate(path: str | Path, missing: int) -> Path:
    """Take `missing` bytes off the end of a file."""
    os.truncate(path, os.path.getsize(path) - missing)
    return Path(path)


def _write(path: str | Path, data: bytes) -> Path:
    path = Path(path)
    path.write_bytes(data)
    return path
