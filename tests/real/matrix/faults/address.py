"""Addresses: port, path, scheme, TLS, what answers there."""

import subprocess
import time

from tests.real.conftest import KEY, free_port
from tests.real.matrix import fronts
from tests.real.matrix.clients import ANTHROPIC, OPENAI
from tests.real.matrix.faults.registry import VERIFY, at_port, base_of, fault, through
from tests.real.matrix.servers import SOUND

LOADING = 6
"""Seconds."""
NOT_THERE = "server-not-running-or-wrong-port"


@fault(NOT_THERE)
def wrong_port(setup, _):
    setup.point(at_port(setup, free_port()))


@fault(NOT_THERE, own=True, launch=False)
def server_down(setup, _):
    setup.alive = None


@fault("model-still-loading", ("claude-code", "codex"), own=True)
def still_loading(setup, stack):
    setup.alive = None
    port, setup.command.port = setup.command.port, free_port()
    stack.enter_context(fronts.front(setup.command.port, at=port, **fronts.loading_for(LOADING)))
    setup.ready = time.monotonic() + LOADING


@fault("url-doubled-v1", ANTHROPIC)
def base_with_v1(setup, _):
    setup.point(base_of(setup) + "/v1")


@fault("url-doubled-v1", OPENAI)
def v1_twice(setup, _):
    setup.point(base_of(setup) + "/v1")


@fault("url-missing-v1", OPENAI)
def base_without_v1(setup, stack):
    through(setup, stack, **fronts.only_below("/v1/"))
    setup.point(base_of(setup).removesuffix("/v1"))


@fault("url-wrong-path")
def whole_endpoint(setup, _):
    ends = {"openai-chat": "/chat/completions", "openai-responses": "/responses", "anthropic-messages": "/v1/messages"}
    setup.point(base_of(setup) + ends[setup.client.wire])


@fault("url-wrong-path")
def prefix_too_many(setup, _):
    port = setup.command.port
    setup.point(base_of(setup).replace(f":{port}", f":{port}/llm"))


@fault("url-wrong-path", words=(*SOUND, "--api-prefix", "/llm"), own=True)
def prefix_missing(setup, _):
    pass


@fault("url-wrong-path", ("claude-code", "aider", "openai-sdk", "anthropic-sdk"))
def scheme_missing(setup, _):
    setup.point(base_of(setup).removeprefix("http://"))


@fault("url-wrong-path", ("claude-code", "codex", "opencode", "qwen-code", "openai-sdk"))
def base_in_quotes(setup, _):
    setup.point(f'"{base_of(setup)}"')


@fault("tls-problem", ("claude-code", "codex", "opencode", "aider", "openai-sdk", "anthropic-sdk"))
def https_for_http(setup, _):
    setup.point(base_of(setup).replace("http://", "https://"))


@fault("tls-problem", ("claude-code", "codex", "qwen-code", "openai-sdk", "anthropic-sdk"))
def http_for_https(setup, stack):
    context, cert = fronts.certificate(setup.home, lambda argv: subprocess.run(argv, check=True, capture_output=True))
    through(setup, stack, context=context)
    setup.env[setup.client.trust] = str(cert)


@fault("tls-problem", ("claude-code", "codex", "opencode", "openai-sdk", "anthropic-sdk"))
def self_signed(setup, stack):
    context, cert = fronts.certificate(setup.home, lambda argv: subprocess.run(argv, check=True, capture_output=True))
    through(setup, stack, context=context)
    setup.point(base_of(setup).replace("http://", "https://"))
    setup.certificate = str(cert)


@fault("localhost-ipv6-mismatch", words=(*SOUND, "--host", "::1"), own=True)
def ipv6_only(setup, _):
    pass


@fault("url-wrong-path", ("claude-code", "opencode", "openai-sdk", "anthropic-sdk"))
def web_page(setup, stack):
    through(setup, stack, **fronts.instead(200, fronts.PAGE, "text/html", everything=True))


@fault("url-wrong-path", ("claude-code", "codex"), words=(*SOUND, "--api-key", KEY))  # the key is not carried along
def redirect(setup, stack):
    through(setup, stack, **fronts.redirecting(f"http://127.0.0.1:{setup.command.port}"))


@fault((NOT_THERE, "url-wrong-path"), ("claude-code", "codex", "aider", "openai-sdk", "anthropic-sdk"))
def another_program(setup, stack):
    through(setup, stack, **fronts.instead(404, b"404 page not found", "text/plain", everything=True))


@fault(("timeout-before-first-token", NOT_THERE), ("claude-code", "opencode"))
def mute_port(setup, stack):
    port = stack.enter_context(fronts.mute(0))
    setup.point(at_port(setup, port))


SEES = (VERIFY,)
"""`check` asks other machines nothing unasked."""


@fault(NOT_THERE, ("claude-code", "codex", "opencode", "aider", "openai-sdk", "anthropic-sdk"), seen=SEES)
def unknown_name(setup, _):
    setup.point(base_of(setup).replace("127.0.0.1", "llama.invalid"))
