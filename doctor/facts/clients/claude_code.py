"""Claude Code: its settings files and variables, which of them win, and where its requests then go."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from doctor.facts.clients.claude_code_paths import Paths, installation, paths_of
from doctor.facts.clients.data_file import DataFile as JsonFile
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.keys import credential
from doctor.facts.clients.record import Client, Credential, Setting
from doctor.facts.record import Fact, Unknown, known
from doctor.facts.urls import parse_address, spares
from doctor.keys import looks_random

if TYPE_CHECKING:
    from doctor.outside import Outside
    from doctor.secrets import Vault

DEFAULT_BASE = "https://api.anthropic.com"
FIRST_PATH = "/v1/messages?beta=true"
# Tokens of the first request of an empty project (2.1.332, counted with the tokenizer of gemma 3).
FIRST_REQUEST_TOKENS = 12_166
# Window in tokens assumed for a model id Claude Code does not know, from this version on (2.1.177 and 2.1.332 seen).
ASSUMED_WINDOWS = (((0,), 200_000), ((2, 1, 332), 1_000_000))
# Names it resolves to models of Anthropic unless a variable maps them (2.1.332: haiku, sonnet, opus).
ALIASES = {
    "haiku": "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "sonnet": "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "opus": "ANTHROPIC_DEFAULT_OPUS_MODEL",
}
OWN_MODELS = ("claude-", "default", "opusplan", "best")
# Other variables that matter in front of a local server.
VARIABLES = (
    "CLAUDE_CODE_MAX_CONTEXT_TOKENS",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW",
    "CLAUDE_CODE_ATTRIBUTION_HEADER",
    "CLAUDE_CODE_MODEL_CAPABILITIES",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS",
    "CLAUDE_CODE_DISABLE_THINKING",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "MAX_THINKING_TOKENS",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "API_TIMEOUT_MS",
    "DISABLE_AUTO_COMPACT",
    "NO_PROXY",
    "no_proxy",
)
ENVIRONMENT = "environment"
KEY_VARIABLES = {"ANTHROPIC_AUTH_TOKEN": "authorization", "ANTHROPIC_API_KEY": "x-api-key"}


def collect(outside: Outside, vault: Vault) -> Client:
    """Claude Code as it would run in the current folder. Nothing is executed, apiKeyHelper included."""
    paths = paths_of(outside)
    layers = _Layers(outside, tuple(read_json(outside, path) for path in paths.settings))
    state, login = read_json(outside, paths.state, 16 << 20), read_json(outside, paths.login)
    installed, version = installation(outside, paths)
    base, model = layers.variable("ANTHROPIC_BASE_URL"), _model(layers)
    request_url = _request_url(base)
    vault.put(parse_address(request_url or "").userinfo)
    helper = layers.key("apiKeyHelper")
    for word in re.findall(r"[\w+=~-]{12,500}", helper.value if helper else "", re.ASCII):
        vault.put(word if looks_random(word) else "")  # `echo KEY` and the like
    settings = [layers.variable(name) for name in VARIABLES] + [helper]
    return Client(
        id="claude-code",
        name="Claude Code",
        installed=installed,
        version=version,
        wire_api="anthropic-messages",
        appends_v1=True,
        base_url=base,
        request_url=request_url,
        credentials=_credentials(vault, layers, state, login, helper),
        model=model,
        small_model=layers.variable("ANTHROPIC_DEFAULT_HAIKU_MODEL"),
        context_window=_context_window(layers, model, known(version)),
        context_needed=FIRST_REQUEST_TOKENS,
        onboarded=Unknown(state.problem) if state.problem else state.data.get("hasCompletedOnboarding") is True,
        logged_in=_logged_in(outside, layers, paths, state, login),
        proxy=_proxy(vault, layers, request_url),
        settings=tuple(setting for setting in settings if setting is not None),
        # Every value has been asked for by now, so every loser is known.
        overridden=layers.overridden(vault),
        problems=tuple(file.problem for file in (*layers.files, state, login) if file.problem),
    )


class _Found(NamedTuple):
    """A value in one place: the settings file or the environment."""

    name: str
    value: str
    source: str
    line: int | None


class _Layers:
    """The settings files, highest first, and below them the environment; it remembers which values lost."""

    def __init__(self, outside: Outside, files: tuple[JsonFile, ...]) -> None:
        self.files = files
        self._environ = outside.environ
        self._losers: dict[tuple[str, str], _Found] = {}

    def find(self, name: str) -> _Found | None:
        """The winning value of a variable: an `env` block beats the shell."""
        places = []
        for file in self.files:
            block = file.data.get("env")
            value = block.get(name) if isinstance(block, dict) else None
            if isinstance(value, (str, int, float)):
                places.append(_Found(name, _text(value), file.path, file.line("env", name)))
        if name in self._environ:
            places.append(_Found(name, self._environ[name], ENVIRONMENT, None))
        return self._first(places)

    def variable(self, name: str) -> Setting | None:
        """The winning value of a variable, None when it is not set or blank."""
        return _setting(self.find(name))

    def key(self, name: str) -> Setting | None:
        """The winning value of a settings key such as `model`."""
        return _setting(
            self._first(
                [
                    _Found(name, value, file.path, file.line(name))
                    for file in self.files
                    if isinstance(value := file.data.get(name), str)
                ]
            )
        )

    def loses(self, setting: Setting) -> None:
        """Note a value that another name beats."""
        self._losers[setting.name, setting.source] = _Found(
            setting.name, setting.value, setting.source, known(setting.line)
        )

    def overridden(self, vault: Vault) -> tuple[Setting, ...]:
        """The values that lost. Keys among them are tokens."""
        return tuple(
            Setting(
                found.name,
                vault.put(found.value.strip()) if found.name in KEY_VARIABLES else found.value,
                found.source,
                found.line,
            )
            for found in self._losers.values()
        )

    def _first(self, places: list[_Found]) -> _Found | None:
        for loser in places[1:]:
            if loser.value != places[0].value:
                self._losers[loser.name, loser.source] = loser
        return places[0] if places else None


def _text(value: str | int | float) -> str:
    """A value of an `env` block as the variable gets it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _setting(found: _Found | None) -> Setting | None:
    return Setting(*found) if found is not None and found.value.strip() else None


def _request_url(base: Setting | None) -> str | None:
    """The URL of the first request; None where there is none because the base URL is no URL ("Invalid URL")."""
    if base is None:
        return DEFAULT_BASE + FIRST_PATH
    value = base.value.strip()
    if not re.match(r"https?://", value, re.IGNORECASE) or parse_address(value).problem:
        return None
    return value.rstrip("/") + FIRST_PATH


def _model(layers: _Layers) -> Setting | None:
    """The model id that is sent: ANTHROPIC_MODEL before the key `model`, an alias replaced where a variable maps it."""
    variable, key = layers.variable("ANTHROPIC_MODEL"), layers.key("model")
    if variable and key and variable.value != key.value:
        layers.loses(key)
    chosen = variable or key
    mapped = ALIASES.get(chosen.value.strip().lower()) if chosen else None
    return (layers.variable(mapped) if mapped else None) or chosen


def _context_window(layers: _Layers, model: Setting | None, version: str | None) -> Fact[int]:
    name = model.value.strip().lower() if model else ""
    if not name or name in ALIASES or name.startswith(OWN_MODELS):
        return Unknown("Claude Code chooses a model of Anthropic by itself")
    limit = layers.variable("CLAUDE_CODE_MAX_CONTEXT_TOKENS")
    if limit is not None and re.fullmatch(r"[1-9]\d{0,9}", limit.value.strip()):
        return int(limit.value)
    if name.endswith("[1m]"):
        return 1_000_000
    if version is None:
        return ASSUMED_WINDOWS[-1][1]
    numbers = tuple(int(part) for part in re.findall(r"\d{1,9}", version)[:3])
    return [window for since, window in ASSUMED_WINDOWS if since <= numbers][-1]


def _credentials(
    vault: Vault, layers: _Layers, state: JsonFile, login: JsonFile, helper: Setting | None
) -> tuple[Credential, ...]:
    """What would be sent, Authorization first: that is the header llama-server looks at first."""
    found: list[Credential] = []
    taken = set()
    for name, header in KEY_VARIABLES.items():
        value = layers.find(name)
        if value is not None:
            key = credential(vault, name, value.value, header, value.source, value.line)
            found.append(_with_rejection(key, value.value, state))
            taken |= {header} if key.token else set()
    if helper is not None:
        # Its output goes into both headers, where a variable has not filled them; nobody knows it before it runs.
        free = [header for header in ("authorization", "x-api-key") if header not in taken]
        found += [Credential("apiKeyHelper", "", header, helper.source, helper.line, ()) for header in free]
    elif not taken:
        found += _login_credentials(vault, layers, login)
    _hide_login(vault, login)
    return tuple(sorted(found, key=lambda key: (key.token == "" and key.name != "apiKeyHelper", key.header)))


def _with_rejection(key: Credential, raw: str, state: JsonFile) -> Credential:
    """A key that was answered with No when Claude Code asked whether to use it stays unused from then on."""
    answers = state.data.get("customApiKeyResponses")
    rejected = answers.get("rejected") if isinstance(answers, dict) else None
    ending = raw.strip()[-20:]
    if key.name == "ANTHROPIC_API_KEY" and isinstance(rejected, list) and ending and ending in rejected:
        return Credential(*(key.name, key.token, key.header, key.source, key.line), (*key.problems, "rejected"))
    return key


def _login_credentials(vault: Vault, layers: _Layers, login: JsonFile) -> list[Credential]:
    """The token of a claude.ai login: without any key it is sent to whatever the base URL names."""
    variable = layers.find("CLAUDE_CODE_OAUTH_TOKEN")
    if variable is not None and variable.value.strip():
        return [credential(vault, variable.name, variable.value, "authorization", variable.source, variable.line)]
    token = _login_token(login, "accessToken")
    if not token:
        return []
    line = login.line("claudeAiOauth", "accessToken")
    return [credential(vault, "claudeAiOauth.accessToken", token, "authorization", login.path, line)]


def _login_token(login: JsonFile, name: str) -> str:
    account = login.data.get("claudeAiOauth")
    token = account.get(name) if isinstance(account, dict) else None
    return token if isinstance(token, str) else ""


def _hide_login(vault: Vault, login: JsonFile) -> None:
    for name in ("accessToken", "refreshToken"):
        vault.put(_login_token(login, name))


def _logged_in(outside: Outside, layers: _Layers, paths: Paths, state: JsonFile, login: JsonFile) -> Fact[bool]:
    if _login_token(login, "accessToken") or layers.variable("CLAUDE_CODE_OAUTH_TOKEN") is not None:
        return True
    if login.problem:
        return Unknown(login.problem)
    if outside.platform == "darwin" and state.data.get("oauthAccount"):
        return True
    if outside.platform == "darwin":
        return Unknown("on macOS the login is kept in the keychain, which is not read")
    return False


def _proxy(vault: Vault, layers: _Layers, request_url: str | None) -> Setting | None:
    """The variable that would take its requests: HTTP_PROXY or HTTPS_PROXY in either case, not ALL_PROXY (2.1.332)."""
    if request_url is None:
        return None
    address = parse_address(request_url)
    for name in ("no_proxy", "NO_PROXY"):
        spared = layers.find(name)
        if spared is not None and spares(spared.value, address.host, address.port):
            return None
    for name in (f"{address.scheme}_proxy", f"{address.scheme}_proxy".upper()):
        proxy = layers.variable(name)
        if proxy is not None:
            vault.put(parse_address(proxy.value).userinfo)
            return proxy
    return None
