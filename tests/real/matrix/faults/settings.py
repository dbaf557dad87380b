"""Settings that keep a client from doing anything, or from doing it well."""

import json
import secrets

from tests.real.matrix import fronts
from tests.real.matrix.clients import CLAUDE, PROMPT
from tests.real.matrix.faults.registry import CHECK, fault, through

IN_VAIN = "config-not-in-effect"


@fault((IN_VAIN, "wire-api-mismatch"), ("codex",), seen=(CHECK,))
def wire_chat(setup, _):
    setup.put("model_providers.local.wire_api", "chat")


@fault(IN_VAIN, ("codex",), seen=(CHECK,))
def provider_not_defined(setup, _):
    setup.put("model_provider", "llama")


@fault(IN_VAIN, ("codex",), seen=(CHECK,))
def own_provider_defined_anew(setup, _):
    tables = setup.files[setup.client.settings]["model_providers"]
    tables["openai"] = tables.pop("local")
    setup.put("model_provider", "openai")


@fault(IN_VAIN, ("codex",), seen=(CHECK,))
def profile_of_old(setup, _):
    setup.files[setup.client.settings]["profile"] = "local"


@fault(("url-missing-v1", "url-wrong-path"), ("opencode",))
def other_package_without_v1(setup, _):
    setup.put("npm", "@ai-sdk/anthropic")
    setup.point(f"http://127.0.0.1:{setup.command.port}")


@fault(IN_VAIN, ("claude-code", "opencode"), seen=(CHECK,))
def settings_file_broken(setup, _):
    path = setup.client.settings
    setup.files[path] = json.dumps(setup.files[path], indent=2).replace(",\n", "\n", 1)


@fault(IN_VAIN, ("cline",), seen=(CHECK,))
def settings_thrown_away(setup, _):
    """What Cline leaves of a file that it cannot use (3.0.65)."""
    entry = {"settings": {"provider": "cline", "model": "aion-labs/aion-3.5"}}
    kept = {"cline": {**entry, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}}
    setup.files[setup.client.settings] |= {"lastUsedProvider": "cline", "providers": kept}


def read_anew(setup, ask):
    """What is bad when a second session reads again what the first one has read."""
    seen = setup.cached
    for _ in range(2):
        ask(setup, question=f"{secrets.token_hex(8)} {PROMPT}")
    return "" if seen and seen[-1] > 0.5 else f"{seen[-1:]} of the second session's prompt came from the cache"


@fault("prompt-cache-invalidated-by-client", CLAUDE, seen=(CHECK,), harm=read_anew, fails=False)
def billing_line_in_front(setup, stack):
    setup.cached = []
    through(setup, stack, **fronts.noting_cached(setup.cached))
