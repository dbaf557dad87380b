"""The lowest rungs: the name has an address, no proxy takes the request, the port is open, HTTP is spoken, by whom."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from doctor.facts.ladder.places import elsewhere
from doctor.facts.ladder.state import Climb, Step, failed, passed, warned
from doctor.facts.record import known
from doctor.facts.urls import is_loopback, spares

if TYPE_CHECKING:
    from collections.abc import Mapping

WILDCARDS = ("0.0.0.0", "::")
# As the Python SDKs, curl and Go read them; lower case first.
PROXY_VARIABLES = ("{scheme}_proxy", "{SCHEME}_PROXY", "all_proxy", "ALL_PROXY")
PORTS = {"http": 80, "https": 443, "socks4": 1080, "socks5": 1080, "socks5h": 1080}


def name(climb: Climb) -> Step:
    """The address is a URL, and its host has an address."""
    target, address = climb.target, climb.address
    if not target.request_url or address.problem:
        return failed(
            "url-bad", f"{_shown(target.base)} is no address to ask: {address.problem or 'no http:// in front'}"
        )
    written = _host(target.base)
    if written in WILDCARDS:
        climb.found["other_address"] = _at(target.base, "127.0.0.1" if written == "0.0.0.0" else "::1")
        return warned("wildcard-address", f"{written} is an address to listen on; here it is asked as {address.host}")
    found = climb.outside.resolve(address.host)
    if not found:
        if climb.outside.port_open("127.0.0.1", address.port):
            climb.found["other_address"] = _at(target.base, "127.0.0.1")
        return failed("name-unknown", f"the name {address.host} has no address")
    if found == (address.host,):
        return passed(address.host)
    if address.host == "localhost" and found[0] == "::1" and "127.0.0.1" in found:
        open_v6, open_v4 = (climb.outside.port_open(host, address.port) for host in ("::1", "127.0.0.1"))
        if open_v4 and not open_v6:
            climb.found["other_address"] = _at(target.base, "127.0.0.1")
            return warned("localhost-ipv6", "localhost is ::1 first, where nothing listens; 127.0.0.1 is open")
    return passed(f"{address.host} is {', '.join(found[:4])}")


def proxy(climb: Climb) -> Step:
    """No proxy variable sends the request elsewhere."""
    address, target = climb.address, climb.target
    if target.proxy is not None:
        variable, value, source = target.proxy.name, target.proxy.value, target.proxy.source
    else:
        variable, value = proxy_variable(climb.outside.environ, address.scheme) if not target.client else ("", "")
        source = "environment"
        spared = climb.outside.environ.get("no_proxy") or climb.outside.environ.get("NO_PROXY") or ""
        if variable and spares(spared, address.host, address.port):
            return passed(f"{variable} is set, and NO_PROXY spares {address.host}")
    if not variable:
        return passed("no proxy variable takes the request")
    shown = _shown(value)
    climb.found |= {"proxy_name": variable, "proxy_value": shown, "proxy_source": source}
    host, port = _place(value)
    sure = failed if target.client else warned  # which client is meant is not known for a bare address
    if is_loopback(host) and port and not climb.outside.port_open(host.strip("[]"), port):
        return sure("proxy-dead", f"{variable} sends requests to {shown}, and nothing listens there")
    if not is_loopback(address.host):
        return passed(f"{variable} sends requests through {shown}; the next steps ask without it")
    sure = warned if is_loopback(host) else sure
    return sure("proxy-takes-loopback", f"{variable} sends requests for {address.host} to {shown}")


def proxy_variable(environ: Mapping[str, str], scheme: str) -> tuple[str, str]:
    """(name, value) of the variable that would take requests of this scheme, ("", "") when there is none."""
    for pattern in PROXY_VARIABLES:
        variable = pattern.format(scheme=scheme, SCHEME=scheme.upper())
        if environ.get(variable, "").strip():
            return variable, environ[variable].strip()
    return "", ""


def port(climb: Climb) -> Step:
    """Something accepts connections there."""
    server, address = climb.server, climb.address
    if known(server.port_open):
        return passed(f"{address.host}:{address.port} is open")
    other = elsewhere(climb.outside, address)
    if other:
        climb.found["other_address"] = _at(climb.target.base, other)
        said = f"nothing listens at {address.host}:{address.port}, but {other} is open on that port"
        return failed("other-address", said)
    state = known(server.state)
    if state in ("refused", "timeout", "unreachable"):
        return failed(str(state), known(server.detail) or f"{address.host}:{address.port} does not answer")
    return failed("refused", known(server.detail) or f"nothing listens at {address.host}:{address.port}")


def http(climb: Climb) -> Step:
    """HTTP (or TLS, where https is asked for) is spoken."""
    state, detail = known(climb.server.state), known(climb.server.detail) or "no answer"
    if state == "tls" and "certificate" in detail.lower():
        return failed("tls-untrusted", detail)
    if state in ("tls", "not-http"):
        if "this port speaks" in detail:
            climb.found["right_url"] = _other_scheme(climb.target.base)
        return failed(str(state), detail)
    if state == "timeout":
        return failed("silent", detail)
    if state in ("refused", "unreachable"):  # it was there a moment ago
        return failed("refused", detail)
    return passed(f"{climb.address.scheme} is spoken")


def kind(climb: Climb) -> Step:
    """Which program it is."""
    server = climb.server
    if known(server.state) == "html":
        return failed("html", known(server.detail) or "a web page answers, not an API")
    if climb.kind == "unknown":
        return warned("unknown-program", known(server.detail) or "an HTTP server of an unknown kind")
    build = known(server.build_info)
    return passed(climb.kind + (f" {build}" if build else ""))


def ready(climb: Climb) -> Step:
    """The model is loaded, and a gateway reaches what is behind it."""
    server = climb.server
    if known(server.state) == "loading":
        return failed("loading", known(server.detail) or "the model is still being loaded")
    answer = climb.empty_request()
    if known(server.state) == "error" and (climb.is_llama or answer.status in (500, 501)):
        return failed("server-error", known(server.detail) or "the server answers with errors only")
    if answer.status >= 600:
        climb.found["status"] = answer.status
        return failed("server-error", f"HTTP {answer.status}: there is no such status")
    if answer.status == 503 and "loading model" in answer.text.lower():
        return failed("loading", "the model is still being loaded (503)")
    if answer.status in (502, 503, 504):
        climb.found["status"] = answer.status
        return failed("upstream-dead", f"HTTP {answer.status}: {answer.message}")
    if answer.trouble and answer.trouble != "invalid":
        return failed({"timeout": "silent", "too-large": "flood"}.get(answer.trouble, "no-answer"), answer.words)
    asleep = known(server.sleeping) is True
    return passed("the model is unloaded until the next request (sleeping)" if asleep else "ready")


def _host(url: str) -> str:
    try:
        return urlsplit(url if "://" in url else f"http://{url}").hostname or ""
    except ValueError:
        return ""


def _at(url: str, host: str) -> str:
    """The URL with another host."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (f":{parts.port}" if parts.port else "") + parts.path


def _other_scheme(url: str) -> str:
    """The URL with http for https, or the reverse."""
    scheme, _, rest = url.partition("://")
    return f"{'http' if scheme.lower() == 'https' else 'https'}://{rest}"


def _place(value: str) -> tuple[str, int]:
    """Host and port of a proxy variable."""
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        return parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        return "", 0


def _shown(value: str) -> str:
    """An address without the credentials in it."""
    head, at, rest = value.partition("://")
    return f"{head}{at}{rest.rpartition('@')[2]}" if at else value.rpartition("@")[2]
