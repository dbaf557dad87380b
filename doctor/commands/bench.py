"""`doctor bench`: measure a running server through its API, short and capped, and say what holds it back."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from doctor.commands.answer import answer, left_out, redactor, speaker
from doctor.commands.key import given_key
from doctor.commands.saved_facts import save_facts
from doctor.engine.diagnose import diagnose
from doctor.engine.finding import NotChecked, Report
from doctor.engine.load import load
from doctor.exits import UsageError
from doctor.facts.bench import Bench
from doctor.facts.facts import nothing_known
from doctor.facts.record import FactsFormatError, Unknown, from_json, known, to_json
from doctor.facts.server_address import DEFAULT_URL, server_url
from doctor.facts.urls import is_loopback, parse_address
from doctor.outside import OutsideError
from doctor.report.bench import bench_rows
from doctor.report.spoken import spoken
from doctor.report.words import language, say
from doctor.secrets import Vault

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from doctor.exits import Exit
    from doctor.facts.facts import Facts
    from doctor.outside import Outside

NOT_LOOKED_AT = "doctor bench looks at the server only"
SAVED_LIMIT = 1 << 20
TOLD_WITHOUT = frozenset({"server", "bench", "process"})
"""Subjects whose findings are told where nothing could be measured: they may say why."""


def bench(options: argparse.Namespace, outside: Outside) -> Exit:
    """Ask, measure, compare, answer."""
    lang = language(options.lang, dict(outside.environ))
    vault = Vault()
    clean = redactor(outside, vault)
    before = _saved(outside, options.compare) if options.compare is not None else None
    facts = look(options, outside, vault, before)
    measured = facts.bench
    assert isinstance(measured, Bench)
    knowledge = load(outside)
    diagnosis = diagnose(knowledge.rules, facts, lang=lang, source="server", clean=speaker(clean, lang))
    plain: dict[str, Any] = clean.tree(
        {name: to_json(getattr(facts, name)) for name in ("bench", "speed", "server", "process")}
    )
    if options.save is not None:
        save_facts(outside, options.save, plain)
    problem = known(measured.problem)
    report = Report(
        command="bench",
        findings=tuple(found for found in diagnosis.findings if problem is None or TOLD_WITHOUT & set(found.subjects)),
        not_checked=(*left_out(knowledge), *(NotChecked("bench", reason) for reason in known(measured.skipped) or ())),
        facts=plain,
        found_nothing="" if problem is not None else say("nothing_bench", lang),
        healthy=problem is None,
        notes=(say("not_measured", lang).format(problem=spoken(problem, lang)),) if problem is not None else (),
    )
    status = answer(
        report,
        options,
        lang,
        clean,
        head=lambda unicode: bench_rows(measured, known(facts.speed), lang, unicode=unicode),
    )
    if problem is not None and options.fail_on != "never":
        from doctor.exits import Exit

        return Exit.FINDINGS
    return status


def look(options: argparse.Namespace, outside: Outside, vault: Vault, before: Bench | None) -> Facts:
    """The facts a measurement needs and those it finds. Raises UsageError for what cannot be asked for."""
    from dataclasses import replace

    from doctor.bench.collect import against, bench, compared
    from doctor.facts.launch import record as launch
    from doctor.facts.machine import record as machine
    from doctor.facts.process import record as process
    from doctor.facts.server import record as server

    key = given_key(options, outside, vault)
    started = launch.find(outside, vault, text=None, port=_port(options.url))
    running = launch.judge(outside, vault, started, None) if isinstance(started, launch.Seen) else started
    mine = known(running)
    if options.url is not None and (problem := parse_address(options.url).problem):
        raise UsageError(f"{options.url.rpartition('@')[2]!r}: {problem}")
    url, source = server_url(options.url, mine, ())
    local = is_loopback(parse_address(url).host)
    if key is None and mine is not None and local and (token := known(mine.api_key_token)):
        key = vault.get(token)
    address = url.rstrip("/").removesuffix("/v1")
    there = server.collect(outside, vault, url=address, url_source=source, key_token=vault.put(key) if key else None)
    same = mine if local and mine is not None and known(mine.port) == parse_address(url).port else None
    port = parse_address(url).port
    pid = (known(same.pid) if same is not None else None) or (process.pid_of_port(outside, port) if local else None)
    measured = bench(
        outside,
        there,
        model=options.model,
        key=key,
        pid=pid,
        seconds=options.seconds,
        progress=_progress() if outside.redraws() else _silent,
    )
    here = machine.collect(outside, None) if local else Unknown("the server is on another machine")
    facts = replace(
        nothing_known(NOT_LOOKED_AT),
        machine=here,
        launch=same if same is not None else Unknown("the launch command of the server is not known"),
        server=there,
        process=process.collect(outside, pid) if pid is not None else None,
    )
    facts = _expected(outside, facts, options.gguf or (known(same.model) if same is not None else None), local)
    measured = against(measured, facts.speed)
    return replace(facts, bench=compared(measured, before) if before is not None else measured)


def _expected(outside: Outside, facts: Facts, path: str | None, local: bool) -> Facts:
    """The same with the speed to expect, where the model file, the command and the cards are this machine's."""
    from dataclasses import replace

    from doctor.facts import speed
    from doctor.facts.budget import record as budget
    from doctor.facts.build import record as build
    from doctor.facts.gpu import record as gpu

    started, there = known(facts.launch), known(facts.server)
    if path is None or started is None or not local:
        return replace(facts, speed=Unknown("the model file or the launch command is not known"))
    number = known(there.build_number) if there is not None else None
    wish = budget.wish_of(outside, path, started, number)
    if isinstance(wish, Unknown):
        return replace(facts, speed=wish)
    cards = gpu.collect(outside)
    rooms = budget.rooms_here(outside, started, known(build.collect(outside, option=None, launch=started)), cards)
    expected = speed.of_wish(outside, wish, rooms.rooms, measure_ram=True, drafting=speed.drafting_of(wish))
    return replace(facts, speed=expected, gpu=cards)


def _port(url: str | None) -> int | None:
    return parse_address(url or DEFAULT_URL).port


def _saved(outside: Outside, path: str) -> Bench:
    """The measurement of a file that --save wrote. Raises UsageError."""
    import json

    try:
        data = json.loads(outside.read_text(path, SAVED_LIMIT))
        facts = data.get("facts", data) if isinstance(data, dict) else None
        found = from_json(Bench, facts["bench"] if isinstance(facts, dict) and "bench" in facts else facts)
        assert isinstance(found, Bench)
        return found
    except OutsideError as error:
        raise UsageError(f"--compare: {error}") from None
    except (ValueError, RecursionError, KeyError) as error:
        detail = str(error) if isinstance(error, FactsFormatError) else "not such a file"
        raise UsageError(f"--compare: {path} does not hold a measurement saved with --save: {detail}") from None


def _progress() -> Callable[[str], None]:
    """A line on a terminal's standard error that says what is being measured; "" wipes it."""

    def tell(step: str) -> None:
        sys.stderr.write("\r\x1b[K" + (f"bench: {step} …" if step else ""))
        sys.stderr.flush()

    return tell


def _silent(step: str) -> None:
    """Nothing: standard error is no terminal."""
