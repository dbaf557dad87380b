"""What the options mean on a build: defaults, limits and refusals as llama-server works them out before it loads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from doctor.memory.cells import pad
from doctor.memory.result import Refusal
from doctor.memory.types import CACHE_TYPES

if TYPE_CHECKING:
    from doctor.memory.model import Model
    from doctor.memory.options import Options

NEWEST = 11434
"""The build whose source was read."""


class Since(NamedTuple):
    """A default from a build on; None: the model or the machine decides."""

    build: int
    value: int | None


# Each list is oldest first. Builds from the history of the options (shared with rules/tables/options.json).
CTX = (Since(0, 512), Since(3087, None), Since(4014, 4096), Since(7407, None))
SLOTS = (Since(0, 1), Since(6925, 4))
"""From b6925 on, four slots and one cache for all when neither -np nor --kv-unified is given."""
GPU_LAYERS = (Since(0, 0), Since(6325, None))
FLASH_AUTO = 6325
"""Before, flash attention was a switch, off by default."""
STREAMS = 5913
"""Before, all slots shared one cache, always (--kv-unified is of this build)."""
CHECKPOINTS = (Since(0, 0), Since(6160, 3), Since(6723, 8), Since(8218, 32))
CACHE_RAM = (Since(0, 0), Since(6723, 8192))
DRAFT_N_MAX = (Since(0, 5), Since(4159, 16), Since(9235, 3))
SWA_CACHE = 5429
"""Before, layers with a sliding window kept the whole context."""
FEW_OUTPUTS = 9310
"""From about this build on (May 2026) the server asks for logits of some rows of a step only; before, of all."""
MTP = 9180
"""--spec-type draft-mtp exists, and with it copies of the recurrent state per drafted token."""
RECURRENT_DRAFTS = frozenset({"draft-mtp", "draft-eagle3", "draft-dflash", "draft-dspark"})
"""Kinds of drafting that keep a copy of the recurrent state for each drafted token."""


def at(table: tuple[Since, ...], build: int) -> int | None:
    """The default of a build."""
    return [item.value for item in table if item.build <= build][-1]


@dataclass(frozen=True)
class Settings:
    """Options worked out for one model and build. Tokens; `ctx` is of all slots together, `ctx_seq` of one slot.

    `streams` is the number of separate caches. `gpu_layers` counts blocks and the output layer. `rs_copies` are the
    copies of the recurrent state kept beside the current one. `outputs` is how many rows of logits one step may give.
    """

    build: int
    ctx: int
    ctx_seq: int
    slots: int
    unified: bool
    batch: int
    ubatch: int
    gpu_layers: int
    flash: bool
    type_k: str
    type_v: str
    rs_copies: int
    outputs: int
    mtp: bool
    draft_n_max: int
    cache_ram_mib: int
    checkpoints: int
    options: Options
    notes: tuple[str, ...] = ()

    @property
    def streams(self) -> int:
        """Separate caches: one a slot, or one for all."""
        return 1 if self.unified else self.slots

    def with_note(self, note: str) -> Settings:
        """The same with one more sentence."""
        return replace(self, notes=(*self.notes, note))


def settle(model: Model, options: Options, build: int) -> Settings | Refusal:
    """The settings of a start, or why it would be refused."""
    slots, unified = _slots(options, build)
    if slots < 1:
        return Refusal("option", f"-np {options.parallel}: at least one slot is needed")
    if slots > MAX_SLOTS:
        return Refusal("option", f"-np {slots}: llama.cpp allows {MAX_SLOTS} slots")
    asked = options.ctx if options.ctx is not None else at(CTX, build)
    trained = model.number("context_length")
    if asked is not None and asked < 0:
        return Refusal("option", f"-c {asked} is no size of a context")
    ctx = pad(asked or trained or 4096, 256)
    if ctx > MAX_CTX:
        return Refusal("option", f"a context of {ctx} tokens is more than llama.cpp can count")
    notes = []
    batch = min(positive(options.batch, 2048), asked or trained or 4096)
    ubatch = min(positive(options.ubatch, 512), batch)
    ctx_seq = ctx
    if not unified:
        ctx_seq = pad(max(1, ctx // slots), 256)
        ctx = ctx_seq * slots
    kinds = _kinds(model, options, build, slots)
    if isinstance(kinds, Refusal):
        return kinds
    flash, type_k, type_v = kinds
    draft_n_max = positive(options.draft_n_max, at(DRAFT_N_MAX, build) or 0)
    copies = draft_n_max if build >= MTP and RECURRENT_DRAFTS & set(options.spec_types) else 0
    drafting = bool(options.spec_types and set(options.spec_types) != {"none"}) or options.draft_model
    mtp = "draft-mtp" in options.spec_types and build >= MTP
    if mtp and not model.layers.mtp and not options.draft_model:
        return Refusal(
            "draft", "--spec-type draft-mtp needs a file with the blocks for multi-token prediction: this one has none"
        )
    gpu = options.ngl if options.ngl is not None else at(GPU_LAYERS, build)
    everything = model.block_count + 1
    gpu_layers = everything if gpu is None or isinstance(gpu, str) or gpu < 0 else min(gpu, everything)
    if trained and ctx_seq > trained:
        notes.append(f"a slot's context of {ctx_seq} tokens is longer than the {trained} the model was trained for")
    return Settings(
        build=build,
        ctx=ctx,
        ctx_seq=ctx_seq,
        slots=slots,
        unified=unified,
        batch=batch,
        ubatch=ubatch,
        gpu_layers=gpu_layers,
        flash=flash,
        type_k=type_k,
        type_v=type_v,
        rs_copies=copies,
        outputs=ubatch if build < FEW_OUTPUTS else slots * (1 + draft_n_max) if drafting else slots,
        mtp=mtp,
        draft_n_max=draft_n_max,
        cache_ram_mib=options.cache_ram_mib if options.cache_ram_mib is not None else at(CACHE_RAM, build) or 0,
        checkpoints=options.checkpoints if options.checkpoints is not None else at(CHECKPOINTS, build) or 0,
        options=options,
        notes=tuple(notes),
    )


MAX_SLOTS = 256
"""LLAMA_MAX_SEQ."""
MAX_CTX = 1 << 31


def positive(value: int | None, default: int) -> int:
    """An option, or the default where it is not given or not positive."""
    return value if value is not None and 0 < value < 1 << 31 else default


def _slots(options: Options, build: int) -> tuple[int, bool]:
    """(slots, whether they share one cache)."""
    given = options.parallel
    if given is not None and given < 0 and build >= 7433:
        given = None
    if given is None:
        slots = at(SLOTS, build) or 1
        shared = slots > 1 if options.unified is None else options.unified
        if options.unified is not None and build < 7433:
            slots = 1
        return slots, shared or build < STREAMS
    return given, bool(options.unified) or build < STREAMS


def _kinds(model: Model, options: Options, build: int, slots: int) -> tuple[bool, str, str] | Refusal:
    """(flash attention, type of K, type of V), or which of them do not go together."""
    type_k, type_v = (options.type_k or "f16").lower(), (options.type_v or "f16").lower()
    for name, kind in (("--cache-type-k", type_k), ("--cache-type-v", type_v)):
        if kind not in CACHE_TYPES:
            return Refusal("kv-type", f"{name} {kind[:40]}: Unsupported cache type; known are {', '.join(CACHE_TYPES)}")
    layers = model.layers
    if layers.mla and type_k != type_v:
        return Refusal(
            "kv-type",
            f"model does not support different K ({type_k}) and V ({type_v}) cache types: it keeps one row for both (MLA)",
        )
    flash = options.flash == "on" or (options.flash != "off" and build >= FLASH_AUTO)
    if CACHE_TYPES[type_v].block > 1 and not flash:
        words = "flash attention is off by default on this build" if options.flash is None else "-fa off"
        return Refusal(
            "kv-type", f"quantized V cache requires flash_attn to be enabled: -ctv {type_v} does not go with {words}"
        )
    if not layers.attention:
        return flash, type_k, type_v
    for side, kind, length in (("K", type_k, layers.key_length), ("V", type_v, layers.value_length)):
        block = CACHE_TYPES[kind].block
        if length % block and not (side == "V" and layers.mla):
            return Refusal(
                "kv-type",
                f"{side} cache type {kind} with block size {block} does not divide n_embd_head_{side.lower()} ({length})",
            )
    return flash, type_k, type_v
