"""The arithmetic against llama.cpp's own accounting: weights, caches and states of every row, buffers of a sample."""

from __future__ import annotations

from collections import defaultdict

import pytest

from doctor.memory.budget import budget
from doctor.memory.defaults import Settings, settle
from doctor.memory.kv import kv_rows
from doctor.memory.placement import Placement, place
from doctor.memory.recurrent import recurrent_rows
from doctor.memory.result import Budget, Refusal
from doctor.memory.weights import weight_rows
from tests.memory.oracle import BUILD, cards, model, options, rows

ROWS = rows()
GIVEN = [row for row in ROWS if not isinstance(row[3], str)]
REFUSED = [row for row in ROWS if isinstance(row[3], str)]
SMALL, MIB = 64 << 10, 1 << 20
HOST = ("CPU", "CPU_REPACK", "CUDA_Host")


def test_contexts_weights_caches_and_states_of_every_row():
    for name, count, arguments, *expected in GIVEN:
        settings = settle(model(name), options(arguments), BUILD)
        assert isinstance(settings, Settings), (name, arguments)
        assert [settings.ctx, settings.ctx_seq, settings.ubatch] == expected[:3], (name, arguments)
        where = place(model(name), settings, cards(count))
        assert isinstance(where, Placement)
        found = weight_rows(model(name), settings, where)
        context = defaultdict(int)
        for part in (kv_rows, recurrent_rows):
            for device, size in part(model(name), settings, where).items():
                context[device] += size
        wanted = expected[3]
        for device in set(wanted) | set(found) | set(context):
            weights, kept, _ = wanted.get(device, (0, 0, 0))
            assert abs(context[device] - kept) <= SMALL, (name, arguments, device)
            if device not in HOST:
                assert abs(found.get(device, 0) - weights) <= SMALL, (name, arguments, device)
        on_host = sum(found.get(device, 0) for device in HOST)
        assert abs(on_host - sum(wanted.get(device, [0])[0] for device in HOST)) <= MIB, (name, arguments)


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: f"{row[0]} {row[2]}")
def test_a_start_that_fails_is_refused_beforehand(row):
    found = budget(model(row[0]), options(row[2]), BUILD, cards(row[1]))
    assert isinstance(found, Refusal)
    assert found.message and "\n" not in found.message


def differences(chosen, device):
    """How far each row's compute buffer is off, in MiB."""
    found = []
    for name, count, arguments, *expected in chosen:
        answer = budget(model(name), options(arguments), BUILD, cards(count))
        assert isinstance(answer, Budget), (name, arguments)
        got = answer.breakdown().get(device, {"compute": 0})["compute"]
        found.append(abs(got - expected[3][device][2]) / MIB)
    return found


def share(found, limit):
    return sum(item <= limit for item in found) / len(found)


MOVED = ("-ngl", "moe", "--no-")


def sample(cards, step, *, flash, moved=False):
    return [
        row
        for row in GIVEN
        if row[1] == cards
        and ("-fa off" not in row[2]) == flash
        and any(word in row[2] for word in MOVED) == moved
        and "CUDA0" in row[6]
    ][::step]


def test_compute_buffers_of_one_card_with_flash_attention():
    found = differences(sample(1, 15, flash=True), "CUDA0")
    assert share(found, 1) >= 0.99
    assert share(found, 16) >= 0.99


def test_compute_buffers_of_one_card_without_flash_attention():
    assert share(differences(sample(1, 4, flash=False), "CUDA0"), 1) >= 0.97


def test_host_buffers_of_inputs_and_masks():
    assert share(differences(sample(1, 31, flash=True), "CUDA_Host"), 1) == 1


def test_compute_buffers_with_blocks_or_experts_on_the_host():
    found = differences(sample(1, 3, flash=True, moved=True), "CUDA0")
    assert share(found, 1) >= 0.88
    assert share(found, 16) >= 0.96


def test_compute_buffers_of_two_cards():
    found = differences(sample(2, 1, flash=True), "CUDA0")
    assert share(found, 1) == 1


def test_draft_contexts_of_the_models_own_blocks():
    for name, count, arguments, *expected in [row for row in GIVEN if len(row) > 7][::3]:
        answer = budget(model(name), options(arguments), BUILD, cards(count))
        assert isinstance(answer, Budget)
        for device, (context, compute) in expected[4].items():
            sizes = defaultdict(int)
            for row in answer.rows:
                if row.device == device:
                    sizes[row.kind] += row.bytes
            assert abs(sizes["draft-kv"] - context) <= SMALL, (name, arguments)
            assert abs(sizes["draft-compute"] - compute) <= MIB, (name, arguments)


@pytest.mark.parametrize("name", sorted({row[0] for row in GIVEN}))
def test_every_model_by_itself(name):
    """No architecture leans on another: each is right alone."""
    chosen = [row for row in sample(1, 1, flash=True) if row[0] == name][::24]
    assert share(differences(chosen, "CUDA0"), 16) >= 0.95
