"""Each client's triplet from a home that is set up for it, on the systems it runs on."""

import importlib
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.facts.clients import CLIENTS, collect_all, is_in_use
from doctor.facts.record import Unknown, known, to_json
from doctor.secrets import Vault

from .homes import Elsewhere, Home, collected

BASE = "http://127.0.0.1:8080"
KEY = "sk-local-test"
CONTINUE = f"models:\n  - name: a\n    provider: openai\n    model: m\n    apiBase: {BASE}/v1\n    apiKey: {KEY}\n"
LITELLM = (
    f"model_list:\n  - model_name: m\n    litellm_params:\n      model: openai/m\n      api_base: {BASE}/v1\n"
    "      api_key: os.environ/LOCAL_KEY\ngeneral_settings:\n  master_key: sk-local-test-master\n"
)
CODEX = f'model = "m"\nmodel_provider = "l"\n[model_providers.l]\nbase_url = "{BASE}/v1"\nenv_key = "LOCAL_KEY"\n'
OPENCODE = {
    "model": "l/m",
    "provider": {
        "l": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{BASE}/v1", "apiKey": KEY},
            "models": {"m": {"limit": {"context": 32768, "output": 4096}}},
        }
    },
}
PROVIDERS = {
    "lastUsedProvider": "openai-compatible",
    "providers": {"openai-compatible": {"settings": {"model": "m", "baseUrl": f"{BASE}/v1", "apiKey": KEY}}},
}
CLINE_STATE = {
    "actModeApiProvider": "openai",
    "openAiBaseUrl": f"{BASE}/v1",
    "actModeOpenAiModelId": "m",
    "planModeOpenAiModelId": "planner",
    "actModeOpenAiModelInfo": {"contextWindow": 32768},
}
ROUTER = {
    "Providers": [{"name": "l", "api_base_url": f"{BASE}/v1/chat/completions", "api_key": KEY, "models": ["m"]}],
    "Router": {"default": "l,m", "background": "l,small", "think": "other,x"},
    "APIKEY": "sk-local-test-router",
    "PORT": 3999,
}
ROO = {
    "providerProfiles": {
        "currentApiConfigName": "mine",
        "apiConfigs": {
            "mine": {
                "apiProvider": "openai",
                "openAiBaseUrl": f"{BASE}/v1",
                "openAiApiKey": KEY,
                "openAiModelId": "m",
                "openAiCustomModelInfo": {"contextWindow": 32768},
            }
        },
    }
}
ZED = {
    "agent": {"default_model": {"provider": "llama.cpp", "model": "m"}},
    "language_models": {"llama.cpp": {"api_url": BASE}},
}
CRUSH = {
    "providers": {
        "l": {
            "type": "openai-compat",
            "base_url": f"{BASE}/v1",
            "api_key": "$LOCAL_KEY",
            "models": [{"id": "m", "context_window": 32768}],
        }
    }
}
GOOSE = f"active_provider: openai\nproviders:\n  openai: {{enabled: true, model: m}}\nOPENAI_HOST: {BASE}\nGOOSE_CONTEXT_LIMIT: 32768\n"
GOOSE_OWN = {
    "name": "custom_local",
    "engine": "openai",
    "display_name": "local",
    "api_key_env": "CUSTOM_LOCAL_API_KEY",
    "base_url": f"{BASE}/v1",
    "models": [{"name": "m", "context_limit": 32768}],
}
DROID = {
    "sessionDefaultSettings": {"model": "custom:m-0"},
    "customModels": [
        {
            "id": "custom:m-0",
            "model": "m",
            "displayName": "mine",
            "baseUrl": f"{BASE}/v1",
            "apiKey": "${LOCAL_KEY}",
            "provider": "generic-chat-completion-api",
            "maxOutputTokens": 4096,
        }
    ],
}
DROID_OLDER = {
    "custom_models": [{"model": "m", "base_url": BASE, "api_key": KEY, "provider": "anthropic", "max_tokens": 4096}]
}
PI = {
    "providers": {
        "llama": {
            "baseUrl": f"{BASE}/v1",
            "api": "openai-completions",
            "apiKey": "$LOCAL_KEY",
            "models": [{"id": "m", "contextWindow": 32768}],
        }
    }
}
HANDS = {"llm": {"model": "openai/m", "base_url": f"{BASE}/v1", "api_key": KEY, "max_input_tokens": 32768}}
HANDS_PAGE = {"llm_model": "openai/m", "llm_base_url": f"{BASE}/v1", "llm_api_key": KEY}
HANDS_TOML = f'[core]\ndebug = false\n[llm]\nmodel = "openai/m"\nbase_url = "{BASE}/v1"\n'
COPILOT = {"COPILOT_PROVIDER_BASE_URL": f"{BASE}/v1", "COPILOT_PROVIDER_API_KEY": KEY, "COPILOT_MODEL": "m"}
LIBRE = (
    f"endpoints:\n  custom:\n    - name: local\n      apiKey: '${{LOCAL_KEY}}'\n      baseURL: {BASE}/v1\n"
    "      models: {default: [m]}\n      tokenConfig: {m: {context: 32768}}\n"
)
ANYTHING = (
    f"LLM_PROVIDER='generic-openai'\nGENERIC_OPEN_AI_BASE_PATH='{BASE}/v1'\nGENERIC_OPEN_AI_MODEL_PREF='m'\n"
    f"GENERIC_OPEN_AI_MODEL_TOKEN_LIMIT=32768\nGENERIC_OPEN_AI_API_KEY='{KEY}'\n"
)
CHAT = f"{BASE}/v1/chat/completions"

# module, system, home and project folder, files by full path, variables, (request, header, model, window)
LINUX, MAC, WINDOWS = ("linux", "/h", "/w"), ("darwin", "/Users/me", "/w"), ("win32", "C:\\Users\\me", "D:\\w")
ROOMS = [
    ("codex", LINUX, {"/h/.codex/config.toml": CODEX}, {"LOCAL_KEY": KEY}, (f"{BASE}/v1/responses", "authorization", "m", 272_000)),
    ("codex", WINDOWS, {"C:\\Users\\me\\.codex\\config.toml": CODEX}, {"LOCAL_KEY": KEY}, (f"{BASE}/v1/responses", "authorization", "m", 272_000)),
    ("codex", MAC, {"/etc/codex/config.toml": CODEX}, {"LOCAL_KEY": KEY}, (f"{BASE}/v1/responses", "authorization", "m", 272_000)),
    ("opencode", WINDOWS, {"C:\\Users\\me\\.config\\opencode\\opencode.json": OPENCODE}, {}, (CHAT, "authorization", "m", 32768)),
    ("opencode", MAC, {"/w/opencode.jsonc": OPENCODE}, {}, (CHAT, "authorization", "m", 32768)),
    ("kilo_code", LINUX, {"/h/.config/kilo/kilo.json": OPENCODE}, {}, (CHAT, "authorization", "m", 32768)),
    ("qwen_code", WINDOWS, {"C:\\ProgramData\\qwen-code\\settings.json": {"model": {"name": "m"}}}, {"OPENAI_BASE_URL": f"{BASE}/v1", "OPENAI_API_KEY": KEY}, (CHAT, "authorization", "m", None)),
    ("qwen_code", MAC, {"/Library/Application Support/QwenCode/settings.json": {"model": {"name": "m"}}}, {"OPENAI_BASE_URL": f"{BASE}/v1", "OPENAI_API_KEY": KEY}, (CHAT, "authorization", "m", None)),
    ("cline", WINDOWS, {"C:\\Users\\me\\.cline\\data\\settings\\providers.json": PROVIDERS}, {}, (CHAT, "authorization", "m", None)),
    ("continue_dev", WINDOWS, {"C:\\Users\\me\\.continue\\config.yaml": CONTINUE}, {}, (CHAT, "authorization", "m", None)),
    ("continue_dev", MAC, {"/Users/me/.continue/config.json": {"models": [{"title": "a", "provider": "openai", "model": "m", "apiBase": f"{BASE}/v1", "apiKey": KEY}]}}, {}, (CHAT, "authorization", "m", None)),
    ("aider", LINUX, {"/h/.aider.conf.yml": f"model: openai/m\nopenai-api-base: {BASE}/v1\nopenai-api-key: {KEY}\n"}, {}, (CHAT, "authorization", "m", None)),
    ("aider", WINDOWS, {"D:\\w\\.env": f"AIDER_MODEL=openai/m\nOPENAI_API_BASE={BASE}/v1\nOPENAI_API_KEY={KEY}\n", "D:\\w\\.aider.model.metadata.json": {"openai/m": {"max_input_tokens": 32768}}}, {}, (CHAT, "authorization", "m", 32768)),
    ("gemini_cli", WINDOWS, {"C:\\Users\\me\\.gemini\\.env": f"GOOGLE_GEMINI_BASE_URL={BASE}\nGEMINI_API_KEY={KEY}\nGEMINI_MODEL=m\n"}, {}, (f"{BASE}/v1beta/models/m:streamGenerateContent?alt=sse", "x-goog-api-key", "m", None)),
    ("claude_code_router", LINUX, {"/h/.claude-code-router/config.json": ROUTER}, {}, (CHAT, "authorization", "m", None)),
    ("litellm_proxy", LINUX, {"/w/config.yaml": LITELLM}, {"LOCAL_KEY": KEY}, (CHAT, "authorization", "m", None)),
    ("litellm_proxy", WINDOWS, {"E:\\lite.yaml": LITELLM}, {"LOCAL_KEY": KEY, "CONFIG_FILE_PATH": "E:\\lite.yaml"}, (CHAT, "authorization", "m", None)),
    ("roo_code", LINUX, {"/h/.config/Code/User/settings.json": '{"roo-cline.autoImportSettingsPath": "/h/roo.json", // c\n}', "/h/roo.json": ROO}, {}, (CHAT, "authorization", "m", 32768)),
    ("roo_code", MAC, {"/Users/me/Library/Application Support/Cursor/User/settings.json": {"roo-cline.autoImportSettingsPath": "/r.json"}, "/r.json": ROO}, {}, (CHAT, "authorization", "m", 32768)),
    ("roo_code", WINDOWS, {"C:\\Users\\me\\AppData\\Roaming\\Code\\User\\settings.json": {"roo-cline.autoImportSettingsPath": "E:\\r.json"}, "E:\\r.json": ROO}, {}, (CHAT, "authorization", "m", 32768)),
    ("zed", LINUX, {"/h/.config/zed/settings.json": ZED}, {"LLAMACPP_API_KEY": KEY}, (CHAT, "authorization", "m", None)),
    ("zed", WINDOWS, {"C:\\Users\\me\\AppData\\Roaming\\Zed\\settings.json": ZED}, {"LLAMACPP_API_KEY": KEY}, (CHAT, "authorization", "m", None)),
    ("crush", LINUX, {"/w/crush.json": CRUSH}, {"LOCAL_KEY": KEY}, (CHAT, "authorization", "m", 32768)),
    ("crush", MAC, {"/Users/me/.config/crush/crushrc": f"provider add l --type llamacpp --base-url {BASE} --api-key '{KEY}'\nmodel add l m --context-window 32768\n"}, {}, (CHAT, "authorization", "m", 32768)),
    ("goose", LINUX, {"/h/.config/goose/config.yaml": GOOSE}, {"OPENAI_API_KEY": KEY}, (CHAT, "authorization", "m", 32768)),
    ("goose", MAC, {"/Users/me/.config/goose/config.yaml": f"GOOSE_PROVIDER: anthropic\nGOOSE_MODEL: m\nANTHROPIC_HOST: {BASE}\n"}, {"ANTHROPIC_API_KEY": KEY}, (f"{BASE}/v1/messages", "x-api-key", "m", None)),
    ("goose", WINDOWS, {"C:\\Users\\me\\AppData\\Roaming\\Block\\goose\\config\\custom_providers\\custom_local.json": GOOSE_OWN}, {"GOOSE_PROVIDER": "custom_local", "GOOSE_MODEL": "m", "CUSTOM_LOCAL_API_KEY": KEY}, (CHAT, "authorization", "m", 32768)),
    ("droid", LINUX, {"/h/.factory/settings.json": DROID}, {"LOCAL_KEY": KEY}, (CHAT, "authorization", "m", None)),
    ("droid", MAC, {"/Users/me/.factory/config.json": DROID_OLDER}, {}, (f"{BASE}/v1/messages", "x-api-key", "m", None)),
    ("droid", WINDOWS, {"C:\\Users\\me\\.factory\\settings.local.json": DROID}, {"LOCAL_KEY": KEY}, (CHAT, "authorization", "m", None)),
    ("pi_agent", LINUX, {"/h/.pi/agent/models.json": PI}, {"LOCAL_KEY": KEY}, (CHAT, "authorization", "m", 32768)),
    ("pi_agent", MAC, {"/e/models.json": PI}, {"LOCAL_KEY": KEY, "PI_CODING_AGENT_DIR": "/e"}, (CHAT, "authorization", "m", 32768)),
    ("pi_agent", WINDOWS, {"C:\\Users\\me\\.pi\\agent\\models.json": PI}, {"LOCAL_KEY": KEY}, (CHAT, "authorization", "m", 32768)),
    ("openhands", LINUX, {"/h/.openhands/agent_settings.json": HANDS}, {}, (CHAT, "authorization", "m", 32768)),
    ("openhands", MAC, {"/w/config.toml": HANDS_TOML}, {"LLM_API_KEY": KEY}, (CHAT, "authorization", "m", None)),
    ("openhands", WINDOWS, {"C:\\Users\\me\\.openhands\\settings.json": HANDS_PAGE}, {}, (CHAT, "authorization", "m", None)),
    ("copilot_cli", LINUX, {}, COPILOT, (CHAT, "authorization", "m", None)),
    ("copilot_cli", MAC, {}, {**COPILOT, "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "32768"}, (CHAT, "authorization", "m", 32768)),
    ("copilot_cli", WINDOWS, {}, {**COPILOT, "COPILOT_PROVIDER_WIRE_API": "responses"}, (f"{BASE}/v1/responses", "authorization", "m", None)),
    ("librechat", LINUX, {"/w/librechat.yaml": LIBRE, "/w/.env": f"LOCAL_KEY={KEY}\n"}, {}, (CHAT, "authorization", "m", 32768)),
    ("librechat", WINDOWS, {"E:\\librechat.yaml": LIBRE}, {"LOCAL_KEY": KEY, "CONFIG_PATH": "E:\\librechat.yaml"}, (CHAT, "authorization", "m", 32768)),
    ("anything_llm", LINUX, {"/h/.config/anythingllm-desktop/storage/.env": ANYTHING}, {}, (CHAT, "authorization", "m", 32768)),
    ("anything_llm", MAC, {"/Users/me/Library/Application Support/anythingllm-desktop/storage/.env": ANYTHING}, {}, (CHAT, "authorization", "m", 32768)),
    ("anything_llm", WINDOWS, {"C:\\Users\\me\\AppData\\Roaming\\anythingllm-desktop\\storage\\.env": ANYTHING}, {}, (CHAT, "authorization", "m", 32768)),
    ("deerflow", LINUX, {"/w/conf.yaml": f"BASIC_MODEL:\n  base_url: {BASE}/v1\n  model: m\n  api_key: {KEY}\n  token_limit: 32768\n"}, {}, (CHAT, "authorization", "m", 32768)),
    ("deerflow", LINUX, {"/w/config.yaml": f"models:\n  - name: l\n    use: langchain_openai:ChatOpenAI\n    model: m\n    base_url: {BASE}/v1\n    api_key: $LOCAL_KEY\n"}, {"LOCAL_KEY": KEY}, (CHAT, "authorization", "m", None)),
    ("open_webui", LINUX, {}, {"OPENAI_API_BASE_URL": f"{BASE}/v1", "OPENAI_API_KEY": KEY}, (CHAT, "authorization", None, None)),
    ("openai_sdk", LINUX, {}, {"OPENAI_BASE_URL": f"{BASE}/v1/", "OPENAI_API_KEY": KEY, "OPENAI_MODEL": "m"}, (CHAT, "authorization", "m", None)),
    ("anthropic_sdk", LINUX, {"/w/.env": f"ANTHROPIC_BASE_URL={BASE}\nANTHROPIC_API_KEY={KEY}\n"}, {}, (f"{BASE}/v1/messages", "authorization", None, None)),
    ("gateway", LINUX, {}, {"TAOTOKEN_BASE_URL": "https://gateway.example/api", "TAOTOKEN_API_KEY": KEY, "TAOTOKEN_MODEL": "m"}, ("https://gateway.example/api/chat/completions", "authorization", "m", None)),
]  # fmt: skip


def home_of(system, files, environ):
    platform, home, folder = system
    name = "USERPROFILE" if platform == "win32" else "HOME"
    return Elsewhere(platform, {name: home, **environ}, files, folder)


@pytest.mark.parametrize(("module", "system", "files", "environ", "expected"), ROOMS)
def test_the_triplet(module, system, files, environ, expected):
    vault = Vault()
    world = home_of(system, files, environ)
    client = collected(importlib.import_module(f"doctor.facts.clients.{module}"), world, vault)[0]
    url, header, model, window = expected
    assert client.request_url == url
    assert [(key.header, vault.get(key.token)) for key in client.credentials] == [(header, KEY)]
    assert (client.model.value if client.model else None) == model
    assert client.context_window == window if window else isinstance(client.context_window, (Unknown, type(None)))
    assert client.base_url.source in (*files, "environment")
    assert (client.base_url.line is None) == (client.base_url.source == "environment")
    assert client.unusable is None and client.problems == ()
    assert is_in_use(client)
    assert "sk-local" not in json.dumps(to_json(client))


def test_every_client_has_a_home_here_or_among_the_real_requests():
    assert {module for module, *_ in ROOMS} | {"claude_code"} == set(CLIENTS)


@pytest.mark.parametrize("module", CLIENTS)
@pytest.mark.parametrize("system", [LINUX, MAC, WINDOWS], ids=["linux", "mac", "windows"])
def test_an_empty_home_is_no_sign_of_any_client(module, system):
    for client in collected(
        importlib.import_module(f"doctor.facts.clients.{module}"), home_of(system, {}, {}), Vault()
    ):
        assert not is_in_use(client)
        assert known(client.base_url) is None and client.problems == ()


# Nothing in a .env file or a list of commands can be wrong.
HARMLESS = (".env", "crushrc", "model.metadata.json")
PLACES = sorted(
    {(module, system, path) for module, system, files, *_ in ROOMS for path in files if not path.endswith(HARMLESS)}
)


@pytest.mark.parametrize(("module", "system", "path"), PLACES)
@pytest.mark.parametrize("text", ["{", "[", "a: [", "\x00\xff", "[" * 5000, '{"providers": 5, "models": "x"}', "- 1"])
def test_a_broken_file_is_an_unknown_address_with_one_reason(module, system, path, text):
    clients = collected(
        importlib.import_module(f"doctor.facts.clients.{module}"), home_of(system, {path: text}, {}), Vault()
    )
    for client in clients:
        assert len(client.problems) <= 1
        if client.problems:
            assert isinstance(client.base_url, Unknown) and client.base_url.reason.startswith(path)
            assert "\n" not in client.base_url.reason


# --- what is particular to one client --------------------------------------------------------------------------------


def one(module, tmp_path, files=None, **environ):
    world = Home(tmp_path, files, {"SHELL": "/bin/bash", **environ})
    return collected(importlib.import_module(f"doctor.facts.clients.{module}"), world, Vault())


@pytest.mark.parametrize(
    ("text", "unusable"),
    [
        (CODEX, None),
        (CODEX + 'wire_api = "chat"\n', "wire-chat"),
        (CODEX.replace('"l"', '"other"'), "provider-unknown"),
        ('[model_providers.openai]\nbase_url = "x"\n', "provider-reserved"),
        ('profile = "p"\n' + CODEX, "profile-key"),
        ('model_provider = "ollama"\n', None),
    ],
)
def test_codex_that_will_not_start(text, unusable, tmp_path):
    assert one("codex", tmp_path, {"home/.codex/config.toml": text}, LOCAL_KEY=KEY)[0].unusable == unusable


def test_codex_and_a_project_it_does_not_trust(tmp_path):
    files = {"home/.codex/config.toml": 'model = "m"\n', "work/.codex/config.toml": CODEX}
    client = one("codex", tmp_path, files)[0]
    assert (client.model.value, client.base_url) == ("m", None)
    assert [(item.name, item.value, item.source) for item in client.settings] == [
        ("trust_level", "untrusted", str(tmp_path / "work/.codex/config.toml"))
    ]


def test_codex_does_not_read_the_variable(tmp_path):
    client = one("codex", tmp_path, {"home/.codex/config.toml": 'model = "m"\n'}, OPENAI_BASE_URL=f"{BASE}/v1")[0]
    assert client.base_url is None
    assert [(lost.name, lost.value) for lost in client.overridden] == [("OPENAI_BASE_URL", f"{BASE}/v1")]


def test_two_sources_name_both_places_with_their_lines(tmp_path):
    files = {
        "home/.bashrc": "# mine\nexport OPENAI_BASE_URL=http://127.0.0.1:9000/v1\n",
        "home/.qwen/settings.json": {"security": {"auth": {"baseUrl": f"{BASE}/v1"}}},
    }
    client = one("qwen_code", tmp_path, files, OPENAI_BASE_URL="http://127.0.0.1:9000/v1")[0]
    assert (client.base_url.source, client.base_url.profile) == ("environment", f"{tmp_path}/home/.bashrc:2")
    assert [(lost.value, lost.source, lost.line) for lost in client.overridden] == [
        (f"{BASE}/v1", str(tmp_path / "home/.qwen/settings.json"), 4)
    ]


def test_opencode_without_a_limit_knows_no_window(tmp_path):
    bare = json.loads(json.dumps(OPENCODE).replace('"limit"', '"other"'))
    assert one("opencode", tmp_path, {"work/opencode.json": bare})[0].context_window is None


def test_opencode_with_a_model_it_does_not_list(tmp_path):
    client = one("opencode", tmp_path, {"work/opencode.json": {**OPENCODE, "model": "l/other"}})[0]
    assert (client.unusable, client.model.value) == ("model-unlisted", "other")


def test_opencode_with_a_small_model_of_another_provider(tmp_path):
    same = one("opencode", tmp_path, {"work/opencode.json": {**OPENCODE, "small_model": "l/s"}})[0]
    assert same.small_model.value == "s"
    other = one("opencode", tmp_path, {"work/opencode.json": {**OPENCODE, "small_model": "x/s"}})[0]
    assert other.small_model is None


def test_opencode_takes_a_key_from_a_file(tmp_path):
    text = json.loads(json.dumps(OPENCODE).replace(KEY, "{file:./key.txt}"))
    vault = Vault()
    world = Home(tmp_path, {"work/opencode.json": text, "work/key.txt": f"{KEY}\n"})
    (key,) = collected(importlib.import_module("doctor.facts.clients.opencode"), world, vault)[0].credentials
    assert (vault.get(key.token), key.problems, key.line) == (KEY, (), 1)
    (tmp_path / "work/key.txt").unlink()
    (key,) = one("opencode", tmp_path)[0].credentials
    assert (key.token, key.problems) == ("", ("unset",))


@pytest.mark.parametrize("base", [BASE, f"{BASE}/v1", f"{BASE}/v1/"])
def test_crush_takes_both_bases_for_anthropics_protocol(base, tmp_path):
    table = {"type": "anthropic", "base_url": base, "api_key": "$(cat key)"}
    client = one("crush", tmp_path, {"work/crush.json": {"providers": {"a": table}}})[0]
    assert client.request_url == f"{BASE}/v1/messages"
    assert [(key.token, key.header, key.problems) for key in client.credentials] == [("", "x-api-key", ())]


def test_opencode_below_the_root_of_a_repository(tmp_path):
    world = Home(tmp_path, {"work/.git/HEAD": "", "work/opencode.json": OPENCODE, "work/a/b/x": ""})
    world.folder = lambda: str(tmp_path / "work/a/b")
    client = collected(importlib.import_module("doctor.facts.clients.opencode"), world, Vault())[0]
    assert client.base_url.source == str(tmp_path / "work/opencode.json")


def test_the_extension_of_cline(tmp_path):
    files = {"home/.cline/data/globalState.json": CLINE_STATE, "home/.cline/data/secrets.json": {"openAiApiKey": KEY}}
    _, client = one("cline", tmp_path, files)
    assert (client.id, client.request_url, client.model.value) == ("cline-vscode", CHAT, "m")
    assert [model.value for model in client.other_models] == ["planner"]
    assert (client.context_window, len(client.credentials)) == (32768, 1)


def test_an_extension_that_is_only_installed(tmp_path):
    (tmp_path / "home/.vscode/extensions/saoudrizwan.claude-dev-3.40.1").mkdir(parents=True)
    (tmp_path / "home/.vscode/extensions/rooveterinaryinc.roo-cline-3.1.0-universal").mkdir(parents=True)
    _, cline = one("cline", tmp_path)
    assert (cline.installed, cline.version) == (True, "3.40.1")
    assert isinstance(cline.base_url, Unknown) and is_in_use(cline)
    assert one("roo_code", tmp_path)[0].version == "3.1.0-universal"


def test_continue_has_a_record_for_each_model(tmp_path):
    two = CONTINUE + "  - {name: b, provider: anthropic, model: n, apiBase: 'http://127.0.0.1:9000'}\n"
    first, second = one("continue_dev", tmp_path, {"home/.continue/config.yaml": two})
    assert [first.name, second.name] == ["Continue (a)", "Continue (b)"]
    assert (second.wire_api, second.request_url) == ("anthropic-messages", "http://127.0.0.1:9000/messages")


@pytest.mark.parametrize(("model", "unusable"), [("openai/m", None), ("m", "model-prefix"), ("lm_studio/m", None)])
def test_aider_wants_a_provider_in_front_of_the_model(model, unusable, tmp_path):
    text = f"model: {model}\nweak-model: openai/s\neditor-model: openai/e\nopenai-api-base: {BASE}/v1\n"
    client = one("aider", tmp_path, {"work/.aider.conf.yml": text})[0]
    assert (client.unusable, client.model.value) == (unusable, "m")
    assert (client.small_model.value, client.other_models[0].value) == ("s", "e")


def test_an_env_file_beats_the_shell_in_aider(tmp_path):
    client = one("aider", tmp_path, {"work/.env": f"OPENAI_API_BASE={BASE}/v1\n"}, OPENAI_API_BASE="http://shell/v1")[0]
    assert client.base_url.source == str(tmp_path / "work/.env")
    assert [lost.source for lost in client.overridden] == ["environment"]


def test_routers_have_an_address_of_their_own(tmp_path):
    client = one("claude_code_router", tmp_path, {"home/.claude-code-router/config.json": ROUTER})[0]
    assert (client.listens, client.appends, client.small_model.value) == ("http://127.0.0.1:3999", "", "small")
    assert client.other_models == ()
    assert one("litellm_proxy", tmp_path, {"work/litellm.yaml": LITELLM})[0].listens == "http://127.0.0.1:4000"


def test_a_router_whose_provider_is_not_there(tmp_path):
    broken = {**ROUTER, "Router": {"default": "gone,m"}}
    client = one("claude_code_router", tmp_path, {"home/.claude-code-router/config.json": broken})[0]
    assert (client.unusable, client.base_url) == ("provider-unknown", None)


def test_config_yaml_of_some_other_program_is_nobodys(tmp_path):
    files = {"work/config.yaml": "models:\n  - base_url: http://x\nserver: {port: 1}\n"}
    for module in ("litellm_proxy", "deerflow"):
        assert not any(is_in_use(client) for client in one(module, tmp_path, files))


def test_zed_keeps_keys_in_the_keychain(tmp_path):
    client = one("zed", tmp_path, {"home/.config/zed/settings.json": ZED})[0]
    assert isinstance(client.credentials, Unknown)
    compatible = {"language_models": {"openai_compatible": {"My Server": {"api_url": f"{BASE}/v1"}}}}
    client = one("zed", tmp_path, {"home/.config/zed/settings.json": compatible}, MY_SERVER_API_KEY=KEY)[0]
    assert (client.request_url, client.credentials[0].name) == (CHAT, "MY_SERVER_API_KEY")


def test_open_webui_has_a_record_for_each_address(tmp_path):
    environ = {"OPENAI_API_BASE_URLS": f"{BASE}/v1;http://127.0.0.1:9000/v1", "OPENAI_API_KEYS": f"{KEY};"}
    first, second = one("open_webui", tmp_path, **environ)
    assert (first.request_url, len(first.credentials)) == (CHAT, 1)
    assert (second.request_url, second.credentials) == ("http://127.0.0.1:9000/v1/chat/completions", ())


def test_a_gateway_wants_both_an_address_and_a_key(tmp_path):
    environ = {"DB_BASE_URL": "http://x", "OPENAI_BASE_URL": "http://y", "OPENAI_API_KEY": KEY, "T_API_KEY": KEY}
    assert one("gateway", tmp_path, **environ) == ()


# --- all of them -----------------------------------------------------------------------------------------------------


def test_a_shared_variable_shows_one_client_alone(tmp_path):
    world = Home(tmp_path, {}, {"OPENAI_BASE_URL": f"{BASE}/v1", "OPENAI_API_KEY": KEY})
    assert [client.id for client in collect_all(world, Vault())] == ["openai-sdk"]
    world.put("home/.qwen/settings.json", {"model": {"name": "m"}})
    assert [client.id for client in collect_all(world, Vault())] == ["qwen-code", "openai-sdk"]


def test_whether_something_listens_is_asked_on_this_machine_only(tmp_path):
    world = Home(tmp_path, {"home/.codex/config.toml": CODEX}, {"OPENAI_BASE_URL": "https://api.example.com/v1"})
    asked = []
    world.port_open = lambda host, port, timeout: asked.append((host, port)) or True
    clients = {client.id: client.port_open for client in collect_all(world, Vault())}
    assert clients == {"codex": True, "openai-sdk": None}
    assert asked == [("127.0.0.1", 8080)]


def test_no_key_is_in_any_record(tmp_path):
    """All homes at once, with one more place for keys: what profiles, logins and helpers hold."""
    secret = "q8Zr3vLm0Xy7TkPw"
    vault = Vault()
    for _, system, files, environ, _ in ROOMS:
        texts = {path: json.loads(json.dumps(text).replace(KEY, secret)) for path, text in files.items()}
        world = home_of(system, texts, {name: value.replace(KEY, secret) for name, value in environ.items()})
        for client in collect_all(world, vault):
            assert secret not in json.dumps(to_json(client))
            assert secret not in repr(replace(client))
    world = Home(
        tmp_path,
        {
            "home/.bashrc": f"export OPENAI_API_KEY={secret}-profile\nexport OPENAI_BASE_URL=http://u:{secret}@x/v1\n",
            "home/.qwen/settings.json": {"security": {"auth": {"apiKey": f"{secret}-settings"}}},
            "home/.codex/auth.json": {"OPENAI_API_KEY": f"{secret}-login"},
            "work/.env": f"OPENAI_API_KEY={secret}-env\n",
        },
        {
            "OPENAI_API_KEY": f"{secret}-shell",
            "OPENAI_BASE_URL": f"http://me:{secret}@127.0.0.1/v1",
            "SHELL": "/bin/bash",
        },
    )
    clients = collect_all(world, vault)
    assert {client.id for client in clients} >= {"qwen-code", "openai-sdk"}
    assert secret not in json.dumps(to_json(clients))


_WORDS = st.sampled_from(
    """env model models provider providers options baseURL apiKey apiBase api_base base_url model_list litellm_params
    language_models api_url openai_compatible available_models Providers Router default name security auth apiKey
    modelProviders openai envKey id lastUsedProvider settings model_providers l limit context general_settings use
    BASIC_MODEL providerProfiles apiConfigs currentApiConfigName headers http_headers small_model HOST PORT
    customModels custom_models baseUrl llm llm_model agent_settings core active_provider GOOSE_PROVIDER engine api
    endpoints custom baseURL titleModel directEndpoint
    defaultProvider defaultModel sessionDefaultSettings""".split()
)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(
        ["http://[", "http://a:b@c:99999", "\ud800", "l/m", "l,m", "openai", "$X", "{env:X}", "os.environ/X"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS | st.text(max_size=3), inner, max_size=4),
    max_leaves=14,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(_WORDS, _VALUES, max_size=6), st.text(max_size=20))
def test_no_content_of_a_file_can_break_a_client(data, text):
    for module, system, files, environ, _ in ROOMS:
        odd = {path: data if not path.endswith((".env", "crushrc", ".toml")) else text for path in files}
        for client in collect_all_of(module, home_of(system, odd, {**environ, "OPENAI_MODEL": text})):
            assert client.id


def collect_all_of(module, world):
    made = importlib.import_module(f"doctor.facts.clients.{module}").collect(world, Vault())
    return made if isinstance(made, tuple) else (made,)


LIMITS = [
    ("claude_code", "home/.claude/settings.json", {"env": {"ANTHROPIC_BASE_URL": BASE, "API_TIMEOUT_MS": "2500", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "64"}}, (2.5, 64)),
    ("codex", "home/.codex/config.toml", CODEX + "stream_idle_timeout_ms = 3000\n", (None, None)),
    ("opencode", "work/opencode.json", json.loads(json.dumps(OPENCODE).replace(f'"apiKey": "{KEY}"', f'"apiKey": "{KEY}", "timeout": 1500')), (1.5, 4096)),
    ("opencode", "work/opencode.json", json.loads(json.dumps(OPENCODE).replace(f'"apiKey": "{KEY}"', f'"apiKey": "{KEY}", "timeout": false')), (None, 4096)),
    ("qwen_code", "home/.qwen/settings.json", {"model": {"generationConfig": {"timeout": 900, "samplingParams": {"max_tokens": 32}}}}, (0.9, 32)),
    ("aider", "work/.aider.conf.yml", f"model: openai/m\nopenai-api-base: {BASE}/v1\ntimeout: 7\n", (7.0, None)),
    ("deerflow", "work/conf.yaml", f"BASIC_MODEL:\n  base_url: {BASE}/v1\n  model: m\n  request_timeout: 5\n  max_tokens: 100\n", (5.0, 100)),
    ("litellm_proxy", "work/litellm.yaml", LITELLM.replace("      api_key", "      timeout: 9\n      api_key"), (9.0, None)),
]  # fmt: skip


@pytest.mark.parametrize(("module", "path", "content", "expected"), LIMITS)
def test_what_it_waits_for_and_how_much_it_asks_for(module, path, content, expected, tmp_path):
    client = one(module, tmp_path, {path: content})[0]
    assert (client.timeout_seconds, client.max_output) == expected
    assert (client.timeout is not None, client.output_limit is not None) == (
        expected[0] is not None or "false" in str(client.timeout and client.timeout.value),
        expected[1] is not None,
    )


def test_aider_brings_no_tools_and_the_others_do(tmp_path):
    assert one("aider", tmp_path)[0].uses_tools is False
    assert one("opencode", tmp_path)[0].uses_tools is True and one("claude_code", tmp_path)[0].uses_tools is True


def test_a_client_that_is_named_needs_no_more_than_an_address(tmp_path):
    world = Home(tmp_path, {}, {"SHELL": "/bin/bash", "ANTHROPIC_BASE_URL": BASE})
    assert [client.id for client in collect_all(world, Vault())] == ["claude-code"]
    found = [client.id for client in collect_all(world, Vault(), "Anthropic SDK")]
    assert found == ["claude-code", "anthropic-sdk"]
    assert [client.id for client in collect_all(world, Vault(), "aider")] == ["claude-code"]
