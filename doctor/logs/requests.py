"""The requests to whole URLs that a pasted text tells of, and how they went: each client has words of its own for that."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.facts.asked import Asked, Request
from doctor.logs.endpoints import endpoints_in
from doctor.logs.urls_in import LONGEST_LINE, urls_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.logs.urls_in import Found

MOST = 40
MOST_LINES = 3_000
AFTER = 4
"""Lines after the URL in which the answer may stand."""
_METHOD = re.compile(r"\b(GET|POST|PUT|PATCH|HEAD|OPTIONS|DELETE)\b[\W_]{1,4}$", re.IGNORECASE)
_METHOD_OPTION = re.compile(r"(?:-X|--request)[ =](GET|POST|PUT|HEAD|OPTIONS)\b", re.IGNORECASE)
_SENDS = re.compile(r"\s(?:-d|--data(?:-raw|-binary)?|--json)[ =]", re.IGNORECASE)
_TELLS = re.compile(
    r"\bcurl\b|\bwget\b|for url|request|fetch|connect|refused|ECONN|timed? ?out|\b(?:GET|POST|PUT|HEAD|OPTIONS)\b|HTTP/\d|HTTP \d"
    r"|\b[45]\d\d\b(?!\d)|status|answer|respon|resulted|returned|测试|请求|访问|连接",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"HTTP/\d(?:\.\d)?\\?\"?\s{1,3}(?P<a>[1-5]\d\d)\b|\bstatus(?:[ _-]?code)?\W{0,6}(?P<b>[1-5]\d\d)\b"
    r"|(?<!\d)(?P<c>[45]\d\d),? (?:Client Error|Server Error|Not Found|Method Not Allowed|Unauthorized|Forbidden|Bad Request"
    r"|Bad Gateway|Service Unavailable|Gateway Time|Internal Server|page not found|message=|status code)"
    r"|\b(?:returned|resulted in an?|with|error|code|HTTP|got)[\s:(\[`'\"=]{0,4}(?:an? )?(?:error:? )?(?P<d>[45]\d\d)\b(?![.:]\d)"
    r"|(?:\[|\(|`|- |→ |-> )(?P<e>[45]\d\d)(?:\]|\)|`|\s|$)|(?:返回|报错?|拉取|错误码?)[\s:：]{0,3}(?P<f>[45]\d\d)(?!\d)",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"refused|ECONNREFUSED|积极拒绝|连接被拒绝|Failed to connect to|Couldn.t connect to server|connect error|Errno 111|10061",
    re.IGNORECASE,
)
_RESET = re.compile(
    r"reset by peer|ECONNRESET|Empty reply|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|Recv failure", re.IGNORECASE
)
_TIMEOUT = re.compile(r"timed? ?out|ETIMEDOUT|\btimeout\b|超时|no response|hangs", re.IGNORECASE)
_WELL = re.compile(
    r"\"object\"\s?:\s?\"(?:list|chat\.completion)\"|is running|\bsuccess|\b200\b|\bworks\b"
    r"|\"status\"\s?:\s?\"ok\"|正常|成功",
    re.IGNORECASE,
)
# A prompt or a command that speaks from inside a container.
_INSIDE = re.compile(
    r"root@[0-9a-f]{12}:|\b(?:docker|docker compose|kubectl|podman) exec\b|^\s*container\S{0,12}[>$#]", re.IGNORECASE
)
_PROMPT = re.compile(r"^\s*(?:\S{0,40}[@:]\S{0,60}|host|\w{1,20})?\s?[$#>❯➜]\s+\S")
_LISTENS = re.compile(
    r"(?:listening|running|serving|available|started) (?:on|at):? {1,3}\S{0,3}https?://\S{1,60}:(?P<a>\d{2,5})"
    r"|HTTP server is listening, hostname: \S{1,60} port: (?P<b>\d{2,5})",
    re.IGNORECASE,
)
_MODEL_ID = re.compile(
    r"\"id\"\s{0,2}:\s{0,2}\"(?P<id>[^\"]{1,160})\"\s{0,2},?(?=[^{]{0,120}\"object\"\s{0,2}:\s{0,2}\"model\")"
)


_PROXY = re.compile(r"\b(?:https?_?|all_?|enable_?|use_?)?prox(?:y|ies)\b|代理", re.IGNORECASE)
_NO_PROXY = re.compile(
    r"no_?proxy|reverse|proxy_pass|proxy_set|litellm|llama-swap|nginx|proxy server (?:is )?running", re.IGNORECASE
)
_NO_MODEL = re.compile(
    r"model\b.{0,160}(?:not found|does not exist|unknown|not loaded)|model_not_found|(?:unknown|invalid|unsupported) model"
    r"|try pulling",
    re.IGNORECASE,
)


def asked_in(text: str) -> Asked | None:
    """What a text says of asking a server; None when it holds no address at all."""
    if "://" not in text and ":" not in text:
        return None
    lines = text.split("\n")[:MOST_LINES]
    endpoints = endpoints_in(lines)
    requests = _requests(lines)
    listens = [int(found["a"] or found["b"]) for line in lines if (found := _LISTENS.search(line[:LONGEST_LINE]))]
    if not (endpoints or requests or listens):
        return None
    serves = tuple(dict.fromkeys(found["id"] for found in _MODEL_ID.finditer(text)))[:MOST]
    return Asked(endpoints, requests, tuple(dict.fromkeys(listens)), serves, _statuses(lines), _proxies(lines))


def _proxies(lines: Sequence[str]) -> tuple[str, ...]:
    """Addresses under the name of a proxy: on its line, or on one of the few after it ("proxy:", "proxies:")."""
    found: dict[str, None] = {}
    last = -AFTER
    for at, line in enumerate(lines):
        if _PROXY.search(line[:LONGEST_LINE]) and not _NO_PROXY.search(line[:LONGEST_LINE]):
            last = at
        if 0 <= at - last < AFTER and ":" in line:
            found.update((url.url, None) for url in urls_in(line) if url.path == "" and url.port is not None)
    return tuple(found)[:MOST]


def _statuses(lines: Sequence[str]) -> tuple[int, ...]:
    found = {_status(line[:LONGEST_LINE]): None for line in lines if not _NO_MODEL.search(line[:LONGEST_LINE])}
    return tuple(code for code in found if code is not None and code >= 400)


def _requests(lines: Sequence[str]) -> tuple[Request, ...]:
    found: list[Request] = []
    inside = False
    for at, full in enumerate(lines):
        line = full[:LONGEST_LINE]
        if _INSIDE.search(line):
            inside = True
        elif _PROMPT.match(line):
            inside = False
        if ":" not in line or _LISTENS.search(line):
            continue
        for url in urls_in(line):
            # Without a scheme it is an address that a connection went to: "ECONNREFUSED 127.0.0.1:8080".
            if _TELLS.search(line) and (url.scheme or _failure(line)):
                found.append(_request(lines, at, line, url, inside))
                if len(found) >= MOST:
                    return tuple(found)
    return tuple(found)


def _request(lines: Sequence[str], at: int, line: str, url: Found, inside: bool) -> Request:
    said = _answer(lines, at)
    status = next((code for text in said if (code := _status(text)) is not None), None)
    failure = next((name for text in said if (name := _failure(text))), None)
    well = status is None and failure is None and any(_WELL.search(text) for text in said[1:])
    method = _METHOD.search(line[max(0, url.start - 12) : url.start]) or _METHOD_OPTION.search(line)
    sends = "curl" in line and bool(_SENDS.search(" ".join(said)))
    return Request(
        method=method[1].upper() if method else ("POST" if sends else None),
        url=url.url,
        scheme=url.scheme,
        host=url.host,
        port=url.port,
        path=url.path,
        local=url.local,
        loopback=url.loopback,
        status=status,
        failure=failure if status is None else None,
        answered=well or (status is not None and status < 400),
        inside=inside,
        line=at + 1,
        text=line.strip(),
    )


def _answer(lines: Sequence[str], at: int) -> list[str]:
    """The line of a URL and those after it that can speak of the answer: not the next request's, nor the next command's."""
    said = [lines[at][:LONGEST_LINE]]
    for line in lines[at + 1 : at + 1 + AFTER]:
        if "://" in line or _PROMPT.match(line):
            break
        said.append(line[:LONGEST_LINE])
    return said


def _status(text: str) -> int | None:
    found = _STATUS.search(text)
    return int(next(code for code in found.groups() if code)) if found else None


def _failure(text: str) -> str | None:
    for name, pattern in (("reset", _RESET), ("refused", _REFUSED), ("timeout", _TIMEOUT)):
        if pattern.search(text):
            return name
    return None
