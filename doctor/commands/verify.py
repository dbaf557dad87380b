"""`doctor verify`: climb from a client's settings to an answer of the model, and say which rung does not hold."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from doctor.arguments.shared import CLIENT_IDS
from doctor.commands.answer import answer, every, left_out, redactor, speaker
from doctor.commands.html import must_be_writable
from doctor.commands.key import given_key
from doctor.engine.diagnose import diagnose
from doctor.engine.finding import Report
from doctor.engine.load import load
from doctor.exits import UsageError
from doctor.facts.clients import at_address, collect_all, unconfigured
from doctor.facts.facts import nothing_known
from doctor.facts.ladder.climb import climb_ladder
from doctor.facts.ladder.collect import MOST_CLIENTS, has_address, same_place, server_of
from doctor.facts.ladder.target import KEY_NAME, Target, of_client, of_url
from doctor.facts.record import Unknown, known, to_json
from doctor.facts.server_address import GIVEN, server_url
from doctor.facts.urls import is_loopback, parse_address
from doctor.report.ladder import ladder_rows
from doctor.report.rungs import NAMES
from doctor.report.words import language, say
from doctor.secrets import Vault

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from doctor.engine.finding import Finding
    from doctor.exits import Exit
    from doctor.facts.clients.record import Client
    from doctor.facts.facts import Facts
    from doctor.facts.ladder.record import Ladder
    from doctor.facts.server.record import Server
    from doctor.outside import Outside

NOT_LOOKED_AT = "doctor verify looks at the way from the client to the model only"
WAY = ("ladders", "server")
"""Subjects of findings that are about the way itself."""


def verify(options: argparse.Namespace, outside: Outside) -> Exit:
    """Climb every ladder that was asked for and answer."""
    lang = language(options.lang, dict(outside.environ))
    must_be_writable(outside, options)
    vault = Vault()
    clean = redactor(outside, vault)
    facts = look(options, outside, vault)
    knowledge = load(outside)
    diagnosis = diagnose(knowledge.rules, facts, lang=lang, source="settings", clean=speaker(clean, lang))
    ladders = known(facts.ladders) or ()
    plain: dict[str, Any] = to_json(facts)
    report = Report(
        command="verify",
        findings=about_the_way(diagnosis.findings, ladders),
        not_checked=left_out(knowledge),
        facts=plain,
        found_nothing=say("nothing_verify" if options.deep else "nothing_verify_cheap", lang),
        healthy=bool(ladders),
    )
    shown = clean.tree(plain["ladders"])
    return answer(
        report,
        options,
        lang,
        clean,
        head=lambda unicode: ladder_rows(shown, lang=lang, unicode=unicode),
        outside=outside,
    )


def about_the_way(findings: tuple[Finding, ...], ladders: tuple[Ladder, ...]) -> tuple[Finding, ...]:
    """Of a broken way only what says why it is broken; of a sound one everything.

    What breaks the way is an error here and what the way survives a warning, whatever the rule is elsewhere.
    """
    if not any(known(ladder.failed) for ladder in ladders):
        return tuple(_at_most_warning(found) for found in findings)
    # The lowest rungs are the server's own record: where no rule speaks of the ladder, one does of the server.
    for subject in WAY:
        kept = [found for found in findings if any(subject in one.subjects for one in every((found,)))]
        if kept:
            return tuple(found._replace(severity="error") for found in kept)
    return findings


def _at_most_warning(found: Finding) -> Finding:
    survived = "ladders" in found.subjects or found.instead_of
    return found._replace(severity="warning") if survived and found.severity == "error" else found


def look(options: argparse.Namespace, outside: Outside, vault: Vault) -> Facts:
    """The facts a climb needs and those it finds. Raises UsageError for what cannot be asked for."""
    from dataclasses import replace

    from doctor.facts.launch import record as launch
    from doctor.facts.machine import record as machine

    key = given_key(options, outside, vault)
    if options.url is not None:
        if problem := parse_address(options.url).problem:
            raise UsageError(f"{options.url.rpartition('@')[2]!r}: {problem}")
        if "://" not in options.url:
            options.url = f"http://{options.url.lstrip('/')}"
    clients = collect_all(outside, vault, options.client)
    if options.client is not None:
        clients = (_client(options, outside, vault, clients),)
    started = launch.find(outside, vault, text=None, port=None)
    running = launch.judge(outside, vault, started, None) if isinstance(started, launch.Seen) else started
    targets = _targets(options, vault, clients, known(running), key)
    asked: list[Server] = []
    ladders: list[Ladder] = []
    for target in targets:
        ladders.append(_climb(options, outside, vault, target, asked))
    facts = nothing_known(NOT_LOOKED_AT)
    return replace(
        facts,
        machine=machine.collect(outside, None),
        launch=running,
        clients=tuple(client for client in clients if any(client.id == ladder.client for ladder in ladders)),
        server=asked[0] if len(asked) == 1 else Unknown("several servers were asked"),
        ladders=tuple(ladders),
    )


def _climb(options: argparse.Namespace, outside: Outside, vault: Vault, target: Target, asked: list[Server]) -> Ladder:
    progress = _progress(target.name, options, outside) if outside.redraws() else None
    if progress:
        progress("server")
    there = next((one for one in asked if same_place(one.url, target.base)), None)
    if there is None:
        there = server_of(outside, vault, target)
        asked.append(there)
    ladder = climb_ladder(
        outside,
        target,
        there,
        deep_too=options.deep,
        origin=options.origin or "",
        deep_seconds=options.timeout,
        progress=progress,
    )
    if progress:
        progress("")
    return ladder


def _targets(
    options: argparse.Namespace, vault: Vault, clients: tuple[Client, ...], started: Any, key: str | None
) -> list[Target]:
    """Whom to climb for: the client named, the address named, else every client pointed somewhere, else the server."""
    name = "--key-file" if options.key_file is not None else KEY_NAME
    if options.client is not None:
        client = clients[0]
        target = of_client(client, vault, model=options.model, key=key, named=True, key_name=name)
        if target is None and (broken := known(client.problems)):
            raise UsageError(f"--client {client.id}: nothing in its settings applies: {broken[0]}")
        if target is None:
            raise UsageError(
                f"--client {client.id}: nothing sets its base URL: it talks to its maker, not to a server of yours"
            )
        return [target]
    if options.url is not None:
        return [of_url(options.url, model=options.model, key=key, source=GIVEN, key_name=name)]
    found = [
        of_client(client, vault, model=options.model, key=key, named=False, key_name=name)
        for client in clients
        if has_address(client)
    ]
    local = [target for target in found if target is not None and is_loopback(parse_address(target.base).host)]
    if local:
        return local[:MOST_CLIENTS]
    url, source = server_url(None, started, clients)
    token = known(started.api_key_token) if started is not None else None
    return [
        of_url(url, model=options.model, key=key or (vault.get(token) if token else None), source=source, key_name=name)
    ]


def _client(options: argparse.Namespace, outside: Outside, vault: Vault, clients: tuple[Client, ...]) -> Client:
    """The client that is named, at the address that is given if one is: then it need not be set up here."""
    wanted = options.client.lower().replace("_", "-").replace(" ", "-")
    found = next((one for one in clients if wanted in (one.id, one.name.lower().replace(" ", "-"))), None)
    if found is None and options.url is not None:
        found = unconfigured(outside, vault, wanted)
    if found is None:
        there = ", ".join(client.id for client in clients) or "none"
        known_ids = "" if wanted in CLIENT_IDS else f"; doctor knows {', '.join(CLIENT_IDS)}"
        raise UsageError(f"--client {options.client}: no settings of it on this machine; found: {there}{known_ids}")
    return found if options.url is None else at_address(found, options.url)


def _progress(name: str, options: argparse.Namespace, outside: Outside) -> Callable[[str], None]:
    """A line on a terminal's standard error that says which step is being tried; "" wipes it."""
    names = NAMES[language(options.lang, dict(outside.environ))]

    def tell(rung: str) -> None:
        sys.stderr.write("\r\x1b[K" + (f"{name}: {names.get(rung, rung)} …" if rung else ""))
        sys.stderr.flush()

    return tell
