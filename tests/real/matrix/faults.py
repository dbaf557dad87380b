"""The faults: what is broken, for which clients, which cause is the right one, and which commands can see it."""

import contextlib
import dataclasses
import json
import subprocess
import time
from collections.abc import Callable

from tests.real.conftest import KEY, free_port
from tests.real.matrix import fronts, servers
from tests.real.matrix.clients import ALL, ANTHROPIC, OPENAI
from tests.real.matrix.servers import SOUND

STALE = "sk-local-stale"
KEYED = (*SOUND, "--api-key", KEY)
CHECK, VERIFY, DEEP = "check", "verify", "verify --deep"


@dataclasses.dataclass(frozen=True)
class Fault:
    """`break_it(setup, stack)` breaks a sound set-up; what it enters into `stack` ends with the cell.

    `words` start the server; `own`: it is not shared with other cells. `seen` are the commands that must say it first.
    `causes`: any of them is right. `fails`: the client's request fails until it is cured (else doctor only warns).
    `full`: the request has the size of a real one. `launch`: the command is given to doctor.
    """

    id: str
    causes: tuple[str, ...]
    clients: tuple[str, ...]
    break_it: Callable
    words: tuple[str, ...] = SOUND
    own: bool = False
    seen: tuple[str, ...] = (CHECK, VERIFY)
    fails: bool = True
    full: bool = False
    launch: bool = True
    model: str = "model"


FAULTS: list[Fault] = []


def fault(causes, clients=ALL, **more):
    """Register a function as the fault of its name."""

    def take(function):
        name = function.__name__.replace("_", "-")
        FAULTS.append(Fault(name, (causes,) if isinstance(causes, str) else causes, clients, function, **more))
        return function

    return take


def base_of(setup):
    return setup.get(setup.client.base)


def through(setup, stack, **more):
    """Put a relay between: the client asks it, it asks the server."""
    port = stack.enter_context(fronts.front(setup.command.port, **more))
    setup.point(base_of(setup).replace(f":{setup.command.port}", f":{port}"))
    return port


def old_server(setup, stack, path):
    """A server of before this path was there; updating it brings a current one to the same port."""
    port, front = setup.command.port, contextlib.ExitStack()
    setup.command = dataclasses.replace(setup.command, port=free_port())
    stack.enter_context(servers.started(setup.command, setup.home / "old.log"))
    front.enter_context(fronts.front(setup.command.port, at=port, **fronts.without(path)))
    stack.callback(front.close)

    def update():
        front.close()
        stack.enter_context(fronts.front(setup.command.port, at=port))

    setup.update = update


# --- address ------------------------------------------------------------------------------------------------------

LOADING = 6
"""Seconds."""
NOT_THERE = "server-not-running-or-wrong-port"


@fault(NOT_THERE)
def wrong_port(setup, _):
    setup.point(base_of(setup).replace(f":{setup.command.port}", f":{free_port()}"))


@fault(NOT_THERE, own=True, launch=False)
def server_down(setup, _):
    setup.alive = None


@fault("model-still-loading", ("claude-code", "codex", "opencode"), own=True)
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


@fault("url-wrong-path", ("claude-code", "cline", "openai-sdk"))
def scheme_missing(setup, _):
    setup.point(base_of(setup).removeprefix("http://"))


@fault("tls-problem", ("claude-code", "codex", "opencode", "openai-sdk"))
def https_for_http(setup, _):
    setup.point(base_of(setup).replace("http://", "https://"))


@fault("tls-problem", ("claude-code", "codex", "qwen-code", "openai-sdk"))
def http_for_https(setup, stack):
    context, cert = fronts.certificate(setup.home, lambda argv: subprocess.run(argv, check=True, capture_output=True))
    through(setup, stack, context=context)
    setup.env[setup.client.trust] = str(cert)


@fault("tls-problem", ("claude-code", "codex", "opencode", "openai-sdk"))
def self_signed(setup, stack):
    context, cert = fronts.certificate(setup.home, lambda argv: subprocess.run(argv, check=True, capture_output=True))
    through(setup, stack, context=context)
    setup.point(base_of(setup).replace("http://", "https://"))
    setup.certificate = str(cert)


@fault("localhost-ipv6-mismatch", words=(*SOUND, "--host", "::1"), own=True)
def ipv6_only(setup, _):
    pass


@fault(NOT_THERE, ("claude-code", "opencode"), seen=(VERIFY,))  # check asks other machines nothing unasked
def unknown_name(setup, _):
    setup.point(base_of(setup).replace("127.0.0.1", "llama.invalid"))


@fault("url-wrong-path", ("claude-code", "opencode", "openai-sdk"))
def web_page(setup, stack):
    through(setup, stack, **fronts.instead(200, fronts.PAGE, "text/html", everything=True))


@fault("url-wrong-path", ("claude-code", "codex"), words=(*SOUND, "--api-key", KEY))  # the key is not carried along
def redirect(setup, stack):
    through(setup, stack, **fronts.redirecting(f"http://127.0.0.1:{setup.command.port}"))


@fault((NOT_THERE, "url-wrong-path"), ("claude-code", "codex", "openai-sdk"))
def another_program(setup, stack):
    through(setup, stack, **fronts.instead(404, b"404 page not found", "text/plain", everything=True))


@fault(("timeout-before-first-token", NOT_THERE), ("claude-code", "opencode"))
def mute_port(setup, stack):
    port = stack.enter_context(fronts.mute(0))
    setup.point(base_of(setup).replace(f":{setup.command.port}", f":{port}"))


# --- key ----------------------------------------------------------------------------------------------------------

NO_KEY, BAD_KEY, TWO_KEYS = "auth-key-missing", "auth-key-malformed", "auth-conflict-two-credentials"


@fault(NO_KEY, words=KEYED)
def key_missing(setup, _):
    setup.drop(setup.client.key)


@fault(NO_KEY, words=KEYED)
def key_wrong(setup, _):
    setup.put(setup.client.key, "sk-local-wrong")


@fault(NO_KEY, words=KEYED)
def key_placeholder(setup, _):
    setup.put(setup.client.key, "YOUR_API_KEY")


@fault(BAD_KEY, words=KEYED)
def key_in_quotes(setup, _):
    setup.put(setup.client.key, f'"{KEY}"')


@fault(BAD_KEY, words=KEYED)
def key_with_bearer(setup, _):
    setup.put(setup.client.key, f"Bearer {KEY}")


@fault(BAD_KEY, ("claude-code", "codex", "opencode", "qwen-code"), words=KEYED)
def key_on_two_lines(setup, _):
    setup.put(setup.client.key, f"{KEY[:6]}\n{KEY[6:]}")


@fault(NO_KEY, ("codex",))
def key_variable_unset(setup, _):
    del setup.env["LOCAL_KEY"]


@fault(NO_KEY, ("opencode",), words=KEYED)
def key_variable_of_settings_unset(setup, _):
    setup.put(setup.client.key, "{env:LLAMA_KEY}")


@fault(TWO_KEYS, ANTHROPIC, words=KEYED)
def two_credentials(setup, _):
    setup.put("ANTHROPIC_API_KEY", KEY)
    setup.put("ANTHROPIC_AUTH_TOKEN", STALE)


@fault((NO_KEY, TWO_KEYS), ANTHROPIC, words=KEYED)
def login_left_over(setup, _):
    setup.drop(setup.client.key)
    login = {"accessToken": STALE, "refreshToken": STALE, "expiresAt": 4102444800000, "scopes": ["user:inference"]}
    setup.files[".claude/.credentials.json"] = {"claudeAiOauth": login}


@fault((NO_KEY, "client-onboarding-blocks"), ANTHROPIC)
def not_logged_in(setup, _):
    setup.drop(setup.client.key)


@fault("client-onboarding-blocks", ANTHROPIC, words=KEYED)
def key_once_refused(setup, _):
    setup.drop(setup.client.key)
    setup.put("ANTHROPIC_API_KEY", KEY)
    setup.files[".claude.json"]["customApiKeyResponses"] = {"approved": [], "rejected": [KEY[-20:]]}


@fault("client-onboarding-blocks", ANTHROPIC, fails=False, seen=(CHECK,))
def never_onboarded(setup, _):
    del setup.files[".claude.json"]


@fault("auth-wrong-header", ANTHROPIC, words=SOUND)
def key_in_the_wrong_header(setup, stack):
    setup.secret = KEY
    setup.drop("ANTHROPIC_AUTH_TOKEN")
    setup.put("ANTHROPIC_API_KEY", KEY)
    through(setup, stack, **fronts.key_only_in("Authorization", KEY))


@fault((NO_KEY, "config-not-in-effect"), ANTHROPIC, words=KEYED)
def settings_beat_the_shell(setup, _):
    setup.put(setup.client.key, STALE)
    setup.env["ANTHROPIC_AUTH_TOKEN"] = KEY


# --- model --------------------------------------------------------------------------------------------------------


@fault("model-id-mismatch", words=("router",))
def model_not_served(setup, _):
    setup.put(setup.client.model, "local/other" if setup.client.id == "opencode" else "other")
    if setup.client.id == "opencode":
        models = setup.files[setup.client.settings]["provider"]["local"]["models"]
        models["other"] = models.pop("tiny")


@fault("small-model-not-served", ANTHROPIC, words=("router",), fails=False)
def small_model_not_served(setup, _):
    setup.put("ANTHROPIC_DEFAULT_HAIKU_MODEL", "claude-haiku-local")


@fault("small-model-not-served", ANTHROPIC, words=("router",), fails=False)
def small_model_not_mapped(setup, _):
    setup.drop("ANTHROPIC_DEFAULT_HAIKU_MODEL")


@fault("model-id-mismatch", ("opencode",))
def model_not_in_the_list(setup, _):
    setup.put("model", "local/other")
    setup.put("small_model", "local/other")


# --- context ------------------------------------------------------------------------------------------------------

SMALL = "context-exceeded"


@fault(SMALL, ("claude-code", "codex", "opencode", "cline"), words=("-c", "4096", "-np", "1"), own=True, full=True)
def context_too_small(setup, _):
    pass


@fault(
    (SMALL, "parallel-slots-share-ctx"),
    ("claude-code", "opencode"),
    words=("-c", "24576", "-np", "4"),
    own=True,
    full=True,
)
def slots_divide_the_context(setup, _):
    pass


@fault(SMALL, ANTHROPIC, fails=False, seen=(CHECK,))
def window_unknown(setup, _):
    setup.drop("CLAUDE_CODE_MAX_CONTEXT_TOKENS")


@fault(SMALL, ("codex", "qwen-code"), fails=False, seen=(CHECK,))
def window_too_large(setup, _):
    names = {"codex": "model_context_window", "qwen-code": "model.generationConfig.contextWindowSize"}
    setup.put(names[setup.client.id], 262144)


@fault(SMALL, ("opencode",), fails=False, seen=(CHECK,))
def window_unset(setup, _):
    setup.files[setup.client.settings]["provider"]["local"]["models"]["local-model"].pop("limit")


# --- the way between ----------------------------------------------------------------------------------------------


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


# --- what the server can and the client wants -----------------------------------------------------------------------


@fault("tools-not-enabled", words=(*SOUND, "--no-jinja"), own=True)
def tools_off(setup, _):
    pass


@fault("chat-template-roles", ("claude-code", "codex"), own=True, model="strict")
def late_system_message_refused(setup, _):
    pass


@fault("tool-parse-error", ALL, words=(*SOUND, "--chat-template", "chatml"), own=True, fails=False)
def template_without_tools(setup, _):
    pass


@fault("wire-api-mismatch", ANTHROPIC, own=True)
def no_messages_api(setup, stack):
    setup.alive = None
    old_server(setup, stack, "/messages")


@fault("wire-api-mismatch", ("codex",), own=True)
def no_responses_api(setup, stack):
    setup.alive = None
    old_server(setup, stack, "/responses")


@fault(("config-not-in-effect", "wire-api-mismatch"), ("codex",), seen=(CHECK,))
def wire_chat(setup, _):
    setup.put("model_providers.local.wire_api", "chat")


@fault("config-not-in-effect", ("codex",), seen=(CHECK,))
def provider_not_defined(setup, _):
    setup.put("model_provider", "llama")


@fault("config-not-in-effect", ("claude-code", "opencode"), seen=(CHECK,))
def settings_file_broken(setup, _):
    path = setup.client.settings
    setup.files[path] = json.dumps(setup.files[path], indent=2).replace(",\n", "\n", 1)


HARMLESS: list[Fault] = []


def harmless(clients=ALL, **more):
    """Register a function as something that is no fault: nothing may be warned of."""

    def take(function):
        HARMLESS.append(Fault(function.__name__.replace("_", "-"), (), clients, function, **more))
        return function

    return take


@harmless()
def nothing(setup, _):
    pass


@harmless(words=KEYED)
def with_a_key(setup, _):
    pass


@harmless()
def trailing_slash(setup, _):
    setup.point(base_of(setup) + "/")


@harmless()
def localhost(setup, _):
    setup.point(base_of(setup).replace("127.0.0.1", "localhost"))


@harmless(OPENAI)
def no_v1_on_llama_server(setup, _):
    setup.point(base_of(setup).removesuffix("/v1"))


@harmless(words=("router",))
def served_by_a_router(setup, _):
    pass


@harmless()
def proxy_that_spares_loopback(setup, _):
    setup.env |= {"HTTP_PROXY": "http://192.0.2.1:3128", "NO_PROXY": "127.0.0.1,localhost"}
