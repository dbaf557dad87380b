"""Wrong settings, an edit, and the check finds nothing more: for every client, from its files as people have them."""

import json
import re

import pytest

from doctor.cli import main
from tests.facts.clients.homes import Home
from tests.facts.ladder.serving import as_json, serving, vllm

KEY = "sk-local-test"
MODELS = {"object": "list", "data": [{"id": "qwen3", "owned_by": "llamacpp", "meta": {"n_ctx_train": 65536}}]}
PROPS = {"default_generation_settings": {"n_ctx": 32768, "params": {}}, "total_slots": 1, "model_path": "/m/q.gguf"}
PROPS |= {"chat_template": "{{ messages }}", "build_info": "b9000-abcdef", "model_alias": "qwen3"}


def llama(key=None, models=MODELS, props=None):
    """The answers of a llama.cpp server, as far as a check asks."""
    props = {**PROPS, **(props or {})}

    def answer(method, path, headers, body):
        path = path.partition("?")[0]
        if path in ("/health", "/v1/health"):
            return as_json({"status": "ok"}, Server="llama.cpp")
        given = headers.get("authorization", "").removeprefix("Bearer ") or headers.get("x-api-key", "")
        if key is not None and given != key and path not in ("/v1/models", "/models"):
            error = {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}
            return as_json({"error": error}, 401, Server="llama.cpp")
        known = {"/v1/models": models, "/models": models, "/props": props, "/slots": [{"id": 0, "n_ctx": 32768}]}
        if path in known and method == "GET":
            return as_json(known[path], Server="llama.cpp")
        posts = (
            "/v1/chat/completions",
            "/v1/messages",
            "/v1/responses",
            "/v1/messages/count_tokens",
            "/chat/completions",
        )
        if path in posts and method == "POST":
            if not body or not body.get("messages", body.get("input")):
                error = {"code": 400, "message": "'messages' is required", "type": "invalid_request_error"}
                return as_json({"error": error}, 400, Server="llama.cpp")
            return as_json({"choices": [{"message": {"role": "assistant", "content": "ok"}}]}, Server="llama.cpp")
        error = {"code": 404, "message": "File Not Found", "type": "not_found_error"}
        return as_json({"error": error}, 404, Server="llama.cpp")

    return answer


class World(Home):
    """A home, with ports that are really tried."""

    def port_open(self, host, port, timeout=1.0):
        return super(Home, self).port_open(host, port, timeout)


def fix(world, capsys, *words):
    status = main(["fix", "--format", "json", *words], world)
    return status, json.loads(capsys.readouterr().out)


def rules_left(world, capsys, server, client):
    main(["check", "--only", "launch,clients,server,ladders", "--server", server, "--format", "json"], world)
    data = json.loads(capsys.readouterr().out)
    return [item["rule"] for item in data["findings"] if item["severity"] in ("error", "warning")]


CLAUDE = """\
{{
  "env": {{
    "ANTHROPIC_BASE_URL": "{base}", // the server
    "ANTHROPIC_AUTH_TOKEN": "none",
    "ANTHROPIC_MODEL": "qwen3",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL": "qwen3",
    "CLAUDE_CODE_MAX_CONTEXT_TOKENS": "32768"
  }}
}}
""".replace(" // the server", "")
CODEX = """\
# mine
model = "qwen3"
model_provider = "local"
model_context_window = 32768

[model_providers.local]
name = "llama.cpp"  # mine too
base_url = "{base}/v1"
wire_api = "responses"
"""
OPENCODE = """\
{{
  // my server
  "model": "local/qwen3",
  "small_model": "local/qwen3",
  "provider": {{
    "local": {{
      "npm": "@ai-sdk/openai-compatible",
      "options": {{ "baseURL": "{base}/v1", }},
      "models": {{ "qwen3": {{ "limit": {{ "context": 32768, "output": 8192 }} }} }},
    }},
  }},
}}
"""
QWEN = """\
{{
  // mine
  "security": {{ "auth": {{ "selectedType": "openai", "baseUrl": "{base}/v1", "apiKey": "none" }} }},
  "model": {{ "name": "qwen3", "generationConfig": {{ "contextWindowSize": 32768 }} }}
}}
"""
CLINE = """\
{{
  "lastUsedProvider": "openai-compatible",
  "providers": {{
    "openai-compatible": {{
      "settings": {{ "model": "qwen3", "baseUrl": "{base}/v1", "apiKey": "none" }}
    }}
  }}
}}
"""
CONTINUE = """\
name: mine
models:
  - name: local   # my server
    provider: openai
    model: qwen3
    apiBase: {base}/v1
    defaultCompletionOptions:
      contextLength: 32768
"""
AIDER = """\
# mine
openai-api-base: {base}/v1   # my server
openai-api-key: none
model: openai/qwen3
"""
FILES = {
    "claude-code": ("home/.claude/settings.json", CLAUDE),
    "codex": ("home/.codex/config.toml", CODEX),
    "opencode": ("home/.config/opencode/opencode.jsonc", OPENCODE),
    "qwen-code": ("home/.qwen/settings.json", QWEN),
    "cline": ("home/.cline/data/settings/providers.json", CLINE),
    "continue": ("home/.continue/config.yaml", CONTINUE),
    "aider": ("home/.aider.conf.yml", AIDER),
}
ENDPOINTS = {"claude-code": "/v1/messages", "codex": "/responses"}
WRONG = {
    "port": lambda text, client, base: text.replace(base, "http://127.0.0.1:9"),
    "scheme": lambda text, client, base: text.replace(base, base.removeprefix("http://")),
    "endpoint": lambda text, client, base: (
        text.replace(base, f"{base}{ENDPOINTS[client]}")
        if client == "claude-code"
        else text.replace(f"{base}/v1", f"{base}/v1{ENDPOINTS.get(client, '/chat/completions')}")
    ),
    "v1": lambda text, client, base: (
        text.replace(base, f"{base}/v1") if client == "claude-code" else text.replace(f"{base}/v1", f"{base}/v1/v1")
    ),
    "window": lambda text, client, base: re.sub("32768", "262144", text, count=1),
}
CASES = [
    (client, fault)
    for client in FILES
    for fault in WRONG
    if not (fault == "window" and client in ("cline", "aider"))  # nothing to say there
]


@pytest.mark.parametrize(("client", "fault"), CASES)
def test_a_wrong_setting_is_cured(client, fault, tmp_path, capsys):
    place, template = FILES[client]
    with serving(llama()) as (base, _):
        right = template.format(base=base)
        extra = {"home/.claude.json": {"hasCompletedOnboarding": True}} if client == "claude-code" else {}
        world = World(tmp_path, {place: WRONG[fault](right, client, base), **extra})
        wrong = (tmp_path / place).read_text()
        assert wrong != right
        status, told = fix(world, capsys, "--server", base, "--client", client, "--yes")
        assert (status, told["state"]) == (0, "cured"), told
        mended = (tmp_path / place).read_text()
        # The same file but for the one value, in whatever way it is right.
        changed = [pair for pair in zip(wrong.split("\n"), mended.split("\n"), strict=True) if pair[0] != pair[1]]
        assert len(changed) == 1 and told["left"] == []
        assert rules_left(world, capsys, base, client) == []
        main(["fix", "--undo"], world)
        assert (tmp_path / place).read_text() == wrong


@pytest.mark.parametrize("client", list(FILES))
def test_with_nothing_wrong_nothing_is_done(client, tmp_path, capsys):
    place, template = FILES[client]
    with serving(llama()) as (base, _):
        extra = {"home/.claude.json": {"hasCompletedOnboarding": True}} if client == "claude-code" else {}
        world = World(tmp_path, {place: template.format(base=base), **extra})
        assert fix(world, capsys, "--server", base, "--yes")[1]["state"] == "nothing"
        assert rules_left(world, capsys, base, client) == []


@pytest.mark.parametrize("client", ["claude-code", "codex", "opencode", "qwen-code", "cline", "continue", "aider"])
def test_a_key_is_written_when_it_is_given_and_never_shown(client, tmp_path, capsys):
    place, template = FILES[client]
    with serving(llama(key=KEY)) as (base, _):
        text = template.format(base=base)
        for line in ('    "ANTHROPIC_AUTH_TOKEN": "none",\n', ', "apiKey": "none"', "openai-api-key: none\n"):
            text = text.replace(line, "")
        extra = {"home/.claude.json": {"hasCompletedOnboarding": True}} if client == "claude-code" else {}
        world = World(tmp_path, {place: text, **extra}, {"SOME_NAME": KEY})
        status, told = fix(world, capsys, "--server", base, "--client", client, "--yes")
        assert (status, told["state"]) == (2, "key-wanted") and (tmp_path / place).read_text() == text
        status, told = fix(world, capsys, "--server", base, "--client", client, "--yes", "--key-env", "SOME_NAME")
        assert (status, told["state"]) == (0, "cured"), told
        assert KEY in (tmp_path / place).read_text() and KEY not in json.dumps(told)


@pytest.mark.parametrize("client", ["opencode", "cline", "continue", "aider", "qwen-code"])
def test_a_model_id_is_that_of_the_server(client, tmp_path, capsys):
    place, template = FILES[client]
    with serving(vllm()) as (base, _):
        text = template.format(base=base)
        wrong = text.replace("qwen3", "qwen3-old", 1) if client != "opencode" else text.replace("qwen3", "qwen3-old")
        world = World(tmp_path, {place: wrong})
        status, told = fix(world, capsys, "--server", base, "--client", client, "--yes")
        assert (status, told["state"]) == (0, "cured"), told
        if client == "opencode":  # the entry has the id, the small model goes by the same entry
            assert '"id": "qwen3"' in (tmp_path / place).read_text()
        else:
            assert (tmp_path / place).read_text() == text


def test_a_variable_of_a_profile_is_changed_there(tmp_path, capsys):
    with serving(llama()) as (base, _):
        profile = f"# mine\nexport OPENAI_API_BASE={base}/v1/chat/completions  # server\nexport OPENAI_API_KEY=none\n"
        environ = {"OPENAI_API_BASE": f"{base}/v1/chat/completions", "OPENAI_API_KEY": "none", "SHELL": "/bin/bash"}
        world = World(tmp_path, {"home/.bashrc": profile, "home/.aider.conf.yml": "model: openai/qwen3\n"}, environ)
        status, told = fix(world, capsys, "--server", base, "--client", "aider", "--yes")
        assert (status, told["state"], told["new_shell"]) == (0, "cured", True), told
        assert (tmp_path / "home/.bashrc").read_text() == profile.replace("/v1/chat/completions", "/v1")


def test_a_variable_of_the_shell_is_beaten_in_the_settings_of_claude_code(tmp_path, capsys):
    with serving(llama()) as (base, _):
        environ = {"ANTHROPIC_BASE_URL": f"{base}/v1", "ANTHROPIC_AUTH_TOKEN": "none"}
        files = {"home/.claude/settings.json": "{}", "home/.claude.json": {"hasCompletedOnboarding": True}}
        world = World(tmp_path, files, environ)
        status, told = fix(world, capsys, "--server", base, "--client", "claude-code", "--yes")
        assert (status, told["state"]) == (0, "cured"), told
        assert json.loads((tmp_path / "home/.claude/settings.json").read_text()) == {
            "env": {"ANTHROPIC_BASE_URL": base}
        }


def test_a_proxy_that_takes_the_loopback_is_told_of_it(tmp_path, capsys):
    place, template = FILES["claude-code"]
    with serving(llama()) as (base, _):
        files = {place: template.format(base=base), "home/.claude.json": {"hasCompletedOnboarding": True}}
        world = World(tmp_path, files, {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "corp.example"})
        status, told = fix(world, capsys, "--server", base, "--client", "claude-code", "--yes")
        assert (status, told["state"]) == (0, "cured"), told
        written = json.loads((tmp_path / place).read_text())["env"]["NO_PROXY"]
        assert written == "corp.example,127.0.0.1,localhost"


def test_of_two_credentials_the_stale_one_goes(tmp_path, capsys):
    with serving(llama(key=KEY)) as (base, _):
        env = {"ANTHROPIC_BASE_URL": base, "ANTHROPIC_AUTH_TOKEN": "sk-old-stale-token", "ANTHROPIC_API_KEY": KEY}
        env |= {"ANTHROPIC_MODEL": "qwen3", "CLAUDE_CODE_MAX_CONTEXT_TOKENS": "32768"}
        files = {"home/.claude/settings.json": {"env": env}, "home/.claude.json": {"hasCompletedOnboarding": True}}
        world = World(tmp_path, files)
        status, told = fix(world, capsys, "--server", base, "--client", "claude-code", "--yes")
        assert (status, told["state"]) == (0, "cured"), told
        left = json.loads((tmp_path / "home/.claude/settings.json").read_text())["env"]
        assert "ANTHROPIC_AUTH_TOKEN" not in left and left["ANTHROPIC_API_KEY"] == KEY
        assert "stale" not in json.dumps(told) and KEY not in json.dumps(told)


@pytest.mark.parametrize("spelt", ['"sk-local-test"', "Bearer sk-local-test", " sk-local-test\n", "'sk-local-test'"])
def test_a_malformed_key_is_cleaned(spelt, tmp_path, capsys):
    with serving(llama(key=KEY)) as (base, _):
        data = json.loads(CLINE.format(base=base))
        data["providers"]["openai-compatible"]["settings"]["apiKey"] = spelt
        world = World(tmp_path, {FILES["cline"][0]: data})
        status, told = fix(world, capsys, "--server", base, "--client", "cline", "--yes")
        assert (status, told["state"]) == (0, "cured"), told
        data["providers"]["openai-compatible"]["settings"]["apiKey"] = KEY
        assert json.loads((tmp_path / FILES["cline"][0]).read_text()) == data and KEY not in json.dumps(told)


def test_a_key_once_refused_is_asked_for_again(tmp_path, capsys):
    key = "sk-local-0123456789abcdefghijklmnop"
    with serving(llama(key=key)) as (base, _):
        env = {"ANTHROPIC_BASE_URL": base, "ANTHROPIC_API_KEY": key, "ANTHROPIC_MODEL": "qwen3"}
        answers = {"approved": ["another-key-of-mine1"], "rejected": ["x" * 20, key[-20:]]}
        state = {"hasCompletedOnboarding": True, "customApiKeyResponses": answers}
        world = World(tmp_path, {"home/.claude/settings.json": {"env": env}, "home/.claude.json": state})
        status, told = fix(world, capsys, "--server", base, "--rule", "client/key-rejected-live", "--yes")
        assert (status, told["state"]) == (0, "cured"), told
        left = json.loads((tmp_path / "home/.claude.json").read_text())["customApiKeyResponses"]
        assert left == {"approved": ["another-key-of-mine1"], "rejected": ["x" * 20]}
        assert key[-20:] not in json.dumps(told) and "another-key" not in json.dumps(told)


def test_codex_gets_a_provider_for_a_variable_it_does_not_read(tmp_path, capsys):
    with serving(llama()) as (base, _):
        world = World(tmp_path, {"home/.codex/config.toml": 'model = "qwen3"\n'}, {"OPENAI_BASE_URL": f"{base}/v1"})
        status, told = fix(world, capsys, "--server", base, "--client", "codex", "--yes")
        assert (status, told["state"]) == (0, "cured"), told
        assert (tmp_path / "home/.codex/config.toml").read_text() == (
            'model = "qwen3"\nmodel_provider = "llamacpp"\n\n'
            f'[model_providers.llamacpp]\nname = "llama.cpp"\nbase_url = "{base}/v1"\n'
        )


@pytest.mark.parametrize("wrong", ['wire_api = "chat"', 'profile = "x"', "env_key"])
def test_what_codex_refuses(wrong, tmp_path, capsys):
    with serving(llama()) as (base, _):
        text = CODEX.format(base=base)
        if wrong == "env_key":
            text += 'env_key = "NOT_SET"\n'
        elif wrong.startswith("profile"):
            text = f"{wrong}\n{text}"
        else:
            text = text.replace('wire_api = "responses"', wrong)
        world = World(tmp_path, {FILES["codex"][0]: text})
        status, told = fix(world, capsys, "--server", base, "--client", "codex", "--yes")
        assert (status, told["state"]) == (0, "cured"), told
        assert (tmp_path / FILES["codex"][0]).read_text() == CODEX.format(base=base)


def test_opencode_learns_of_a_window_and_of_a_model(tmp_path, capsys):
    with serving(llama()) as (base, _):
        text = OPENCODE.format(base=base).replace('{ "limit": { "context": 32768, "output": 8192 } }', "{}")
        world = World(tmp_path, {FILES["opencode"][0]: text})
        status, told = fix(world, capsys, "--server", base, "--client", "opencode", "--yes")
        assert (status, told["state"]) == (0, "cured"), told
        assert '"qwen3": {"limit": {"context": 32768, "output": 8192}}' in (tmp_path / FILES["opencode"][0]).read_text()
        (tmp_path / FILES["opencode"][0]).write_text(text.replace('"qwen3": {}', ""))
        status, told = fix(world, capsys, "--server", base, "--client", "opencode", "--yes")
        assert (status, told["state"]) == (0, "cured"), told
