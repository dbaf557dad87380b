import dataclasses

from doctor.memory.budget import budget
from doctor.memory.options import Options
from doctor.memory.planner import Planner
from doctor.memory.remedies import remedies
from tests.memory.planning import card_room, model, room, wish

QWEN = "qwen3.6-27b-mtp-q4_k_m"


def steps_for(name, place, options, **more):
    planner = Planner(wish(name, place, options=options, **more))
    return remedies(planner, planner.scales.weigh(options))


def test_what_costs_nothing_comes_first_then_quality_context_speed():
    found = steps_for(QWEN, card_room("3090"), Options(ctx=262144, ngl=99, spec_types=("draft-mtp",)))
    assert [step.name for step in found] == ["slots", "mtp", "kv", "kv", "context", "context", "layers"]
    assert [step.value for step in found if step.name == "kv"] == ["q8_0", "q4_0"]
    assert [step.fits for step in found] == [False, False, False, True, True, True, True]
    assert all(step.saved > 0 for step in found)


def test_every_step_said_to_be_enough_is():
    place = card_room("3090")
    for options in (
        Options(ctx=262144, ngl=99),
        Options(ctx=65536, parallel=1, ngl=99, ubatch=4096, type_k="q8_0", type_v="q8_0"),
    ):
        for name in (QWEN, "qwen3.6-35b-a3b-mtp-q4_k_m"):
            for step in steps_for(name, place, options):
                found = budget(model(name), step.options, 11434, [place.device])
                assert (found.total("CUDA0") <= place.usable) == step.fits, step.name


def test_what_is_free_is_enough_alone():
    options = Options(ctx=8192, parallel=64, ngl=99)
    needed = budget(model(QWEN), dataclasses.replace(options, parallel=1), 11434, [card_room("3090").device])
    place = room(needed.total("CUDA0") // (1 << 20) + 64)
    (only,) = steps_for(QWEN, place, options)
    assert (only.name, only.value, only.price, only.fits) == ("slots", "1", "none", True)


def test_nothing_for_a_command_that_fits():
    assert steps_for(QWEN, card_room("5090"), Options(ctx=4096, parallel=1, ngl=99)) == ()


def test_experts_before_whole_layers():
    found = steps_for("qwen3.6-35b-a3b-mtp-q4_k_m", card_room("3060"), Options(ctx=32768, parallel=1, ngl=99))
    assert found[-1].name == "experts" and found[-1].options.cpu_moe == int(found[-1].value.split()[0])


def test_no_longer_context_is_offered_than_the_model_was_trained_for():
    options = Options(ctx=262144, ngl=99)
    planner = Planner(wish("gemma-3-27b-q4_k_m", card_room("3090"), options=options))
    start = planner.scales.weigh(options)

    def contexts(stretched):
        return [
            int(step.value.split()[0])
            for step in remedies(planner, start, stretched=stretched)
            if step.name == "context"
        ]

    assert max(contexts(stretched=False)) == 131072
    assert max(contexts(stretched=True)) > 131072
