"""All rows of a start together: the one function others call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.memory.compute import compute_rows
from doctor.memory.defaults import NEWEST, settle
from doctor.memory.draft import SMALL, model_rows, mtp_rows
from doctor.memory.kv import cache_bytes, caches, kv_rows
from doctor.memory.overhead import overhead
from doctor.memory.placement import CPU, place
from doctor.memory.recurrent import recurrent_rows, state
from doctor.memory.result import Budget, Refusal, Row
from doctor.memory.weights import weight_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from doctor.memory.defaults import Settings
    from doctor.memory.model import Model
    from doctor.memory.options import Options
    from doctor.memory.result import Device

MIB = 1 << 20


def budget(
    model: Model,
    options: Options,
    build: int | None = None,
    devices: Sequence[Device] = (),
    draft: Model | None = None,
    mmproj: Model | None = None,
) -> Budget | Refusal:
    """What a start of llama-server needs on each device, or why it would be refused.

    `draft` is the model of --model-draft, `mmproj` the file of --mmproj. Nothing is shrunk to fit.
    """
    settings = settle(model, options, NEWEST if build is None else build)
    if isinstance(settings, Refusal):
        return settings
    where = place(model, settings, devices)
    if isinstance(where, Refusal):
        return where
    compute = compute_rows(model, settings, where)
    if isinstance(compute, Refusal):
        return compute
    rows = [
        *(
            Row(name, "weights", size, 64 << 10, "tensors of the file")
            for name, size in weight_rows(model, settings, where).items()
        ),
        *(Row(name, "kv", size, 64 << 10, "KV cache") for name, size in kv_rows(model, settings, where).items()),
        *(
            Row(name, "recurrent", size, 64 << 10, "recurrent state")
            for name, size in recurrent_rows(model, settings, where).items()
        ),
        *compute.rows,
        Row(where.pinned, "output", 4 * model.vocabulary * settings.slots, 64 << 10, "logits of one token a slot"),
        *_host_rows(model, settings),
        *(mtp_rows(model, settings, where) if settings.mtp and model.layers.mtp and draft is None else ()),
        *(Row(device.name, "overhead", *overhead(device.backend), "the driver's context") for device in where.devices),
    ]
    if draft is not None:
        more, refusal = model_rows(draft, options, settings, where.devices)
        if refusal is not None:
            return refusal
        rows += more
    if mmproj is not None:
        size = sum(tensor.bytes or 0 for tensor in mmproj.tensors.values())
        home = where.devices[0].name if where.devices and options.mmproj_offload else CPU
        rows.append(Row(home, "mmproj", size, SMALL, "weights of the multimodal projector"))
        rows.append(Row(home, "mmproj-compute", size // 3, size // 3, "estimated: it grows with the size of an image"))
    return Budget(
        rows=tuple(row for row in rows if row.bytes),
        n_ctx=settings.ctx,
        n_ctx_seq=settings.ctx_seq,
        n_ubatch=settings.ubatch,
        slots=settings.slots,
        unified=settings.unified,
        flash=settings.flash,
        gpu_layers=where.on_cards,
        all_layers=model.block_count + 1,
        notes=settings.notes,
        exact=compute.exact,
    )


def _host_rows(model: Model, settings: Settings) -> Iterator[Row]:
    """Host memory that grows while the server works, at most to this."""
    layers = model.layers
    kept = sum(state(model)) * 4 * layers.recurrent
    if settings.checkpoints and (layers.recurrent or layers.windowed):
        seen = min(layers.window, settings.ctx_seq)
        window = sum(
            cache_bytes(cache._replace(cells=seen), settings.type_k, settings.type_v, 1, False)
            for cache in caches(model, settings)
            if cache.window
        )
        size = (kept + window) * settings.checkpoints * settings.slots
        yield Row(CPU, "checkpoints", size, size // 4, f"{settings.checkpoints} checkpoints a slot, at most", True)
    if settings.cache_ram_mib > 0:
        yield Row(CPU, "prompt-cache", settings.cache_ram_mib * MIB, 0, "--cache-ram, at most", True)
