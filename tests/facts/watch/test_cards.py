"""Cards over the real NVML binding and a stub of the driver."""

import pytest

from tests.facts.nvml import build_stub, run_python

WATCH = """
import json, os, sys
from doctor.facts.record import to_json
from doctor.facts.watch.cards import Cards
from doctor.outside import Outside
cards, found = Cards(Outside()), []
for step in json.loads(sys.argv[1]):
    os.environ.update(step.get("set", {}))
    found.append([to_json(each) for each in cards.sample(step["at"])])
cards.close()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def stub(tmp_path_factory):
    return build_stub(tmp_path_factory.mktemp("stub"))


@pytest.fixture(scope="module")
def old_stub(tmp_path_factory):
    return build_stub(tmp_path_factory.mktemp("old"), "-DOLD_DRIVER")


def watch(stub, *steps, **variables):
    import json

    return run_python(["-c", WATCH, json.dumps(steps)], stub, variables)


def test_a_window_is_the_mean_of_the_drivers_own_samples(stub):
    ((state, (card,)),) = watch(
        stub, {"at": 1}, STUB_SM="90,70,20", STUB_UTILIZATION="99", STUB_PCIE_IN="2000000", STUB_PCIE_OUT="5000",
        STUB_REASONS="0x24", STUB_USED_MIB="20000", STUB_POWER_MW="312500",
    )  # fmt: skip
    assert state == "ok"
    assert (card["sm_percent"], card["memory_percent"]) == (60.0, 30.0)
    assert (card["pcie_in_per_second"], card["pcie_out_per_second"]) == (2_000_000_000, 5_000_000)
    assert card["pcie_link_per_second"] == 1969 * 16 * 1_000_000
    assert card["reasons"] == ["sw-power-cap", "sw-thermal-slowdown"]
    assert (card["power_watts"], card["memory_used_bytes"]) == (312.5, 20000 << 20)


def test_without_samples_the_rates_of_the_moment_count(stub):
    ((_, (card,)),) = watch(stub, {"at": 1}, STUB_UTILIZATION="99")
    assert (card["sm_percent"], card["memory_percent"]) == (99.0, 0.0)


def test_a_driver_that_is_lost_is_asked_again_and_comes_back(stub, tmp_path):
    gone = {"STUB_FAIL": "DeviceGetMemoryInfo=15"}
    log = tmp_path / "log"
    found = watch(
        stub,
        {"at": 1},
        {"at": 2, "set": gone},
        {"at": 3, "set": {"STUB_FAIL": ""}},
        {"at": 12, "set": {"STUB_INIT": "9"}},
        {"at": 23, "set": {"STUB_INIT": "0"}},
        STUB_LOG=str(log),
    )
    assert [state for state, _ in found] == ["ok", "lost", "lost", "driver-not-loaded", "ok"]
    assert [len(cards) for _, cards in found] == [1, 0, 0, 0, 1]
    assert log.read_text().split() == ["init", "shutdown", "init", "shutdown"]


def test_an_old_driver_and_functions_it_refuses_leave_gaps_only(stub, old_stub):
    ((state, (card,)),) = watch(old_stub, {"at": 1})
    assert state == "ok" and "sm_percent" not in card and card["memory_total_bytes"] == 24576 << 20
    ((state, (card,)),) = watch(stub, {"at": 1}, STUB_FAIL="DeviceGetPcieThroughput=3,DeviceGetPowerUsage=3")
    assert state == "ok" and "power_watts" not in card and "pcie_in_per_second" not in card


def test_no_card_and_several(stub):
    assert watch(stub, {"at": 1}, STUB_COUNT="0") == [["no-device", []]]
    ((_, cards),) = watch(stub, {"at": 1}, STUB_COUNT="2", STUB_SM="10,20|90,100")
    assert [card["sm_percent"] for card in cards] == [15.0, 95.0]
