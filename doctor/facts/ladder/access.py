"""Is the key taken, and does the client's path exist? Answered by the client's own address with an empty request."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from doctor.facts.ladder.deep import no_reply, what_came
from doctor.facts.ladder.state import Climb, Step, failed, not_tried, passed, warned
from doctor.facts.ladder.target import CHAT, MESSAGES, PATHS
from doctor.facts.ladder.wire import reading
from doctor.facts.record import known
from doctor.facts.urls import parse_address

if TYPE_CHECKING:
    from doctor.facts.ladder.ask import Answer
    from doctor.facts.ladder.target import Key

REFUSED = (401, 403)
NOWHERE = (404, 405)
MOST_GUESSES = 6
"""Other keys or paths that are tried; each is one request."""
_QUOTES = "\"'`“”‘’ \t\r\n"


def key(climb: Climb) -> Step:
    """The credentials are taken as the client sends them."""
    target, answer = climb.target, climb.empty_request()
    first = target.keys[0] if target.keys else None
    if first is not None:
        climb.found |= {"key_name": first.name, "key_source": first.source, "key_header": first.header}
    if answer.trouble == "invalid":
        return failed("key-unsendable", "the key holds characters that no header can carry")
    climb.found["status"] = answer.status
    if answer.status not in REFUSED:
        if target.unknown_key:
            return not_tried(target.unknown_key)
        if first is None:
            return passed("no key is sent, and none is wanted")
        if known(climb.server.key_required) is False:
            return passed("any key is taken: the server wants none")
        return passed(f"{first.name} is taken (as {_header_name(first)})")
    said = f"HTTP {answer.status}: {answer.message}"
    if target.unknown_key:
        return failed("key-unknown", f"{said}; {target.unknown_key}")
    if first is None:
        return failed("key-missing", f"{said}; no key is sent")
    return _why_refused(climb, said)


def _why_refused(climb: Climb, said: str) -> Step:
    keys = climb.target.keys
    if len(keys) > 1:
        for one in keys[1:]:
            if _takes(climb, (one,)):
                climb.found["key_hint"] = one.name
                return failed(
                    "key-shadowed",
                    f"{said}; {one.name} alone ({_header_name(one)}) would be taken, "
                    f"but {keys[0].name} in {_header_name(keys[0])} counts first",
                )
    for one in keys:
        cleaned = _clean(one)
        if cleaned.value != one.value and _takes(climb, (cleaned,)):
            climb.found["key_hint"] = one.name
            return failed(
                "key-malformed", f"{said}; {one.name} is taken once quotes, blanks and a second scheme are off"
            )
    for one in keys:
        other = _other_header(one)
        if _takes(climb, (other,)):
            climb.found["key_hint"] = _header_name(other)
            return failed(
                "key-wrong-header",
                f"{said}; the same key is taken in {_header_name(other)}, not in {_header_name(one)}",
            )
    return failed("key-refused", f"{said}; the key was {keys[0].name} in {_header_name(keys[0])}")


def _takes(climb: Climb, keys: tuple[Key, ...]) -> bool:
    answer = climb.asker.ask("POST", climb.target.request_url, climb.headers_with(keys), {})
    return answer.status not in (0, *REFUSED)


def _bare(key: Key) -> str:
    return key.value.removeprefix("Bearer ") if key.header == "authorization" else key.value


def _clean(key: Key) -> Key:
    bare = _bare(key).strip(_QUOTES)
    while bare.lower().startswith("bearer "):
        bare = bare[7:].strip(_QUOTES)
    return key._replace(value=f"Bearer {bare}" if key.header == "authorization" else bare)


def _other_header(key: Key) -> Key:
    bare = _bare(key)
    if key.header == "authorization":
        return key._replace(header="x-api-key", value=bare)
    return key._replace(header="authorization", value=f"Bearer {bare}")


def _header_name(key: Key) -> str:
    return "Authorization" if key.header == "authorization" else key.header


def path(climb: Climb) -> Step:
    """The path the client asks for exists."""
    answer, target = climb.empty_request(), climb.target
    shown = urlsplit(target.request_url).path
    if 300 <= answer.status < 400:
        ending = target.request_url.removeprefix(target.base.rstrip("/"))
        climb.found["location"] = answer.headers.get("location", "")[:200].removesuffix(ending)
        where = climb.found["location"] or "an address it does not name"
        return failed(
            "redirect", f"HTTP {answer.status}: {shown} leads on to {where}, and the key is not carried there"
        )
    if answer.is_html and answer.status < 400:
        return failed("html", f"{shown} answers with a web page (HTTP {answer.status})")
    if trouble := _unusable(climb, answer):
        return trouble
    if _known(answer):
        there = f"{shown} is there (HTTP {answer.status} to an empty request)"
        return passed(there) if target.client else _bare_address(climb, there)
    said = f"HTTP {answer.status} to {shown}: {answer.message or 'no such path'}"
    right = _right_base(climb)
    if right:
        climb.found["right_url"] = right
        return failed(_what_is_wrong(climb, right), f"{said}; {right} works")
    others = [name for wire, name in PATHS.items() if wire != target.wire_api and _has(climb, name)]
    if others:
        there = ", ".join(f"/v1{name}" for name in others)
        return failed("wire-missing", f"{said}; the server has {there}, not what the client speaks")
    return failed("path-unknown", f"{said}; no other spelling of it is known either")


def _unusable(climb: Climb, answer: Answer) -> Step | None:
    """The step of an answer with 200 in which there is neither a reply nor an error that a client could read."""
    if not 200 <= answer.status < 300:
        return None
    found = reading(climb.target.wire_api, answer.data)
    if found.problem in ("not-json", "no-choices"):
        return no_reply(climb, answer) or failed(found.problem, what_came(found, answer))
    return no_reply(climb, answer)


def _bare_address(climb: Climb, there: str) -> Step:
    """The path exists; which base URL leads to it, and does the one given?"""
    target = climb.target
    address, base = parse_address(target.base), target.base.rstrip("/")
    given = climb.asker.ask("POST", base + PATHS[CHAT], climb.headers, {}) if not _is_endpoint(base) else None
    for candidate in dict.fromkeys((f"{address.root}/v1", address.root)):
        if _known(climb.asker.ask("POST", candidate + PATHS[CHAT], climb.headers, {})):
            climb.found["openai_base"] = candidate
            break
    if _known(climb.asker.ask("POST", f"{address.root}/v1{PATHS[MESSAGES]}", climb.headers, {})):
        climb.found["anthropic_base"] = address.root
    right = climb.found.get("openai_base")
    if given is None or right is None:
        return passed(there)
    climb.found["base_works"] = _known(given)
    if _known(given):
        return passed(there)
    return warned("v1-assumed", f"{there}; with {base} as its base URL an OpenAI client gets HTTP {given.status}")


def _is_endpoint(base: str) -> bool:
    return any(base.endswith(name) for name in PATHS.values())


def _known(answer: Answer) -> bool:
    """Whether the answer proves that somebody lives under the path."""
    if answer.status == 0 or 300 <= answer.status < 400:
        return False
    if "unexpected endpoint" in answer.text[:500].lower():  # LM Studio says it with status 200
        return False
    about_model = isinstance(answer.data, dict) and "model" in answer.message.lower()
    return answer.status not in NOWHERE or about_model


def _right_base(climb: Climb) -> str:
    """A base URL under which the client's path exists, "" when none is found."""
    target = climb.target
    base = target.base.rstrip("/")
    ending = "/v1" + PATHS[target.wire_api] if target.appends_v1 else PATHS[target.wire_api]
    for candidate in _candidates(climb)[:MOST_GUESSES]:
        if candidate != base and _known(climb.asker.ask("POST", candidate + ending, climb.headers, {})):
            return candidate
    return ""


def _candidates(climb: Climb) -> list[str]:
    """Base URLs worth a try, nearest first."""
    address = parse_address(climb.target.base)
    bare = address.root
    origin = bare.removesuffix(address.prefix) if address.prefix else bare
    known_root = [climb.server_url] if climb.server_url.startswith(f"{origin}/") else []
    roots = list(dict.fromkeys([bare, origin, *known_root, f"{origin}/api"]))
    if climb.target.appends_v1:
        return roots
    return [root + tail for root in roots for tail in ("/v1", "")]


def _what_is_wrong(climb: Climb, right: str) -> str:
    base = climb.target.base.rstrip("/")
    if _is_endpoint(base):
        return "endpoint-as-base"
    if base.endswith("/v1/v1") or (climb.target.appends_v1 and base.endswith("/v1")):
        return "v1-doubled"
    return "v1-missing" if right == f"{base}/v1" else "path-other"


def _has(climb: Climb, name: str) -> bool:
    root = parse_address(climb.target.base).root
    answer = climb.asker.ask("POST", f"{root}/v1{name}", climb.headers, {})
    return _known(answer) and answer.status not in REFUSED


def cors(climb: Climb) -> Step:
    """A page of the given origin may send the request: the browser's own question, answered."""
    asked = {
        "Origin": climb.origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    climb.found["origin"] = climb.origin
    answer = climb.asker.ask("OPTIONS", climb.target.request_url, asked)
    allowed = answer.headers.get("access-control-allow-origin", "")
    if answer.trouble:
        return failed("cors-refused", f"the browser's OPTIONS request gets no usable answer: {answer.words}")
    if answer.status >= 300:
        return failed("cors-refused", f"the browser's OPTIONS request is answered with HTTP {answer.status}")
    if allowed not in ("*", climb.origin):
        return failed("cors-refused", f"pages of {climb.origin} are not allowed (allowed: {allowed or 'none'})")
    names = answer.headers.get("access-control-allow-headers", "").lower()
    if names != "*" and "authorization" not in names:
        return failed("cors-refused", f"the header Authorization is not allowed (allowed: {names or 'none'})")
    return passed(f"pages of {climb.origin} may ask")
