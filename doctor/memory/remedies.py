"""What helps a start that does not fit, the cheapest first: each step with what it saves and whether it is enough."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from doctor.memory.goals import SHORTEST
from doctor.memory.planner import Planner, expert_bytes
from doctor.memory.search import CTX_STEP, Found, Rates, largest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.memory.options import Options
    from doctor.memory.rooms import Outcome, Wish

SMALL_BATCH = 128
"""A micro-batch of this many tokens costs a third of the speed of reading prompts and saves most of the buffer."""


class Step(NamedTuple):
    """One remedy on top of those above it that cost nothing.

    `name`: slots, swa-full, flash, mmproj, mtp, ubatch, kv, context, experts, layers. `price`: none, speed, quality,
    context. `saved` are bytes on the fullest card beside the steps before, `fits` whether the command then fits.
    `value` is the number or type chosen.
    """

    name: str
    price: str
    value: str
    saved: int
    fits: bool
    options: Options


def remedies(planner: Planner, start: Outcome, *, free: bool = True, stretched: bool = False) -> tuple[Step, ...]:
    """The steps for a start that does not fit, in order of their price; nothing for one that fits.

    What costs nothing is kept for the steps after it, a smaller micro-batch only where it is enough. `free`: whether
    there is a command from which something can be taken away. `stretched`: the command makes the context longer than the
    model was trained for on purpose (RoPE scaling); otherwise no context longer than that is offered.
    """
    if start.fits or start.budget is None:
        return ()
    found: list[Step] = []
    now = start
    for name, price, value, options in _free(planner.wish, start) if free else ():
        changed = _merged(now.options, start.options, options)
        then = planner.scales.weigh(changed)
        if then.budget is None or then.spare <= now.spare or (name == "ubatch" and not then.fits):
            continue
        found.append(Step(name, price, value, then.spare - now.spare, then.fits, changed))
        now = then
        if then.fits:
            return tuple(found)
    return (*found, *_dear(planner, now, stretched))


def _merged(now: Options, start: Options, changed: Options) -> Options:
    """The changes between `start` and `changed`, made to `now`."""
    different = {name: value for name, value in vars(changed).items() if value != getattr(start, name)}
    return replace(now, **different)


def _free(wish: Wish, start: Outcome) -> Iterator[tuple[str, str, str, Options]]:
    options, found = start.options, start.budget
    assert found is not None
    if found.slots > wish.slots:
        yield "slots", "none", str(wish.slots), replace(options, parallel=wish.slots, unified=None)
    if options.swa_full:
        yield "swa-full", "none", "", replace(options, swa_full=False)
    if not found.flash and wish.abilities.flash:
        yield "flash", "none", "on", replace(options, flash="on")
    if wish.mmproj is not None and options.mmproj_offload and wish.abilities.mmproj_offload:
        yield "mmproj", "speed", "", replace(options, mmproj_offload=False)
    if "draft-mtp" in options.spec_types:
        kept = tuple(kind for kind in options.spec_types if kind != "draft-mtp")
        yield "mtp", "speed", "", replace(options, spec_types=kept, draft_n_max=None)
    batch = found.n_ubatch
    if batch > 512:
        yield "ubatch", "speed", "512", replace(options, ubatch=512)
    elif batch > SMALL_BATCH:
        yield "ubatch", "speed", str(SMALL_BATCH), replace(options, ubatch=SMALL_BATCH)


def _dear(planner: Planner, now: Outcome, stretched: bool) -> Iterator[Step]:
    """What costs quality, context or speed. A type of cache that is not enough alone stays for the steps after it."""
    wish, options, found = planner.wish, now.options, now.budget
    assert found is not None

    def step(name: str, price: str, value: str, then: Outcome) -> Step:
        return Step(name, price, value, then.spare - now.spare, then.fits, then.options)

    current = (options.type_k or "f16", options.type_v or "f16")
    bases = [options]
    for kind in planner.kinds:
        if kind == "f16" or (kind, kind) == current:
            continue
        changed = replace(options, type_k=kind, type_v=kind, flash="on" if wish.abilities.flash else options.flash)
        then = planner.scales.weigh(changed)
        if then.budget is not None and then.spare > now.spare:
            yield step("kv", "quality", kind, then)
            if then.fits:
                break
            bases.append(changed)
    slots = found.slots if not found.unified else 1
    limit = found.n_ctx_seq if stretched else min(found.n_ctx_seq, planner.trained)
    for base in bases:
        longest = _longest(planner, base, limit, slots)
        if longest is not None and (not longest.top or limit < found.n_ctx_seq):
            yield step("context", "context", f"{longest.number}{_with(base, options)}", longest.outcome)
            if longest.top:
                break
    base = bases[min(1, len(bases) - 1)]
    blocks = wish.model.block_count
    start = planner.scales.weigh(base)
    moe = expert_bytes(wish)
    if wish.abilities.experts_on_host and moe and not options.cpu_moe:
        rate = Rates(moe / blocks / max(1, len(wish.rooms)))
        kept = largest(
            0,
            blocks - 1,
            1,
            lambda count: planner.scales.weigh(replace(base, cpu_moe=blocks - count)),
            lambda _: rate,
            start,
        )
        if kept is not None:
            yield step("experts", "speed", f"{blocks - kept.number}{_with(base, options)}", kept.outcome)
            return
    top = start.budget.gpu_layers - 1 if start.budget is not None else blocks
    layers = largest(
        0, max(0, top), 1, lambda count: planner.scales.weigh(replace(base, ngl=count)), planner.layer_rate, start
    )
    if layers is not None:
        yield step("layers", "speed", f"{layers.number}{_with(base, options)}", layers.outcome)


def _longest(planner: Planner, base: Options, asked: int, slots: int) -> Found | None:
    def weigh(ctx: int) -> Outcome:
        return planner.scales.weigh(replace(base, ctx=ctx * slots))

    return largest(min(SHORTEST, asked), asked, CTX_STEP, weigh, planner.rates)


def _with(base: Options, options: Options) -> str:
    """The cache type that goes with a step, where it is not the one the command has: " q8_0"."""
    return f" {base.type_k}" if base is not options else ""
