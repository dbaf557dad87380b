"""Tokens a second that a model may reach: bytes over bandwidths, and how far published measurements lie from that."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.memory.placement import CPU

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from doctor.memory.cards import Card
    from doctor.speed.reads import Part, Reads

MICRO = 1e-6
GIGA = 1e9
BASE_UBATCH = 512


class Lane(NamedTuple):
    """A device that reads. `bandwidth` of its memory in GB/s (of RAM: at least and at most, where it is not known better).

    `capability` is the compute capability, "" for the host. `name` is shown to users.
    """

    device: str
    low: float
    high: float
    capability: str
    name: str


class Range(NamedTuple):
    """Tokens a second: between `low` and `high` most measurements lie, `middle` is the best guess.

    `bytes` is what a token reads, `basis` one English phrase that says what the numbers come from.
    """

    low: float
    middle: float
    high: float
    bytes: float
    basis: str


def lane_of(device: str, card: Card) -> Lane:
    """The lane of a card of the table."""
    return Lane(device, float(card.bandwidth), float(card.bandwidth), card.compute_capability, card.name)


def decode(found: Reads, lanes: Sequence[Lane], table: Mapping[str, Any], depth: float = 0.0) -> Range | None:
    """Generation with one request and `depth` tokens in the context; None where the speed of a device is not known.

    Devices work one after the other: their times add up.
    """
    by_device = {lane.device: lane for lane in lanes}
    fast = middle = slow = total = 0.0
    shown = []
    for part in found.parts:
        lane = by_device.get(part.device)
        if lane is None:
            return None
        rate = table["decode"][_kind(lane)]
        best, worst = (_seconds(part, width, lane, rate, found.flash, depth) for width in (lane.high, lane.low))
        fast += best / rate["spread_high"]
        slow += worst / rate["spread_low"]
        middle += (best + worst) / 2
        size = part.weights + part.kv_bytes(depth) + part.state
        total += size
        if size:
            shown.append(f"{size / GIGA:.2f} GB a token from {lane.name} ({_width(lane)} GB/s)")
    if not middle:
        return None
    return Range(1 / slow, 1 / middle, 1 / fast, total, " + ".join(shown))


def _seconds(part: Part, width: float, lane: Lane, rate: Mapping[str, float], flash: bool, depth: float) -> float:
    share = rate["weights"] * rate.get(f"share_{lane.capability}", 1.0)
    reach = min(width * share, rate.get(f"ceiling_{lane.capability}", width))
    cache = rate["kv_flash"] if flash else rate["kv_plain"]
    seconds = (part.weights + part.state) / (reach * GIGA) + part.kv_bytes(depth) / (width * cache * GIGA)
    return seconds + MICRO * (
        part.blocks * rate["block_us"]
        + part.sparse * rate["sparse_us"]
        + part.recurrent * rate["recurrent_us"]
        + part.crossings * rate["crossing_us"]
    )


def kv_seconds(found: Reads, lanes: Sequence[Lane], table: Mapping[str, Any]) -> float | None:
    """Seconds that each token of context adds to a token at most, by reading its K and V from where they lie."""
    by_device = {lane.device: lane for lane in lanes}
    seconds = 0.0
    for part in found.parts:
        lane = by_device.get(part.device)
        if lane is None:
            return None
        rate = table["decode"][_kind(lane)]
        cache = rate["kv_flash"] if found.flash else rate["kv_plain"]
        seconds += part.kv / (lane.low * cache * rate["spread_low"] * GIGA)
    return seconds


def _kind(lane: Lane) -> str:
    return "host" if lane.device == CPU else "hbm" if lane.capability in _HBM else "card"


_HBM = frozenset({"6.0", "7.0", "8.0", "9.0", "10.0"})
"""Compute capabilities of data-centre cards with stacked memory: one request does not fill it."""


def _width(lane: Lane) -> str:
    return f"{lane.low:.0f}" if lane.low == lane.high else f"{lane.low:.0f} to {lane.high:.0f}"


class Factor(NamedTuple):
    """By how much drafting multiplies the speed, at least and at most."""

    low: float
    high: float


def draft_factor(
    accepted: float | None,
    depth: int,
    table: Mapping[str, Any],
    found: Reads | None = None,
    lanes: Sequence[Lane] = (),
) -> Factor:
    """Drafting `depth` tokens at a time of which the share `accepted` holds (None: not known, a usual range).

    With what a token reads and from where, the cost of a drafted token is that of such cards.
    """
    rate = table["draft"]
    low, high = _draft_cost(rate, found, lanes)
    first = (rate["first_low"], rate["first_high"])
    held = [sum(one**at for at in range(1, depth + 1)) for one in first] if accepted is None else [accepted * depth] * 2
    return Factor((1 + held[0]) / (1 + high * depth), (1 + held[1]) / (1 + low * depth))


def _draft_cost(rate: Mapping[str, Any], found: Reads | None, lanes: Sequence[Lane]) -> tuple[float, float]:
    """What part of a token a drafted one costs, at least and at most."""
    low, high = rate["cost_low"], rate["cost_high"]
    if found is None:
        return low, high
    cards = {lane.capability for lane in lanes if lane.device != CPU}
    known = [rate["by_capability"][one] for one in cards if one in rate["by_capability"]]
    if known and len(known) == len(cards):
        low, high = min(one[0] for one in known), max(one[1] for one in known)
    if not any(part.sparse for part in found.parts):
        return low, high
    on_host = found.on_host()
    return (
        low + rate["sparse_low"] * (1 - on_host) + rate["sparse_host_low"] * on_host,
        high + rate["sparse_high"] * (1 - on_host) + rate["sparse_host_high"] * on_host,
    )


def prefill(found: Reads, lanes: Sequence[Lane], table: Mapping[str, Any]) -> Range | None:
    """Reading a prompt of some thousand tokens into an empty context; None where layers lie on the host.

    Limited by arithmetic, which in cards of one generation grows with the bandwidth.
    """
    rates = table["prefill"]
    by_device = {lane.device: lane for lane in lanes}
    fast = slow = 0.0
    whole = sum(part.weights for part in found.parts)
    for part in found.parts:
        lane = by_device.get(part.device)
        if lane is None or lane.device == CPU or lane.capability not in rates["by_capability"]:
            return None
        low, high = rates["by_capability"][lane.capability]
        if part.sparse:
            low, high = low * rates["sparse_low"], high * rates["sparse_high"]
        share = part.weights / whole if whole else 0.0
        fast += share / (high * lane.high)
        slow += share / (low * lane.low)
    if not fast:
        return None
    step_low, step_high = step_share(found.ubatch, rates["by_ubatch"])
    unit = rates["parameters"] / found.active
    low, high = unit * step_low / slow, unit * step_high / fast
    names = ", ".join(dict.fromkeys(lane.name for lane in lanes if lane.device != CPU))
    basis = f"{found.active / GIGA:.1f} billion active parameters, -ub {found.ubatch}, {names}"
    return Range(low, (low * high) ** 0.5, high, 0.0, basis)


def step_share(ubatch: int, points: Sequence[Sequence[float]]) -> tuple[float, float]:
    """What part of the full speed a step of so many tokens reaches, at least and at most; between the points of the table."""
    if ubatch >= points[-1][0]:
        return points[-1][1], points[-1][2]
    for below, above in itertools.pairwise(points):
        if ubatch < above[0]:
            part = max(0.0, (ubatch - below[0]) / (above[0] - below[0]))
            return below[1] + part * (above[1] - below[1]), below[2] + part * (above[2] - below[2])
    return points[0][1], points[0][2]
