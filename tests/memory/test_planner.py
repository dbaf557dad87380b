"""The planner's commands, held against the arithmetic afresh: they fit, and one step more would not."""

import dataclasses

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from doctor.launch.write import changes_of, fresh, words_of
from doctor.memory.budget import budget
from doctor.memory.goals import PROFILES
from doctor.memory.options import Options
from doctor.memory.planner import plan
from doctor.memory.result import Refusal
from tests.memory.planning import CARDS, TABLE, card_room, model, options_of_words, room, wish

PAIRS = [
    ("qwen3.6-27b-mtp-q4_k_m", "3090"),
    ("qwen3.6-27b-mtp-q4_k_m", "RTX 4060 Ti 16GB"),
    ("qwen3.6-27b-mtp-q4_k_m", "GeForce RTX 5090"),
    ("qwen3.6-35b-a3b-mtp-q4_k_m", "4090"),
    ("qwen3.6-35b-a3b-mtp-q4_k_m", "3060"),
    ("gpt-oss-20b-mxfp4", "rtx 5070"),
    ("gpt-oss-20b-mxfp4", "RTX 5080"),
    ("llama-3.1-8b-q4_k_m", "3080"),
    ("gemma-3-27b-q4_k_m", "RTX 3090 Ti"),
    ("phi-4-q4_k_m", "2080 ti"),
    ("deepseek-v2-lite-q4_k_m", "1080 ti"),
    ("nemotron-3-nano-30b-a3b-q4_k_m", "A5000"),
]
STOPS_EARLY = ("trained", "enough")
"""Reasons, told to the user, for leaving memory free."""


def command(found_wish, profile, build=11434):
    words = words_of(changes_of(profile.options, found_wish.options, build), TABLE, build)
    return fresh("model.gguf", words)


def needs(name, options, found_room):
    found = budget(model(name), options, 11434, [found_room.device])
    return found if isinstance(found, Refusal) else found.total(found_room.device.name)


@pytest.mark.parametrize(("name", "card"), PAIRS)
def test_commands_fit_and_one_step_more_does_not(name, card):
    place = card_room(card)
    asked = wish(name, place)
    found = plan(asked)
    assert [profile.goal for profile in found.profiles] == list(PROFILES)
    for profile in found.profiles:
        options = options_of_words(command(asked, profile))
        need = needs(name, options, place)
        assert need <= place.usable, profile.goal
        if profile.stop in STOPS_EARLY:
            continue
        assert profile.stop == "memory"
        if options.cpu_moe:
            more = dataclasses.replace(options, cpu_moe=options.cpu_moe - 1)
        elif options.ngl < model(name).block_count:
            more = dataclasses.replace(options, ngl=options.ngl + 1)
        else:
            more = dataclasses.replace(options, ctx=options.ctx + 256)
            assert need >= 0.97 * place.usable, profile.goal
        assert needs(name, more, place) > place.usable, profile.goal


def test_the_whole_trained_length_is_said_to_be_the_end():
    asked = wish("deepseek-v2-lite-q4_k_m", card_room("3090"))
    found = plan(asked)
    assert {profile.stop for profile in found.profiles} == {"trained"}
    assert all(profile.setup.ctx == 163840 and profile.setup.kv == "f16" for profile in found.profiles)


@pytest.mark.parametrize("name", ["llama-3.1-8b-q4_k_m", "qwen3.6-35b-a3b-mtp-q4_k_m", "gpt-oss-20b-mxfp4"])
def test_a_margin_is_left_free_and_what_is_left_then_is_used(name):
    """Tight all the same: 97 % of what may be used after the margin, where the memory is the limit."""
    whole = card_room("3090")
    place = whole._replace(margin=CARDS.margin(whole.device.total))
    assert place.margin == 512 << 20
    for profile in plan(wish(name, place)).profiles:
        need = profile.budget.total("CUDA0")
        assert need + place.margin <= place.usable and profile.spare == place.usable - need
        if profile.stop == "memory":
            assert need >= 0.97 * (place.usable - place.margin)
    assert CARDS.margin(4 << 30) == 256 << 20  # of a small card a sixteenth


def test_beside_experts_in_ram_all_the_context_that_fits_is_taken():
    place = card_room("4060 ti 16gb")
    found = plan(wish("qwen3.6-35b-a3b-mtp-q4_k_m", place))
    for profile in found.profiles:
        assert profile.options.cpu_moe and profile.setup.ctx > 16384
        more = dataclasses.replace(profile.options, ctx=profile.options.ctx + 256)
        assert needs("qwen3.6-35b-a3b-mtp-q4_k_m", more, place) > place.usable
    asked = plan(wish("qwen3.6-35b-a3b-mtp-q4_k_m", place, ctx=32768))
    assert asked.profiles[0].setup.ctx == 32768  # no more than was asked for


def test_drafting_is_for_files_and_builds_that_have_it():
    place = card_room("3090")
    speed = plan(wish("qwen3.6-27b-mtp-q4_k_m", place)).profiles[0]
    assert speed.setup.mtp and speed.options.spec_types == ("draft-mtp",)
    older = plan(wish("qwen3.6-27b-mtp-q4_k_m", place, build=9179)).profiles[0]
    assert not older.setup.mtp
    without = plan(wish("llama-3.1-8b-q4_k_m", place)).profiles[0]
    assert not without.setup.mtp


def test_cache_types_that_this_build_and_model_take():
    place = card_room("3090")
    assert [row.kv for row in plan(wish("llama-3.1-8b-q4_k_m", place)).contexts] == ["f16", "q8_0", "q4_0"]
    # Without flash attention (before b2771) a quantised V is refused.
    assert [row.kv for row in plan(wish("llama-3.1-8b-q4_k_m", place, build=2600)).contexts] == ["f16"]
    # A model without attention keeps no cache of any type.
    assert [row.kv for row in plan(wish("falcon-mamba-7b-q4_k_m", place)).contexts] == ["f16"]


def test_what_the_user_asks_for_is_kept():
    asked = wish("llama-3.1-8b-q4_k_m", card_room("3090"), ctx=40000, slots=2)
    speed, balanced, context = plan(asked).profiles
    for profile in (speed, balanced):
        assert (profile.options.ctx, profile.options.parallel, profile.stop) == (2 * 40192, 2, "asked")
        assert profile.setup.kv == "f16"
    assert context.setup.ctx >= 40192
    own = Options(ubatch=1024, split_mode="none", kv_offload=False, type_k="q4_0")
    kept = plan(wish("llama-3.1-8b-q4_k_m", card_room("3090"), options=own)).profiles[0].options
    assert (kept.ubatch, kept.split_mode, kept.kv_offload) == (1024, "none", True)


def test_two_cards_are_both_filled_and_neither_overfilled():
    rooms = (card_room("3090", 0), card_room("3090", 1))
    found = plan(wish("qwen3.6-35b-a3b-mtp-q4_k_m", *rooms))
    assert all(profile.setup.layers is None and profile.setup.experts is None for profile in found.profiles)
    for profile in found.profiles:
        for place in rooms:
            assert 0 < profile.budget.total(place.device.name) <= place.usable


def test_no_card_and_too_little_ram():
    on_cpu = plan(wish("llama-3.1-8b-q4_k_m", ram=16 << 30)).profiles
    assert all(profile.options.ngl == 0 and profile.host_spare >= 0 for profile in on_cpu)
    none = plan(wish("llama-3.1-8b-q4_k_m", ram=2 << 30))
    assert none.profiles == () and [goal for goal, _ in none.missing] == list(PROFILES)


def test_caches_that_grow_are_kept_within_ram():
    asked = wish("qwen3.6-27b-mtp-q4_k_m", card_room("3090"), ram=4 << 30)
    profile = plan(asked).profiles[1]
    grown = sum(row.bytes for row in profile.budget.rows if row.device != "CUDA0")
    assert grown <= 4 << 30
    assert profile.options.cache_ram_mib < 8192
    plenty = plan(wish("qwen3.6-27b-mtp-q4_k_m", card_room("3090"), ram=64 << 30)).profiles[1]
    assert plenty.options.cache_ram_mib is None


RANKS = {
    # Everything on the card, then drafting, then the cache type of the goal reached, then tokens.
    "speed": lambda p: (share(p), p.setup.mtp, p.stop != "enough", p.setup.ctx),
    "balanced": lambda p: (share(p), p.setup.ctx),
    "context": lambda p: (share(p), p.setup.ctx),
}


def share(profile):
    """Layers on the card, and blocks whose experts are."""
    experts = 999 if profile.setup.experts is None else profile.setup.experts
    return profile.budget.gpu_layers, experts


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(["llama-3.1-8b-q4_k_m", "gpt-oss-20b-mxfp4", "deepseek-v2-lite-q4_k_m"]),
    st.integers(3000, 30000),
    st.integers(1, 8000),
)
def test_a_larger_card_never_gets_a_worse_plan(name, mib, more):
    small, large = plan(wish(name, room(mib))), plan(wish(name, room(mib + more)))
    for before, after in zip(small.contexts, large.contexts, strict=True):
        assert (after.tokens or 0) >= (before.tokens or 0)
    goals = {profile.goal: profile for profile in large.profiles}
    for profile in small.profiles:
        assert RANKS[profile.goal](goals[profile.goal]) >= RANKS[profile.goal](profile)


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(1, 40000))
def test_any_card_gets_an_answer_that_fits(mib):
    place = room(mib)
    found = plan(wish("gpt-oss-20b-mxfp4", place))
    for profile in found.profiles:
        assert 0 <= profile.budget.total("CUDA0") <= place.usable


def test_heads_without_a_kernel_get_no_flash_attention_and_no_quantised_cache():
    """On CUDA flash attention of such heads would be computed by the processor."""
    odd = model("llama-3.1-8b-q4_k_m")
    layers = odd.layers._replace(key_length=160, value_length=160)
    asked = dataclasses.replace(
        wish("llama-3.1-8b-q4_k_m", card_room("3090")), model=dataclasses.replace(odd, layers=layers)
    )
    found = plan(asked)
    assert [row.kv for row in found.contexts] == ["f16"]
    assert all("--flash-attn off" in " ".join(command(asked, profile)) for profile in found.profiles)
    vulkan = dataclasses.replace(asked, rooms=(room(24000, backend="vulkan"),))
    assert [row.kv for row in plan(vulkan).contexts] == ["f16", "q8_0", "q4_0"]
