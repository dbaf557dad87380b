"""Keys: missing, wrong, spoilt, doubled, in the wrong header."""

from tests.real.conftest import KEY
from tests.real.matrix import fronts
from tests.real.matrix.clients import CLAUDE
from tests.real.matrix.faults.registry import CHECK, KEYED, STALE, fault, through

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


@fault(BAD_KEY, ("claude-code", "codex", "opencode", "qwen-code", "openai-sdk"), words=KEYED)
def key_on_two_lines(setup, _):
    setup.put(setup.client.key, f"{KEY[:6]}\n{KEY[6:]}")


@fault(NO_KEY, ("codex",))
def key_variable_unset(setup, _):
    del setup.env["LOCAL_KEY"]


@fault(NO_KEY, ("opencode",), words=KEYED)
def key_variable_of_settings_unset(setup, _):
    setup.put(setup.client.key, "{env:LLAMA_KEY}")


@fault(TWO_KEYS, CLAUDE, words=KEYED)
def two_credentials(setup, _):
    setup.put("ANTHROPIC_API_KEY", KEY)
    setup.put("ANTHROPIC_AUTH_TOKEN", STALE)


@fault((NO_KEY, TWO_KEYS), CLAUDE, words=KEYED)
def login_left_over(setup, _):
    setup.drop(setup.client.key)
    login = {"accessToken": STALE, "refreshToken": STALE, "expiresAt": 4102444800000, "scopes": ["user:inference"]}
    setup.files[".claude/.credentials.json"] = {"claudeAiOauth": login}


@fault((NO_KEY, "client-onboarding-blocks"), CLAUDE)
def not_logged_in(setup, _):
    setup.drop(setup.client.key)


@fault("client-onboarding-blocks", CLAUDE, words=KEYED)
def key_once_refused(setup, _):
    setup.drop(setup.client.key)
    setup.put("ANTHROPIC_API_KEY", KEY)
    setup.files[".claude.json"]["customApiKeyResponses"] = {"approved": [], "rejected": [KEY[-20:]]}


@fault("client-onboarding-blocks", CLAUDE, fails=False, seen=(CHECK,))
def never_onboarded(setup, _):
    del setup.files[".claude.json"]


@fault("auth-wrong-header", CLAUDE)
def key_in_the_wrong_header(setup, stack):
    setup.secret = KEY
    setup.drop("ANTHROPIC_AUTH_TOKEN")
    setup.put("ANTHROPIC_API_KEY", KEY)
    through(setup, stack, **fronts.key_only_in("Authorization", KEY))


@fault("auth-wrong-header", CLAUDE)
def key_as_a_token(setup, stack):
    setup.secret = KEY
    setup.put("ANTHROPIC_AUTH_TOKEN", KEY)
    through(setup, stack, **fronts.key_only_in("x-api-key", KEY))


@fault((NO_KEY, "config-not-in-effect"), CLAUDE, words=KEYED)
def settings_beat_the_shell(setup, _):
    setup.put(setup.client.key, STALE)
    setup.env["ANTHROPIC_AUTH_TOKEN"] = KEY
