"""NVIDIA cards, asked again and again. A driver that goes away is asked anew from time to time; nothing is raised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.facts.gpu.nvml import STATES, Asker, Refusal
from doctor.facts.gpu.record import clock_events
from doctor.facts.record import Unknown
from doctor.facts.watch.sample import CardSample
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside

MOST_CARDS = 16
AGAIN = 10.0
"""Seconds until a driver that did not answer is tried again."""
_SM, _MEMORY = 1, 2
"""NVML_GPU_UTILIZATION_SAMPLES, NVML_MEMORY_UTILIZATION_SAMPLES."""
_OUT, _IN = 0, 1
"""NVML_PCIE_UTIL_TX_BYTES (from the card), NVML_PCIE_UTIL_RX_BYTES."""
_LANE = {1: 250, 2: 500, 3: 985, 4: 1969, 5: 3938, 6: 7563}
"""PCIe generation -> MB a second and lane, after line coding."""
_GONE = frozenset({1, 9, 15, 18, 999})
"""Codes after which the library has to be started anew: uninitialised, not loaded, lost, version mismatch, unknown."""


class Cards:
    """The cards of this machine. `sample` gives the state (as Gpu.state) and what each card says."""

    def __init__(self, outside: Outside) -> None:
        self._outside = outside
        self._asker: Asker | None = None
        self._handles: list[Any] = []
        self._fixed: dict[int, dict[str, Any]] = {}
        self._seen: dict[tuple[int, int], int] = {}
        self._state = "no-library"
        self._next_try = 0.0

    def sample(self, now: float) -> tuple[str, tuple[CardSample, ...]]:
        """All cards at the moment `now` (a clock that never goes back)."""
        if self._asker is None:
            if now < self._next_try:
                return self._state, ()
            self._start(now)
        if self._asker is None:
            return self._state, ()
        self._asker.refused.clear()
        found = tuple(self._card(self._asker, index, handle) for index, handle in enumerate(self._handles))
        gone = [code for code in self._asker.refused if code in _GONE]
        if gone:
            self._lose(STATES.get(gone[0], "error"), now)
            return self._state, ()
        return self._state, found

    def close(self) -> None:
        """Give the library back."""
        if self._asker is not None:
            self._asker.ask("nvmlShutdown")
            self._asker = None

    def _start(self, now: float) -> None:
        self._next_try = now + AGAIN
        try:
            asker = Asker(self._outside.nvml())
        except OutsideError:
            self._state = "no-library"
            return
        try:
            asker.call("nvmlInit")
        except Refusal as refusal:
            self._state = STATES.get(refusal.code, "error")
            return
        self._asker = asker
        try:
            count = min(int(asker.call("nvmlDeviceGetCount")), MOST_CARDS)
            self._handles = [asker.call("nvmlDeviceGetHandleByIndex", index) for index in range(count)]
            self._fixed = {index: _fixed(asker, handle) for index, handle in enumerate(self._handles)}
        except Refusal as refusal:
            self._lose(STATES.get(refusal.code, "error"), now)
            return
        self._state = "ok" if self._handles else "no-device"

    def _lose(self, state: str, now: float) -> None:
        self.close()
        self._handles, self._seen = [], {}
        self._state, self._next_try = state, now + AGAIN

    def _card(self, asker: Asker, index: int, handle: Any) -> CardSample:
        memory = asker.ask("nvmlDeviceGetMemoryInfo", handle)
        rates: Any = None
        sm, used = self._mean(asker, index, handle, _SM), self._mean(asker, index, handle, _MEMORY)
        if sm is None or used is None:
            rates = asker.ask("nvmlDeviceGetUtilizationRates", handle)
        has_rates = rates is not None and not isinstance(rates, Unknown)
        bits = asker.number("nvmlDeviceGetCurrentClocksEventReasons nvmlDeviceGetCurrentClocksThrottleReasons", handle)
        return CardSample(
            index=index,
            sm_percent=float(rates.gpu) if sm is None and has_rates else sm,
            memory_percent=float(rates.memory) if used is None and has_rates else used,
            power_watts=_scaled(asker.number("nvmlDeviceGetPowerUsage", handle), 0.001),
            clock_sm_mhz=_number(asker.number("nvmlDeviceGetClockInfo", handle, 1)),
            temperature_c=_number(asker.number("nvmlDeviceGetTemperatureV nvmlDeviceGetTemperature", handle, 0)),
            reasons=clock_events(bits) if isinstance(bits, int) else (),
            memory_used_bytes=None if isinstance(memory, Unknown) else int(memory.used),
            pcie_in_per_second=_kilobytes(asker.ask("nvmlDeviceGetPcieThroughput", handle, _IN)),
            pcie_out_per_second=_kilobytes(asker.ask("nvmlDeviceGetPcieThroughput", handle, _OUT)),
            pcie_link_per_second=_link(asker, handle),
            **self._fixed[index],
        )

    def _mean(self, asker: Asker, index: int, handle: Any, kind: int) -> float | None:
        """The driver's own samples since the last time, averaged; None where it has none."""
        answer = asker.ask("nvmlDeviceGetSamples", handle, kind, self._seen.get((index, kind), 0))
        if isinstance(answer, Unknown):
            return None
        try:
            taken = [(int(one.timeStamp), float(one.sampleValue.uiVal)) for one in answer[1]]
        except (AttributeError, IndexError, TypeError, ValueError):
            return None
        before = self._seen.get((index, kind), 0)
        fresh = [(at, value) for at, value in taken if at > before and 0 <= value <= 100]
        if not fresh:
            return None
        self._seen[index, kind] = max(at for at, _ in fresh)
        if not before:  # the first time the buffer reaches back into times nobody watched
            fresh = sorted(fresh)[-8:]
        return sum(value for _, value in fresh) / len(fresh)


def _fixed(asker: Asker, handle: Any) -> dict[str, Any]:
    """What does not change while one watches."""
    memory = asker.ask("nvmlDeviceGetMemoryInfo", handle)
    name = asker.text("nvmlDeviceGetName", handle)
    return {
        "name": None if isinstance(name, Unknown) else name,
        "memory_total_bytes": None if isinstance(memory, Unknown) else int(memory.total),
        "power_limit_watts": _scaled(asker.number("nvmlDeviceGetPowerManagementLimit", handle), 0.001),
        "clock_sm_max_mhz": _number(asker.number("nvmlDeviceGetMaxClockInfo", handle, 1)),
    }


def _link(asker: Asker, handle: Any) -> int | None:
    generation = asker.number("nvmlDeviceGetCurrPcieLinkGeneration", handle)
    width = asker.number("nvmlDeviceGetCurrPcieLinkWidth", handle)
    if not isinstance(generation, int) or not isinstance(width, int) or generation not in _LANE:
        return None
    return _LANE[generation] * 1_000_000 * width


def _number(answer: Any) -> int | None:
    return answer if isinstance(answer, int) else None


def _scaled(answer: Any, factor: float) -> float | None:
    return answer * factor if isinstance(answer, int) else None


def _kilobytes(answer: Any) -> int | None:
    return answer * 1000 if isinstance(answer, int) else None
