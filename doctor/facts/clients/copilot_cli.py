"""GitHub Copilot CLI with a model provider of one's own: variables alone (`copilot help providers`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import Configured, Kind, client
from doctor.facts.clients.places import Found, Places, as_number
from doctor.facts.clients.program import Program
from doctor.facts.record import Unknown

if TYPE_CHECKING:
    from doctor.facts.clients.record import Client
    from doctor.outside import Outside
    from doctor.secrets import Vault

# Measured with 1.0.102, but for the key of a command and the limits, which docs.github.com (use-byok-models) and the text of
# `copilot help providers` in github.com/ollama/ollama/issues/15585 tell.
KIND = Kind(
    "copilot-cli", "Copilot CLI", Program(("copilot",), "@github/copilot"), "openai-chat", proxies=("http", "https")
)
NO_SIGN = KIND._replace(program=Program())
"""Without its variables the program talks to GitHub alone, and another program has the same name."""
BASE = "COPILOT_PROVIDER_BASE_URL"
SETTINGS = ("TYPE", "WIRE_API", "MODEL_ID")


def collect(outside: Outside, vault: Vault) -> Client:
    """Copilot CLI as it would run in this shell."""
    places = Places(outside, vault)

    def value(*names: str) -> list[Found]:
        return places.variable(*(f"COPILOT_PROVIDER_{name}" for name in names))

    base = places.setting(places.variable(BASE))
    if base is None:
        return client(places, NO_SIGN)
    kind = next((found.value.strip().lower() for found in value("TYPE")), "openai")
    responses = any(found.value.strip().lower() == "responses" for found in value("WIRE_API"))
    wire, appends, header = "openai-chat", "/chat/completions", "authorization"
    if kind == "anthropic":
        wire, appends, header = "anthropic-messages", "/v1/messages", "x-api-key"
    elif responses:
        wire, appends = "openai-responses", "/responses"
    helper = [found._replace(value="$(command)") for found in value("API_KEY_COMMAND") if found.value.strip()]
    bearer = [found for found in value("BEARER_TOKEN") if found.value.strip()]
    key = value("API_KEY") + helper
    # An empty key is how a local server is set up: it is no fault.
    keys = [found for found in bearer + key if found.value.strip()]
    window = as_number(places.setting(value("MAX_PROMPT_TOKENS")))
    return client(
        places,
        KIND,
        Configured(
            base=base,
            credentials=places.credential("authorization" if bearer else header, keys),
            model=places.setting(value("WIRE_MODEL"), places.variable("COPILOT_MODEL"), value("MODEL_ID")),
            wire_api=wire,
            appends=appends,
            appends_v1=kind == "anthropic",
            context_window=window or Unknown("no COPILOT_PROVIDER_MAX_PROMPT_TOKENS is set: it assumes a window"),
            settings=places.settings(*(value(name) for name in SETTINGS)),
            output_limit=places.setting(value("MAX_OUTPUT_TOKENS")),
        ),
    )
