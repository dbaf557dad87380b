"""What the same options mean on different builds."""

from __future__ import annotations

import pytest

from doctor.memory.budget import budget
from doctor.memory.defaults import Settings, settle
from doctor.memory.options import Options
from doctor.memory.result import Budget, Refusal
from tests.memory.oracle import cards, model, options

LLAMA = "llama-3.1-8b-q4_k_m"


def settled(build, **given):
    found = settle(model(LLAMA), Options(**given), build)
    assert isinstance(found, Settings)
    return found


@pytest.mark.parametrize(("build", "ctx"), [(3000, 512), (3500, 131_072), (5000, 4096), (11_434, 131_072)])
def test_the_context_when_none_is_given(build, ctx):
    assert settled(build).ctx == ctx


@pytest.mark.parametrize(
    ("build", "slots", "unified"), [(5000, 1, True), (6900, 1, False), (7000, 4, True), (11_434, 4, True)]
)
def test_slots_when_none_are_given(build, slots, unified):
    found = settled(build)
    assert (found.slots, found.unified) == (slots, unified)


def test_slots_that_are_given_share_the_context_out():
    found = settled(11_434, ctx=65_536, parallel=4)
    assert (found.ctx, found.ctx_seq, found.unified) == (65_536, 16_384, False)


@pytest.mark.parametrize(("build", "layers"), [(6000, 0), (7000, 33), (11_434, 33)])
def test_layers_on_the_card_when_nothing_is_said(build, layers):
    assert settled(build).gpu_layers == layers


def test_flash_attention_was_off_before_it_became_automatic():
    assert not settled(6000).flash
    assert settled(7000).flash
    refused = settle(model(LLAMA), Options(type_v="q8_0"), 6000)
    assert isinstance(refused, Refusal) and "flash" in refused.message


def test_old_builds_reserve_logits_for_a_whole_step():
    old, new = (budget(model(LLAMA), Options(ctx=4096, parallel=1), build, cards(1)) for build in (9000, 11_434))
    assert isinstance(old, Budget) and isinstance(new, Budget)
    assert old.breakdown()["CUDA0"]["compute"] > new.breakdown()["CUDA0"]["compute"] + (100 << 20)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("-np 0", "slot"),
        ("-ctk q3_K", "Unsupported cache type"),
        ("-ctv q8_0 -fa off", "quantized V cache requires flash_attn"),
        ("--spec-type draft-mtp", "multi-token"),
        ("-ot blk.1=CUDA7", "unknown buffer type"),
        ("-ot (a+)+b=CPU", "pattern"),
    ],
)
def test_refusals_say_why(arguments, words):
    found = budget(model(LLAMA), options(arguments), 11_434, cards(1))
    assert isinstance(found, Refusal)
    assert words in found.message
