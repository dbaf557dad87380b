"""Which builds of llama.cpp know everything in a model file: its architecture, its pre-tokenizer, its tensor types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.record import Unknown, known

if TYPE_CHECKING:
    from doctor.facts.gguf.record import Gguf
    from doctor.outside import Outside


class Need(NamedTuple):
    """Something in the file, and the builds that know it (`last` None: the newest one still does)."""

    words: str
    first: int
    last: int | None


def needs_of(outside: Outside, gguf: Gguf) -> dict[str, Any]:
    """The facts needs_build, needs_because and last_build of a model file."""
    from doctor.engine.load import read_table, rules_folder
    from doctor.engine.reader import RuleError

    architecture = known(gguf.architecture)
    if known(gguf.kind) not in ("model", "draft-part") or architecture is None:
        return _all(Unknown("the file names no architecture of a language model"))
    try:
        table = read_table(outside, rules_folder(outside), "model_builds.json")
    except RuleError as error:
        return _all(Unknown(str(error)))
    if architecture not in table["architectures"]:
        return _all(Unknown(f"the architecture {architecture[:60]} is not known here"))
    needs = [Need(f"the architecture {architecture}", *table["architectures"][architecture])]
    pre = known(gguf.tokenizer_pre)
    if pre in table["pre_tokenizers"]:
        needs.append(Need(f"the pre-tokenizer {pre}", *table["pre_tokenizers"][pre]))
    for share in known(gguf.types) or ():
        row = table["tensor_types"].get(share.type.lower())
        if row is not None:
            needs.append(Need(f"the tensor type {share.type}", *row))
    newest = max(needs, key=lambda need: need.first)
    ends = [need.last for need in needs if need.last is not None]
    return {
        "needs_build": newest.first,
        "needs_because": newest.words,
        "last_build": min(ends) if ends else None,
    }


def _all(reason: Unknown) -> dict[str, Any]:
    return {"needs_build": reason, "needs_because": reason, "last_build": reason}
