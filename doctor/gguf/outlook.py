"""How long a header will be, judged from its beginning: what to ask for when the rest must be fetched."""

from __future__ import annotations

import io
from typing import NamedTuple

from doctor.gguf.cursor import Cursor, CutOff, HeaderError
from doctor.gguf.header import Draft, walk

TOKENS = "tokenizer.ggml.tokens"
MERGES = "tokenizer.ggml.merges"
SCORES = "tokenizer.ggml.scores"
KINDS = "tokenizer.ggml.token_type"
TEMPLATE = "tokenizer.chat_template"

LARGE_VOCABULARY = 110_000
"""Below, a BPE vocabulary has about as many merges as tokens; above, up to 2.2 times as many (Llama 3, o200k, Gemma 4)."""


class Size(NamedTuple):
    """Bytes for each token of a vocabulary: strings of 8 bytes and a text, in most and in nearly all models."""

    likely: float
    most: float


# Measured on the vocabularies in llama.cpp's models/ (0.25.3 of ggml): 12.9 to 19.6 bytes a token, 16.0 to 20.7 a merge.
TOKEN = Size(16.9, 20.0)
MERGE = Size(18.0, 19.0)
GROWTH = Size(1.03, 1.25)
"""How much longer than those seen the rest of a list of strings is, once half of it has been seen."""
NUMBER = 4
CHARACTER_MAP = 240_000
"""`precompiled_charsmap` of a T5 vocabulary."""
TEMPLATE_BYTES = Size(8_000, 24_000)
KEY_BYTES = 64
"""A key with a short value; the keys behind a vocabulary are of this kind."""
TENSOR_BYTES = 64
"""A tensor's name, shape, type and place: 55 to 70 on average in every model seen."""
SLACK = 1.02


class Outlook(NamedTuple):
    """`done`: nothing more is needed, the header ends in what is there or is damaged before. Else where it ends.

    `likely` is the end in bytes from the start of the file as most models have it, `most` as nearly all have it.
    """

    done: bool
    likely: int
    most: int


def look_ahead(data: bytes, size: int) -> Outlook:
    """What the first bytes of a file of `size` bytes say about the length of its header."""
    draft = Draft()
    cursor = Cursor(io.BytesIO(data), size)
    try:
        walk(cursor, draft)
    except CutOff:
        if not cursor.wanted or len(data) >= size:
            return Outlook(True, len(data), len(data))
    except HeaderError:
        return Outlook(True, len(data), len(data))
    else:
        return Outlook(True, cursor.offset, cursor.offset)
    reached = max(cursor.wanted, cursor.offset)
    if not draft.version:
        return Outlook(False, min(size, reached), min(size, reached))
    likely, most = (reached + _rest(draft, cursor, index) for index in (0, 1))
    return Outlook(False, min(size, int(likely)), min(size, int(most)))


def _rest(draft: Draft, cursor: Cursor, index: int) -> float:
    """Bytes still to come; `index` chooses between the sizes that are likely and those that are high."""
    rest = 0.0
    if draft.keys_left:
        rest = _strings(draft, cursor, index) + _vocabulary(draft, cursor, index) + KEY_BYTES * draft.keys_left
    read = len(draft.tensors)
    # With some tensors seen the others are like them.
    each = (cursor.offset - draft.tensors_offset) / read if read > 8 else TENSOR_BYTES
    return (rest + each * draft.tensors_left) * SLACK + 1024


def _strings(draft: Draft, cursor: Cursor, index: int) -> float:
    """The rest of the array of strings in which the data ends."""
    left = cursor.strings_left
    if not left:
        return 0.0
    key = next(reversed(draft.lengths))
    done = draft.lengths[key] - left
    seen = (cursor.offset - draft.array_offset) / done if done else 0.0
    usual = (TOKEN if key == TOKENS else MERGE)[index]
    # The first tokens and merges are the shortest: their mean counts only once it is a fair sample, and then grows.
    each = seen * GROWTH[index] if done > left else max(usual, seen)
    return left * each


def _vocabulary(draft: Draft, cursor: Cursor, index: int) -> float:
    """The arrays and texts that follow a list of tokens and have not begun."""
    count = draft.lengths.get(TOKENS)
    if count is None:
        return 0.0
    model = draft.values.get("tokenizer.ggml.model")
    pairs = model in ("gpt2", "gemma4") or MERGES in draft.lengths
    rest = 0.0
    if KINDS not in draft.lengths:
        rest += NUMBER * count
    if SCORES not in draft.lengths and KINDS not in draft.lengths and model != "gpt2":
        rest += NUMBER * count
    if pairs and MERGES not in draft.lengths:
        merges = count * (2.25 if index and count > LARGE_VOCABULARY else 1.0)
        rest += merges * MERGE[index]
    if model == "t5":
        rest += CHARACTER_MAP
    if TEMPLATE not in draft.values and count > 1000:
        rest += TEMPLATE_BYTES[index]
    return rest
