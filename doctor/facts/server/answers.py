"""What llama-server's answers say: /v1/models, /props, /slots as values of the server's record. Shapes as of b11434."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from doctor.facts.record import Fact, Unknown
from doctor.facts.server.kinds import items

MODELS_SHOWN = 200
# Text of raise_exception in the templates of the Qwen3.5 family (and of others made after them).
STRICT_SYSTEM = "System message must be at the beginning"
_BUILD_INFO = re.compile(r"b(\d{1,9})-([0-9a-zA-Z]+)")


def model_ids(models: Any) -> tuple[str, ...]:
    """Ids and aliases of the models on offer, each once, in the order of the list."""
    names: dict[str, None] = {}
    for entry in items(models, "data")[:MODELS_SHOWN]:
        aliases = entry.get("aliases")
        for name in (entry.get("id"), *(aliases if isinstance(aliases, list) else ())):
            if isinstance(name, str) and name:
                names[name[:300]] = None
    return tuple(names)


def model_meta(models: Any, name: str) -> int | None:
    """A number in the `meta` of the first model ("n_ctx_train"), None when there is none."""
    for entry in items(models, "data")[:1]:
        meta = entry.get("meta")
        return whole(meta.get(name)) if isinstance(meta, dict) else None
    return None


def slot_context(models: Any, props: Any, slots: Any) -> int | None:
    """Context of ONE slot in tokens, from whichever answer has it."""
    settings = props.get("default_generation_settings") if isinstance(props, dict) else None
    if isinstance(settings, dict) and whole(settings.get("n_ctx")) is not None:
        return whole(settings.get("n_ctx"))
    for slot in items(slots)[:1]:
        if whole(slot.get("n_ctx")) is not None:
            return whole(slot.get("n_ctx"))
    return model_meta(models, "n_ctx")


def slot_count(props: Any, slots: Any) -> int | None:
    """How many requests the server works on at once."""
    if isinstance(props, dict) and whole(props.get("total_slots")) is not None:
        return whole(props.get("total_slots"))
    return len(items(slots)) or None


def busy_slots(slots: Any) -> int:
    """How many slots work on a request right now."""
    return sum(1 for slot in items(slots) if slot.get("is_processing") is True)


def vision(models: Any, props: Any) -> bool | None:
    """Whether the model takes images, None when the build does not tell."""
    modalities = props.get("modalities") if isinstance(props, dict) else None
    if isinstance(modalities, dict) and isinstance(modalities.get("vision"), bool):
        return bool(modalities["vision"])
    for entry in items(models, "models")[:1]:
        capabilities = entry.get("capabilities")
        if isinstance(capabilities, list):
            return "multimodal" in capabilities
    return None


def templates(props: Any) -> str | None:
    """The chat templates in use as one text, None when there are none."""
    if not isinstance(props, dict):
        return None
    texts = [props.get(name) for name in ("chat_template", "chat_template_tool_use")]
    return "\n".join(text for text in texts if isinstance(text, str) and text) or None


def build_number(info: str | None, build_of_commit: Callable[[str], int | None] | None) -> Fact[int]:
    """The build in "b10434-6f3a2b1". Built without its git history it says b1 or b0: then the commit is looked up."""
    if info is None:
        return None
    found = _BUILD_INFO.match(info)
    if not found:
        return Unknown(f"the build {info[:60]!r} has no number")
    number, commit = int(found[1]), found[2]
    if number > 1:
        return number
    looked_up = build_of_commit(commit) if build_of_commit and commit != "unknown" else None
    return looked_up if looked_up is not None else Unknown(f"the server was built without its number ({info[:60]})")


def text_of(data: Any, name: str) -> str | None:
    """A text field of an answer, None when it is not there."""
    value = data.get(name) if isinstance(data, dict) else None
    return value[:4096] if isinstance(value, str) and value else None


def odd_number(path: str, data: Any) -> str:
    """The name of a number that is there and cannot be one, "" for none."""
    if path == "/props" and isinstance(data, dict):
        settings = data.get("default_generation_settings")
        places = [(data, "total_slots"), (settings, "n_ctx")]
    elif path == "/v1/models":
        metas = [entry.get("meta") for entry in items(data, "data")[:1]]
        places = [(meta, name) for meta in metas for name in ("n_ctx", "n_ctx_train")]
    else:
        places = [(slot, "n_ctx") for slot in items(data)] if path == "/slots" else []
    for place, name in places:
        if isinstance(place, dict) and place.get(name) is not None and whole(place[name]) is None:
            return name
    return ""


def pace(value: Any) -> float | None:
    """A sensible speed in tokens a second, None for anything else: from 0.01, which two digits can still show."""
    sensible = isinstance(value, (int, float)) and not isinstance(value, bool) and 0.01 <= value < 1e9
    return float(value) if sensible else None


def whole(value: Any) -> int | None:
    """A sensible whole number, None for anything else a hostile or broken answer may hold."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40 else None
