"""Model names: of the main and of the small model."""

from tests.real.matrix.clients import CLAUDE
from tests.real.matrix.faults.registry import fault
from tests.real.matrix.servers import ROUTER, SERVED

MISMATCH = "model-id-mismatch"
SMALL = "small-model-not-served"


@fault(MISMATCH, words=ROUTER)
def model_not_served(setup, _):
    setup.client.name_models(setup, "other")


@fault(MISMATCH, words=ROUTER)
def model_in_other_letters(setup, _):
    setup.client.name_models(setup, SERVED.upper())


@fault(MISMATCH, ("qwen-code", "cline", "openai-sdk", "anthropic-sdk"), words=ROUTER)  # Claude Code takes it off
def model_with_a_blank(setup, _):
    setup.client.name_models(setup, f"{SERVED} ")


@fault(SMALL, CLAUDE, words=ROUTER, fails=False)
def small_model_not_served(setup, _):
    setup.put("ANTHROPIC_DEFAULT_HAIKU_MODEL", "claude-haiku-local")


@fault(SMALL, CLAUDE, words=ROUTER, fails=False)
def small_model_not_mapped(setup, _):
    setup.drop("ANTHROPIC_DEFAULT_HAIKU_MODEL")


@fault(MISMATCH, ("opencode",))
def model_not_in_the_list(setup, _):
    setup.put("model", "local/other")
    setup.put("small_model", "local/other")


@fault(MISMATCH, ("aider",))
def provider_not_in_front(setup, _):
    setup.put("model", "local-model")
