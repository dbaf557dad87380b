"""`doctor watch`: look at cards, server, log and computer while they work, and say what holds them back."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from doctor.commands.answer import answer, left_out, redactor, speaker
from doctor.commands.html import must_be_writable
from doctor.commands.key import given_key
from doctor.commands.watch_show import shower
from doctor.engine.diagnose import diagnose
from doctor.engine.finding import Report
from doctor.engine.load import load
from doctor.exits import UsageError
from doctor.facts.facts import nothing_known
from doctor.facts.launch.processes import DEFAULT_PORT
from doctor.facts.record import FactsFormatError, Unknown, known, not_collected, to_json
from doctor.facts.watch.recording import FILE_LIMIT, MOST_SAMPLES, Recording, empty, head_line, parse, sample_line
from doctor.facts.watch.summary import summarise
from doctor.logs.turns import MOST_TURNS
from doctor.outside import OutsideError
from doctor.report.watch_words import tell
from doctor.report.words import language
from doctor.secrets import Vault

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from doctor.engine.finding import Finding
    from doctor.engine.rules import Rule
    from doctor.exits import Exit
    from doctor.facts.facts import Facts
    from doctor.facts.launch.record import Launch
    from doctor.facts.log import Log
    from doctor.facts.watch.sample import Sample
    from doctor.outside import Outside
    from doctor.redact import Redactor

SAVE_EVERY = 60.0
NOT_LOOKED_AT = "doctor watch looks at what happens only"


def watch(options: argparse.Namespace, outside: Outside) -> Exit:
    """Watch (or replay), then answer as every verb does. Ctrl-C ends the watching, not the answer."""
    lang = language(options.lang, dict(outside.environ))
    must_be_writable(outside, options)
    vault = Vault()
    clean = redactor(outside, vault)
    knowledge = load(outside)
    rules = tuple(rule for rule in knowledge.rules if _can_be_seen(rule))
    if options.from_file is not None:
        record = replay(options, outside)
    else:
        record = live(options, outside, vault, clean, rules, lang)
    facts = facts_of(outside, record, record.samples)
    diagnosis = diagnose(rules, facts, lang=lang, source="watch", clean=speaker(clean, lang))
    plain: dict[str, Any] = to_json(facts)
    notes = (tell("saved", lang, path=options.save),) if options.save is not None else ()
    report = Report(
        command="watch",
        findings=diagnosis.findings,
        not_checked=left_out(knowledge),
        facts={
            name: plain[name] for name in ("watch", "log", "launch", "machine", "process", "timeline") if name in plain
        },
        found_nothing=_nothing(facts, lang),
        healthy=bool(_busy(facts)),
        notes=notes,
    )
    from doctor.report.watch import summary

    seen = known(facts.watch)
    assert seen is not None
    lines = tuple(clean.tree(tuple(summary(seen, lang, replayed=options.from_file is not None))))
    return answer(report, options, lang, clean, head=lambda unicode: iter(lines), outside=outside)


def _can_be_seen(rule: Rule) -> bool:
    """Whether watching, or the launch command of what is watched, can decide a rule."""
    if any(word in when.expr for word in ("watch.", "timeline.", "log.decode_speeds") for when in rule.when):
        return True
    return rule.id.startswith("speed/") and rule.severity != "note" and any("launch." in w.expr for w in rule.when)


def _busy(facts: Facts) -> float:
    seen = known(facts.watch)
    return (known(seen.busy_seconds) if seen is not None else None) or 0.0


def _nothing(facts: Facts, lang: str) -> str:
    """What is said when nothing is found: that all was well, or that there was nothing to see."""
    seen = known(facts.watch)
    if seen is not None and isinstance(seen.busy_seconds, Unknown):
        return tell("no_way", lang)
    return tell("nothing_watch" if _busy(facts) else "nothing_idle", lang)


def facts_of(
    outside: Outside, record: Recording, samples: Sequence[Sample], longer: Sequence[Sample] | None = None
) -> Facts:
    """What some samples of a watch say, as facts. The requests of a log are those of the `longer` time, where one is given."""
    from doctor.facts.timeline.log import of_log

    machine = known(record.machine)
    cores = (known(machine.cores_physical) or known(machine.cores_logical)) if machine is not None else None
    timings = tuple(timing for sample in samples for timing in sample.timings)
    turns = tuple(turn for sample in longer or samples for turn in sample.turns or ())[-MOST_TURNS:]
    log = _log(timings)
    return replace(
        nothing_known(NOT_LOOKED_AT),
        machine=record.machine,
        launch=record.launch,
        process=record.process,
        log=log if timings else Unknown("no request was told of in a log"),
        watch=summarise(samples, cores),
        timeline=of_log(outside, turns, log, None),
    )


def _log(timings: tuple[Any, ...]) -> Log:
    """The requests of a watched log; its words are for `doctor log`."""
    from doctor.facts.log import Log

    decode = tuple(one.decoded_per_second for one in timings if (known(one.decoded_tokens) or 0) >= 8)
    prompt = tuple(one.prompt_per_second for one in timings if (known(one.prompt_tokens) or 0) >= 8)
    return replace(
        not_collected(Log, "only the speeds of a log are watched"),
        lines=0,
        timings=timings,
        decode_speeds=tuple(speed for speed in decode if isinstance(speed, float)) or None,
        prompt_speeds=tuple(speed for speed in prompt if isinstance(speed, float)) or None,
    )


def replay(options: argparse.Namespace, outside: Outside) -> Recording:
    """A saved watch. Raises UsageError when the file is none."""
    for name in ("server", "log", "save", "key_env", "key_file"):
        if getattr(options, name):
            raise UsageError(f"--from takes a recording as it is: leave out --{name.replace('_', '-')}")
    try:
        return parse(outside.read_text(options.from_file, FILE_LIMIT))
    except OutsideError as error:
        raise UsageError(f"--from: {error}") from None
    except FactsFormatError as error:
        raise UsageError(f"--from: {options.from_file} is no recording of `doctor watch --save`: {error}") from None


def live(
    options: argparse.Namespace,
    outside: Outside,
    vault: Vault,
    clean: Redactor,
    rules: tuple[Rule, ...],
    lang: str,
) -> Recording:
    """Watch until the time is over or Ctrl-C. Raises UsageError for what cannot be watched."""
    from doctor.facts.watch.sampler import Sampler

    record, root, key, find = _prepare(options, outside, vault)
    kept: deque[Sample] = deque(maxlen=MOST_SAMPLES)
    lines: deque[str] = deque(maxlen=MOST_SAMPLES)
    head = head_line(record, clean.tree)
    save = options.save

    def write_down() -> None:
        if save is not None:
            try:
                outside.write_text(save, head + "".join(lines))
            except OutsideError as error:
                raise UsageError(f"--save: {error}") from None

    write_down()  # what cannot be saved is said before anybody waits for it

    def judge(last: Sequence[Sample], longer: Sequence[Sample]) -> tuple[Finding, ...]:
        facts = facts_of(outside, record, last, longer)
        return diagnose(rules, facts, lang=lang, source="watch", clean=speaker(clean, lang)).findings

    show = shower(options, record, clean, lang, judge, outside.environ.get("TERM") == "dumb")
    sampler = Sampler(outside, root, key, options.log or "", find)
    started = outside.monotonic()
    due, next_save = started, started + SAVE_EVERY
    try:
        with show:
            while options.seconds is None or outside.monotonic() - started < options.seconds:
                due = max(due + options.interval, outside.monotonic())
                outside.sleep(due - outside.monotonic())
                sample = sampler.sample()
                kept.append(sample)
                if save is not None:
                    lines.append(sample_line(sample, clean.tree))
                show.take(kept)
                if outside.monotonic() >= next_save:
                    write_down()
                    next_save += SAVE_EVERY
    except KeyboardInterrupt:
        pass
    finally:
        sampler.close()
    write_down()
    return replace(record, samples=tuple(kept))


def _port_of(command: Launch | None) -> int | None:
    """The port a running server is reached at."""
    if command is None:
        return None
    return known(command.published_port) or known(command.port) or DEFAULT_PORT


def _prepare(
    options: argparse.Namespace, outside: Outside, vault: Vault
) -> tuple[Recording, str, str, Callable[[], int | None]]:
    """What stays the same while watching: (recording without samples, server's address, key, how to find its process)."""
    from doctor.facts.launch import record as launch
    from doctor.facts.launch.processes import find_process
    from doctor.facts.machine import record as machine
    from doctor.facts.process import record as process
    from doctor.facts.server_address import DEFAULT, is_loopback, server_url
    from doctor.facts.urls import parse_address

    key = given_key(options, outside, vault) or ""
    port = parse_address(options.server).port if options.server else None
    found = launch.find(outside, vault, text=None, port=port)
    started = launch.judge(outside, vault, found, None) if isinstance(found, launch.Seen) else found
    if port is not None and _port_of(known(started)) != port:
        started = None  # another server runs here, not this one
    url, source = server_url(options.server, known(started), ())
    address = parse_address(url)
    if address.problem:
        raise UsageError(f"--server: {url.rpartition('@')[2]!r}: {address.problem}")
    if address.userinfo:
        vault.put(address.userinfo)
    root = "" if source == DEFAULT and not outside.port_open(address.host, address.port) else address.root
    command = known(started)
    token = known(command.api_key_token) if command is not None and is_loopback(url) else None
    key = key or (vault.get(token) if token else "") or ""

    def find() -> int | None:
        if not is_loopback(url):
            return None
        seen = find_process(outside, vault, address.port)
        if isinstance(seen, launch.Seen) and _port_of(known(launch.judge(outside, vault, seen, None))) == address.port:
            return seen.origin.pid
        return process.pid_of_port(outside, address.port) if root else None

    pid = find()
    record = replace(
        empty(options.interval),
        machine=machine.collect(outside, None),
        launch=started,
        server=root,
        log=options.log or "",
        process=process.collect(outside, pid) if pid is not None else None,
    )
    return record, root, key.partition(",")[0].strip(), find
