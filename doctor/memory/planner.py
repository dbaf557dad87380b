"""Plans: what fits on these cards, and the set-ups for speed, for a long context and in between.

A search over `doctor.memory.budget` and nothing else. Every choice is the first of a fixed order that fits, so a larger
card is never given a worse plan of the same goal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from doctor.memory.defaults import CHECKPOINTS, at
from doctor.memory.goals import GOALS, PROFILES, SHORTEST, Goal
from doctor.memory.rooms import Scales, host_bytes
from doctor.memory.search import CTX_STEP, Found, Rates, largest
from doctor.memory.setup import Setup, has_mtp, kv_types, options_of
from doctor.memory.types import CACHE_TYPES

if TYPE_CHECKING:
    from doctor.memory.options import Options
    from doctor.memory.result import Budget
    from doctor.memory.rooms import Outcome, Wish

MIB = 1 << 20


@dataclass(frozen=True)
class Profile:
    """A set-up that fits. `spare` are bytes left free on the fullest card, the margin included. `stop` says what keeps it
    from being larger; `reason` more where that is not the memory.

    `stop`: memory (one step more of context does not fit), trained (the model's whole context), asked (what the user
    wanted), enough (a cache of lower quality only up to what is needed; layers on the host only as far as needed).
    `same_as` is the profile that came out alike.
    """

    goal: str
    setup: Setup
    options: Options
    budget: Budget
    spare: int
    host_spare: int
    stop: str
    same_as: str = ""


class ContextRow(NamedTuple):
    """The largest context of one slot with a cache type, everything on the cards. `tokens` is None when none fits.

    `trained`: it is the model's whole context, more would fit.
    """

    kv: str
    tokens: int | None
    trained: bool
    need: int


@dataclass(frozen=True)
class Plan:
    """All that was found out. `profiles` hold the goals that can be had, in the order asked for.

    `smallest` is what everything on the cards needs at least, with `shortest` tokens and the smallest cache type, and
    `over` how much of that the cards lack, their margin counted (negative where it fits). `token` are the bytes of one
    more token with that type, about. `looks` is how many set-ups were weighed.
    """

    contexts: tuple[ContextRow, ...]
    profiles: tuple[Profile, ...]
    missing: tuple[tuple[str, str], ...]
    shortest: int
    smallest: int
    over: int
    token: float
    looks: int


def plan(wish: Wish, goals: tuple[str, ...] = PROFILES) -> Plan:
    """Plan for a wish. `missing` are (goal, why) of goals that cannot be had at all."""
    return plan_with(Planner(wish), goals)


def plan_with(planner: Planner, goals: tuple[str, ...]) -> Plan:
    """The same with a planner that has looked already."""
    contexts = planner.contexts()
    profiles: list[Profile] = []
    missing = []
    for name in goals:
        found = planner.profile(GOALS[name])
        if isinstance(found, str):
            missing.append((name, found))
            continue
        twin = next((other.goal for other in profiles if other.options == found.options), "")
        profiles.append(Profile(**{**vars(found), "same_as": twin}))
    shortest = min(SHORTEST, planner.trained)
    least = planner.least
    cards = (room.device.name for room in planner.wish.rooms)
    smallest = sum(map(least.budget.total, cards)) if least.budget is not None else 0
    token = planner.rates(least).guess
    return Plan(
        contexts, tuple(profiles), tuple(missing), shortest, smallest, -least.spare, token, planner.scales.count
    )


class Planner:
    """The search for one wish."""

    def __init__(self, wish: Wish) -> None:
        self.wish = wish
        self.scales = Scales(wish)
        self.kinds = kv_types(wish)
        self.trained = max(CTX_STEP, wish.trained // CTX_STEP * CTX_STEP)
        self._longest: dict[Setup, Found | None] = {}

    def weigh(self, setup: Setup) -> Outcome:
        return self.scales.weigh(options_of(self.wish, setup))

    def contexts(self) -> tuple[ContextRow, ...]:
        """The largest context per cache type with everything on the cards, without drafting."""
        rows = []
        for kind in self.kinds:
            found = self.longest(Setup(0, kind)) if self.whole else None
            if found is None or found.outcome.budget is None:
                rows.append(ContextRow(kind, None, False, 0))
                continue
            need = sum(found.outcome.budget.total(room.device.name) for room in self.wish.rooms)
            rows.append(ContextRow(kind, found.number, found.top, need))
        return tuple(rows)

    @property
    def least(self) -> Outcome:
        """Everything on the cards with the shortest context and the smallest cache type."""
        return self.weigh(Setup(min(SHORTEST, self.trained), self.kinds[-1]))

    @property
    def whole(self) -> bool:
        """Whether everything fits on the cards at all."""
        return self.least.fits

    def longest(self, setup: Setup) -> Found | None:
        """The largest context of a set-up, up to what the model was trained for; None when the shortest does not fit."""
        setup = setup._replace(ctx=0)
        if setup not in self._longest:
            low = min(SHORTEST, self.trained)
            self._longest[setup] = largest(
                low, self.trained, CTX_STEP, lambda ctx: self.weigh(setup._replace(ctx=ctx)), self.rates
            )
        return self._longest[setup]

    def rates(self, outcome: Outcome) -> Rates:
        """Bytes that one more token of context costs: at least the cache of the blocks that attend to everything."""
        found, wish = outcome.budget, self.wish
        if found is None:
            return Rates(0.0)
        layers = wish.model.layers
        names = [room.device.name for room in wish.rooms] or ["CPU", "CUDA_Host"]
        held = {name: sum(row.bytes for row in found.rows if row.kind == "kv" and row.device == name) for name in names}
        drafted = sum(row.bytes for row in found.rows if row.kind == "draft-kv")
        most = max(held.values()) + drafted
        # Windows keep their size: what full attention takes of the cache grows, the rest does not.
        full = layers.attention - layers.windowed
        type_k = (outcome.options.type_k or "f16").lower()
        kind = CACHE_TYPES.get(type_k, CACHE_TYPES["f16"])
        token = layers.kv_elements() * kind.bytes / kind.block * (1 if found.unified else found.slots)
        share = max(held.values()) / max(1, sum(held.values()))
        grows = token * share if layers.windowed else most / max(1, found.n_ctx_seq)
        copies = 0.0
        if type_k != "f16" and full:
            copies = 2 * layers.kv_elements() / full * (1 if found.unified else found.slots)
        sure = grows if not layers.windowed and len(wish.rooms) < 2 and wish.ram is None else 0.0
        return Rates(grows + copies + 2 * found.n_ubatch, sure)

    # --- profiles ------------------------------------------------------------------------------------------------

    def profile(self, goal: Goal) -> Profile | str:
        """The set-up for a goal, or why there is none."""
        kinds = tuple(kind for kind in goal.kv if kind in self.kinds) or self.kinds[:1]
        wanted = self.wish.ctx
        ways = [(True, kind) for kind in kinds] if goal.mtp and has_mtp(self.wish) and self.whole else []
        ways += [(False, kind) for kind in kinds]
        if wanted is not None and (goal.name != "context" or wanted >= self.trained):
            return self._asked(goal, wanted, ways)
        enough = min(goal.enough if wanted is None else wanted, self.trained)
        for mtp, kind in ways if self.whole else ():
            found = self.longest(Setup(0, kind, mtp))
            if found is None or found.number < enough:
                continue
            if kind != kinds[0]:
                return self._made(goal, Setup(enough, kind, mtp), "enough")
            if found.top:
                return self._made(goal, self._better(Setup(found.number, kind, mtp)), "trained")
            return self._made(goal, Setup(found.number, kind, mtp), "memory")
        return self._spread(goal, enough, kinds[0] if wanted is None else kinds[-1])

    def _asked(self, goal: Goal, wanted: int, ways: list[tuple[bool, str]]) -> Profile | str:
        """The best cache type, on the cards whole, for just the context the user wants."""
        ctx = -(-wanted // CTX_STEP) * CTX_STEP
        for mtp in dict.fromkeys(mtp for mtp, _ in ways):
            for kind in self.kinds:
                if self.weigh(Setup(ctx, kind, mtp)).fits:
                    return self._made(goal, Setup(ctx, kind, mtp), "asked")
        return self._spread(goal, ctx, ways[-1][1])

    def _better(self, setup: Setup) -> Setup:
        """The same with the best cache type that still fits."""
        for kind in self.kinds:
            if kind == setup.kv:
                break
            if self.weigh(setup._replace(kv=kind)).fits:
                return setup._replace(kv=kind)
        return setup

    def _spread(self, goal: Goal, ctx: int, kind: str) -> Profile | str:
        """As much as possible on the cards, the rest on the host."""
        if self.weigh(Setup(ctx, kind)).fits:
            return self._made(goal, Setup(ctx, kind), "enough")
        blocks = self.wish.model.block_count
        whole = self.weigh(Setup(ctx, kind))
        moe = expert_bytes(self.wish)
        if self.wish.abilities.experts_on_host and moe:
            found = largest(
                0,
                blocks - 1,
                1,
                lambda count: self.weigh(Setup(ctx, kind, experts=count)),
                lambda _: Rates(moe / blocks / max(1, len(self.wish.rooms))),
                whole,
            )
            if found is not None:
                return self._made(goal, self._stretched(Setup(ctx, kind, experts=found.number)), "memory")
        found = largest(0, blocks, 1, lambda count: self.weigh(Setup(ctx, kind, layers=count)), self.layer_rate, whole)
        if found is not None:
            return self._made(goal, self._stretched(Setup(ctx, kind, layers=found.number)), "memory")
        outcome = self.weigh(Setup(ctx, kind, layers=0))
        shorter = min(SHORTEST, self.trained)
        if outcome.budget is not None and self.wish.ctx is None and ctx > shorter:
            return self._spread(goal, shorter, kind)
        return outcome.refusal or "memory"

    def _stretched(self, setup: Setup) -> Setup:
        """The same with all the context that fits beside it: less than one block or layer more needs is left, and is free."""
        found = self.longest(setup) if self.wish.ctx is None else None
        return setup._replace(ctx=max(setup.ctx, found.number)) if found is not None else setup

    def layer_rate(self, outcome: Outcome) -> Rates:
        """Bytes of one more layer on the fullest card, about: all that lies there, by the layers there."""
        found = outcome.budget
        if found is None:
            return Rates(0.0)
        kinds = ("weights", "kv", "recurrent")
        held = [
            sum(row.bytes for row in found.rows if row.device == room.device.name and row.kind in kinds)
            for room in self.wish.rooms
        ]
        return Rates(max(held, default=0) / max(1, found.gpu_layers))

    def _made(self, goal: Goal, setup: Setup, stop: str) -> Profile:
        outcome = self._with_caches_that_fit(self.weigh(setup))
        assert outcome.budget is not None
        left = min(
            (room.usable - outcome.budget.total(room.device.name) for room in self.wish.rooms), default=outcome.spare
        )
        return Profile(goal.name, setup, outcome.options, outcome.budget, left, outcome.host_spare, stop)

    def _with_caches_that_fit(self, outcome: Outcome) -> Outcome:
        """The same with caches in RAM that grow with use (prompts, checkpoints) kept to what RAM there is."""
        wish, found = self.wish, outcome.budget
        if wish.ram is None or found is None or not wish.abilities.prompt_cache:
            return outcome
        over = host_bytes(found, wish.rooms, optional=True) - wish.ram
        if over <= 0:
            return outcome
        cached = sum(row.bytes for row in found.rows if row.kind == "prompt-cache")
        kept = max(0, cached - over) // (256 * MIB) * 256
        smaller = replace(outcome.options, cache_ram_mib=kept)
        if over > cached and wish.abilities.checkpoints:
            count = self._checkpoints()
            one = sum(row.bytes for row in found.rows if row.kind == "checkpoints") // max(1, count)
            fewer = max(0, count - -(-(over - cached) // max(1, one)))
            smaller = replace(smaller, checkpoints=fewer)
        return self.scales.weigh(smaller)

    def _checkpoints(self) -> int:
        """Checkpoints a slot keeps by default."""
        given = self.wish.options.checkpoints
        if given is None:
            given = at(CHECKPOINTS, self.wish.abilities.build) or 0
        return given


def expert_bytes(wish: Wish) -> int:
    """Bytes of the experts, which can stay on the host while the rest is on a card; 0 for a model without."""
    names = ("ffn_up_exps", "ffn_down_exps", "ffn_gate_exps", "ffn_gate_up_exps")
    return sum(
        tensor.bytes or 0 for block in wish.model.blocks for name, tensor in block.items() if name.startswith(names)
    )
