"""Does the chat template take tools and a late system message? Counting tokens answers it without any GPU time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.facts.ladder.state import Climb, Step, failed, not_tried, passed, warned
from doctor.facts.ladder.target import MESSAGES, RESPONSES
from doctor.facts.ladder.wire import SYSTEM, USER, request, tool
from doctor.facts.record import known

if TYPE_CHECKING:
    from doctor.facts.ladder.ask import Answer

GREETING = ((USER, "Hello"),)
# As recorded: Claude Code puts a system turn behind the user's, Codex a developer message behind its instructions.
LATE = {RESPONSES: ((SYSTEM, "Be brief."), (USER, "Hello"))}
LATE_ELSE = ((USER, "Hello"), (SYSTEM, "Be brief."))


def template(climb: Climb) -> Step:
    """Tools reach the model, and roles behind the first place are not refused."""
    if climb.kind == "llama.cpp-router" or known(climb.server.sleeping) is True:
        return not_tried("asking would load the model")
    if not climb.is_llama and climb.target.wire_api != MESSAGES:
        return not_tried("only llama.cpp counts tokens without answering")
    plain = _count(climb, GREETING)
    if plain.status in (404, 405, 501):
        if climb.target.wire_api == MESSAGES:
            return warned("count-tokens-missing", f"count_tokens is answered with HTTP {plain.status}")
        return not_tried("this build cannot count tokens without answering")
    if plain.status != 200:
        if climb.is_llama and plain.status in (400, 500):
            climb.found["status"] = plain.status
            return failed("template-error", f"HTTP {plain.status} to a plain greeting: {plain.message}")
        return not_tried(f"tokens are not counted: {plain.message or plain.words}")
    if not isinstance(_tokens(plain), int):
        return not_tried("tokens are not counted: the answer holds no number of them")
    return _tools_and_roles(climb, plain)


def _tools_and_roles(climb: Climb, plain: Answer) -> Step:
    if not climb.target.tools:
        return passed(f"plain messages are taken, and {climb.target.name} brings no tools")
    tools = _count(climb, GREETING, tools=True)
    if tools.status != 200:
        climb.found["status"] = tools.status
        return failed("tools-refused", f"HTTP {tools.status} to a request with a tool: {tools.message or tools.words}")
    if climb.is_llama and _tokens(tools) is not None and _tokens(tools) == _tokens(plain):
        return _unless_named(climb, "tools-dropped", "the template leaves tools out: the model never hears of them")
    late = _count(climb, LATE.get(climb.target.wire_api, LATE_ELSE))
    if late.status in (400, 500):
        climb.found["status"] = late.status
        said = f"HTTP {late.status} to a late system message: {_raised(late)}"
        if climb.target.late_system:
            return failed("late-system-refused", said)
        return warned("late-system-refused", said) if not climb.target.client else passed("tools are taken")
    return passed("tools and late system messages are taken")


def _unless_named(climb: Climb, reason: str, said: str) -> Step:
    """Fatal for a coding agent, a remark for an address alone: a chat without tools is fine."""
    return failed(reason, said) if climb.target.client else warned(reason, said)


def _count(climb: Climb, messages: tuple[tuple[str, str], ...], tools: bool = False) -> Answer:
    target = climb.target
    ending = "/count_tokens" if target.wire_api == MESSAGES else "/input_tokens"
    url, _, query = target.request_url.partition("?")
    body = request(target.wire_api, climb.model, messages, tools=(tool(),) if tools else ())
    return climb.asker.ask("POST", url + ending + (f"?{query}" if query else ""), climb.headers, body)


def _tokens(answer: Answer) -> Any:
    return answer.data.get("input_tokens") if isinstance(answer.data, dict) else None


def _raised(answer: Answer) -> str:
    """The template's own words out of the long message around them."""
    found = answer.text.find("Jinja Exception: ")
    if found >= 0:
        return answer.text[found + 17 : found + 160].partition('"')[0].partition("\\n")[0]
    start = answer.text.find("raise_exception('")
    return answer.text[start + 17 : start + 120].partition("'")[0] if start >= 0 else answer.message
