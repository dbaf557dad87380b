"""The budget as a fact: header, launch command and cards as found become need, what is free, and what would fit."""

import json
from dataclasses import replace

import pytest

from doctor.engine.diagnose import diagnose
from doctor.engine.load import load
from doctor.engine.match import Matcher
from doctor.facts.budget import record as budget
from doctor.facts.facts import Facts, nothing_known
from doctor.facts.gpu.record import GpuProcess
from doctor.facts.launch.record import collect as collect_launch
from doctor.facts.pasted import paste_facts
from doctor.facts.record import Unknown, from_json, to_json
from doctor.logs.paste import Paste
from doctor.outside import Outside
from doctor.secrets import Vault
from tests.facts.nvml import REPOSITORY
from tests.gguf.headers import model_file

GIB = 1 << 30
MIB = 1 << 20
QWEN = "qwen3.6-27b-mtp-q4_k_m"
RULES = load(Outside()).rules


@pytest.fixture(scope="module")
def qwen(tmp_path_factory):
    return str(model_file(tmp_path_factory.mktemp("models"), QWEN))


def machine(name):
    return from_json(Facts, json.loads((REPOSITORY / "fixtures" / "machines" / f"{name}.json").read_text()))


def facts_for(command, path, saved="rtx-3090-24gb-linux", build=11434, **changes):
    """The facts of a machine with this launch command, its budget included."""
    found = replace(machine(saved), **changes)
    launch = collect_launch(Outside(), Vault(), text=command, build_number=build)
    reckoned = budget.collect(Outside(), path, launch, build, None, found.gpu, found.machine)
    return replace(found, launch=launch, budget=reckoned)


def rules_fired(facts):
    return {finding.rule: finding for finding in diagnose(RULES, facts).findings}


def test_need_and_free_of_the_card_as_found(qwen):
    found = facts_for(f"llama-server -m {qwen} -c 32768 -np 1 -ngl 99", qwen).budget
    (card,) = found.cards
    assert card.device == "CUDA0" and card.free_bytes == 25282215936 - 128 * MIB
    assert abs(card.weights_bytes / MIB - 15088) < 1 and abs(card.kv_bytes / MIB - 2048) < 1
    assert card.need_bytes == sum(row.bytes for row in found.rows if row.device == "CUDA0")
    assert found.over_bytes == card.need_bytes - card.free_bytes < 0
    assert found.sources[-1] == "free memory as found" and "b11434" in found.sources
    assert isinstance(found.ctx_that_fits, Unknown) and found.refused is None


def test_survives_being_saved(qwen):
    found = facts_for(f"llama-server -m {qwen} -c 262144 -ngl 99", qwen)
    assert from_json(Facts, json.loads(json.dumps(to_json(found)))) == found


def test_check_warns_before_the_crash(qwen):
    facts = facts_for(f"llama-server -m {qwen} -c 262144 -np 1 -ngl 99", qwen)
    finding = rules_fired(facts)["memory/context-exceeds-vram"]
    assert (finding.severity, finding.status) == ("error", "seen")
    assert "CUDA0 lacks" in finding.why and "262144 tokens 16.0 GiB" in finding.why
    commands = [remedy.command for remedy in finding.remedies]
    for command in commands[:3]:
        assert facts_for(command, qwen).budget.over_bytes <= 0
    assert "--cache-type-k q4_0" in commands[0]


def test_a_command_that_fits_is_no_finding(qwen):
    fired = rules_fired(facts_for(f"llama-server -m {qwen} -c 65536 -np 1 -ngl 99", qwen))
    assert not {rule for rule in fired if rule.startswith("memory/")}


def test_a_build_that_fits_by_itself_gets_a_warning_only(qwen):
    fired = rules_fired(facts_for(f"llama-server -m {qwen} -c 262144", qwen))
    assert fired["memory/fit-moves-layers"].severity == "warning"
    assert "memory/context-exceeds-vram" not in fired
    older = rules_fired(facts_for(f"llama-server -m {qwen} -c 262144 -ngl 99", qwen, build=7000))
    assert "memory/context-exceeds-vram" in older


def test_another_program_on_the_card_is_named(qwen):
    saved = machine("rtx-3090-24gb-linux")
    (device,) = saved.gpu.devices
    game = GpuProcess(4711, "blender", 6 * GIB, "compute")
    held = replace(device, memory_free_bytes=device.memory_free_bytes - 6 * GIB, processes=(game,))
    gpu = replace(saved.gpu, devices=(held,))
    facts = facts_for(f"llama-server -m {qwen} -c 65536 -np 1 -ngl 99", qwen, gpu=gpu)
    finding = rules_fired(facts)["memory/context-exceeds-vram"]
    assert finding.remedies[0].text.startswith("End blender (pid 4711): it holds 6.0 GiB")
    assert finding.remedies[0].price == "none"
    # What the server itself holds is free again when it is started anew.
    launch = replace(facts.launch, pid=4711)
    again = budget.collect(Outside(), qwen, launch, 11434, None, gpu, facts.machine)
    assert again.over_bytes < 0 and again.holder is None


def test_spill_on_windows_and_want_of_ram_are_told_apart(qwen):
    wsl = rules_fired(facts_for(f"llama-server -m {qwen} -c 65536 -np 1 -ngl 99", qwen, "rtx-4060-ti-16gb-wsl2"))
    assert "memory/wddm-sysmem-fallback" in wsl and "memory/context-exceeds-vram" not in wsl
    small = replace(machine("rtx-3090-24gb-linux").machine, ram_available_bytes=2 * GIB)
    ram = rules_fired(facts_for(f"llama-server -m {qwen} -c 8192 -np 1 -ngl 20", qwen, machine=small))
    assert "memory/ram-available-too-small" in ram
    assert not {"memory/wddm-sysmem-fallback", "memory/context-exceeds-vram"} & set(ram)


def test_a_prompt_cache_that_would_fill_ram(qwen):
    small = replace(machine("rtx-3090-24gb-linux").machine, ram_available_bytes=6 * GIB, ram_total_bytes=16 * GIB)
    fired = rules_fired(facts_for(f"llama-server -m {qwen} -c 8192 -np 1 -ngl 99", qwen, machine=small))
    assert "memory/prompt-cache-larger-than-ram" in fired


def test_refused_commands_say_why(qwen):
    found = facts_for(f"llama-server -m {qwen} -ctv q8_0 -fa off", qwen).budget
    assert "flash_attn" in found.refused and isinstance(found.over_bytes, Unknown)


def test_without_a_model_or_with_none(tmp_path, qwen):
    launch = facts_for(f"llama-server -m {qwen}", qwen).launch
    path = tmp_path / "x.gguf"
    path.write_bytes(b"hello")
    for name in (str(path), str(tmp_path / "missing.gguf")):
        assert isinstance(budget.collect(Outside(), name, launch, None, None, None, None), Unknown)


def test_unknown_cards_are_not_taken_for_none(qwen):
    launch = facts_for(f"llama-server -m {qwen} -ngl 99", qwen).launch
    found = budget.collect(Outside(), qwen, launch, 11434, None, None, None)
    (card,) = found.cards
    assert card.weights_bytes > 14 * GIB and isinstance(card.over_bytes, Unknown)
    no_card = budget.collect(Outside(), qwen, launch, 11434, None, machine("cpu-only-laptop").gpu, None)
    assert no_card.cards == () and no_card.over_bytes is None


LOG = """\
$ llama-server -m {path} -c 131072 -np 1 -ngl 99 -ctk q8_0 -ctv q8_0
build: 11434 (abcdef123)
load_tensors:        CUDA0 model buffer size = 15088.00 MiB
llama_kv_cache:      CUDA0 KV buffer size =  {kv}.00 MiB
llama_memory_recurrent:      CUDA0 RS buffer size =   149.62 MiB
"""


@pytest.mark.parametrize(("kv", "differs"), [(4352, False), (8192, True)])
def test_a_log_is_held_against_the_file_the_user_names(qwen, kv, differs):
    paste = Paste([LOG.format(path=qwen, kv=kv).encode()])
    for _ in paste:
        pass
    facts = paste_facts(paste, Outside(), Vault(), qwen)
    assert [(item.device, item.kind) for item in facts.budget.printed] == ([("CUDA0", "kv")] if differs else [])
    assert ("memory/log-sizes-differ" in rules_fired(facts)) == differs


def test_a_log_of_a_draft_prints_two_caches(qwen):
    text = LOG.replace("-ctk q8_0 -ctv q8_0", "-ctk q8_0 -ctv q8_0 --spec-type draft-mtp")
    text = text.replace("149.62", "598.50").replace("15088.00", "15339.00")
    paste = Paste(
        [(text.format(path=qwen, kv=4352) + "llama_kv_cache:      CUDA0 KV buffer size =   512.00 MiB\n").encode()]
    )
    for _ in paste:
        pass
    assert paste_facts(paste, Outside(), Vault(), qwen).budget.printed == ()


REAL = REPOSITORY / "fixtures" / "logs"


def diagnosed(name, path):
    """The facts and findings of a log of llama.cpp b11434 on a stand-in for a card."""
    paste = Paste([(REAL / name).read_bytes()])
    hits = Matcher(RULES).sift(paste)
    facts = paste_facts(paste, Outside(), Vault(), path)
    return facts, diagnose(RULES, facts, hits).findings


@pytest.mark.parametrize(
    "name",
    [
        "good/simcuda_b11434_ok_27b_3090_131k_q8.log",
        "good/simcuda_b11434_ok_2gpu_27b.log",
        "good/simcuda_b11434_ok_mtp_27b_3090_131k_q4.log",
        "good/simcuda_b11434_ok_partial_27b_4060ti16_ngl40.log",
    ],
)
def test_what_llama_cpp_printed_is_what_is_computed(qwen, name):
    facts, findings = diagnosed(name, qwen)
    assert facts.budget.printed == () and facts.budget.over_bytes < 0
    assert not [finding.rule for finding in findings if finding.rule.startswith("memory/")]


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("simcuda_b11434_oom_kv_27b_3090_262k_f16.log", "memory/gpu-oom-kv-cache"),
        ("simcuda_b11434_oom_compute_27b_3090_131k_ub2048.log", "memory/gpu-oom-compute-buffer"),
        ("simcuda_b11434_oom_model_27b_3060_ngl99.log", "memory/gpu-oom-weights"),
        ("simcuda_b11434_oom_mtp_27b_3090_131k.log", "memory/gpu-oom-draft-mtp"),
    ],
)
def test_a_crash_in_a_log_was_to_be_expected(qwen, name, rule):
    facts, findings = diagnosed(f"real/{name}", qwen)
    assert facts.budget.over_bytes > 0
    assert findings[0].rule == rule
    assert not [finding.rule for finding in findings if "exceed" in finding.rule]


def test_the_remedy_of_a_crash_has_the_numbers_of_the_file(qwen):
    facts, findings = diagnosed("real/simcuda_b11434_oom_kv_27b_3090_262k_f16.log", qwen)
    assert f"{facts.budget.ctx_q8_that_fits} tokens with a q8_0 cache" in findings[0].remedies[0].text
    assert f"-c {facts.budget.ctx_q8_that_fits}" in findings[0].remedies[0].command


def test_a_path_in_a_pasted_text_is_never_opened(qwen):
    paste = Paste([LOG.format(path=qwen, kv=4352).encode()])
    for _ in paste:
        pass
    assert isinstance(paste_facts(paste, Outside(), Vault()).budget, Unknown)


def test_nothing_known_has_no_budget():
    assert isinstance(nothing_known("x").budget, Unknown)
