"""What stands on the way: proxies, gateways, relays that spoil answers."""

from tests.real.conftest import free_port
from tests.real.matrix import fronts
from tests.real.matrix.clients import ANTHROPIC, OPENAI
from tests.real.matrix.faults.registry import DEEP, ORIGIN, fault, through


@fault("local-proxy-not-running")
def proxy_dead(setup, _):
    setup.env["HTTP_PROXY"] = f"http://127.0.0.1:{free_port()}"


@fault("proxy-env-intercepts-loopback", ("claude-code", "codex", "opencode", "qwen-code", "cline", "openai-sdk"))
def proxy_takes_loopback(setup, _):
    setup.env["http_proxy"] = "http://192.0.2.1:3128"


@fault("proxy-env-intercepts-loopback", ("claude-code", "openai-sdk"))
def local_proxy_refuses_loopback(setup, stack):
    port = stack.enter_context(fronts.front(1, **fronts.instead(502, b"no route", "text/plain", everything=True)))
    setup.env["HTTP_PROXY"] = f"http://127.0.0.1:{port}"


@fault("local-proxy-not-running", ("codex", "openai-sdk"))
def all_proxy_dead(setup, _):
    setup.env["ALL_PROXY"] = f"http://127.0.0.1:{free_port()}"


@fault(("server-not-running-or-wrong-port", "gateway-upstream-unreachable"), ("claude-code", "codex", "cline"))
def gateway_without_upstream(setup, stack):
    through(setup, stack, **fronts.instead(502, fronts.BROKEN, everything=True))


@fault("error-body-without-choices", ("claude-code", "codex", "qwen-code", "openai-sdk"), seen=(DEEP,))
def error_with_status_200(setup, stack):
    through(setup, stack, **fronts.instead(200, fronts.BROKEN))


@fault(("error-body-without-choices", "stream-chunk-without-choices"), ("opencode", "qwen-code", "cline"), seen=(DEEP,))
def empty_choices(setup, stack):
    through(setup, stack, **fronts.empty_choices())


@fault(
    "stream-closed-early", ("codex", "opencode", "openai-sdk"), seen=(DEEP,)
)  # Claude Code asks again without stream
def stream_cut(setup, stack):
    through(setup, stack, **fronts.cut_streams())


@fault("url-wrong-path", ("claude-code", "opencode"), seen=(DEEP,))
def web_page_for_an_answer(setup, stack):
    through(setup, stack, **fronts.instead(200, fronts.PAGE, "text/html"))


@fault("stream-closed-early", ("opencode", "qwen-code", "openai-sdk", "anthropic-sdk"), seen=(DEEP,))
def error_in_the_stream(setup, stack):
    through(setup, stack, **fronts.error_in_stream())


@fault("proxy-alters-stream", seen=(DEEP,))
def said_to_be_packed(setup, stack):
    through(setup, stack, **fronts.named_gzip())


@fault("proxy-alters-stream", ("opencode", "aider"), seen=(DEEP,), fails=False)
def stream_held_back(setup, stack):
    through(setup, stack, **fronts.held_back())


@fault("wire-api-mismatch", OPENAI)
def gateway_for_anthropic_only(setup, stack):
    through(setup, stack, **fronts.only_below("/v1/messages"))


@fault("wire-api-mismatch", ANTHROPIC)
def gateway_for_openai_only(setup, stack):
    through(setup, stack, **fronts.only_below("/v1/chat"))


@fault("cors-blocked", ("browser",), seen=(ORIGIN,))
def page_not_allowed(setup, stack):
    through(setup, stack, **fronts.without_cors())


@fault("cors-blocked", ("browser",), seen=(ORIGIN,))
def header_not_allowed(setup, stack):
    through(setup, stack, **fronts.cors_without_headers())
