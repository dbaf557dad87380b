"""How large the same model is at other quantisations, from the shapes of its tensors.

The mixes follow llama_tensor_get_type of llama.cpp's quantiser (b11434) for a plain run without an importance matrix;
what publishers make differs by some per cent. The estimate is scaled so that it is right for the file at hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from doctor.gguf.types import TYPES

if TYPE_CHECKING:
    from doctor.gguf.header import Tensor
    from doctor.memory.model import Model

_BY_NAME = {kind.name: kind for kind in TYPES.values()}


class Mix(NamedTuple):
    """A file type: `base` is what most tensors become; the output layer, the embedding and attn_v have types of their own.

    ffn_down is of type `down` in `down_part` of the blocks, elsewhere of `base`.
    """

    name: str
    base: str
    output: str
    embedding: str
    value: str
    down: str
    down_part: float


MIXES = (
    Mix("Q8_0", "Q8_0", "Q8_0", "Q8_0", "Q8_0", "Q8_0", 1.0),
    Mix("Q6_K", "Q6_K", "Q6_K", "Q6_K", "Q6_K", "Q6_K", 1.0),
    Mix("Q5_K_M", "Q5_K", "Q6_K", "Q5_K", "Q6_K", "Q6_K", 0.5),
    Mix("Q5_K_S", "Q5_K", "Q6_K", "Q5_K", "Q5_K", "Q5_K", 1.0),
    Mix("Q4_K_M", "Q4_K", "Q6_K", "Q4_K", "Q6_K", "Q6_K", 0.5),
    Mix("Q4_K_S", "Q4_K", "Q6_K", "Q4_K", "Q5_K", "Q5_K", 0.125),
    Mix("IQ4_XS", "IQ4_XS", "Q6_K", "IQ4_XS", "Q5_K", "Q5_K", 0.125),
    Mix("Q3_K_M", "Q3_K", "Q6_K", "Q3_K", "Q4_K", "Q4_K", 1.0),
    Mix("IQ3_XXS", "IQ3_XXS", "Q5_K", "IQ3_S", "Q4_K", "Q4_K", 0.125),
    Mix("Q2_K", "Q2_K", "Q6_K", "Q2_K", "Q4_K", "Q3_K", 1.0),
)
"""Largest first."""
_FULL = frozenset({"F32", "F16", "BF16"})


class Size(NamedTuple):
    """A quantisation: bytes of the file and of what lies on the cards with every layer there."""

    name: str
    file: int
    card: int


def sizes(model: Model) -> tuple[Size, ...]:
    """The estimated size at each quantisation, largest first; none for a file that is trained in its own type (MXFP4)."""
    tensors = tuple(model.tensors.values())
    total = sum(tensor.bytes or 0 for tensor in tensors)
    own = kind_of(model)
    if own.startswith(("MXFP4", "NVFP4", "TQ", "Q1", "Q2_0")):
        return ()
    mix = next((item for item in MIXES if item.name == own), None)
    estimated = sum(_bytes(tensor, mix) for tensor in tensors) if mix else 0
    factor = total / estimated if estimated and 0.8 < total / estimated < 1.25 else 1.0
    found = []
    for item in MIXES:
        if item.name == own:
            found.append(
                Size(item.name, total, sum(tensor.bytes or 0 for tensor in tensors if _on_card(tensor, model)))
            )
            continue
        file = sum(_bytes(tensor, item) for tensor in tensors)
        card = sum(_bytes(tensor, item) for tensor in tensors if _on_card(tensor, model))
        found.append(Size(item.name, int(file * factor), int(card * factor)))
    return tuple(found)


def kind_of(model: Model) -> str:
    """The name of the file's own quantisation, as its header has it; "" when it does not say."""
    from doctor.gguf.types import FILE_TYPES

    number = model.values.get("general.file_type")
    return FILE_TYPES.get(number & 1023, "") if isinstance(number, int) else ""


def _on_card(tensor: Tensor, model: Model) -> bool:
    return not tensor.name.startswith(("token_embd.", "per_layer_token_embd.")) or (
        model.tied and tensor.name == "token_embd.weight"
    )


def _bytes(tensor: Tensor, mix: Mix | None) -> int:
    if mix is None or len(tensor.shape) < 2 or tensor.elements < 65536 or _kept(tensor):
        return tensor.bytes or 0
    stem = tensor.name.split(".", 2)[-1] if tensor.name.startswith("blk.") else tensor.name
    if stem.startswith("output."):
        return _at(tensor, mix.output)
    if stem.startswith(("token_embd.", "per_layer_token_embd.")):
        return _at(tensor, mix.embedding)
    if stem.startswith(("attn_v.", "attn_v_b.")):
        return _at(tensor, mix.value)
    if stem.startswith("ffn_down"):
        return int(_at(tensor, mix.down) * mix.down_part + _at(tensor, mix.base) * (1 - mix.down_part))
    return _at(tensor, mix.base)


def _kept(tensor: Tensor) -> bool:
    """Tensors the quantiser leaves as they are: routers, convolutions, the small ones of recurrent blocks."""
    kind = TYPES.get(tensor.type)
    if kind is None:
        return True
    return kind.name in _FULL and (
        "ffn_gate_inp" in tensor.name
        or "ssm_" in tensor.name
        or "shortconv" in tensor.name
        or "time_mix" in tensor.name
    )


def _at(tensor: Tensor, kind: str) -> int:
    found = _BY_NAME[kind]
    if tensor.shape[0] % found.block:  # rows that the block does not divide fall back to a type of 32
        found = _BY_NAME["Q5_0" if found.bytes * 8 / found.block < 5.5 else "Q8_0"]
    return tensor.elements // found.block * found.bytes
