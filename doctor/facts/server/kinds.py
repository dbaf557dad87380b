"""Which program answers: signs in headers and bodies that tell llama.cpp from what else listens on such ports."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.redact import sanitize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from doctor.outside import OutsideError

NO_UTF8 = "the answer holds bytes that are no UTF-8"


class Reply(NamedTuple):
    """An answer to a GET. Header names are lower-case; `data` is the body as JSON, None where it is none or not whole."""

    path: str
    status: int
    headers: dict[str, str]
    text: str
    data: Any


class Sign(NamedTuple):
    """One sign of one program.

    `where`: body, owned_by (of the first model in the list) or the name of a header; `path` limits it to one path.
    """

    kind: str
    where: str
    pattern: str
    path: str
    source: str


# The first that fits decides: what is put in front of llama.cpp (it may pass its headers on) comes before llama.cpp.
SIGNS = (
    Sign("litellm", "x-litellm-version", r".", "", "docs.litellm.ai/docs/proxy/response_headers"),
    Sign("litellm", "body", r'"type":\s*"auth_error"|no api key passed in', "", "LiteLLM proxy, answer without a key"),
    Sign("llama-swap", "owned_by", r"^llama-swap$", "/v1/models", "mostlygeek/llama-swap listModelsHandler"),
    Sign(
        "lm-studio", "body", r"unexpected endpoint or method", "", "lmstudio-bug-tracker issues 618, 2085: status 200"
    ),
    Sign("llama.cpp", "server", r"^llama\.cpp", "", "tools/server set_default_headers, since 2024"),
    Sign("llama.cpp", "owned_by", r"^llamacpp$", "/v1/models", "b11434 answer"),
    Sign("llama.cpp", "body", r'"default_generation_settings"|"role":\s*"router"', "/props", "b11434 answer"),
    Sign("llama.cpp", "body", r'"Invalid API Key","type":"authentication_error"', "", "b11434 answer"),
    Sign("lm-studio", "owned_by", r"^organization_owner$", "/v1/models", "LM Studio 0.3-1.1 answers"),
    Sign("vllm", "owned_by", r"^vllm$", "/v1/models", "vllm ModelCard"),
    Sign("sglang", "owned_by", r"^sglang$", "/v1/models", "sglang ModelCard"),
    Sign("koboldcpp", "owned_by", r"^koboldcpp$", "/v1/models", "koboldcpp.py"),
    Sign("ollama", "owned_by", r"^library$", "/v1/models", "ollama openai middleware"),
    Sign("ollama", "body", r'^\s*\{\s*"version"\s*:\s*"[^"]+"\s*\}\s*$', "/api/version", "ollama docs/api.md"),
    Sign("gateway", "x-oneapi-request-id", r".", "", "one-api, new-api"),
    Sign("gateway", "x-new-api-version", r".", "", "new-api"),
    Sign(
        "gateway",
        "server",
        r"^(?:nginx|openresty|caddy|envoy|traefik|cloudflare|apache|kong|haproxy)",
        "",
        "reverse proxies",
    ),
)


def identify(replies: list[Reply]) -> str:
    """The kind of server behind these answers, "unknown" when no sign fits."""
    for sign in SIGNS:
        if any(_shows(sign, reply) for reply in replies):
            return sign.kind
    return "unknown"


def _shows(sign: Sign, reply: Reply) -> bool:
    if sign.path and sign.path != reply.path:
        return False
    if sign.where == "body":
        value = reply.text
    elif sign.where == "owned_by":
        value = _owner(reply.data)
    else:
        value = reply.headers.get(sign.where, "")
    return bool(value) and re.search(sign.pattern, value, re.IGNORECASE) is not None


def _owner(data: Any) -> str:
    for entry in items(data, "data")[:1]:
        owner = entry.get("owned_by")
        return owner if isinstance(owner, str) else ""
    return ""


def items(data: Any, name: str = "") -> list[dict[str, Any]]:
    """The objects in a list, or in the list called `name` of an object; [] when there is no such list."""
    found = data.get(name) if name and isinstance(data, dict) else data
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def parse_json(text: str) -> Any:
    """JSON, or None where it is none (or is nested beyond measure)."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def body_fault(headers: Mapping[str, str], body: bytes, cut_at: int = 0) -> str:
    """What keeps a client from reading a body, "" for nothing: packed, cut at so many bytes for its length, no UTF-8."""
    packed = headers.get("content-encoding", "identity").lower()
    if packed not in ("", "identity"):
        return f"the answer is packed ({packed[:40]}), though none was asked for"
    if cut_at:
        return f"the answer is larger than {cut_at >> 20} MiB"
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return NO_UTF8
    return ""


def request_fault(error: OutsideError, url: str) -> str:
    """Why no answer came from `url`, in words without the URL."""
    return "no answer in time" if error.kind == "timeout" else sanitize(str(error).removeprefix(f"{url}: "))


def looks_like_html(reply: Reply) -> bool:
    """Whether the answer is a web page."""
    return "html" in reply.headers.get("content-type", "").lower() or reply.text.lstrip()[:9].lower() in (
        "<!doctype",
        "<html>",
    )
