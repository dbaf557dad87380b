"""Logs as llama-server b11434 prints them at -lv 3, of servers whose speed changes in a known way."""

from __future__ import annotations

from typing import NamedTuple

HEAD = """\
0.00.000.002 I cmn  common_param: common_params_print_info: build 11434 (7e4c0a9) with GNU 12.2.0 for Linux x86_64
0.00.000.003 I cmn  common_param: common_params_print_info: verbosity = {level} (adjust with the `-lv N` CLI arg)
"""
CARD = """\
0.01.000.000 I ggml_cuda_init: found 1 CUDA devices:
0.01.000.001 I   Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes, VRAM: 24576 MiB
0.05.000.000 I load_tensors: offloaded 65/65 layers to GPU
0.05.100.000 I llama_context: n_ctx         = 131072
0.05.100.001 I llama_kv_cache:      CUDA0 KV buffer size =  8192.00 MiB
"""
"""A 27B with 65,536 bytes of KV cache for each token at f16."""


class Asked(NamedTuple):
    """A request: tokens read, found in the cache, written; tokens a second of both; what the log says besides."""

    read: int
    cached: int
    written: int
    reading: float
    writing: float
    slot: int = 0
    like: bool = True
    events: tuple[str, ...] = ()
    accepted: tuple[int, int, float] | None = None
    reuses_graphs: bool = True
    opens_before_end: bool = False
    """It begins before the one before it has ended."""


def log_of(requests: list[Asked], *, level: int = 3, card: bool = False) -> str:
    """The log."""
    text = [HEAD.format(level=level) + (CARD if card else "")]
    graphs, end = 0, ""
    for at, one in enumerate(requests):
        task = at * 100
        name = f"id  {one.slot} | task {task} |"
        chosen = (
            "selected slot by LCP similarity, f_sim_best = 0.981 (> 0.100 thold), f_keep = 0.991"
            if one.like and at
            else f"selected slot by LRU, t_last = {-1 if not at else 123456}"
        )
        begin = [
            f"1.00.000.000 I slot get_availabl: id  {one.slot} | task -1 | {chosen}",
            f"1.00.000.001 I slot launch_slot_: {name} processing task, is_child = 0",
        ]
        text += [*begin, end] if one.opens_before_end else [end, *begin]
        text += [f"1.00.000.002 W slot   operator(): {name} {event}" for event in one.events]
        graphs += one.written - 2 if one.reuses_graphs else 0
        lines = [
            _timing(name, "prompt eval", one.read, one.reading),
            _timing(name, "       eval", one.written, one.writing),
            f"1.00.000.005 I slot print_timing: {name}    graphs reused = {graphs:10d}",
        ]
        if one.accepted is not None:
            kept, drafted, mean = one.accepted
            lines.append(
                f"1.00.000.006 I slot print_timing: {name} draft acceptance = {kept / drafted:0.5f} "
                f"({kept:5d} accepted / {drafted:5d} generated), mean len = {mean:5.2f}"
            )
        depth = one.read + one.cached + one.written - 1
        lines.append(f"1.00.000.007 I slot      release: {name} stop processing: n_tokens = {depth}, truncated = 0")
        end = "\n".join(lines)
    return "\n".join(line for line in [*text, end] if line) + "\n"


def _timing(name: str, what: str, tokens: int, speed: float) -> str:
    took = 1000 * tokens / speed
    return (
        f"1.00.000.003 I slot print_timing: {name} {what} time = {took:10.2f} ms / {tokens:5d} tokens "
        f"({took / tokens:8.2f} ms per token, {speed:8.2f} tokens per second)"
    )


def turns_of_a_talk(depths: list[int], speed, *, written: int = 200, reading: float = 900.0) -> list[Asked]:
    """Turns of one conversation that ends at these depths; `speed(depth)` is tokens a second there."""
    found, before = [], 0
    for depth in depths:
        found.append(Asked(depth - before - written + 1, before, written, reading, speed(depth - written / 2)))
        before = depth
    return found


DEPTHS = [2000, 9000, 17000, 26000, 36000, 45000, 57000]


def even(depth: float, base_ms: float = 24.0, ms_per_1000: float = 0.07) -> float:
    """Tokens a second that fall evenly with depth."""
    return 1000 / (base_ms + ms_per_1000 * depth / 1000)


LOGS: dict[str, tuple[str, dict[str, str], str]] = {}
"""Name -> (log, facts of its timeline, the rule that must come first: "" for none but notes)."""


def _add(name: str, requests: list[Asked], pattern: dict[str, str], rule: str, **more) -> None:
    LOGS[name] = (log_of(requests, **more), pattern, rule)


_add("steady", turns_of_a_talk([800, 1500, 2300, 3200], lambda d: 41.0), {"pattern": "steady"}, "")
_add("decay_normal", turns_of_a_talk([*DEPTHS, 80000, 99000, 118000], lambda d: even(d, 24.0, 0.09)), {"pattern": "decay"}, "speed/turns-decay-normal", level=4, card=True)  # fmt: skip
_add("decay_steep", turns_of_a_talk(DEPTHS, lambda d: even(d, 24.0, 1.4)), {"pattern": "steep"}, "speed/turns-decay-steep", level=4, card=True)  # fmt: skip
_add("step_no_reason", turns_of_a_talk(DEPTHS, lambda d: 59.0 if d < 15000 else 11.5), {"pattern": "step", "step_cause": "none"}, "speed/turns-step")  # fmt: skip
_add(
    "step_graphs",
    [
        one._replace(reuses_graphs=at < 2)
        for at, one in enumerate(turns_of_a_talk(DEPTHS, lambda d: 59.0 if d < 15000 else 24.0))
    ],
    {"pattern": "step", "step_cause": "graphs"},
    "speed/turns-step-graphs",
)
_add(
    "step_context_shift",
    [
        one._replace(events=("slot context shift, n_keep = 1, n_left = 254, n_discard = 127",) if at == 3 else ())
        for at, one in enumerate(turns_of_a_talk(DEPTHS, lambda d: 40.0 if d < 20000 else 19.0))
    ],
    {"pattern": "step", "step_cause": "context-shift"},
    "speed/turns-step-context-shift",
)
_add("slow_first", turns_of_a_talk([800, 1500, 2300, 3200, 4000], lambda d: 6.0 if d < 800 else 41.0), {"pattern": "slow-first"}, "speed/first-request-slow")  # fmt: skip
_add(
    "prefix_changes",
    [Asked(3000 + 900 * at, 4, 150, 850.0, 41.0, like=False) for at in range(5)],
    {"pattern": "steady", "reread_cause": "prefix"},
    "context/prompt-cache-invalidated-by-client",
)
_add(
    "full_reprocess",
    [
        Asked(
            3000 + 900 * at,
            0,
            150,
            850.0,
            41.0,
            events=(
                "forcing full prompt re-processing due to lack of cache data (likely due to SWA or hybrid/recurrent memory, see https://x)",
            )
            if at
            else (),
        )
        for at in range(5)
    ],
    {"reread_cause": "forced"},
    "context/prompt-cache-full-reprocess",
)
_add(
    "slot_taken",
    [
        Asked(12000 + 300 * at, 0, 150, 850.0, 41.0, like=False)
        if at % 2 == 0
        else Asked(900, 0, 20, 850.0, 44.0, like=False)
        for at in range(6)
    ],
    {"reread_cause": "other"},
    "speed/slot-taken-between",
)
_add(
    "together",
    [Asked(400, 0, 150, 850.0, 52.0) for _ in range(3)]
    + [Asked(400, 0, 150, 300.0, 17.0, slot=at % 3, like=False, opens_before_end=at > 0) for at in range(5)],
    {"step_cause": "parallel"},
    "speed/requests-share-server",
)
_add(
    "drafts_lose",
    [one._replace(accepted=(20, 520, 1.11)) for one in turns_of_a_talk([800, 1500, 2300, 3200], lambda d: 29.0)],
    {"pattern": "steady"},
    "speed/draft-costs-more",
)
_add(
    "drafts_win",
    [one._replace(accepted=(125, 160, 2.56)) for one in turns_of_a_talk([800, 1500, 2300, 3200], lambda d: 63.0)],
    {"pattern": "steady"},
    "",
)
_add("tiny_batch", turns_of_a_talk([1800, 3500, 5300, 7200], lambda d: 41.0, reading=44.0), {"pattern": "steady"}, "speed/prompt-as-slow-as-writing")  # fmt: skip
