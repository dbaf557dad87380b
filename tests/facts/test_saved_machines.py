"""The machines in fixtures/machines are what the collectors make, and can be read as facts."""

import json

import pytest

from doctor.facts.facts import SUBJECTS, Facts
from doctor.facts.record import Unknown, from_json, to_json
from tests.facts.nvml import build_stub
from tests.facts.saved_machines import FOLDER, MACHINES, collect

NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def load(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def test_one_file_a_machine():
    assert sorted(MACHINES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_loads_as_facts_and_comes_back_the_same(name):
    saved = load(name)
    facts = from_json(Facts, saved)
    assert to_json(facts) == saved
    assert facts.machine.os == "linux"
    for subject in SUBJECTS:
        expected = subject not in ("machine", "gpu", "cuda")
        assert (getattr(facts, subject) == Unknown("not collected")) is expected, subject


@pytest.fixture(scope="module")
def stub(tmp_path_factory):
    return build_stub(tmp_path_factory.mktemp("stub"))


@pytest.mark.parametrize("name", NAMES)
def test_is_what_the_collectors_make(name, tmp_path, stub):
    """Write the files again with `python -m tests.facts.saved_machines` when a record changed on purpose."""
    assert collect(name, tmp_path, stub) == load(name)


def test_what_the_machines_are_there_to_show():
    facts = {name: from_json(Facts, load(name)) for name in NAMES}
    gib = 1 << 30
    assert facts["rtx-3090-24gb-linux"].gpu.devices[0].memory_total_bytes == 24 * gib
    assert [card.sm for card in facts["two-rtx-5090-linux"].gpu.devices] == [120, 120]
    wsl = facts["rtx-4060-ti-16gb-wsl2"]
    assert (wsl.machine.wsl, wsl.machine.model_volume.kind, wsl.gpu.state) == (2, "windows-mount", "ok")
    laptop = facts["cpu-only-laptop"]
    assert (laptop.gpu.state, laptop.gpu.hardware, laptop.gpu.devices) == ("no-library", False, ())
    assert (laptop.machine.cores_performance, laptop.machine.cores_efficiency) == (4, 8)
    mismatch = facts["driver-mismatch"]
    assert (mismatch.gpu.state, mismatch.gpu.driver_version) == ("version-mismatch", "570.172.08")
    assert mismatch.cuda.libcuda[0].version == "580.95.05"
    docker = facts["docker-without-gpus-option"]
    assert (docker.machine.container, docker.gpu.state, docker.gpu.hardware) == ("docker", "no-library", True)
    assert docker.machine.cgroup_memory_limit_bytes == 16 * gib
