"""Limits: the context, the window a client counts with, the length of an answer, the time it may take."""

from tests.real.matrix import fronts
from tests.real.matrix.clients import CLAUDE
from tests.real.matrix.faults.registry import CHECK, DEEP, LOG, fault, through
from tests.real.matrix.request import Failed
from tests.real.matrix.servers import SOUND

CONTEXT, OUTPUT, TIME = "context-exceeded", "output-budget-exhausted", "timeout-before-first-token"
PREFILL = 2.0
"""Seconds until the first byte of an answer where reading a prompt is slow."""


@fault(CONTEXT, ("claude-code", "codex", "opencode", "cline"), words=("-c", "4096", "-np", "1"), own=True, full=True)
def context_too_small(setup, _):
    pass


@fault(
    (CONTEXT, "parallel-slots-share-ctx"),
    ("claude-code", "opencode"),
    words=("-c", "24576", "-np", "4"),
    own=True,
    full=True,
)
def slots_divide_the_context(setup, _):
    pass


@fault(CONTEXT, CLAUDE, fails=False, seen=(CHECK,))
def window_unknown(setup, _):
    setup.drop("CLAUDE_CODE_MAX_CONTEXT_TOKENS")


@fault(CONTEXT, ("claude-code", "codex", "opencode", "qwen-code", "aider"), fails=False, seen=(CHECK,))
def window_too_large(setup, _):
    names = {
        "claude-code": "CLAUDE_CODE_MAX_CONTEXT_TOKENS",
        "codex": "model_context_window",
        "opencode": "context",
        "qwen-code": "model.generationConfig.contextWindowSize",
        "aider": "max_input_tokens",
    }
    value = 262144
    setup.put(names[setup.client.id], str(value) if setup.client.id == "claude-code" else value)


@fault(CONTEXT, ("opencode",), fails=False, seen=(CHECK,))
def window_unset(setup, _):
    setup.files[setup.client.settings]["provider"]["local"]["models"]["local-model"].pop("limit")


@fault(OUTPUT, ("claude-code", "opencode", "qwen-code"))
def answer_cut_short(setup, _):
    names = {
        "claude-code": ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "2"),
        "opencode": ("output", 2),
        "qwen-code": ("model.generationConfig.samplingParams.max_tokens", 2),
    }
    setup.put(*names[setup.client.id])


@fault(OUTPUT, ("codex", "aider", "openai-sdk"), words=(*SOUND, "-n", "2"), own=True, seen=(CHECK,))
def answer_cut_short_by_the_server(setup, _):
    pass


def goes_on(setup, ask):
    """What is bad when an answer ends only with the context."""
    try:
        text = ask(setup)
    except Failed as error:
        text = error.text
    return f"{len(text)} letters" if len(text) > 2_500 else ""


@fault(
    "unlimited-generation",
    ("aider",),
    words=("-c", "4096", "-np", "1"),
    own=True,
    model="endless",
    seen=(LOG,),
    fails=False,
    harm=goes_on,
)
def answer_without_end(setup, _):
    pass


@fault(TIME, ("claude-code", "opencode", "qwen-code", "aider"))
def patience_too_short(setup, stack):
    names = {
        "claude-code": ("API_TIMEOUT_MS", "1000"),
        "opencode": ("provider.local.options.timeout", 1000),
        "qwen-code": ("model.generationConfig.timeout", 1000),
        "aider": ("timeout", 1),
    }
    through(setup, stack, **fronts.slow(PREFILL))
    setup.put(*names[setup.client.id])


@fault(TIME, ("claude-code", "codex", "opencode", "openai-sdk"), seen=(DEEP,))
def gateway_gives_up(setup, stack):
    through(setup, stack, **fronts.instead(504, fronts.GAVE_UP, "text/html"))
