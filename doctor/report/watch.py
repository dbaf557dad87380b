"""A watch for people: the lines of the screen, the one line where there is no screen, and the sum at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.facts.record import known
from doctor.facts.watch.summary import decode_speed
from doctor.report.fact_words import value_words
from doctor.report.rows import Row
from doctor.report.spoken import spoken
from doctor.report.text import STYLES
from doctor.report.watch_words import tell
from doctor.report.words import colon

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from doctor.engine.finding import Finding
    from doctor.facts.watch.record import Watch
    from doctor.facts.watch.sample import CardSample, HostSample, Sample, ServerSample

GIB = 1 << 30
WIDTH = 10
_SPARKS = "▁▂▃▄▅▆▇█"
SPARKS = 40
"""Speeds that are drawn as a row of little bars."""
_WORTH_TELLING = 1e6
"""Bytes a second below which swapping and reading are not mentioned."""


def screen(
    samples: Sequence[Sample], findings: Sequence[Finding], *, url: str, interval: float, lang: str, unicode: bool
) -> Iterator[Row]:
    """The lines of the screen after some samples; `findings` are about the last of them."""
    last = samples[-1]
    at = f"{int(last.at_seconds) // 60}:{int(last.at_seconds) % 60:02d}"
    yield Row((("title", "doctor watch  "), ("quiet", tell("watching", lang, at=at, interval=f"{interval:g}"))))
    yield Row(())
    yield from _server(last.server, url, lang, decode_speed(last))
    speeds = [decode_speed(sample) or 0.0 for sample in samples[-SPARKS:]]
    if unicode and any(speeds):
        yield Row((("", " " * WIDTH), ("kv", sparks(speeds))))
    yield from _cards(last.cards, last.cards_state, lang)
    yield from _host(last.host, lang)
    if last.log_state is not None:
        words = tell("log_words", lang, requests=sum(len(sample.timings) for sample in samples))
        trouble = last.log_state not in ("ok", "rotated")
        yield _named(
            tell("log", lang), tell("log_missing", lang, state=value_words(last.log_state, lang)) if trouble else words
        )
    yield Row(())
    yield from _judgement(samples, findings, lang, unicode)


def _judgement(samples: Sequence[Sample], findings: Sequence[Finding], lang: str, unicode: bool) -> Iterator[Row]:
    from doctor.facts.watch.sample import working

    if not findings:
        quiet = not any(working(sample) for sample in samples[-30:])
        yield Row((("quiet", tell("nothing_yet" if quiet else "nothing", lang)),))
        return
    first, *others = findings
    mark = {"error": "✗", "warning": "!", "note": "·"} if unicode else {"error": "x", "warning": "!", "note": "*"}
    yield Row(((first.severity, f"{mark[first.severity]} "), ("title", first.title)))
    if first.why:
        yield Row((("", first.why),), 2)
    for advice in first.remedies[:1]:
        yield Row((("ok", advice.text),), 2)
    for other in others[:3]:
        yield Row(((other.severity, f"{mark[other.severity]} "), ("quiet", other.title)))


def line(sample: Sample, lang: str, before: Sample | None = None) -> str:
    """One sample as one line, for a pipe or a file. That no card answers is said again only where one did `before`."""
    parts = [f"{sample.at_seconds:.0f} s"]
    if sample.server is not None:
        parts.append(
            tell("server", lang) + colon(lang) + ", ".join(_server_words(sample.server, lang, decode_speed(sample)))
        )
    for card in sample.cards:
        parts.append(
            f"CUDA{card.index} {_percent(card.sm_percent)} % {_fixed(card.power_watts, 0)} W {_gib(card.memory_used_bytes)} GiB"
        )
    if not sample.cards and (before is None or before.cards or before.cards_state != sample.cards_state):
        parts.append(tell("no_cards", lang, state=value_words(sample.cards_state, lang)))
    parts.append(tell("host_words", lang, **_host_values(sample.host)))
    if sample.host.server_cores is not None:
        parts.append(tell("server_cores", lang, cores=f"{sample.host.server_cores:.1f}"))
    if sample.timings:
        speed = known(sample.timings[-1].decoded_per_second)
        parts.append(f"{tell('log', lang)}{colon(lang)}{tell('speed', lang, speed=_fixed(speed, 1))}")
    return "  |  ".join(parts)


def summary(watch: Watch, lang: str, *, replayed: bool) -> Iterator[Row]:
    """The sum at the end, in a few lines."""
    busy = known(watch.busy_seconds)
    words = tell(
        "watched" if busy is not None else "watched_blind",
        lang,
        seconds=_fixed(known(watch.seconds), 0),
        samples=known(watch.samples),
        busy=_fixed(busy, 0),
    )
    more = f"  ({tell('replayed', lang)})" if replayed else ""
    yield Row((("title", words), ("quiet", more)))
    speeds = []
    if (speed := known(watch.decode_per_second)) is not None:
        speeds.append(tell("speed", lang, speed=f"{speed:.1f}"))
    if (speed := known(watch.prompt_per_second)) is not None:
        speeds.append(tell("prompts", lang, speed=f"{speed:.0f}"))
    if speeds:
        yield _named(tell("server", lang), ", ".join(speeds), indent=2)
    if (trouble := known(watch.server_trouble)) is not None:
        yield _named(tell("server", lang), spoken(trouble, lang), indent=2)
    for card in known(watch.cards) or ():
        name = known(card.name)
        words = tell("card", lang, sm=_percent(known(card.sm_percent)), memory=_percent(known(card.memory_percent)))
        yield _named(f"CUDA{card.index}", f"{name}: {words}" if name else words, indent=2)
        yield _named("", tell("card_more", lang, **_card_values(card, most=True)), indent=2)
    cores = known(watch.server_cores)
    if cores is not None:
        yield _named(tell("host", lang), tell("server_cores", lang, cores=f"{cores:.1f}"), indent=2)
    yield Row(())


def _named(name: str, words: str, *, indent: int = 0) -> Row:
    wide = sum(2 if ord(letter) > 0x2E7F else 1 for letter in name)
    return Row((("quiet", name + " " * max(1, WIDTH - wide)), ("", words)), indent)


def _server(server: ServerSample | None, url: str, lang: str, speed: float | None) -> Iterator[Row]:
    if server is None:
        yield _named(tell("server", lang), tell("no_server", lang))
        return
    yield _named(tell("server", lang), f"{url}  " + ", ".join(_server_words(server, lang, speed)))


def _server_words(server: ServerSample, lang: str, speed: float | None) -> list[str]:
    if server.state != "ok" or server.busy is None:
        return [tell(f"state_{server.state}", lang) if f"state_{server.state}" in _STATES else server.state]
    words = [tell("busy", lang, busy=server.busy, slots=server.slots if server.slots is not None else "?")]
    if server.waiting:
        words.append(tell("waiting", lang, waiting=server.waiting))
    if speed:
        words.append(tell("speed", lang, speed=f"{speed:.1f}"))
    if server.depth:
        words.append(tell("depth", lang, depth=server.depth))
    return words


_STATES = frozenset(
    f"state_{name}" for name in ("ok", "loading", "sleeping", "unauthorised", "refused", "timeout", "error")
)


def _cards(cards: Iterable[CardSample], state: str, lang: str) -> Iterator[Row]:
    shown = False
    for card in cards:
        shown = True
        words = tell("card", lang, sm=_percent(card.sm_percent), memory=_percent(card.memory_percent))
        yield _named(f"CUDA{card.index}", f"{card.name}: {words}" if card.name else words)
        yield _named("", tell("card_more", lang, **_card_values(card, most=False)))
        if card.pcie_in_per_second is not None:
            inward, outward = _mega(card.pcie_in_per_second), _mega(card.pcie_out_per_second)
            yield _named("", tell("pcie", lang, inward=inward, outward=outward))
    if not shown:
        yield _named("CUDA", tell("no_cards", lang, state=value_words(state, lang)))


def _card_values(card: Any, *, most: bool) -> dict[str, str]:
    return {
        "power": _fixed(known(card.power_watts), 0),
        "limit": _fixed(known(card.power_limit_watts), 0),
        "clock": _fixed(known(card.clock_sm_mhz), 0),
        "heat": _fixed(known(card.temperature_most_c if most else card.temperature_c), 0),
        "used": _gib(known(card.memory_used_most_bytes if most else card.memory_used_bytes)),
        "total": _gib(known(card.memory_total_bytes)),
    }


def _host(host: HostSample, lang: str) -> Iterator[Row]:
    words = [tell("host_words", lang, **_host_values(host))]
    if host.server_cores is not None:
        words.append(tell("server_cores", lang, cores=f"{host.server_cores:.1f}"))
    if (host.swap_in_per_second or 0) + (host.swap_out_per_second or 0) > _WORTH_TELLING:
        swapped = {"inward": _mega(host.swap_in_per_second), "outward": _mega(host.swap_out_per_second)}
        words.append(tell("swap", lang, **swapped))
    if (host.read_bytes_per_second or 0) > _WORTH_TELLING:
        words.append(tell("paging", lang, read=_mega(host.read_bytes_per_second)))
    yield _named(tell("host", lang), ", ".join(words))


def _host_values(host: HostSample) -> dict[str, str]:
    return {
        "free": _gib(host.ram_available_bytes),
        "total": _gib(host.ram_total_bytes),
        "cpu": _percent(host.cpu_percent),
    }


def sparks(values: Sequence[float]) -> str:
    """A row of little bars, the highest value full."""
    top = max(values) or 1.0
    return "".join(_SPARKS[round((len(_SPARKS) - 1) * value / top)] if value else " " for value in values)


def _percent(value: float | None) -> str:
    return _fixed(value, 0)


def _fixed(value: float | None, digits: int) -> str:
    return "?" if value is None else f"{value:.{digits}f}"


def _gib(value: float | None) -> str:
    return "?" if value is None else f"{value / GIB:.1f}"


def _mega(value: float | None) -> str:
    return "?" if value is None else f"{value / 1e6:.0f}"


class LiveScreen:
    """One screen on a terminal, drawn again and again in place."""

    def __init__(self, *, colour: bool = True) -> None:
        from rich.console import Console
        from rich.live import Live

        console = Console(highlight=False, emoji=False, markup=False, no_color=None if colour else True)
        self._live = Live(
            console=console, auto_refresh=False, transient=True, redirect_stdout=False, redirect_stderr=False
        )

    def __enter__(self) -> LiveScreen:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def show(self, rows: Iterable[Row]) -> None:
        """Draw these lines in the place of those before."""
        from rich.console import Group
        from rich.padding import Padding
        from rich.text import Text

        lines = []
        for row in rows:
            text = Text.assemble(*((piece, STYLES[style]) for style, piece in row.pieces)) if row.pieces else Text(" ")
            # Not filled up to the edge: the "^C" a terminal shows would begin a line that nobody wipes out.
            lines.append(Padding(text, (0, 0, 0, row.indent), expand=False))
        self._live.update(Group(*lines), refresh=True)
