"""Claude Code: its settings files and variables, which of them win, and where its requests then go."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from doctor.facts.clients.assemble import request, seconds, with_profiles
from doctor.facts.clients.claude_code_paths import Paths, installation, paths_of
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.keys import credential
from doctor.facts.clients.places import Places, as_number, at
from doctor.facts.clients.record import Client, Credential, Setting, Writable, writable
from doctor.facts.record import Fact, Unknown, known
from doctor.keys import looks_random

if TYPE_CHECKING:
    from doctor.facts.clients.data_file import DataFile
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
STATE_LIMIT = 16 << 20
"""Bytes of ~/.claude.json: it keeps the history of every project."""
WRITTEN_AS = {
    "base_url": "ANTHROPIC_BASE_URL",
    "model": "ANTHROPIC_MODEL",
    "small_model": "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "key": "ANTHROPIC_AUTH_TOKEN",
    "context_window": "CLAUDE_CODE_MAX_CONTEXT_TOKENS",
    "max_output": "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "billing_line": "CLAUDE_CODE_ATTRIBUTION_HEADER",
    "no_proxy": "NO_PROXY",
}
"""Settings -> variable in `env` of a settings file: there it beats the shell, even when it is blank."""
KEY_VARIABLES = {"ANTHROPIC_AUTH_TOKEN": "authorization", "ANTHROPIC_API_KEY": "x-api-key"}


def collect(outside: Outside, vault: Vault) -> Client:
    """Claude Code as it would run in the current folder. Nothing is executed, apiKeyHelper included."""
    paths = paths_of(outside)
    places = Places(outside, vault, (read_json(outside, path) for path in paths.settings), block="env")
    places.hides(*KEY_VARIABLES, "CLAUDE_CODE_OAUTH_TOKEN")
    state, login = read_json(outside, paths.state, STATE_LIMIT), read_json(outside, paths.login)
    installed, version = installation(outside, paths)
    base, model = _variable(places, "ANTHROPIC_BASE_URL"), _model(places)
    request_url = DEFAULT_BASE + FIRST_PATH if base is None else request(base.value, FIRST_PATH)
    helper = _key(places, "apiKeyHelper")
    for word in re.findall(r"[\w+=~-]{12,500}", helper.value if helper else "", re.ASCII):
        vault.put(word if looks_random(word) else "")  # `echo KEY` and the like
    settings = [_variable(places, name) for name in VARIABLES] + [helper]
    made = Client(
        id="claude-code",
        name="Claude Code",
        installed=installed,
        version=version,
        wire_api="anthropic-messages",
        appends_v1=True,
        base_url=base,
        request_url=request_url,
        credentials=_credentials(vault, places, state, login, helper),
        model=model,
        small_model=_variable(places, "ANTHROPIC_DEFAULT_HAIKU_MODEL"),
        context_window=_context_window(places, model, known(version)),
        context_needed=FIRST_REQUEST_TOKENS,
        onboarded=Unknown(state.problem) if state.problem else state.data.get("hasCompletedOnboarding") is True,
        logged_in=_logged_in(outside, places, paths, state, login),
        proxy=places.proxy(request_url, ("http", "https")),  # not ALL_PROXY (2.1.332)
        settings=tuple(setting for setting in settings if setting is not None),
        overridden=(),
        problems=(*places.problems(), *(file.problem for file in (state, login) if file.problem)),
        appends=FIRST_PATH,
        other_models=_other_models(places),
        timeout=_variable(places, "API_TIMEOUT_MS"),
        timeout_seconds=seconds(_variable(places, "API_TIMEOUT_MS"), 0.001),
        output_limit=_variable(places, "CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
        max_output=as_number(_variable(places, "CLAUDE_CODE_MAX_OUTPUT_TOKENS")),
        writable=_writable(places, paths, state),
    )
    return with_profiles(made, places)


def _writable(places: Places, paths: Paths, state: DataFile) -> tuple[Writable, ...]:
    """The `env` of the settings file a variable comes from, else of the user's; the state file for what is kept there."""
    variables = (*WRITTEN_AS.values(), *KEY_VARIABLES, *ALIASES.values(), *VARIABLES)
    names = {**{name: name for name in variables}, **WRITTEN_AS}
    if "no_proxy" in places.outside.environ:
        names["no_proxy"] = "no_proxy"
    files = {name: file.path for file in reversed(places.files) for name in _names_of(file)}
    found = [writable(setting, files.get(name, paths.settings[-1]), "env", name) for setting, name in names.items()]
    model = _model(places)
    if model is not None and not model.name.startswith("ANTHROPIC_"):
        found = [place for place in found if place.setting != "model"]  # the key `model` of a settings file
    found.append(writable("onboarded", state.path, "hasCompletedOnboarding", kind="bool"))
    rejected, key = (
        state.get("customApiKeyResponses", "rejected"),
        next(iter(places.variable("ANTHROPIC_API_KEY")), None),
    )
    ending = key.value.strip()[-20:] if key else ""
    if ending and isinstance(rejected, list) and ending in rejected:
        place = rejected.index(ending)
        found.append(writable("rejected_key", state.path, "customApiKeyResponses", "rejected", place))
    return tuple(found)


def _names_of(file: DataFile) -> tuple[str, ...]:
    block = file.get("env")
    return tuple(block) if isinstance(block, dict) else ()


def _variable(places: Places, name: str) -> Setting | None:
    """The winning value of a variable, None when it is not set or blank."""
    return places.setting(places.variable(name))


def _key(places: Places, name: str) -> Setting | None:
    """The winning value of a settings key such as `model`; only texts count."""
    return places.setting(
        [found for file in places.files if isinstance(file.get(name), str) for found in at(file, name)]
    )


def _other_models(places: Places) -> tuple[Setting, ...]:
    """What sub-agents and the names sonnet and opus ask for."""
    names = ("CLAUDE_CODE_SUBAGENT_MODEL", *(name for alias, name in ALIASES.items() if alias != "haiku"))
    return places.settings(*(places.variable(name) for name in names))


def _model(places: Places) -> Setting | None:
    """The model id that is sent: ANTHROPIC_MODEL before the key `model`, an alias replaced where a variable maps it."""
    chosen = places.setting(
        places.variable("ANTHROPIC_MODEL"),
        [found for file in places.files if isinstance(file.get("model"), str) for found in at(file, "model")],
    )
    mapped = ALIASES.get(chosen.value.strip().lower()) if chosen else None
    return (_variable(places, mapped) if mapped else None) or chosen


def _context_window(places: Places, model: Setting | None, version: str | None) -> Fact[int]:
    name = model.value.strip().lower() if model else ""
    if not name or name in ALIASES or name.startswith(OWN_MODELS):
        return Unknown("Claude Code chooses a model of Anthropic by itself")
    limit = _variable(places, "CLAUDE_CODE_MAX_CONTEXT_TOKENS")
    if limit is not None and re.fullmatch(r"[1-9]\d{0,9}", limit.value.strip()):
        return int(limit.value)
    if name.endswith("[1m]"):
        return 1_000_000
    if version is None:
        return ASSUMED_WINDOWS[-1][1]
    numbers = tuple(int(part) for part in re.findall(r"\d{1,9}", version)[:3])
    return [window for since, window in ASSUMED_WINDOWS if since <= numbers][-1]


def _credentials(
    vault: Vault, places: Places, state: DataFile, login: DataFile, helper: Setting | None
) -> tuple[Credential, ...]:
    """What would be sent, Authorization first: that is the header llama-server looks at first."""
    found: list[Credential] = []
    taken = set()
    for name, header in KEY_VARIABLES.items():
        for value in places.variable(name):
            key = credential(vault, name, value.value, header, value.source, value.line)
            key = replace(key, pointer=value.pointer)
            found.append(_with_rejection(key, value.value, state))
            taken |= {header} if key.token else set()
    if helper is not None:
        # Its output goes into both headers, where a variable has not filled them; nobody knows it before it runs.
        free = [header for header in ("authorization", "x-api-key") if header not in taken]
        found += [Credential("apiKeyHelper", "", header, helper.source, helper.line, ()) for header in free]
    elif not taken:
        found += _login_credentials(vault, places, login)
    _hide_login(vault, login, state)
    return tuple(sorted(found, key=lambda key: (key.token == "" and key.name != "apiKeyHelper", key.header)))


def _with_rejection(key: Credential, raw: str, state: DataFile) -> Credential:
    """A key that was answered with No when Claude Code asked whether to use it stays unused from then on."""
    answers = state.data.get("customApiKeyResponses")
    rejected = answers.get("rejected") if isinstance(answers, dict) else None
    ending = raw.strip()[-20:]
    if key.name == "ANTHROPIC_API_KEY" and isinstance(rejected, list) and ending and ending in rejected:
        return replace(key, problems=(*key.problems, "rejected"))
    return key


def _login_credentials(vault: Vault, places: Places, login: DataFile) -> list[Credential]:
    """The token of a claude.ai login: without any key it is sent to whatever the base URL names."""
    for variable in places.variable("CLAUDE_CODE_OAUTH_TOKEN"):
        if variable.value.strip():
            return [credential(vault, variable.name, variable.value, "authorization", variable.source, variable.line)]
    token = _login_token(login, "accessToken")
    if not token:
        return []
    line = login.line("claudeAiOauth", "accessToken")
    return [credential(vault, "claudeAiOauth.accessToken", token, "authorization", login.path, line)]


def _login_token(login: DataFile, name: str) -> str:
    account = login.data.get("claudeAiOauth")
    token = account.get(name) if isinstance(account, dict) else None
    return token if isinstance(token, str) else ""


def _hide_login(vault: Vault, login: DataFile, state: DataFile) -> None:
    """Tokens of a login, and the ends of keys that the state file keeps, are secrets of the run."""
    for answer in ("approved", "rejected"):
        endings = state.get("customApiKeyResponses", answer)
        for ending in endings if isinstance(endings, list) else ():
            vault.put(ending if isinstance(ending, str) else "")
    for name in ("accessToken", "refreshToken"):
        vault.put(_login_token(login, name))


def _logged_in(outside: Outside, places: Places, paths: Paths, state: DataFile, login: DataFile) -> Fact[bool]:
    if _login_token(login, "accessToken") or _variable(places, "CLAUDE_CODE_OAUTH_TOKEN") is not None:
        return True
    if login.problem:
        return Unknown(login.problem)
    if outside.platform == "darwin" and state.data.get("oauthAccount"):
        return True
    if outside.platform == "darwin":
        return Unknown("on macOS the login is kept in the keychain, which is not read")
    return False
