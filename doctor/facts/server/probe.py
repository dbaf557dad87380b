"""Asking a llama.cpp server: which requests, in which order, and what their answers amount to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from doctor.facts.record import Fact, Unknown
from doctor.facts.server import answers
from doctor.facts.server.kinds import Reply, identify
from doctor.facts.server.record import Server
from doctor.facts.server.session import Session
from doctor.facts.server.trouble import blank_record, foreign, no_answer, still_loading, wrong_path
from doctor.facts.urls import parse_address
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import Outside
    from doctor.secrets import Vault

BuildOfCommit = Callable[[str], "int | None"]


def probe(
    outside: Outside,
    vault: Vault,
    url: str,
    url_source: str,
    key_token: str | None,
    build_of_commit: BuildOfCommit | None,
) -> Server:
    """The record of the server at `url`."""
    address = parse_address(url)
    if address.userinfo:
        vault.put(address.userinfo)
    if address.problem:
        shown = address.root.rpartition("@")[2]
        return blank_record(shown, url_source, "error", f"{shown}: {address.problem}")
    session = Session(outside, address, _key(vault, key_token or ""))
    server = _ask(session, url_source, build_of_commit)
    unreadable = server.unreadable
    if server.kind == "llama.cpp" and server.state in ("ok", "unauthorised"):
        unreadable = tuple(f"{path}: {words}" for path, words in session.faults.items()) or None
    return replace(server, unreadable=unreadable, probes=tuple(session.probes))


def _key(vault: Vault, token: str) -> str:
    """The key to send: the first of several; none where the text is a placeholder that only a shell could fill in."""
    first = token.partition(",")[0].strip()
    key = vault.get(first)
    return "" if key == first and key.startswith(("$", "%", "<")) else key


def _ask(session: Session, url_source: str, build_of_commit: BuildOfCommit | None) -> Server:
    try:
        health = session.get("/health")
    except OutsideError as error:
        return no_answer(session, url_source, error)
    blank = blank_record(session.address.root, url_source, "ok", None, why="the server did not say")
    blank = replace(blank, port_open=True)
    if health.status == 503 and "loading model" in health.text.lower():
        return still_loading(blank)
    models = session.try_get("/v1/models")
    replies = [health] + ([models] if models else [])
    if identify(replies) in ("llama.cpp", "gateway", "unknown"):
        props = session.try_get("/props")
        replies += [props] if props else []
    if identify(replies) in ("gateway", "unknown"):
        version = session.try_get("/api/version")
        replies += [version] if version else []
    kind = identify(replies)
    if kind != "llama.cpp":
        return foreign(blank, kind, replies, models)
    if any(reply.status == 503 and "loading model" in reply.text.lower() for reply in replies):
        return still_loading(blank)
    return _llama(session, blank, replies, build_of_commit)


def _llama(session: Session, blank: Server, replies: list[Reply], build_of_commit: BuildOfCommit | None) -> Server:
    by_path = {reply.path: reply for reply in replies}
    required = _key_required(by_path)
    accepted: Fact[bool] = (
        None if not session.key else Unknown("the server did not say") if required is not False else True
    )
    odd = False  # the key was answered with something that says neither yes nor no
    if required is True and session.key:
        for path in ("/props", "/v1/models"):
            reply = session.try_get(path, with_key=True)
            if reply is not None:
                odd = reply.status >= 300 and reply.status not in (401, 404)
                accepted = Unknown(f"HTTP {reply.status} to {path} with the key") if odd else reply.status != 401
                by_path[path] = reply
            if accepted is not True:
                break
    blank = replace(blank, kind="llama.cpp", key_required=required, key_accepted=accepted)
    if odd and isinstance(accepted, Unknown):
        return replace(blank, state="error", detail=f"the key at hand got no plain answer ({accepted.reason})")
    if required is True and accepted is not True:
        return _described(_without_key(blank), by_path, build_of_commit)
    answered = [by_path[path] for path in ("/v1/models", "/props") if path in by_path]
    if answered and all(reply.status == 404 for reply in answered):
        return wrong_path(session, blank)
    if not any(reply.status == 200 and isinstance(reply.data, dict) for reply in answered):
        statuses = {reply.path: f"HTTP {reply.status}" for reply in answered}
        told = "; ".join(f"{path}: {words}" for path, words in {**statuses, **session.faults}.items())
        return replace(blank, state="error", detail=f"the server answers, but nothing that can be read: {told}")
    return _with_slots(session, _described(blank, by_path, build_of_commit), by_path, with_key=required is True)


def _without_key(server: Server) -> Server:
    """The same record for a server that keeps its answers to itself."""
    refused = server.key_accepted is False
    detail = f"the server wants an API key and {'refuses the key at hand' if refused else 'none is at hand'}"
    empty = blank_record(
        server.url, server.url_source, "unauthorised", detail, why="the server wants an API key for that"
    )
    return replace(
        empty,
        kind=server.kind,
        port_open=True,
        key_required=True,
        key_accepted=server.key_accepted,
    )


def _key_required(by_path: dict[str, Reply]) -> Fact[bool]:
    """/props needs the key in every build that has keys; /v1/models was public up to b10434."""
    props = by_path.get("/props")
    if props is None or props.status not in (200, 401, 404):
        return Unknown("no plain answer to /props")
    return props.status == 401


def _described(blank: Server, by_path: dict[str, Reply], build_of_commit: BuildOfCommit | None) -> Server:
    """What /v1/models and /props say."""

    def data_of(path: str) -> Any:
        return by_path[path].data if path in by_path and by_path[path].status == 200 else None

    models, props = data_of("/v1/models"), data_of("/props")
    server = blank
    if isinstance(models, dict):
        server = replace(
            server,
            model_ids=answers.model_ids(models) or None,
            n_ctx_train=answers.model_meta(models, "n_ctx_train"),
        )
    if isinstance(props, dict):
        info = answers.text_of(props, "build_info")
        template = answers.templates(props)
        server = replace(
            server,
            model_path=answers.text_of(props, "model_path"),
            slots=answers.slot_count(props, None),
            build_info=info,
            build_number=answers.build_number(info, build_of_commit),
            chat_template=template is not None,
            strict_system_message=template is not None and answers.STRICT_SYSTEM in template,
            sleeping=props.get("is_sleeping") is True,
        )
        if props.get("role") == "router":
            return _router(server)
    if isinstance(models, dict) or isinstance(props, dict):
        server = replace(server, n_ctx=answers.slot_context(models, props, None), vision=answers.vision(models, props))
    return server


def _router(server: Server) -> Server:
    each = Unknown("a router: each model has its own")
    return replace(
        server,
        kind="llama.cpp-router",
        model_path=each,
        n_ctx=each,
        n_ctx_train=each,
        slots=each,
        slots_busy=each,
        vision=each,
        chat_template=each,
        strict_system_message=each,
        metrics=each,
    )


def _with_slots(session: Session, server: Server, by_path: dict[str, Reply], *, with_key: bool) -> Server:
    """What /slots and /metrics say. A router is not asked (it would load a model), nor a sleeper (it would wake up)."""
    if server.kind == "llama.cpp-router":
        return server
    if server.sleeping is True:
        asleep = Unknown("the model is unloaded; asking would wake it up")
        return replace(server, slots_busy=asleep, metrics=asleep)
    slots = session.try_get("/slots", with_key=with_key)
    _odd_numbers(session, by_path, slots)
    if slots is not None and slots.status == 200 and isinstance(slots.data, list):
        props = by_path["/props"].data if "/props" in by_path else None
        server = replace(
            server,
            slots=answers.slot_count(props, slots.data),
            slots_busy=answers.busy_slots(slots.data),
            n_ctx=server.n_ctx if server.n_ctx else answers.slot_context(None, props, slots.data),
        )
    elif slots is not None and slots.status == 200:
        session.faults.setdefault("/slots", "the answer is no list")
    elif slots is not None and slots.status == 501:
        server = replace(server, slots_busy=Unknown("GET /slots is off (--no-slots)"))
    metrics = session.try_get("/metrics", with_key=with_key)
    if metrics is not None:
        server = replace(server, metrics=metrics.status == 200)
    return server


def _odd_numbers(session: Session, by_path: dict[str, Reply], slots: Reply | None) -> None:
    """Note the answers in which something else stands where a number of tokens or slots belongs."""
    for path, reply in {**by_path, "/slots": slots}.items():
        name = answers.odd_number(path, reply.data) if reply is not None and reply.status == 200 else ""
        if name:
            session.faults.setdefault(path, f"what stands for {name} is no sensible number")
