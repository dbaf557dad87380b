"""The climb itself: rung after rung, up to the first that does not hold. Nothing above that one is tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.ladder import access, deep, model, network, speed, template
from doctor.facts.ladder.ask import DEEP_SECONDS, Asker
from doctor.facts.ladder.record import DEEP, RUNGS, Ladder, Rung
from doctor.facts.ladder.state import Climb, Step, not_tried
from doctor.facts.record import field_types
from doctor.facts.urls import parse_address

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.facts.ladder.target import Target
    from doctor.facts.server.record import Server
    from doctor.outside import Outside

STEPS: dict[str, Callable[[Climb], Step]] = {
    "name": network.name,
    "proxy": network.proxy,
    "port": network.port,
    "http": network.http,
    "kind": network.kind,
    "ready": network.ready,
    "key": access.key,
    "path": access.path,
    "cors": access.cors,
    "model": model.model,
    "context": model.context,
    "template": template.template,
    "reply": deep.reply,
    "stream": deep.stream,
    "tools": deep.tools,
    "cache": speed.cache,
    "speed": speed.speed,
}
NOT_DEEP = "makes the model work: add --deep"


def climb_ladder(
    outside: Outside,
    target: Target,
    server: Server,
    *,
    deep_too: bool = False,
    origin: str = "",
    deep_seconds: float = DEEP_SECONDS,
    same_server: bool = True,
    server_url: str = "",
    progress: Callable[[str], None] | None = None,
) -> Ladder:
    """The way of `target` to its model. `server` is the record of the server at its address. Never raises.

    `server_url` is where a llama.cpp server is known to be, at this address or another one.

    Bounded: 8 s for the cheap rungs (a request 2 s), `deep_seconds` for each of at most six requests of the deep ones,
    1 MiB for any body.
    """
    climb = Climb(outside, target, server, Asker(outside, deep_seconds), origin)
    climb.found["kind"] = climb.kind
    climb.server_url = server_url
    if server_url and not same_server:
        climb.found["direct_url"] = server_url + ("" if target.appends_v1 else "/v1")
    rungs: list[Rung] = []
    ended = False
    for name in RUNGS:
        if name == "cors" and not origin:
            continue
        if ended or (name in DEEP and not deep_too):
            rungs.append(Rung(name, "not-tried", "", "" if ended else NOT_DEEP))
            continue
        if progress is not None:
            progress(name)
        step = _try(STEPS[name], climb)
        rungs.append(Rung(name, *step))
        ended = step.state == "failed"
    return _ladder(climb, tuple(rungs), deep_too, same_server)


def _try(step: Callable[[Climb], Step], climb: Climb) -> Step:
    try:
        return step(climb)
    except Exception as error:  # a fault of ours must not hide the rungs below
        return not_tried(f"the check crashed: {type(error).__name__}: {error}")


def _ladder(climb: Climb, rungs: tuple[Rung, ...], deep_too: bool, same_server: bool) -> Ladder:
    target = climb.target
    broken = next((rung for rung in rungs if rung.state == "failed"), None)
    values = {
        "client": target.client,
        "name": target.name,
        "url": _without_login(target.base),
        "url_source": target.source,
        "request_url": _without_login(target.request_url),
        "wire_api": target.wire_api,
        "deep": deep_too,
        "same_server": same_server,
        "rungs": rungs,
        "failed": broken.name if broken else None,
        "reason": broken.reason if broken else None,
        "detail": broken.detail if broken else None,
        # Beside a failure the warnings do not matter: there is one thing to do first.
        "reasons": (broken.reason,) if broken else tuple(rung.reason for rung in rungs if rung.reason),
    }
    rest = {name: climb.found.get(name) for name in field_types(Ladder) if name not in values}
    return Ladder(**values, **rest)  # type: ignore[arg-type]


def _without_login(url: str) -> str:
    userinfo = parse_address(url).userinfo
    return url.replace(f"{userinfo}@", "", 1) if userinfo else url
