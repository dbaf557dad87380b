"""The addresses a pasted text gives to clients, whatever client, file format or programming language it is in.

A setting is a name, something between, and a URL: JSON, YAML, TOML, .env, Lua, Lisp, Python, JavaScript, Java, options of
commands, and a form copied by hand all come down to that. What a client does with the URL is told by the name and by the
lines around.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.facts.asked import Endpoint
from doctor.logs.urls_in import LONGEST_LINE, urls_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.logs.urls_in import Found

MOST = 20
AROUND = 8
"""Lines before and after an address in which its key, its model and its API are looked for."""
_BEFORE = 90
# What stands in front of the URL: the setting's name, and what a language puts between. A name may be two or three words.
_NAME = re.compile(
    r"(?P<name>[:$-]{0,2}[A-Za-z][\w.-]{0,60}(?: (?:api|base|url|uri|host|server|endpoint|address|link|path)){0,3})"
    r"[\"'`\])]{0,2}\s{0,4}(?:=>|:=|:-|is|[=:(,]|为|是|填|：)?\s{0,4}(?:new )?(?:Uri|URL|URI\.create)?\(?\s?(?:f|r)?[\"'`*]{0,2}$",
    re.IGNORECASE,
)
_BASE = ("baseurl", "apibase", "baseuri", "openaibase", "basepath", "llmbase", "modelbase")
_WHOLE_HERE = ("apibaseurl",)
"""Called a base URL, and the whole endpoint in some clients (claude-code-router)."""
_HOST = ("host", "hostname", "hosturl", "server", "serveraddress")
_EITHER = ("url", "uri", "endpoint", "api", "address", "apiurl", "link", "地址")
# Settings of that kind that lead elsewhere than to a model server.
_ELSEWHERE = re.compile(
    r"proxy|callback|webhook|homepage|redirect|redis|mongo|postgres|database|qdrant|chroma|searx|origin|referer|image|repo"
    r"|frontend|nextauth|site_?url|s3|minio|telemetry|sentry|registry|mirror|download|docs|schema|mcp|tts|stt|whisper|embed"
    r"|(?:^|[^a-z])(?:ref|see|for|on|to|at|from|via|source|visit|open)$",
    re.IGNORECASE,
)
# A line that tells of a request is no setting.
_REQUEST = re.compile(
    r"\b(?:GET|POST|PUT|HEAD|OPTIONS|DELETE)\b\W{1,4}\S{0,3}https?:|\bcurl\b|\bwget\b|for url|listening|running (?:on|at)"
    r"|request to|sending request|refused|ECONN|timed? ?out|failed|error|HTTP/\d|\b[45]\d\d\b[^/:\w]",
    re.IGNORECASE,
)
_OPENAI = re.compile(
    r"OPENAI_|\b(?:Async|Chat|Azure)?OpenAI(?:Like|Chat\w{0,20}|Model|Client|Embeddings)?\(|make-openai|\bopenai/"
    r"|(?:provider|type|kind|backend|adapter|platform|protocol|format|npm|api)\w{0,6}[\"'`\]]{0,2}\s{0,3}[=:]\s{0,3}"
    r"[\"'`]?@?[\w/-]{0,12}(?:openai|oai|lmstudio|lm-studio|vllm)|^\W{0,12}openai[\w-]{0,20}\W{1,4}[{=:]?\s{0,3}[{]?\s{0,3}$",
    re.IGNORECASE,
)
_OLLAMA = re.compile(
    r"OLLAMA_|\b(?:Chat)?Ollama(?:LLM|Embeddings)?\(|make-ollama"
    r"|(?:provider|type|kind|backend|adapter|platform|protocol|format)\w{0,6}[\"'`\]]{0,2}\s{0,3}[=:]\s{0,3}[\"'`]?ollama"
    r"|^\W{0,12}ollama\W{1,4}[{=:]?\s{0,3}[{]?\s{0,3}$",
    re.IGNORECASE,
)
_ANTHROPIC = re.compile(
    r"ANTHROPIC_|\b(?:Async|Chat)?Anthropic\(|make-anthropic"
    r"|(?:provider|type|kind|backend|protocol|format|npm)\w{0,6}[\"'`\]]{0,2}\s{0,3}[=:]\s{0,3}[\"'`]?@?[\w/-]{0,12}anthropic",
    re.IGNORECASE,
)
_DIALECTS = (("ollama", _OLLAMA), ("anthropic", _ANTHROPIC), ("openai", _OPENAI))
# Clients whose setting is called base URL and which append /v1 themselves.
_ADDS_V1 = re.compile(r"spring[.:]|springframework|OpenAiApi\b|NEXT_PUBLIC|cherry ?studio|chatbox|lobe", re.IGNORECASE)
_KEY = re.compile(
    r"(?:api[-_ ]{0,2}key|api[-_]?token|auth[-_]?token|fetch_key|\bkey|\btoken|Bearer)[\w-]{0,12}[\"'`\])]{0,2}\s{0,3}"
    r"(?:=>|[=:(]|\s)\s{0,3}[\[(]?\s?(?P<value>\"[^\"]{0,200}\"|'[^']{0,200}'|[^\s,;)}\]]{0,200})",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"(?:none|null|nil|undefined|empty|left empty|false|\[\]|)\Z", re.IGNORECASE)
_HELD_ELSEWHERE = re.compile(r"\$|%\w|env|process\.|os\.|getenv|System\.|secrets?\.|<key|\{\{|!secret", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"<[^>]{0,60}>|x{4,}|\*{3,}|\.\.\.|…|你的|填写"
    r"|(?:your|my|insert|enter|paste|change|replace)[-_ ]?\w{0,20}[-_ ]?(?:key|token|here|me)?\Z",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"(?:^|[\s\"'`{(,\[:_-])(?:model(?:[-_]?(?:name|id))?|default[-_]?model|models?)[\"'`\])]{0,2}\s{0,3}(?:=>|[=:(]|\s)\s{0,3}"
    r"[\[({'\s]{0,4}[\"'`]?(?P<value>[A-Za-z][\w./:@+-]{1,120})",
    re.IGNORECASE,
)
_SERVER_COMMAND = re.compile(r"llama-server|llama-cli|koboldcpp|llama_cpp\.server|vllm serve|\.gguf", re.IGNORECASE)


def endpoints_in(lines: Sequence[str]) -> tuple[Endpoint, ...]:
    """The endpoints of a text, in order; the first of them when there are very many."""
    whole = "\n".join(lines)
    adds_v1 = bool(_ADDS_V1.search(whole))
    found: list[Endpoint] = []
    for at, line in enumerate(lines):
        if "://" not in line and not (":" in line and any(digit in line for digit in "0123456789")):
            continue
        if _REQUEST.search(line[:LONGEST_LINE]):
            continue
        for url in urls_in(line):
            setting = _setting(line, url)
            if setting is None:
                continue
            name, role = setting
            around = _around(lines, at)
            dialect = _dialect(name, around)
            if role == "base" and adds_v1 and dialect != "ollama":
                role = "host"
            found.append(_endpoint(name, role, dialect, url, around, at, line))
            if len(found) >= MOST:
                return tuple(found)
    return tuple(found)


def _endpoint(name: str, role: str, dialect: str, url: Found, around: Sequence[str], at: int, line: str) -> Endpoint:
    return Endpoint(
        name=name.lstrip(":$-"),
        role=role,
        dialect=dialect,
        url=url.url,
        scheme=url.scheme or None,
        host=url.host,
        port=url.port,
        path=url.path,
        local=url.local,
        loopback=url.loopback,
        key=_key(around),
        model=_model(around),
        line=at + 1,
        text=line.strip()[:LONGEST_LINE],
    )


def _setting(line: str, url: Found) -> tuple[str, str] | None:
    """(name, role) of the setting that holds the URL; None where it is no setting of a model server."""
    found = _NAME.search(line[max(0, url.start - _BEFORE) : url.start])
    if found is None or _ELSEWHERE.search(found["name"]):
        return None
    name = found["name"]
    plain = re.sub(r"[^a-z]", "", name.lower())
    if plain.endswith(_BASE) and plain not in _WHOLE_HERE:
        return name, "base"
    if plain.endswith(_HOST) and url.local:
        return name, "host"
    if (plain.endswith(_EITHER) or plain in _WHOLE_HERE) and url.local:
        return name, "either"
    return None


def _around(lines: Sequence[str], at: int) -> list[str]:
    """The lines that belong to the one at `at`, the nearest first."""
    near = [lines[at]]
    for step in range(1, AROUND + 1):
        near += lines[at - step : at - step + 1] if at >= step else ()
        near += lines[at + step : at + step + 1]
    return [line[:LONGEST_LINE] for line in near]


def _dialect(name: str, around: Sequence[str]) -> str:
    """The API the client speaks: by the setting's own name, else by the nearest line that says it."""
    for word, dialect in (("OLLAMA", "ollama"), ("ANTHROPIC", "anthropic"), ("OPENAI", "openai")):
        if word in name.upper():
            return dialect
    for line in around:
        said = [dialect for dialect, pattern in _DIALECTS if pattern.search(line)]
        if said:
            return said[0] if len(said) == 1 else "unknown"
    return "unknown"


def _key(around: Sequence[str]) -> str | None:
    """What kind of key stands beside an address. The key itself goes no further."""
    for line in around:
        found = _KEY.search(line)
        if found is None:
            continue
        value = found["value"].strip("\"'`")
        if _NO_KEY.match(value):
            return "empty"
        if _HELD_ELSEWHERE.search(found["value"]):
            return "variable"
        return "placeholder" if _PLACEHOLDER.search(value) else "given"
    return None


def _model(around: Sequence[str]) -> str | None:
    for line in around:
        found = None if _SERVER_COMMAND.search(line) else _MODEL.search(line)
        if found is not None:
            return found["value"]
    return None
