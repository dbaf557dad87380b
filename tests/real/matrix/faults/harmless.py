"""What is no fault: nothing may be warned of."""

from tests.real.matrix import fronts
from tests.real.matrix.clients import ALL, ANTHROPIC, OPENAI
from tests.real.matrix.faults.registry import KEYED, base_of, harmless, through
from tests.real.matrix.servers import ROUTER, SOUND


@harmless((*ALL, "browser"))
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


@harmless(words=ROUTER)
def served_by_a_router(setup, _):
    pass


@harmless()
def proxy_that_spares_loopback(setup, _):
    setup.env |= {"HTTP_PROXY": "http://192.0.2.1:3128", "NO_PROXY": "127.0.0.1,localhost"}


@harmless(ANTHROPIC)
def no_count_tokens(setup, stack):
    through(setup, stack, **fronts.without("/count_tokens"))


@harmless(("aider",), words=(*SOUND, "--chat-template", "chatml"), own=True)
def template_without_tools_for_one_who_brings_none(setup, _):
    pass
