"""Droid, pi, OpenHands, Copilot CLI, LibreChat and AnythingLLM: which place wins, what is added to the base URL, and how keys are named."""

import importlib

import pytest

from doctor.facts.clients import collect_all
from doctor.facts.record import Unknown, known
from doctor.secrets import Vault

from .homes import Home, collected

BASE = "http://127.0.0.1:8080"
CHAT = f"{BASE}/v1/chat/completions"
KEY = "sk-local-test"


def every(module, tmp_path, files=None, **environ):
    world = Home(tmp_path, files, {"SHELL": "/bin/bash", **environ})
    return collected(importlib.import_module(f"doctor.facts.clients.{module}"), world, Vault())


def places_of(client):
    return {(place.setting, place.pointer) for place in client.writable}


# --- Droid ------------------------------------------------------------------------------------------------------------

USER = "home/.factory/settings.json"


def droid_model(**changes):
    plain = {"model": "m", "baseUrl": f"{BASE}/v1", "apiKey": KEY, "provider": "generic-chat-completion-api"}
    return {**plain, **changes}


@pytest.mark.parametrize(
    ("provider", "base", "url", "header"),
    [
        ("generic-chat-completion-api", f"{BASE}/v1/", CHAT, "authorization"),
        ("openai", f"{BASE}/v1", f"{BASE}/v1/responses", "authorization"),
        ("anthropic", BASE, f"{BASE}/v1/messages", "x-api-key"),
        ("anthropic", f"{BASE}/v1", f"{BASE}/v1/v1/messages", "x-api-key"),
    ],
)
def test_droids_provider_says_the_wire(provider, base, url, header, tmp_path):
    (client,) = every("droid", tmp_path, {USER: {"customModels": [droid_model(provider=provider, baseUrl=base)]}})
    assert (client.request_url, client.credentials[0].header) == (url, header)
    assert client.appends_v1 == (provider == "anthropic")


def test_droid_begins_with_the_default_of_the_session_and_the_nearer_file_wins(tmp_path):
    mine = [droid_model(displayName="a", id="custom:a-0"), droid_model(displayName="b", id="custom:b-1")]
    files = {
        USER: {"customModels": mine, "sessionDefaultSettings": {"model": "custom:b-1"}},
        "work/.factory/settings.local.json": {
            "customModels": [droid_model(displayName="a", baseUrl="http://127.0.0.1:9/v1")]
        },
        "home/.factory/config.json": {"custom_models": [{"model": "old", "base_url": BASE, "provider": "anthropic"}]},
    }
    made = every("droid", tmp_path, files)
    assert [client.name for client in made] == ["Droid (b)", "Droid (a)", "Droid (old)"]
    assert made[1].request_url == "http://127.0.0.1:9/v1/chat/completions"
    assert ("key", "/customModels/1/apiKey") in places_of(made[0])
    assert ("key", "/custom_models/0/api_key") in places_of(made[2])


def test_droids_key_may_be_a_variable_in_the_newer_file_alone(tmp_path):
    newer = {USER: {"customModels": [droid_model(apiKey="${LOCAL_KEY}")]}}
    assert [key.problems for key in every("droid", tmp_path, newer)[0].credentials] == [("unset",)]
    older = {
        "home/.factory/config.json": {"custom_models": [{"model": "m", "base_url": BASE, "api_key": "${LOCAL_KEY}"}]}
    }
    (tmp_path / USER).unlink()
    assert [key.problems for key in every("droid", tmp_path, older, LOCAL_KEY=KEY)[0].credentials] == [("placeholder",)]
    without = {USER: {"customModels": [{"model": "m", "baseUrl": BASE, "provider": "openai"}]}}
    assert [key.problems for key in every("droid", tmp_path, without)[0].credentials] == [("empty",)]


# --- pi ---------------------------------------------------------------------------------------------------------------

MODELS, SETTINGS = "home/.pi/agent/models.json", "home/.pi/agent/settings.json"


def pi(models=({"id": "m"},), **changes):
    plain = {"baseUrl": f"{BASE}/v1", "api": "openai-completions", "apiKey": KEY, "models": list(models)}
    return {"providers": {"llama": {**plain, **changes}}}


@pytest.mark.parametrize(
    ("api", "base", "url", "header"),
    [
        ("openai-completions", f"{BASE}/v1", CHAT, "authorization"),
        ("openai-responses", f"{BASE}/v1", f"{BASE}/v1/responses", "authorization"),
        ("anthropic-messages", BASE, f"{BASE}/v1/messages", "x-api-key"),
        (
            "google-generative-ai",
            f"{BASE}/v1beta",
            f"{BASE}/v1beta/models/m:streamGenerateContent?alt=sse",
            "x-goog-api-key",
        ),
    ],
)
def test_pis_api_says_the_wire(api, base, url, header, tmp_path):
    (client,) = every("pi_agent", tmp_path, {MODELS: pi(api=api, baseUrl=base)})
    assert (client.request_url, client.credentials[0].header) == (url, header)
    (client,) = every("pi_agent", tmp_path, {MODELS: pi([{"id": "m", "api": api}], api="other", baseUrl=base)})
    assert client.request_url == url


def test_pi_takes_the_default_model_where_it_is_listed(tmp_path):
    two = [{"id": "a", "contextWindow": 8192, "maxTokens": 1024}, {"id": "b"}]
    files = {MODELS: pi(two), SETTINGS: {"defaultProvider": "llama", "defaultModel": "b"}}
    (client,) = every("pi_agent", tmp_path, files)
    assert (client.model.value, client.context_window, client.max_output) == ("b", 128_000, None)
    assert ("context_window", "/providers/llama/models/1/contextWindow") in places_of(client)
    near = {"work/.pi/settings.json": {"defaultModel": "a", "retry": {"provider": {"timeoutMs": 2500}}}}
    (client,) = every("pi_agent", tmp_path, {**files, **near})
    assert (client.model.value, client.context_window, client.max_output) == ("a", 8192, 1024)
    assert client.timeout_seconds == 2.5
    assert [(lost.name, lost.value) for lost in client.overridden] == [("defaultModel", "b")]
    (client,) = every("pi_agent", tmp_path, {"work/.pi/settings.json": {"defaultModel": "gone"}})
    assert client.model.value == "a"
    assert ("defaultModel", "gone") in [(lost.name, lost.value) for lost in client.overridden]


@pytest.mark.parametrize(
    ("written", "problems"),
    [(KEY, ()), ("$LOCAL_KEY", ()), ("${GONE}", ("unset",)), ("!pass show llama", ()), (None, ("empty",))],
)
def test_pis_key(written, problems, tmp_path):
    (client,) = every("pi_agent", tmp_path, {MODELS: pi(apiKey=written)}, LOCAL_KEY=KEY)
    assert [key.problems for key in client.credentials] == [problems]
    assert bool(client.credentials[0].token) == (written in (KEY, "$LOCAL_KEY"))


def test_pis_stored_key_comes_first_and_an_old_name_of_a_variable_is_not_known(tmp_path):
    files = {MODELS: pi(), "home/.pi/agent/auth.json": {"llama": {"type": "api_key", "key": "sk-local-test-2"}}}
    (client,) = every("pi_agent", tmp_path, files)
    assert client.credentials[0].source.endswith("auth.json")
    assert len(client.overridden) == 1 and "sk-local" not in str(client.overridden)
    (tmp_path / "home/.pi/agent/auth.json").unlink()
    (client,) = every("pi_agent", tmp_path, {MODELS: pi(apiKey="MY_LOCAL_KEY")}, MY_LOCAL_KEY=KEY)
    assert isinstance(client.credentials, Unknown)


@pytest.mark.parametrize(
    ("written", "problems", "name"),
    [
        ("LOCAL_KEY", (), "LOCAL_KEY"),
        ("$LOCAL_KEY", ("placeholder",), "providers.llama.apiKey"),
        ("GONE_KEY", (), "providers.llama.apiKey"),
    ],
)
def test_pi_0_74_takes_a_bare_name_for_a_variable(written, problems, name, tmp_path):
    """As 0.74.2 did when it was run: Bearer with the value, with $LOCAL_KEY, with GONE_KEY."""
    files = {
        "bin/node_modules/@earendil-works/pi-coding-agent/package.json": {
            "name": "@earendil-works/pi-coding-agent",
            "version": "0.74.2",
        }
    }
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/pi").write_text("#!/bin/sh\n")
    (tmp_path / "bin/pi").chmod(0o755)
    (client,) = every("pi_agent", tmp_path, {MODELS: pi(apiKey=written), **files}, LOCAL_KEY=KEY)
    assert client.version == "0.74.2"
    assert [(key.name, key.problems) for key in client.credentials] == [(name, problems)]


# --- OpenHands --------------------------------------------------------------------------------------------------------

TERMINAL, PAGE = "home/.openhands/agent_settings.json", "home/.openhands/settings.json"


def hands(**changes):
    return {"llm": {"model": "openai/m", "base_url": f"{BASE}/v1", "api_key": KEY, **changes}}


@pytest.mark.parametrize(
    ("model", "sent", "url", "unusable"),
    [
        ("openai/m", "m", CHAT, None),
        ("openai/Qwen/m", "Qwen/m", CHAT, None),
        ("m", "m", CHAT, "model-prefix"),
        ("Qwen/m", "Qwen/m", CHAT, "model-prefix"),
        ("gpt-5", "gpt-5", CHAT, None),
        ("anthropic/m", "m", f"{BASE}/v1/v1/messages", None),
        ("ollama/m", "m", f"{BASE}/v1/api/chat", None),
    ],
)
def test_openhands_wants_a_provider_in_front_of_the_model(model, sent, url, unusable, tmp_path):
    (client,) = every("openhands", tmp_path, {TERMINAL: hands(model=model)})
    assert (client.model.value, client.request_url, client.unusable) == (sent, url, unusable)


def test_the_variables_do_not_reach_openhands_in_the_terminal(tmp_path):
    (client,) = every("openhands", tmp_path, {TERMINAL: hands()}, LLM_BASE_URL="http://127.0.0.1:9/v1")
    assert client.request_url == CHAT
    assert [(lost.name, lost.source) for lost in client.overridden] == [("LLM_BASE_URL", "environment")]


def test_they_beat_its_config_toml(tmp_path):
    text = f'[core]\n[llm]\nmodel = "openai/m"\nbase_url = "{BASE}/v1"\nmax_output_tokens = 512\n'
    (client,) = every("openhands", tmp_path, {"work/config.toml": text}, LLM_BASE_URL="http://127.0.0.1:9/v1")
    assert (client.base_url.source, client.max_output) == ("environment", 512)
    assert [(lost.value, lost.line) for lost in client.overridden] == [(f"{BASE}/v1", 4)]
    assert {place.pointer for place in client.writable} >= {"/llm/api_key", "/llm/max_input_tokens", "/llm/model"}


def test_openhands_has_a_record_for_each_of_its_programs(tmp_path):
    newer = {"agent_settings": hands(max_input_tokens=8192)}
    first, second = every("openhands", tmp_path, {TERMINAL: hands(), PAGE: newer})
    assert [first.name, second.name] == ["OpenHands (terminal)", "OpenHands (web)"]
    assert (second.request_url, second.context_window) == (CHAT, 8192)


def test_config_toml_of_another_program_is_not_openhands(tmp_path):
    text = f'[llm]\nmodel = "openai/m"\nbase_url = "{BASE}/v1"\n'
    (client,) = every("openhands", tmp_path, {"work/config.toml": text}, LLM_BASE_URL=BASE)
    assert client.base_url is None


# --- Copilot CLI ------------------------------------------------------------------------------------------------------

COPILOT = {"COPILOT_PROVIDER_BASE_URL": f"{BASE}/v1", "COPILOT_MODEL": "m"}


@pytest.mark.parametrize(
    ("environ", "url", "keys"),
    [
        ({}, CHAT, []),
        ({"COPILOT_PROVIDER_API_KEY": ""}, CHAT, []),
        ({"COPILOT_PROVIDER_WIRE_API": "responses"}, f"{BASE}/v1/responses", []),
        (
            {"COPILOT_PROVIDER_TYPE": "anthropic", "COPILOT_PROVIDER_API_KEY": KEY},
            f"{BASE}/v1/v1/messages",
            ["x-api-key"],
        ),
        (
            {"COPILOT_PROVIDER_BEARER_TOKEN": "sk-local-test-2", "COPILOT_PROVIDER_API_KEY": KEY},
            CHAT,
            ["authorization"],
        ),
    ],
)
def test_copilots_variables(environ, url, keys, tmp_path):
    (client,) = every("copilot_cli", tmp_path, **COPILOT, **environ)
    assert (client.request_url, [key.header for key in client.credentials]) == (url, keys)
    assert client.model.value == "m"


def test_copilot_sends_the_wire_model_and_is_no_gateway(tmp_path):
    environ = {**COPILOT, "COPILOT_PROVIDER_WIRE_MODEL": "real", "COPILOT_PROVIDER_API_KEY": KEY}
    found = collect_all(Home(tmp_path, {}, environ), Vault())
    assert [(client.id, client.model.value) for client in found] == [("copilot-cli", "real")]


@pytest.mark.parametrize(("module", "name"), [("copilot_cli", "copilot"), ("pi_agent", "pi")])
def test_a_program_of_the_same_name_alone_is_no_sign(module, name, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / name).write_text("#!/bin/sh\n")
    (tmp_path / "bin" / name).chmod(0o755)
    assert known(every(module, tmp_path)[0].installed) is False


# --- LibreChat --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "url", "small"),
    [
        (f"baseURL: {BASE}/v1", CHAT, None),
        (f"baseURL: {BASE}/v1, titleModel: current_model", CHAT, None),
        (f"baseURL: {BASE}/v1, titleModel: gpt-3.5-turbo", CHAT, "gpt-3.5-turbo"),
        (f"baseURL: '{CHAT}', directEndpoint: true", CHAT, None),
        (f"baseURL: {BASE}, provider: anthropic", f"{BASE}/v1/messages", None),
        ("baseURL: '${LOCAL_URL}'", CHAT, None),
    ],
)
def test_librechats_endpoint(lines, url, small, tmp_path):
    text = f"endpoints:\n  custom:\n    - {{name: l, apiKey: {KEY}, {lines}, models: {{default: [{{name: m}}, n]}}}}\n"
    (client,) = every("librechat", tmp_path, {"work/librechat.yaml": text, "work/.env": f"LOCAL_URL={BASE}/v1\n"})
    assert (client.request_url, client.model.value) == (url, "m")
    assert (client.small_model.value if client.small_model else None) == small


def test_what_the_users_of_librechat_enter_is_not_known(tmp_path):
    text = f"endpoints:\n  custom:\n    - {{name: a, baseURL: user_provided}}\n    - {{name: b, baseURL: {BASE}/v1, apiKey: user_provided}}\n"
    (client,) = every("librechat", tmp_path, {"work/librechat.yaml": text})
    assert isinstance(client.credentials, Unknown) and client.base_url.line == 4


# --- AnythingLLM ------------------------------------------------------------------------------------------------------


def test_anythingllm_and_the_provider_it_is_told(tmp_path):
    text = f"LLM_PROVIDER=localai\nLOCAL_AI_BASE_PATH={BASE}/v1\nGENERIC_OPEN_AI_BASE_PATH=http://127.0.0.1:9/v1\n"
    (client,) = every("anything_llm", tmp_path, {"work/server/.env": text})
    assert (client.request_url, client.context_window, client.credentials) == (CHAT, 4096, ())
    assert ("context_window", "/LOCAL_AI_MODEL_TOKEN_LIMIT") in places_of(client)
    (client,) = every("anything_llm", tmp_path, {"work/server/.env": text.replace("localai", "openai")})
    assert client.base_url is None
