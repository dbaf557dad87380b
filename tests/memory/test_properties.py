"""What holds for any model and any options: more never costs less, sums add up, damage gives a clear refusal."""

from __future__ import annotations

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.memory.budget import budget
from doctor.memory.model import Model, read_model
from doctor.memory.options import Options
from doctor.memory.result import Budget, Refusal
from tests.memory.oracle import BUILD, SIZES, cards, header, model

MODELS = st.sampled_from(sorted(SIZES))
SOME = settings(max_examples=40, deadline=None)
KINDS = st.sampled_from(["f16", "q8_0", "q4_0", "bf16"])


@st.composite
def asked(draw):
    kind = draw(KINDS)
    return Options(
        ctx=draw(st.integers(256, 262_144)),
        parallel=draw(st.integers(1, 8)),
        unified=draw(st.booleans()),
        ubatch=draw(st.integers(1, 2048)),
        ngl=draw(st.one_of(st.none(), st.integers(0, 99))),
        type_k=kind,
        type_v=kind,
        kv_offload=draw(st.booleans()),
        cpu_moe=draw(st.one_of(st.none(), st.integers(1, 60))),
    )


@SOME
@given(MODELS, asked(), st.integers(0, 3))
def test_sums_add_up_and_nothing_is_negative(name, options, count):
    found = budget(model(name), options, BUILD, cards(count))
    if isinstance(found, Refusal):
        assert found.message
        return
    assert all(row.bytes > 0 and row.plus_minus >= 0 for row in found.rows)
    assert sum(found.total(device) for device in found.devices()) == found.total()
    assert sum(sum(part.values()) for part in found.breakdown().values()) <= found.total()


@SOME
@given(MODELS, st.integers(1, 120), st.integers(1, 120))
def test_a_longer_context_never_needs_less(name, first, second):
    small, large = sorted((first * 1024, second * 1024))
    assert total(name, ctx=small) <= total(name, ctx=large)


@SOME
@given(MODELS, st.integers(1, 16), st.integers(1, 16))
def test_more_slots_never_need_less(name, first, second):
    few, many = sorted((first, second))
    less, more = (kept(name, ctx=65_536, parallel=count, unified=True) for count in (few, many))
    assert less <= more


@SOME
@given(MODELS, st.integers(32, 2048), st.integers(32, 2048))
def test_a_larger_step_never_needs_less(name, first, second):
    small, large = sorted((first, second))
    assert total(name, ctx=32_768, parallel=1, ubatch=small) <= total(name, ctx=32_768, parallel=1, ubatch=large) + (
        1 << 20
    )


def total(name, **options):
    found = budget(model(name), Options(**options), BUILD, cards(1))
    assert isinstance(found, Budget)
    return found.total()


def kept(name, **options):
    """Caches and states: what slots are made of."""
    found = budget(model(name), Options(**options), BUILD, cards(1))
    assert isinstance(found, Budget)
    return sum(row.bytes for row in found.rows if row.kind in ("kv", "recurrent", "output"))


NUMBERS = st.one_of(st.integers(-5, 70_000), st.integers(-(1 << 62), 1 << 62), st.none(), st.just("x"))


@settings(max_examples=150, deadline=None)
@given(MODELS, st.data())
def test_a_damaged_header_gives_an_answer_or_a_refusal(name, data):
    found = header(name)
    values = dict(found.values)
    for key in data.draw(st.lists(st.sampled_from(sorted(values)), min_size=1, max_size=4)):
        value = data.draw(NUMBERS)
        if value is None:
            values.pop(key, None)
        else:
            values[key] = value
    dropped = data.draw(st.sets(st.integers(0, len(found.tensors) - 1), max_size=5))
    tensors = tuple(tensor for at, tensor in enumerate(found.tensors) if at not in dropped)
    damaged = read_model(found._replace(values=values, tensors=tensors))
    if isinstance(damaged, Refusal):
        assert damaged.message
        return
    assert isinstance(damaged, Model)
    answer = budget(dataclasses.replace(damaged), Options(ctx=8192), BUILD, cards(1))
    assert isinstance(answer, Budget | Refusal)
