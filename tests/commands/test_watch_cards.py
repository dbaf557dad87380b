"""`doctor watch` as a whole, over the real NVML binding and a stub of the driver whose answers change while it watches."""

import json

import pytest

from tests.facts.nvml import build_stub, run_python
from tests.facts.watch.web import Web, metrics, slot

WATCH = """
import json, os, sys
from doctor.cli import main
from doctor.outside import Outside
class Clock(Outside):
    "A second passes at each wait; what the driver says from then on stands in the steps."
    count = 0
    steps = json.loads(sys.argv[2])
    def monotonic(self):
        return 1000.0 + self.count
    def sleep(self, seconds):
        self.count += 1
        os.environ.update(self.steps.get(str(self.count), {}))
        if self.count > 30:
            raise KeyboardInterrupt
main(["watch", "--server", sys.argv[1], "--format", "json", "--save", sys.argv[3]], Clock())
"""
BUSY = {
    "STUB_SM": "96,97,95",
    "STUB_CLOCK_SM": "1850",
    "STUB_POWER_MW": "330000",
    "STUB_USED_MIB": "21000",
    "STUB_REASONS": "0x0",
}


@pytest.fixture(scope="module")
def stub(tmp_path_factory):
    return build_stub(tmp_path_factory.mktemp("stub"))


@pytest.fixture
def server():
    web = Web()
    web.pages["/slots"] = (200, [slot(0, busy=True, task=7, decoded=10, cached=100, processed=5)])
    web.pages["/metrics"] = (200, metrics(requests_processing=1, requests_deferred=0))
    yield web
    web.close()


@pytest.fixture
def watch(stub, server, tmp_path):
    def run(steps=None, **variables):
        argv = ["-c", WATCH, server.url, json.dumps(steps or {}), str(tmp_path / "saved.jsonl")]
        return run_python(argv, stub, {**BUSY, **variables})

    return run


def first(answer):
    return next((one["rule"] for one in answer["findings"]), None)


@pytest.mark.parametrize(
    ("rule", "variables"),
    [
        ("speed/watch-at-the-limit", {}),
        (
            "speed/watch-at-the-limit",
            {"STUB_REASONS": "0x4", "STUB_CLOCK_SM": "1800"},
        ),  # the cap is in force, and costs little
        ("speed/watch-power-cap", {"STUB_REASONS": "0x4", "STUB_CLOCK_SM": "1005", "STUB_LIMIT_MW": "170000"}),
        ("speed/watch-too-hot", {"STUB_REASONS": "0x20", "STUB_TEMPERATURE": "88", "STUB_CLOCK_SM": "1100"}),
        ("speed/watch-too-hot", {"STUB_REASONS": "0x40", "STUB_TEMPERATURE": "93", "STUB_CLOCK_SM": "800"}),
        ("speed/watch-too-hot", {"STUB_REASONS": "0x88", "STUB_TEMPERATURE": "55", "STUB_CLOCK_SM": "600"}),
        ("speed/watch-pcie-traffic", {"STUB_PCIE_IN": "19500000", "STUB_SM": "70", "STUB_USED_MIB": "24500"}),
        (None, {"STUB_PCIE_IN": "900000", "STUB_SM": "70"}),
        (None, {"STUB_SM": "20,25", "STUB_REASONS": "0x1"}),  # much time between tokens, and nothing that says why
    ],
)
def test_what_the_driver_says_becomes_the_finding(watch, rule, variables):
    answer = watch(**variables)
    assert answer["facts"]["watch"]["busy_seconds"] == 30
    assert first(answer) == rule, answer["facts"]["watch"]["cards"]


def test_heat_that_comes_while_it_watches(watch):
    hot = {"STUB_REASONS": "0x20", "STUB_TEMPERATURE": "90", "STUB_CLOCK_SM": "1100"}
    answer = watch({"20": hot})
    (card,) = answer["facts"]["watch"]["cards"]
    assert first(answer) == "speed/watch-too-hot" and 0.2 < card["thermal_share"] < 0.5
    assert "90 °C" in answer["findings"][0]["why"]


@pytest.mark.parametrize("code", ["DeviceGetMemoryInfo=15", "DeviceGetMemoryInfo=1", "DeviceGetPowerUsage=999"])
def test_a_driver_that_goes_away(watch, code):
    """Lost, uninitialised, an error nobody knows: the watch goes on, and says so."""
    answer = watch({"15": {"STUB_FAIL": code, "STUB_INIT": "9"}})
    seen = answer["facts"]["watch"]
    assert first(answer) == "speed/watch-driver-lost" and seen["samples"] == 30 and seen["cards_lost"] == 1
    assert seen["server_state"] == "ok" and seen["cards_state"] == "driver-not-loaded"


def test_a_driver_that_comes_back(watch):
    answer = watch({"10": {"STUB_FAIL": "DeviceGetMemoryInfo=15"}, "14": {"STUB_FAIL": ""}})
    seen = answer["facts"]["watch"]
    assert (seen["cards_lost"], seen["cards_state"]) == (1, "ok") and first(answer) == "speed/watch-driver-lost"


def test_another_program_keeps_the_card_busy(watch, server):
    server.pages["/slots"] = (200, [slot(0)])
    answer = watch(STUB_SM="63")
    assert first(answer) == "speed/watch-other-program"
    assert answer["facts"]["watch"]["idle_sm_percent"] == 63
