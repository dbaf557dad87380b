"""A watch as a file: JSON lines, the first about the whole, each further one a sample. Bounded, and read with suspicion."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from doctor.facts.launch.record import Launch
from doctor.facts.machine.record import Machine
from doctor.facts.process.record import Process
from doctor.facts.record import Fact, FactsFormatError, Unknown, from_json, to_json
from doctor.facts.watch.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

VERSION = 1
MOST_SAMPLES = 7200
"""Two hours of one a second: of a longer watch the last ones are kept."""
FILE_LIMIT = 32 << 20
_FEW_LINES = 2 * MOST_SAMPLES


@dataclass(frozen=True)
class Recording:
    """`server` is its address and `log` the path of its log, "" without one; `interval` in seconds; `process` as it began."""

    version: int
    interval: float
    machine: Fact[Machine]
    launch: Fact[Launch]
    server: str
    log: str
    samples: tuple[Sample, ...]
    process: Fact[Process] = None


def head_line(recording: Recording, clean: Callable[[Any], Any]) -> str:
    """The first line. `clean` redacts plain data."""
    plain = to_json(recording)
    plain.pop("samples")
    return _line({"doctor_watch": plain}, clean)


def sample_line(sample: Sample, clean: Callable[[Any], Any]) -> str:
    """The line of a sample."""
    return _line(to_json(sample), clean)


def _line(data: Any, clean: Callable[[Any], Any]) -> str:
    return json.dumps(clean(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def parse(text: str) -> Recording:
    """A recording. Raises FactsFormatError naming the line that is none."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise FactsFormatError("line 1: nothing is there")
    if len(lines) > _FEW_LINES:
        raise FactsFormatError(f"more than {_FEW_LINES} lines")
    head = _object(lines[0], 1).get("doctor_watch")
    if not isinstance(head, dict) or head.get("version") != VERSION:
        raise FactsFormatError(f"line 1: not a recording of `doctor watch --save` (version {VERSION})")
    record = from_json(Recording, {**head, "samples": []}, "line 1")
    assert isinstance(record, Recording)
    samples = tuple(_samples(lines[1:]))
    return replace(record, samples=samples)


def _samples(lines: Iterable[str]) -> Iterable[Sample]:
    before = 0.0
    for number, line in enumerate(lines, 2):
        sample = from_json(Sample, _object(line, number), f"line {number}")
        assert isinstance(sample, Sample)
        if not (before <= sample.at_seconds and 0 <= sample.seconds <= 86400):
            raise FactsFormatError(f"line {number}: its time is not after that of the line before")
        before = sample.at_seconds
        yield sample


def _object(line: str, number: int) -> dict[str, Any]:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        raise FactsFormatError(f"line {number}: not JSON") from None
    if not isinstance(data, dict):
        raise FactsFormatError(f"line {number}: expected an object")
    return data


def empty(interval: float) -> Recording:
    """A recording to be filled."""
    why = Unknown("not looked at")
    return Recording(VERSION, interval, why, why, "", "", ())
