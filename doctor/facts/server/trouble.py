"""What it means when the server gives no answer, is not ready, or is no llama.cpp server."""

from __future__ import annotations

from dataclasses import replace

from doctor.facts.record import Fact, Unknown, not_collected
from doctor.facts.server import answers
from doctor.facts.server.kinds import Reply, looks_like_html
from doctor.facts.server.record import Server
from doctor.facts.server.session import Session
from doctor.outside import OutsideError
from doctor.redact import sanitize

CONNECT_SECONDS = 1.0

# Failures of a request that are states of the server; every other one is "error".
_STATES = ("refused", "timeout", "unreachable", "tls", "not-http")


def blank_record(url: str, url_source: Fact[str], state: str, detail: str | None, *, why: str = "") -> Server:
    """A record that says how the server stands and nothing else; `why` is the reason for all that is unknown."""
    nothing = not_collected(Server, why or f"the server could not be asked ({state})")
    return replace(nothing, url=url, url_source=url_source, state=state, detail=detail, kind="unknown", probes=())


def no_answer(session: Session, url_source: str, error: OutsideError) -> Server:
    """The record of a server that gave no HTTP answer: is anything there, and does it speak the other scheme?"""
    address = session.address
    detail = str(error)
    state = error.kind if error.kind in _STATES else "error"
    port_open: Fact[bool] = Unknown(detail) if state == "error" else state in ("tls", "not-http")
    if state == "timeout":
        port_open = session.outside.port_open(address.host, address.port, session.left(CONNECT_SECONDS))
        silent = "something accepts the connection but does not answer"
        detail += f"; {silent if port_open else 'nothing accepts the connection'}"
    if state == "unreachable" and not session.outside.resolve(address.host):
        port_open = Unknown(f"the name {address.host} has no address")
        detail = f"the name {address.host} has no address"
    if state in ("tls", "not-http") or (state == "timeout" and port_open is True and address.scheme == "https"):
        other = _other_scheme(session)
        if other:
            state, detail = "tls", other
    return replace(blank_record(address.root, url_source, state, detail), port_open=port_open)


def _other_scheme(session: Session) -> str:
    """What to say when the server speaks https where http was asked, or the reverse; "" when it does not."""
    asked = session.address.scheme
    other = "http" if asked == "https" else "https"
    root = other + session.address.root.removeprefix(asked)
    try:
        session.get("/health", root=root)
    except OutsideError as error:
        # A certificate that cannot be trusted still proves that https is spoken there.
        if other == "http" or error.kind != "tls" or "certificate" not in str(error).lower():
            return ""
    return f"{session.address.root}: this port speaks {other}, not {asked}: the URL is {root}"


def still_loading(blank: Server) -> Server:
    """The record of a server that is not ready: it answers before it looks at a key, so nothing is known of keys."""
    waiting = not_collected(Server, "the server is still loading the model")
    return replace(
        waiting,
        url=blank.url,
        url_source=blank.url_source,
        state="loading",
        detail="the server is still loading the model; until then it answers 503 to everything, with or without a key",
        kind="llama.cpp",
        port_open=True,
    )


def foreign(blank: Server, kind: str, replies: list[Reply], models: Reply | None) -> Server:
    """The record of something that answers HTTP and is not llama.cpp."""
    health = replies[0]
    if models is not None and models.status in (401, 403):
        state = "unauthorised"
    elif all(reply.status >= 500 for reply in replies[:2]):
        state = "error"
    elif kind in ("unknown", "gateway") and all(looks_like_html(reply) for reply in replies[:2]):
        state = "html"
    else:
        state = "not-llama.cpp"
    named = "what answers is no llama.cpp server" if kind == "unknown" else f"what answers is {kind}, not llama.cpp"
    target = f", it redirects to {health.headers['location'][:200]}" if "location" in health.headers else ""
    page = ", with a web page" if looks_like_html(health) else ""
    detail = sanitize(f"{named} (HTTP {health.status} to {health.path}{page}{target})")
    ids = answers.model_ids(models.data) if models is not None and models.status == 200 else ()
    return replace(
        blank,
        state=state,
        detail=detail,
        kind=kind,
        key_required=True if state == "unauthorised" else Unknown("only asked of llama.cpp servers"),
        key_accepted=Unknown("the key is only sent to llama.cpp servers"),
        model_ids=ids or blank.model_ids,
    )


def wrong_path(session: Session, blank: Server) -> Server:
    """The record of a llama.cpp server that knows none of the paths asked for: one prefix too many or too few."""
    address = session.address
    detail = "every path is answered with 404: the server runs with an API prefix (--api-prefix)"
    if address.prefix:
        root = address.root.removesuffix(address.prefix)
        reply = session.try_get("/health", root=root)
        if reply is not None and reply.status == 200:
            detail = f"the server is there, but not under {address.prefix}: the URL is {root}"
    return replace(blank, state="wrong-path", detail=detail)
