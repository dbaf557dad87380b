"""Are the model names the client uses served, and is there room in a slot for its first request?"""

from __future__ import annotations

from fnmatch import fnmatchcase

from doctor.facts.ladder.state import Climb, Step, failed, not_tried, passed, warned
from doctor.facts.ladder.target import WANTED_CONTEXT
from doctor.facts.record import known
from doctor.facts.server.answers import model_ids

SHOWN = 5


def model(climb: Climb) -> Step:
    """Every model name is served: the main one, the small one, those of sub-agents."""
    wanted = climb.target.models
    served = known(climb.server.model_ids) or _ask_for_models(climb)
    climb.found |= {"models_wanted": wanted, "models_served": served or None}
    names = ", ".join(served[:SHOWN]) + (", …" if len(served) > SHOWN else "")
    if climb.is_llama:
        climb.found["models_missing"] = ()
        return passed(f"any name is taken; the model is {names}" if names else "any name is taken")
    if not served:
        return not_tried("the server does not list its models")
    missing = tuple(name for name in wanted if not _serves(served, name))
    climb.found["models_missing"] = missing
    if wanted and not wanted[0]:
        return failed("model-missing", f"the client names no model; the server has {names}")
    if wanted and wanted[0] in missing:
        return failed("model-not-served", f"{wanted[0]} is not served; the server has {names}")
    if missing:
        return warned("small-model-not-served", f"{', '.join(missing[:SHOWN])} is not served; the server has {names}")
    return passed(", ".join(wanted) if wanted else f"the server has {names}")


def _ask_for_models(climb: Climb) -> tuple[str, ...]:
    """The list as the client would get it, with its key."""
    answer = climb.asker.ask("GET", climb.server.url + "/v1/models", climb.headers)
    return model_ids(answer.data) if answer.status == 200 else ()


def _serves(served: tuple[str, ...], name: str) -> bool:
    # Ollama adds a tag; LiteLLM lists patterns.
    return any(name == one or f"{name}:latest" == one or ("*" in one and fnmatchcase(name, one)) for one in served)


def context(climb: Climb) -> Step:
    """A slot holds the client's first request."""
    n_ctx, slots, needed = known(climb.server.n_ctx), known(climb.server.slots), climb.target.context_needed
    climb.found |= {"n_ctx": n_ctx, "slots": slots, "context_needed": needed}
    if n_ctx is None:
        each = climb.kind == "llama.cpp-router"
        return not_tried("each model of a router has its own" if each else "the server does not tell its context")
    said = f"{n_ctx} tokens a slot"
    if needed is not None and n_ctx < needed:
        said += f"; the first request of {climb.target.name} takes about {needed}"
        if slots and slots > 1 and n_ctx * slots >= needed:
            return failed("slots-divide-context", f"{said}, and {slots} slots share {n_ctx * slots}")
        return failed("context-too-small", said)
    if needed is not None:
        return passed(f"{said}, {needed} needed for the first request")
    return passed(said if n_ctx >= WANTED_CONTEXT else f"{said} (coding agents want {WANTED_CONTEXT} or more)")
