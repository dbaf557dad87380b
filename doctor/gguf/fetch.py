"""Asking a web server for part of a file: ranges, redirects, keys that go to one host only, and clear words on failure."""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin, urlsplit

from doctor.facts.urls import is_loopback, spares
from doctor.gguf.addresses import HUB, HUB_HOSTS, MAX_TEXT, RemoteError, endpoint_of, may_carry_key, origin, shown
from doctor.gguf.header import MAGIC
from doctor.gguf.identify import HEAD, identify, one_line
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.outside import HttpReply, Outside
    from doctor.secrets import Vault

MAX_REDIRECTS = 5
MAX_SIZE = 1 << 50
"""A petabyte: no model file is larger, whatever a server says."""
BYTES_A_SECOND = 200_000
"""A slower line is given up: 16 MB, the longest header seen, then take 80 s."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RANGE = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)")
_KEY = re.compile(r"[!-~]{1,1024}")
_PROXIES = {"https": ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"), "http": ("http_proxy", "all_proxy")}
_KINDS = {"timeout": "timeout", "tls": "tls", "not-http": "hostile", "invalid": "address"}


class Key(NamedTuple):
    """A key of the vault: its token, the address whose host it belongs to, and where it was found, in words."""

    token: str
    address: str
    source: str


class Part(NamedTuple):
    """Bytes of a file from its beginning or from where they were asked for, and the size of the whole file.

    `ranges`: the server gives the part that was asked for; otherwise the bytes are the first ones. `url` is where the
    file was found in the end, `etag` what the server calls this version of it ("" for nothing).
    """

    data: bytes
    size: int
    ranges: bool
    url: str
    etag: str


class Caller:
    """Makes the requests of one question, counted and bounded all together. Raises RemoteError, nothing else."""

    def __init__(self, outside: Outside, vault: Vault, key: Key | None, seconds: float, total_seconds: float) -> None:
        """`seconds` is the patience for one answer without its body, `total_seconds` that for everything."""
        self.requests = 0
        self.bytes_read = 0
        self._outside = outside
        self._vault = vault
        self._key = key
        self._seconds = seconds
        self._deadline = outside.monotonic() + total_seconds

    def get(self, url: str, *, first: int | None = None, last: int = 0, limit: int) -> tuple[str, HttpReply]:
        """The answer behind all redirects and the address that gave it; of the body the bytes `first` to `last`."""
        started_private = _is_private(url)
        for _ in range(MAX_REDIRECTS + 1):
            headers = {"User-Agent": "llama-doctor"}
            if first is not None:
                headers["Range"] = f"bytes={first}-{last}"
            reply = self._ask(url, headers, limit)
            if reply.status not in _REDIRECTS:
                return url, reply
            url = _next(url, reply.headers.get("location", ""), started_private)
        raise RemoteError("redirect", f"{shown(url)}: redirected more than {MAX_REDIRECTS} times")

    def read(self, url: str, first: int, last: int) -> Part:
        """Bytes `first` to `last` of a file; fewer where it ends before."""
        limit = last - first + 1
        found, reply = self.get(url, first=first, last=last, limit=limit)
        if reply.status == 206:
            data, size = _partial(found, reply, first, last)
            return Part(data, size, True, found, reply.headers.get("etag", ""))
        if reply.status == 200:
            return Part(reply.body, _length(found, reply), False, found, reply.headers.get("etag", ""))
        raise self.trouble(found, reply, url)

    def trouble(self, url: str, reply: HttpReply, asked: str) -> RemoteError:
        """What an answer of `url` that is no file means, and what to do about it; `asked` is where it began."""
        place, status, code = shown(url), reply.status, reply.headers.get("x-error-code", "")
        if origin(url) != origin(asked) and status in (401, 403):
            words = f"redirects to {shown(url)}, which refuses (HTTP {status}): try again, or from another network"
            return RemoteError("unreachable", f"{shown(asked)}: {words}")
        if code in ("EntryNotFound", "RevisionNotFound") or status in (404, 410):
            words = f"no such file (HTTP {status}): check its name on the model's page"
            return RemoteError("missing", f"{place}: {words}")
        if status in (401, 403):
            return RemoteError("gated", f"{place}: {self._gated(url, status, code)} (HTTP {status})")
        if status == 416:
            return RemoteError("not-gguf", f"{place}: the file is empty or ends before the place that was asked for")
        if status == 429:
            return RemoteError("busy", f"{place}: too many requests (HTTP 429): wait some minutes")
        if status >= 500:
            return RemoteError("busy", f"{place}: the server has a fault (HTTP {status}): try again later")
        return RemoteError("hostile", f"{place}: answers with HTTP {status}{_reason(reply)}")

    def _gated(self, url: str, status: int, code: str) -> str:
        """Who is refused and how that is changed. Hugging Face answers 401 for what does not exist, too."""
        known_gated = status == 403 or code == "GatedRepo"
        if self._key is not None and self._key_for(url):
            if known_gated:
                return f"gated, and the account of {self._key.source} has no access: accept the licence on its page"
            return f"the key of {self._key.source} is refused (expired, mistyped), or there is no such repository"
        try:
            endpoint = endpoint_of(self._outside.environ)
        except RemoteError:
            endpoint = HUB
        host = urlsplit(url).netloc
        if origin(url) == origin(endpoint):
            how = "accept the licence on the model's page, then set HF_TOKEN"
        elif host in HUB_HOSTS:
            how = f"accept the licence on the model's page, then set HF_TOKEN and HF_ENDPOINT=https://{host}"
        else:
            how = "it wants a key or an account: download the file first, the way this host asks for"
        return f"gated: {how}" if known_gated else f"gated, or there is no such repository: {how}"

    def _ask(self, url: str, headers: dict[str, str], limit: int) -> HttpReply:
        left = self._deadline - self._outside.monotonic()
        if left <= 0:
            raise RemoteError("timeout", f"{shown(url)}: too slow, given up")
        if self._key is not None and self._key_for(url):
            secret = self._vault.get(self._key.token)
            if _KEY.fullmatch(secret):
                headers["Authorization"] = f"Bearer {secret}"
        timeout = min(left, self._seconds + limit / BYTES_A_SECOND)
        proxy = self._proxy(url)
        self.requests += 1
        try:
            reply = self._outside.http("GET", url, headers=headers, timeout=timeout, limit=limit, proxy=proxy)
        except OutsideError as error:
            raise _no_answer(url, error, timeout, proxy is not None) from None
        self.bytes_read += len(reply.body)
        if reply.headers.get("content-encoding", "identity").lower() not in ("identity", "") and reply.status < 300:
            raise RemoteError("hostile", f"{shown(url)}: sends the file compressed, which was not asked for")
        return reply

    def _key_for(self, url: str) -> bool:
        """A key goes to the host it belongs to, never to another, and never unencrypted over a network."""
        return self._key is not None and origin(url) == origin(self._key.address) and may_carry_key(url)

    def _proxy(self, url: str) -> str | None:
        found = origin(url)
        if found is None or is_loopback(found[1]):
            return None
        environ = self._outside.environ
        if spares(environ.get("no_proxy") or environ.get("NO_PROXY") or "", found[1], found[2]):
            return None
        return next((environ[name] for name in _PROXIES[found[0]] if environ.get(name)), None)


def _next(url: str, location: str, started_private: bool) -> str:
    """Where a redirect leads, when it may be followed."""
    if not location or len(location) > MAX_TEXT:
        raise RemoteError("redirect", f"{shown(url)}: redirects to nowhere")
    try:
        target = urljoin(url, location)
        found = origin(target)
    except ValueError:
        found = None
    if found is None or "@" in urlsplit(target).netloc:
        raise RemoteError("redirect", f"{shown(url)}: redirects to something that is no web address")
    if url.startswith("https:") and not target.startswith("https:"):
        raise RemoteError("redirect", f"{shown(url)}: redirects to an unencrypted address, {shown(target)}")
    if _is_private(target) and not started_private:
        raise RemoteError("redirect", f"{shown(url)}: redirects into the private network, to {shown(target)}")
    return target


def _is_private(url: str) -> bool:
    """Whether an address by its looks is on this machine or its own network, which a stranger must not make us ask."""
    found = origin(url)
    if found is None:
        return False
    try:
        address = ipaddress.ip_address(found[1])
    except ValueError:
        return is_loopback(found[1])
    return not address.is_global


def _partial(url: str, reply: HttpReply, first: int, last: int) -> tuple[bytes, int]:
    """Body and size of the whole file out of a 206."""
    text = reply.headers.get("content-range", "")
    found = _RANGE.fullmatch(text.strip())
    if found is None:
        raise RemoteError(
            "hostile", f'{shown(url)}: says it sends a part, but not which ("{one_line(text.encode(), 60)}")'
        )
    if found[3] == "*":
        raise RemoteError("no-ranges", f"{shown(url)}: does not say how large the file is: download it first")
    start, end, size = int(found[1]), int(found[2]), int(found[3])
    if start != first or not start <= end < size <= MAX_SIZE:
        raise RemoteError(
            "hostile", f"{shown(url)}: sends another part than was asked for ({one_line(text.encode(), 60)})"
        )
    wanted = min(end, last) - start + 1
    if len(reply.body) < wanted:
        raise RemoteError("hostile", f"{shown(url)}: the answer breaks off after {len(reply.body)} bytes")
    return reply.body[:wanted], size


def _length(url: str, reply: HttpReply) -> int:
    """The size of a file that is sent whole."""
    text = reply.headers.get("content-length", "").strip()
    if reply.body and not reply.body.startswith(MAGIC):
        raise RemoteError("not-gguf", f"{shown(url)}: this is {identify(reply.body[:HEAD], len(reply.body)).words}")
    if not text.isascii() or not text.isdecimal() or len(text) > 19 or int(text) > MAX_SIZE:
        raise RemoteError(
            "no-ranges",
            f"{shown(url)}: the server neither sends parts of a file nor says how large it is: download it first",
        )
    return int(text)


def _reason(reply: HttpReply) -> str:
    words = one_line(reply.headers.get("x-error-message", "").encode("utf-8", "replace"))
    return f': "{words}"' if words else ""


def _no_answer(url: str, error: OutsideError, timeout: float, by_proxy: bool) -> RemoteError:
    """The words of `error` hold the whole address with its signature: they are said anew."""
    place = shown(url) + (" (through the proxy of the environment)" if by_proxy else "")
    words = {
        "timeout": f"no whole answer within {timeout:.0f} s",
        "tls": "the encrypted connection fails (a proxy or clock that is wrong?)",
        "refused": "connection refused",
        "not-http": "the answer is no valid HTTP or was cut off",
        "invalid": "cannot be asked",
    }.get(error.kind, "cannot be reached: is this machine online?")
    return RemoteError(_KINDS.get(error.kind, "unreachable"), f"{place}: {words}")
