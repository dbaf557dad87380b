"""The same fault put into the settings of each client: its rule comes first, and says where the fault stands."""

import json
from dataclasses import replace

import pytest

from doctor.engine.diagnose import diagnose
from doctor.engine.load import load
from doctor.facts.clients import collect_all
from doctor.facts.facts import nothing_known
from doctor.facts.record import not_collected
from doctor.facts.server.record import Server
from doctor.outside import Outside
from doctor.secrets import Vault
from tests.facts.clients.homes import Home

URL = "http://127.0.0.1:8080"
KEY = "sk-local-test"
RULES = load(Outside()).rules


def claude_code(base, key, model, window):
    env = {"ANTHROPIC_BASE_URL": base, "ANTHROPIC_AUTH_TOKEN": key, "ANTHROPIC_MODEL": model}
    env |= {"ANTHROPIC_DEFAULT_HAIKU_MODEL": model, "CLAUDE_CODE_MAX_CONTEXT_TOKENS": window}
    env["CLAUDE_CODE_ATTRIBUTION_HEADER"] = "0"
    state = {"hasCompletedOnboarding": True}
    return {"home/.claude/settings.json": {"env": {k: v for k, v in env.items() if v}}, "home/.claude.json": state}


def codex(base, key, model, window):
    keys = f"experimental_bearer_token = {json.dumps(key)}\n" if key else ""
    table = f"[model_providers.l]\nbase_url = {json.dumps(base)}\n{keys}"
    return {
        "home/.codex/config.toml": f'model = "{model}"\nmodel_provider = "l"\nmodel_context_window = {window}\n{table}'
    }


def opencode(base, key, model, window, npm="@ai-sdk/openai-compatible"):
    options = {"baseURL": base, **({"apiKey": key} if key else {})}
    limit = {"limit": {"context": int(window), "output": 4096}}
    provider = {"npm": npm, "options": options, "models": {model: limit}}
    return {"work/opencode.json": {"model": f"l/{model}", "provider": {"l": provider}}}


def qwen_code(base, key, model, window):
    auth = {"selectedType": "openai", "baseUrl": base, **({"apiKey": key} if key else {})}
    settings = {
        "security": {"auth": auth},
        "model": {"name": model, "generationConfig": {"contextWindowSize": int(window)}},
    }
    return {"home/.qwen/settings.json": settings}


def cline(base, key, model, window):
    settings = {"model": model, "baseUrl": base, **({"apiKey": key} if key else {})}
    providers = {"openai-compatible": {"settings": settings}}
    path = "home/.cline/data/settings/providers.json"
    return {path: {"lastUsedProvider": "openai-compatible", "providers": providers}}


def continue_dev(base, key, model, window):
    keys = f"    apiKey: {json.dumps(key)}\n" if key else ""
    options = f"    defaultCompletionOptions: {{contextLength: {window}}}\n"
    text = f"models:\n  - name: a\n    provider: openai\n    model: {model}\n    apiBase: {json.dumps(base)}\n"
    return {"home/.continue/config.yaml": text + keys + options}


def aider(base, key, model, window):
    lines = [f"model: openai/{model}", f"openai-api-base: {json.dumps(base)}"]
    lines += [f"openai-api-key: {json.dumps(key)}"] if key else []
    return {"work/.aider.conf.yml": "\n".join(lines)}


def goose(base, key, model, window):
    lines = ["GOOSE_PROVIDER: openai", f"GOOSE_MODEL: {model}", f"OPENAI_HOST: {json.dumps(base)}"]
    folder = "home/.config/goose"
    files = {f"{folder}/config.yaml": "\n".join([*lines, f"GOOSE_CONTEXT_LIMIT: {window}"])}
    return {**files, f"{folder}/secrets.yaml": f"OPENAI_API_KEY: {json.dumps(key)}\n" if key else "{}\n"}


def droid(base, key, model, window):
    entry = {"model": model, "baseUrl": base, "apiKey": key, "provider": "generic-chat-completion-api"}
    return {"home/.factory/settings.json": {"customModels": [entry]}}


def pi(base, key, model, window):
    table = {"baseUrl": base, "api": "openai-completions", "apiKey": key}
    table["models"] = [{"id": model, "contextWindow": int(window)}]
    return {"home/.pi/agent/models.json": {"providers": {"llama": table}}}


def openhands(base, key, model, window):
    llm = {"model": f"openai/{model}", "base_url": base, "api_key": key, "max_input_tokens": int(window)}
    return {"home/.openhands/agent_settings.json": {"llm": llm}}


CLIENTS = [claude_code, codex, opencode, qwen_code, cline, continue_dev, aider, goose, droid, pi, openhands]
NAMES = [make.__name__ for make in CLIENTS]
ROOTED = (claude_code, goose)
"""Those that append /v1 themselves."""
UNROOTED = [make for make in CLIENTS if make not in ROOTED]
KNOWS_A_WINDOW = [make for make in CLIENTS if make not in (cline, aider, droid)]
KNOWS_PROXIES = [make for make in CLIENTS if make is not droid]


def server(**fields):
    base = not_collected(Server, "not asked")
    plain = {"url": URL, "state": "ok", "kind": "llama.cpp", "n_ctx": 65536, "slots": 1, "model_ids": ("m",)}
    return replace(
        base, **{**plain, "key_required": False, "build_number": 11434, "strict_system_message": False, **fields}
    )


def findings(tmp_path, make, *, base=None, key=KEY, model="m", window="65536", environ=None, files=None, **fields):
    base = base or (URL if make in ROOTED else f"{URL}/v1")
    world = Home(
        tmp_path, {**make(base, key, model, window), **(files or {})}, {"SHELL": "/bin/bash", **(environ or {})}
    )
    vault = Vault()
    clients = collect_all(world, vault)
    facts = replace(nothing_known("not looked"), server=server(**fields), clients=clients)
    return diagnose(RULES, facts, clean=str).findings


def first(found):
    return found[0].rule if found else None


each = pytest.mark.parametrize("make", CLIENTS, ids=NAMES)


@each
def test_nothing_is_wrong(make, tmp_path):
    assert [one for one in findings(tmp_path, make) if one.severity != "note"] == []


@each
def test_another_port(make, tmp_path):
    base = "http://127.0.0.1:9999" if make in ROOTED else "http://127.0.0.1:9999/v1"
    found = findings(tmp_path, make, base=base)
    assert first(found) == "client/client-other-port"
    assert URL + ("" if make in ROOTED else "/v1") in found[0].remedies[0].text


@each
def test_a_whole_endpoint(make, tmp_path):
    base = f"{URL}/v1/messages" if make is claude_code else f"{URL}/v1/chat/completions"
    assert first(findings(tmp_path, make, base=base)) == "client/endpoint-as-base-live"


@each
def test_no_scheme(make, tmp_path):
    assert first(findings(tmp_path, make, base="127.0.0.1:8080")) == "client/scheme-missing-live"


@pytest.mark.parametrize("make", ROOTED)
def test_v1_twice(make, tmp_path):
    assert first(findings(tmp_path, make, base=f"{URL}/v1")) == "client/v1-in-claude-base-live"


def test_no_v1_where_there_is_no_way_without(tmp_path):
    def anthropic(*parts):
        return opencode(*parts, npm="@ai-sdk/anthropic")

    found = findings(tmp_path, anthropic, base=URL)
    assert first(found) == "client/v1-missing-live" and f"{URL}/v1" in found[0].remedies[0].text


@pytest.mark.parametrize("make", UNROOTED, ids=[make.__name__ for make in UNROOTED])
def test_no_v1_at_another_kind_of_server(make, tmp_path):
    assert first(findings(tmp_path, make, base=URL, kind="vllm")) == "client/v1-missing-live"


@each
def test_no_key(make, tmp_path):
    assert first(findings(tmp_path, make, key="", key_required=True)) == "client/key-missing-live"


@each
def test_a_key_the_server_refuses(make, tmp_path):
    found = findings(tmp_path, make, key_required=True, key_accepted=False)
    assert first(found) in ("client/key-refused-live", "client/key-other-live")
    assert KEY not in repr(found)


@each
@pytest.mark.parametrize("key", [f"{KEY}\n", f'"{KEY}"', f"{KEY} x", f"Bearer {KEY}", f"“{KEY}”"])
def test_a_malformed_key(make, key, tmp_path):
    found = findings(tmp_path, make, key=key, key_required=True, key_accepted=False)
    assert first(found) == "client/key-malformed-live"
    assert KEY not in repr(found)


@each
def test_a_model_that_is_not_served(make, tmp_path):
    found = findings(tmp_path, make, model="other", kind="llama.cpp-router")
    assert first(found) == "client/model-not-served-live"
    assert "m" in found[0].remedies[0].text


@pytest.mark.parametrize("make", KNOWS_A_WINDOW, ids=[make.__name__ for make in KNOWS_A_WINDOW])
def test_a_window_larger_than_a_slot(make, tmp_path):
    wanted = "context/claude-code-unknown-window" if make is claude_code else "context/client-window-above-server"
    assert first(findings(tmp_path, make, window="131072")) == wanted


@pytest.mark.parametrize("make", KNOWS_PROXIES, ids=[make.__name__ for make in KNOWS_PROXIES])
def test_a_proxy_in_the_way(make, tmp_path):
    found = findings(tmp_path, make, environ={"HTTP_PROXY": "http://127.0.0.1:7890"})
    assert first(found) == "client/proxy-env-loopback-live"
    assert findings(tmp_path, make, environ={"HTTP_PROXY": "http://x:1", "NO_PROXY": "127.0.0.1"}) == ()


@each
def test_a_file_that_cannot_be_read(make, tmp_path):
    path = next(iter(make(URL, KEY, "m", "1")))
    found = findings(tmp_path, make, files={path: "{ [ broken"})
    assert first(found) == "client/config-file-broken-live"
    assert path.rpartition("/")[2] in found[0].why


@pytest.mark.parametrize(
    ("make", "variable"),
    [(claude_code, "ANTHROPIC_BASE_URL"), (qwen_code, "OPENAI_BASE_URL"), (aider, "OPENAI_API_BASE")],
)
def test_two_places_are_named_with_their_lines(make, variable, tmp_path):
    base = URL if make is claude_code else f"{URL}/v1"
    other = base.replace("8080", "9000")
    if make is qwen_code:  # there the variable wins
        base, other = other, base
    files = {"home/.bashrc": f"# mine\nexport {variable}={other}\n"}
    found = findings(tmp_path, make, base=base, environ={variable: other}, files=files)
    told = next(one for one in found if one.rule == "client/config-overridden-live")
    assert ".bashrc:2" in told.why + told.remedies[0].text
    path = next(iter(make(URL, KEY, "m", "1"))).rpartition("/")[2]
    assert f"{path}:" in told.why


def test_a_variable_for_the_key_that_is_not_set(tmp_path):
    files = codex(f"{URL}/v1", "", "m", "65536")
    files["home/.codex/config.toml"] += 'env_key = "LLAMA_API_KEY"\n'
    found = findings(tmp_path, lambda *_: files)
    assert first(found) == "client/key-variable-unset-live"
    assert found[0].remedies[0].command.startswith("export LLAMA_API_KEY=")


def test_codex_and_chat(tmp_path):
    files = codex(f"{URL}/v1", KEY, "m", "65536")
    files["home/.codex/config.toml"] += 'wire_api = "chat"\n'
    assert first(findings(tmp_path, lambda *_: files)) == "client/codex-settings-refused-live"


def test_each_client_has_its_own_verdict(tmp_path):
    def both(base, key, model, window):
        return {**claude_code(f"{URL}/v1", key, model, window), **codex(f"{URL}/v1/responses", key, model, window)}

    found = [(one.rule, one.about) for one in findings(tmp_path, both)]
    assert found == [
        ("client/v1-in-claude-base-live", "Claude Code"),
        ("client/endpoint-as-base-live", "Codex"),
    ]


def test_a_client_in_front_of_a_router_is_not_astray(tmp_path):
    router = {
        "Providers": [{"name": "l", "api_base_url": f"{URL}/v1/chat/completions", "api_key": KEY, "models": ["m"]}],
        "Router": {"default": "l,m"},
    }
    files = {"home/.claude-code-router/config.json": router}
    assert findings(tmp_path, claude_code, base="http://127.0.0.1:3456", files=files) == ()
