"""What the arithmetic gives: rows of bytes per device, and the refusal that stands for a start that fails."""

from __future__ import annotations

from dataclasses import dataclass

CONTEXT_KINDS = frozenset({"kv", "recurrent"})
"""Kinds that llama.cpp's memory breakdown puts together as "context"."""

IN_BREAKDOWN = frozenset({"weights", "kv", "recurrent", "compute"})
"""Kinds of the main context that llama.cpp's memory breakdown has. The others it does not count there."""


@dataclass(frozen=True)
class Device:
    """A card (or the Metal GPU) that the server may use. `name` as in llama.cpp's log ("CUDA0", "Vulkan1").

    `backend`: cuda, rocm, vulkan, metal, sycl. `total` and `free` are bytes as the driver reports them, None where not
    known; the arithmetic uses them only to share layers out between several cards, as llama.cpp does.
    """

    name: str
    backend: str
    total: int | None = None
    free: int | None = None


@dataclass(frozen=True)
class Row:
    """One use of memory: `bytes` on `device`, give or take `plus_minus`.

    `device` is a device's name, or where host memory is accounted: "CUDA_Host" (pinned), "CPU", "CPU_REPACK".
    `kind`: weights, kv, recurrent, compute, output, draft-weights, draft-kv, draft-recurrent, draft-compute, mmproj,
    mmproj-compute, checkpoints (at most: grows with use), prompt-cache (at most), overhead (the driver's context).
    `optional` rows are reached only with time (checkpoints, prompt cache). `why` is a short English phrase.
    """

    device: str
    kind: str
    bytes: int
    plus_minus: int
    why: str
    optional: bool = False


@dataclass(frozen=True)
class Refusal:
    """llama.cpp would not start like this. `message` is one line, `reason` a word to tell kinds apart.

    `reason`: header (not a model that can be loaded), option (a value it refuses), kv-type (a cache type that does not
    go with this model or with flash attention off), draft, graph (more nodes than it allows), unknown-architecture.
    """

    reason: str
    message: str


@dataclass(frozen=True)
class Budget:
    """What the command needs. Tokens: `n_ctx` of all slots together, `n_ctx_seq` of one; `n_ubatch` of a step.

    `slots` is -np as it works out, `unified` whether they share one cache; `flash` whether flash attention is on;
    `gpu_layers` how many of `all_layers` (blocks and the output layer) lie on cards. `notes` are sentences worth
    telling: what a build does with an option, what is estimated. `exact` is whether compute buffers were computed from a
    graph that is known for this architecture, not by analogy.
    """

    rows: tuple[Row, ...]
    n_ctx: int
    n_ctx_seq: int
    n_ubatch: int
    slots: int
    unified: bool
    flash: bool
    gpu_layers: int
    all_layers: int
    notes: tuple[str, ...]
    exact: bool

    def total(self, device: str | None = None, *, optional: bool = False) -> int:
        """Bytes on a device, of everywhere when it is None. `optional` rows count only when asked for."""
        return sum(
            row.bytes
            for row in self.rows
            if (device is None or row.device == device) and (optional or not row.optional)
        )

    def plus_minus(self, device: str) -> int:
        """How far `total(device)` may be off, in bytes: the rows' own doubts added up."""
        return sum(row.plus_minus for row in self.rows if row.device == device and not row.optional)

    def devices(self) -> tuple[str, ...]:
        """The places that hold something, in the order of the rows."""
        return tuple(dict.fromkeys(row.device for row in self.rows))

    def breakdown(self) -> dict[str, dict[str, int]]:
        """Device -> model, context, compute: the main context as llama.cpp's memory breakdown prints it."""
        found: dict[str, dict[str, int]] = {}
        for row in self.rows:
            if row.kind in IN_BREAKDOWN:
                column = {"weights": "model", "compute": "compute"}.get(row.kind, "context")
                found.setdefault(row.device, {"model": 0, "context": 0, "compute": 0})[column] += row.bytes
        return found
