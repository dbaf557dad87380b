"""Samples become the record that rules look at."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.record import Unknown, known
from doctor.facts.watch.record import Watch, WatchCard, WatchPoint
from doctor.facts.watch.sample import working

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from doctor.facts.record import Fact
    from doctor.facts.watch.sample import CardSample, HostSample, Sample

POINTS = 240
"""Points of the series: more than a picture can show are averaged."""
_NO_SERVER = Unknown("no server was watched")
_SHORT = Unknown("nothing of it was seen in this time")
_THERMAL = frozenset({"sw-thermal-slowdown", "hw-thermal-slowdown"})
_ANSWERS = frozenset({"ok", "loading", "sleeping", "unauthorised"})
_HARDWARE = frozenset({"hw-slowdown", "hw-power-brake"})


def summarise(samples: Sequence[Sample], cores: int | None) -> Watch:
    """The record of some samples in a row; `cores` is how many the computer has."""
    told = [(sample, working(sample)) for sample in samples]
    busy = [sample for sample, works in told if works]
    judged = busy or [sample for sample, works in told if works is None]
    idle = [sample for sample, works in told if works is False]
    host = _Means([sample.host for sample in judged])
    every = [sample.host for sample in samples]
    speeds = _speeds(samples)
    servers = [sample.server for sample in samples if sample.server is not None]
    anything = any(works is not None for _, works in told)
    return Watch(
        seconds=round(samples[-1].at_seconds - samples[0].at_seconds + samples[0].seconds, 2) if samples else 0.0,
        samples=len(samples),
        busy_seconds=round(sum(sample.seconds for sample in busy), 2)
        if anything
        else Unknown("no server, card or log tells when there was work"),
        cards_state=samples[-1].cards_state if samples else _SHORT,
        cards_lost=sum(one.cards_state == "ok" and two.cards_state != "ok" for one, two in pairwise(samples)),
        cards=_cards(samples, judged),
        sm_percent=_mean(_busiest(sample, "sm_percent") for sample in judged),
        memory_percent=_mean(_busiest(sample, "memory_percent") for sample in judged),
        idle_sm_percent=_mean(_busiest(sample, "sm_percent") for sample in idle),
        server_state=servers[-1].state if servers else _NO_SERVER,
        server_restarts=_restarts(samples) if servers else _NO_SERVER,
        server_answered=sum(one.state in _ANSWERS for one in servers) if servers else _NO_SERVER,
        server_trouble=next((one.trouble for one in reversed(servers) if one.trouble), None) if servers else _NO_SERVER,
        slots=_most((one.slots for one in servers), _NO_SERVER),
        slots_busy_most=_most((one.busy for one in servers), _NO_SERVER),
        slots_busy_mean=_mean(sample.server.busy or None for sample in samples if sample.server is not None),
        waiting_most=_most(
            (one.waiting for one in servers), Unknown("GET /metrics is off (--metrics)") if servers else _NO_SERVER
        ),
        requests=sum(len(sample.timings) for sample in samples)
        if any(sample.log_state for sample in samples)
        else Unknown("no log was watched"),
        decode_per_second=speeds.decode,
        prompt_per_second=speeds.prompt,
        decode_seconds=speeds.decode_seconds,
        prompt_seconds=speeds.prompt_seconds,
        prompt_share=speeds.share,
        prompt_tokens_per_request=_mean(known(timing.prompt_tokens) for sample in samples for timing in sample.timings),
        cpu_percent=host.mean("cpu_percent"),
        cores=cores,
        server_cores=host.mean("server_cores"),
        ram_total_bytes=_most((one.ram_total_bytes for one in every), _SHORT),
        ram_available_least_bytes=min(
            (one.ram_available_bytes for one in every if one.ram_available_bytes is not None), default=_SHORT
        ),
        swap_used_most_bytes=_most((one.swap_used_bytes for one in every), _SHORT),
        swap_in_per_second=host.mean("swap_in_per_second"),
        swap_out_per_second=host.mean("swap_out_per_second"),
        major_faults_per_second=host.mean("major_faults_per_second"),
        read_bytes_per_second=host.mean("read_bytes_per_second"),
        throttled_share=host.mean("throttled"),
        others_cores=host.mean("others_cores"),
        busy_threads=_middle(sample.host.busy_threads for sample in judged),
        waited_share=host.mean("waited"),
        held_back_share=host.mean("held_back"),
        refaults_per_second=host.mean("refaults_per_second"),
        stalled_share=host.mean("stalled"),
        series=_series(samples),
    )


class _Means(NamedTuple):
    hosts: list[HostSample]

    def mean(self, field: str) -> Fact[float]:
        """The mean of a field over the samples that have it."""
        return _mean(getattr(host, field) for host in self.hosts)


def _mean(values: Iterable[float | None]) -> Fact[float]:
    found = [value for value in values if value is not None]
    return round(sum(found) / len(found), 4) if found else _SHORT


def _middle(values: Iterable[int | None]) -> Fact[int]:
    found = sorted(value for value in values if value is not None)
    return found[len(found) // 2] if found else _SHORT


def _most(values: Iterable[int | None], without: Unknown) -> Fact[int]:
    return max((value for value in values if value is not None), default=without)


def _busiest(sample: Sample, field: str) -> float | None:
    """A value of the card that is busiest."""
    cards = [card for card in sample.cards if card.sm_percent is not None]
    value: float | None = getattr(max(cards, key=lambda card: card.sm_percent or 0), field) if cards else None
    return value


def _restarts(samples: Sequence[Sample]) -> int:
    """How often a server that had answered came back, began its counters anew, or was another process."""
    count, answered, away, pid = 0, False, False, None
    for sample in samples:
        if sample.server is None:
            continue
        if sample.server.state == "ok":
            now = sample.host.server_pid or pid
            if answered and (away or sample.server.restarted or now != (pid or now)):
                count += 1
            answered, away, pid = True, False, now
        elif sample.server.state in ("refused", "loading"):
            away, pid = True, None  # the new process may be found some looks later: that is the same restart
    return count


class _Speeds(NamedTuple):
    decode: Fact[float]
    prompt: Fact[float]
    decode_seconds: Fact[float]
    prompt_seconds: Fact[float]

    @property
    def share(self) -> Fact[float]:
        prompt, decode = known(self.prompt_seconds), known(self.decode_seconds)
        if prompt is None or decode is None or prompt + decode <= 0:
            return _SHORT
        return round(prompt / (prompt + decode), 4)


def _speeds(samples: Sequence[Sample]) -> _Speeds:
    servers = [sample.server for sample in samples if sample.server is not None]

    def total(field: str) -> float:
        return float(sum(getattr(one, field) or 0 for one in servers))

    decoded, decode_time = total("done_decode_tokens"), total("done_decode_seconds")
    prompted, prompt_time = total("done_prompt_tokens"), total("done_prompt_seconds")
    if not decode_time and not prompt_time:
        for timing in (timing for sample in samples for timing in sample.timings):
            tokens, speed = known(timing.prompt_tokens), known(timing.prompt_per_second)
            if tokens and speed:
                prompted, prompt_time = prompted + tokens, prompt_time + tokens / speed
            tokens, speed = known(timing.decoded_tokens), known(timing.decoded_per_second)
            if tokens and speed:
                decoded, decode_time = decoded + tokens, decode_time + tokens / speed
    if not decode_time:
        at_work = [sample for sample in samples if sample.server is not None and sample.server.decode_tokens]
        decoded = float(sum((sample.server.decode_tokens or 0) for sample in at_work if sample.server is not None))
        decode_time = sum(sample.seconds for sample in at_work)
    return _Speeds(
        round(decoded / decode_time, 2) if decode_time > 0 else _SHORT,
        round(prompted / prompt_time, 2) if prompt_time > 0 else _SHORT,
        round(decode_time, 2) if decode_time > 0 else _SHORT,
        round(prompt_time, 2) if prompt_time > 0 else _SHORT,
    )


def _cards(samples: Sequence[Sample], judged: list[Sample]) -> Fact[tuple[WatchCard, ...]]:
    indexes = sorted({card.index for sample in samples for card in sample.cards})
    if not indexes:
        state = samples[-1].cards_state if samples else ""
        return () if state == "no-device" else Unknown(f"NVML: {state or 'not asked'}")
    return tuple(_card(index, samples, judged) for index in indexes)


def _card(index: int, samples: Sequence[Sample], judged: list[Sample]) -> WatchCard:
    def of(some: Iterable[Sample]) -> list[CardSample]:
        return [card for sample in some for card in sample.cards if card.index == index]

    every, work = of(samples), of(judged)
    last = every[-1]

    def share(names: frozenset[str]) -> Fact[float]:
        return round(sum(bool(names & set(card.reasons)) for card in work) / len(work), 4) if work else _SHORT

    def mean(take: Callable[[CardSample], float | None]) -> Fact[float]:
        return _mean(take(card) for card in work)

    return WatchCard(
        index=index,
        name=last.name,
        sm_percent=mean(lambda card: card.sm_percent),
        memory_percent=mean(lambda card: card.memory_percent),
        power_watts=mean(lambda card: card.power_watts),
        power_limit_watts=last.power_limit_watts,
        clock_sm_mhz=mean(lambda card: card.clock_sm_mhz),
        clock_sm_max_mhz=last.clock_sm_max_mhz,
        temperature_most_c=_most((card.temperature_c for card in every), _SHORT),
        power_share=share(frozenset({"sw-power-cap"})),
        thermal_share=share(_THERMAL),
        hardware_share=share(_HARDWARE),
        memory_used_most_bytes=_most((card.memory_used_bytes for card in every), _SHORT),
        memory_total_bytes=last.memory_total_bytes,
        pcie_in_per_second=mean(lambda card: card.pcie_in_per_second),
        pcie_out_per_second=mean(lambda card: card.pcie_out_per_second),
        pcie_share=mean(_pcie_share),
    )


def _pcie_share(card: CardSample) -> float | None:
    if card.pcie_in_per_second is None or not card.pcie_link_per_second:
        return None
    return max(card.pcie_in_per_second, card.pcie_out_per_second or 0) / card.pcie_link_per_second


def _series(samples: Sequence[Sample]) -> tuple[WatchPoint, ...]:
    size = -(-len(samples) // POINTS) or 1
    return tuple(_point(samples[at : at + size]) for at in range(0, len(samples), size))


def _point(samples: Sequence[Sample]) -> WatchPoint:
    def mean(take: Callable[[Sample], Any]) -> float | None:
        value = known(_mean(take(sample) for sample in samples))
        return None if value is None else round(value, 2)

    return WatchPoint(
        at_seconds=round(samples[-1].at_seconds, 2),
        sm_percent=mean(lambda sample: _busiest(sample, "sm_percent")),
        memory_percent=mean(lambda sample: _busiest(sample, "memory_percent")),
        power_watts=mean(_power),
        decode_per_second=mean(decode_speed),
        ram_available_bytes=mean(lambda sample: sample.host.ram_available_bytes),
        server_cores=mean(lambda sample: sample.host.server_cores),
        others_cores=mean(lambda sample: sample.host.others_cores),
    )


def _power(sample: Sample) -> float | None:
    powers = [card.power_watts for card in sample.cards if card.power_watts is not None]
    return sum(powers) if powers else None


def decode_speed(sample: Sample) -> float | None:
    """Tokens per second generated at a sample: by the slots' counters, of requests that ended by the server's own time."""
    server = sample.server
    if server is None or sample.seconds <= 0:
        return None
    if not server.decode_tokens and server.done_decode_tokens and server.done_decode_seconds:
        return server.done_decode_tokens / server.done_decode_seconds
    return None if server.decode_tokens is None else server.decode_tokens / sample.seconds
