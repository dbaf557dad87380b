"""Goose: which of its places wins, what each makes of the base URL, and where keys are looked for."""

import pytest

from doctor.facts.clients import goose
from doctor.facts.record import Unknown, known
from doctor.secrets import Vault

from .homes import Home, collected

BASE = "http://127.0.0.1:8080"
CHAT = f"{BASE}/v1/chat/completions"
KEY = "sk-local-test"
CONFIG = "home/.config/goose/config.yaml"
OWN = "home/.config/goose/custom_providers/custom_l.json"
SECRETS = "home/.config/goose/secrets.yaml"
PROVIDER = {
    "name": "custom_l",
    "engine": "openai",
    "api_key_env": "CUSTOM_L_API_KEY",
    "base_url": BASE,
    "models": [{"name": "a", "context_limit": 8192}, {"name": "b", "context_limit": 4096}],
    "timeout_seconds": 30,
}


def one(tmp_path, files, **environ):
    (client,) = collected(goose, Home(tmp_path, files, {"SHELL": "/bin/bash", **environ}), Vault())
    return client


@pytest.mark.parametrize(
    ("lines", "url"),
    [
        (f"OPENAI_HOST: {BASE}", CHAT),
        (f"OPENAI_HOST: {BASE}/v1", f"{BASE}/v1/v1/chat/completions"),
        (f"OPENAI_HOST: {BASE}/v1\nOPENAI_BASE_PATH: chat/completions", CHAT),
        (f"OPENAI_HOST: {BASE}/v1\nOPENAI_BASE_PATH: /v1/chat/completions", CHAT),
        (f"OPENAI_BASE_URL: {BASE}", CHAT),
        (f"OPENAI_BASE_URL: {BASE}/v1/", CHAT),
        (f"OPENAI_BASE_URL: {BASE}/api\nOPENAI_BASE_PATH: v1/chat/completions", f"{BASE}/api/chat/completions"),
    ],
)
def test_what_is_added_to_the_address(lines, url, tmp_path):
    client = one(tmp_path, {CONFIG: f"GOOSE_PROVIDER: openai\n{lines}\n"})
    assert client.request_url == url
    assert client.appends_v1 == (client.base_url.name == "OPENAI_HOST" and "BASE_PATH" not in lines)


def test_a_variable_beats_the_file_and_the_host_the_base_url(tmp_path):
    text = "active_provider: openai\nproviders:\n  openai:\n    model: m\nOPENAI_HOST: http://127.0.0.1:1\n"
    client = one(tmp_path, {CONFIG: text}, OPENAI_BASE_URL=f"{BASE}/v1", GOOSE_MODEL="other")
    assert (client.base_url.name, client.model.value) == ("OPENAI_BASE_URL", "other")
    assert {(lost.name, lost.value, lost.line) for lost in client.overridden} == {
        ("OPENAI_HOST", "http://127.0.0.1:1", 5),
        ("providers.openai.model", "m", 4),
    }
    client = one(tmp_path, {}, OPENAI_BASE_URL=f"{BASE}/v1", OPENAI_HOST="http://127.0.0.1:9")
    assert client.request_url == "http://127.0.0.1:9/v1/chat/completions"


@pytest.mark.parametrize(
    ("host", "url"),
    [("localhost", "http://localhost:11434"), ("127.0.0.1:8080", BASE), (BASE, BASE)],
)
def test_ollamas_provider_speaks_openais_protocol(host, url, tmp_path):
    client = one(tmp_path, {CONFIG: f"GOOSE_PROVIDER: ollama\nGOOSE_MODEL: m\nOLLAMA_HOST: {host}\n"})
    assert (client.request_url, client.credentials) == (f"{url}/v1/chat/completions", ())


@pytest.mark.parametrize(
    ("changes", "url"),
    [
        ({}, CHAT),
        ({"base_url": f"{BASE}/v1"}, CHAT),
        ({"base_url": f"{BASE}/api"}, f"{BASE}/api/v1/chat/completions"),
        ({"base_url": CHAT}, CHAT),
        ({"base_url": f"{BASE}/x", "base_path": "v1/chat/completions"}, CHAT),
        ({"engine": "anthropic"}, f"{BASE}/v1/messages"),
        ({"engine": "ollama"}, CHAT),
    ],
)
def test_a_provider_of_the_users_own(changes, url, tmp_path):
    files = {
        OWN: {**PROVIDER, **changes},
        CONFIG: "GOOSE_PROVIDER: custom_l\nGOOSE_MODEL: b\n",
        SECRETS: f"CUSTOM_L_API_KEY: {KEY}\n",
    }
    client = one(tmp_path, files)
    assert (client.request_url, client.model.value, client.context_window) == (url, "b", 4096)
    assert client.timeout_seconds == 30
    assert [(key.name, key.problems) for key in client.credentials] == [("CUSTOM_L_API_KEY", ())]
    assert client.credentials[0].source.endswith("secrets.yaml")
    assert (
        next(place.pointer for place in client.writable if place.setting == "context_window")
        == "/models/1/context_limit"
    )


def test_the_file_of_a_provider_may_have_another_name(tmp_path):
    files = {OWN.replace("custom_l", "x"): {**PROVIDER, "name": "mine"}, CONFIG: "GOOSE_PROVIDER: mine\n"}
    assert one(tmp_path, files).request_url == CHAT


def test_without_a_choice_every_own_provider_is_told(tmp_path):
    files = {OWN: PROVIDER, OWN.replace("custom_l", "b"): {**PROVIDER, "name": "b"}}
    made = collected(goose, Home(tmp_path, files, {}), Vault())
    assert [client.name for client in made] == ["Goose (b)", "Goose (custom_l)"]


def test_a_provider_that_is_gone(tmp_path):
    assert one(tmp_path, {CONFIG: "GOOSE_PROVIDER: custom_gone\n"}).unusable == "provider-unknown"
    assert one(tmp_path, {CONFIG: "GOOSE_PROVIDER: openrouter\n"}).unusable is None


def test_keys_in_the_keyring_are_not_known_and_missing_ones_are(tmp_path):
    files = {OWN: PROVIDER, CONFIG: "GOOSE_PROVIDER: custom_l\n"}
    assert isinstance(one(tmp_path, files).credentials, Unknown)
    (key,) = one(tmp_path, files, GOOSE_DISABLE_KEYRING="1").credentials
    assert (key.name, key.problems) == ("CUSTOM_L_API_KEY", ("unset",))
    open_to_all = {**files, OWN: {**PROVIDER, "requires_auth": False}}
    assert one(tmp_path, open_to_all).credentials == ()


def test_another_program_of_this_name_is_no_sign(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/goose").write_text("#!/bin/sh\n")
    (tmp_path / "bin/goose").chmod(0o755)
    assert known(one(tmp_path, {}).installed) is False
    assert known(one(tmp_path, {CONFIG: "GOOSE_PROVIDER: openai\n"}).installed) is True
