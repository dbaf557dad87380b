"""The running server, as it answers to a handful of GET requests that cost it no GPU time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from doctor.facts import server_answers as answers
from doctor.facts.record import Fact, Unknown, not_collected
from doctor.facts.server_kinds import Reply, identify, looks_like_html, parse_json
from doctor.facts.urls import Address, parse_address
from doctor.outside import OutsideError
from doctor.redact import sanitize

if TYPE_CHECKING:
    from doctor.outside import Outside
    from doctor.secrets import Vault

TOTAL_SECONDS = 4.5
REQUEST_SECONDS = 2.0
CONNECT_SECONDS = 1.0
BODY_LIMIT = 1 << 20
WORDS_SHOWN = 160

# How a failed request shows in `state`. Everything else is "error".
_STATES = {
    "refused": "refused",
    "timeout": "timeout",
    "unreachable": "unreachable",
    "tls": "tls",
    "not-http": "not-http",
}


@dataclass(frozen=True)
class Probe:
    """One request: what was asked, the status (None when no answer came) and the first words of the body.

    `with_key` is whether the key at hand was sent; `milliseconds` is None when no answer came.
    """

    method: str
    path: str
    with_key: bool
    status: Fact[int]
    milliseconds: Fact[float]
    body: Fact[str]


@dataclass(frozen=True)
class Server:
    """What the server at `url` says.

    `url` is what paths were appended to: with the API prefix, without /v1. `state`: ok, loading, unauthorised, refused, timeout,
    unreachable (name or route), tls, not-http, html, not-llama.cpp, wrong-path (a llama.cpp server, but not under this path), error.
    `detail` is one line about a state other than ok. `kind`: llama.cpp, llama.cpp-router, llama-swap, ollama, lm-studio, vllm,
    sglang, koboldcpp, litellm, gateway, unknown. `port_open` is whether anything accepts connections.
    `n_ctx` is the context of ONE slot in tokens, `slots` their number, `slots_busy` those at work. `key_required`: a request
    without a key is refused; `key_accepted`: the key at hand is taken (None: there is no key at hand). `build_number` is Unknown
    where the server was built without it. `strict_system_message`: the template in use raises unless the system message comes
    first. `sleeping`: the model is unloaded until the next request. `metrics`: GET /metrics is on.
    """

    url: str
    url_source: Fact[str]
    state: Fact[str]
    detail: Fact[str]
    kind: Fact[str]
    port_open: Fact[bool]
    key_required: Fact[bool]
    key_accepted: Fact[bool]
    model_ids: Fact[tuple[str, ...]]
    model_path: Fact[str]
    n_ctx: Fact[int]
    n_ctx_train: Fact[int]
    slots: Fact[int]
    slots_busy: Fact[int]
    build_info: Fact[str]
    build_number: Fact[int]
    vision: Fact[bool]
    chat_template: Fact[bool]
    strict_system_message: Fact[bool]
    sleeping: Fact[bool]
    metrics: Fact[bool]
    probes: Fact[tuple[Probe, ...]]


def collect(
    outside: Outside,
    vault: Vault,
    *,
    url: str,
    url_source: str,
    key_token: str | None,
    build_of_commit: Callable[[str], int | None] | None = None,
) -> Server:
    """Ask the server at `url`; the key behind `key_token` is sent to a llama.cpp server only. At most 5 s, never raises.

    `build_of_commit` finds the build number of a short commit, for servers that do not know their own.
    """
    address = parse_address(url)
    if address.userinfo:
        vault.put(address.userinfo)
    if address.problem:
        shown = address.root.rpartition("@")[2]
        return _blank(shown, url_source, "error", f"{shown}: {address.problem}")
    key = vault.get(key_token) if key_token else ""
    session = _Session(outside, address, key)
    server = _ask(session, url_source, build_of_commit)
    return replace(server, probes=tuple(session.probes))


class _Session:
    """The requests to one server: each bounded, all of them together bounded, every one noted."""

    def __init__(self, outside: Outside, address: Address, key: str) -> None:
        self.outside = outside
        self.address = address
        self.key = key
        self.probes: list[Probe] = []
        self._end = outside.monotonic() + TOTAL_SECONDS

    def left(self, at_most: float) -> float:
        """Seconds the next step may take."""
        return max(0.05, min(at_most, self._end - self.outside.monotonic()))

    def get(self, path: str, *, with_key: bool = False, root: str = "") -> Reply:
        """The answer to one request. Raises OutsideError."""
        headers = {"Authorization": f"Bearer {self.key}"} if with_key else {}
        url = (root or self.address.root) + path
        try:
            if self._end - self.outside.monotonic() < 0.05:
                raise OutsideError("timeout", f"{url}: not asked, the server is too slow")
            got = self.outside.http("GET", url, headers=headers, timeout=self.left(REQUEST_SECONDS), limit=BODY_LIMIT)
        except OutsideError:
            self.probes.append(Probe("GET", path, with_key, None, None, None))
            raise
        text = got.body.decode("utf-8", "replace")
        words = sanitize(" ".join(text[: 4 * WORDS_SHOWN].split()))[:WORDS_SHOWN]
        self.probes.append(Probe("GET", path, with_key, got.status, round(got.milliseconds, 1), words))
        return Reply(path, got.status, got.headers, text, parse_json(text))

    def try_get(self, path: str, *, with_key: bool = False, root: str = "") -> Reply | None:
        """The answer to one request, None when none came."""
        try:
            return self.get(path, with_key=with_key, root=root)
        except OutsideError:
            return None


def _ask(session: _Session, url_source: str, build_of_commit: Callable[[str], int | None] | None) -> Server:
    try:
        health = session.get("/health")
    except OutsideError as error:
        return _no_answer(session, url_source, error)
    blank = _blank(session.address.root, url_source, "ok", None, port_open=True)
    if health.status == 503 and "loading model" in health.text.lower():
        return _still_loading(blank)
    models = session.try_get("/v1/models")
    replies = [health] + ([models] if models else [])
    props = None
    if identify(replies) in ("llama.cpp", "gateway", "unknown"):
        props = session.try_get("/props")
        replies += [props] if props else []
    if identify(replies) in ("gateway", "unknown"):
        version = session.try_get("/api/version")
        replies += [version] if version else []
    kind = identify(replies)
    if kind != "llama.cpp":
        return _foreign(blank, kind, replies, models)
    if any(reply.status == 503 and "loading model" in reply.text.lower() for reply in replies):
        return _still_loading(blank)
    return _llama(session, blank, replies, build_of_commit)


def _blank(url: str, url_source: str, state: str, detail: str | None, *, port_open: Fact[bool] = False) -> Server:
    """A record that says how the server stands and nothing else."""
    reason = "the server did not say" if state == "ok" else f"the server could not be asked ({state})"
    nothing = not_collected(Server, reason)
    if state == "error":
        port_open = Unknown(reason)
    return replace(
        nothing, url=url, url_source=url_source, state=state, detail=detail, kind="unknown", port_open=port_open, probes=()
    )


def _no_answer(session: _Session, url_source: str, error: OutsideError) -> Server:
    """The record of a server that gave no HTTP answer: is anything there, and does it speak the other scheme?"""
    address = session.address
    detail = str(error)
    state = _STATES.get(error.kind, "error")
    port_open: Fact[bool] = state in ("tls", "not-http")
    if state == "timeout":
        port_open = session.outside.port_open(address.host, address.port, session.left(CONNECT_SECONDS))
        detail += "; something accepts the connection but does not answer" if port_open else "; nothing accepts the connection"
    if state == "unreachable" and not session.outside.resolve(address.host):
        port_open = Unknown(f"the name {address.host} has no address")
        detail = f"the name {address.host} has no address"
    if state in ("tls", "not-http") or (state == "timeout" and port_open is True and address.scheme == "https"):
        other = _other_scheme(session)
        if other:
            state, detail = "tls", other
    blank = _blank(address.root, url_source, state, detail, port_open=port_open)
    return replace(blank, port_open=port_open)


def _other_scheme(session: _Session) -> str:
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


def _still_loading(blank: Server) -> Server:
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


def _foreign(blank: Server, kind: str, replies: list[Reply], models: Reply | None) -> Server:
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


def _llama(
    session: _Session, blank: Server, replies: list[Reply], build_of_commit: Callable[[str], int | None] | None
) -> Server:
    by_path = {reply.path: reply for reply in replies}
    required = _key_required(by_path)
    accepted: Fact[bool] = None if not session.key else Unknown("the server did not say") if required is not False else True
    if required is True and session.key:
        for path in ("/props", "/v1/models"):
            reply = session.try_get(path, with_key=True)
            if reply is not None:
                accepted = reply.status != 401
                by_path[path] = reply
            if accepted is not True:
                break
    blank = replace(blank, kind="llama.cpp", key_required=required, key_accepted=accepted)
    refused = required is True and accepted is not True
    if not refused and all(by_path[path].status == 404 for path in ("/v1/models", "/props") if path in by_path):
        return _wrong_path(session, blank)
    server = _described(blank, by_path, build_of_commit)
    if refused:
        said = "and refuses the key at hand" if accepted is False else "and none is at hand"
        return replace(server, state="unauthorised", detail=f"the server wants an API key {said}")
    return _with_slots(session, server, by_path, with_key=required is True)


def _key_required(by_path: dict[str, Reply]) -> Fact[bool]:
    """/props needs the key in every build that has keys; /v1/models was public up to b10434."""
    props = by_path.get("/props")
    if props is None:
        return Unknown("no answer to /props")
    return props.status == 401


def _wrong_path(session: _Session, blank: Server) -> Server:
    address = session.address
    detail = "every path is answered with 404: the server runs with an API prefix (--api-prefix)"
    if address.prefix:
        root = address.root.removesuffix(address.prefix)
        reply = session.try_get("/health", root=root)
        if reply is not None and reply.status == 200:
            detail = f"the server is there, but not under {address.prefix}: the URL is {root}"
    return replace(blank, state="wrong-path", detail=detail)


def _described(blank: Server, by_path: dict[str, Reply], build_of_commit: Callable[[str], int | None] | None) -> Server:
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


def _with_slots(session: _Session, server: Server, by_path: dict[str, Reply], *, with_key: bool) -> Server:
    """What /slots and /metrics say. Not asked of a router (it would load a model) nor of a sleeper (it would wake up)."""
    if server.kind == "llama.cpp-router":
        return server
    if server.sleeping is True:
        asleep = Unknown("the model is unloaded; asking would wake it up")
        return replace(server, slots_busy=asleep, metrics=asleep)
    slots = session.try_get("/slots", with_key=with_key)
    if slots is not None and slots.status == 200 and isinstance(slots.data, list):
        props = by_path["/props"].data if "/props" in by_path else None
        server = replace(
            server,
            slots=answers.slot_count(props, slots.data),
            slots_busy=answers.busy_slots(slots.data),
            n_ctx=server.n_ctx if server.n_ctx else answers.slot_context(None, props, slots.data),
        )
    elif slots is not None and slots.status == 501:
        server = replace(server, slots_busy=Unknown("GET /slots is off (--no-slots)"))
    metrics = session.try_get("/metrics", with_key=with_key)
    if metrics is not None:
        server = replace(server, metrics=metrics.status == 200)
    return server
