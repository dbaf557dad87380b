"""The clients: how each is set up by hand, what it sends (read from the very files it reads), and its program.

What a stand-in sends is held against recordings of the real programs by test_stand_ins.py.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from tests.real.matrix.setup import Setup

PROMPT = "Reply with the single word PONG"
QUIET = {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
PLACES, SDK = "DOCTOR_CLIENTS", "DOCTOR_CLIENTS_PYTHON"
"""Variables: folders with installed programs, separated as PATH is (PATH itself is looked at as well); a Python with the
package openai."""


class NoRequest(Exception):
    """The client sends nothing; the text is what it says."""


class Sent(NamedTuple):
    """A request as the client makes it."""

    url: str
    headers: dict
    model: str


def program(*names):
    """The path of an installed program, None where there is none."""
    path = os.pathsep.join(filter(None, (os.environ.get(PLACES, ""), os.environ.get("PATH", ""))))
    return next((found for found in (shutil.which(name, path=path) for name in names) if found), None)


class Kind:
    """What all clients have in common."""

    def name_models(self, setup, name):
        """Ask for this model in place of local-model."""
        setup.put(self.model, name)

    def add(self, setup, name, value):
        """Where the client keeps a setting that it does not have yet: its own file, else the shell."""
        if "." not in name:
            setup.env[name] = value
            return
        *heads, last = name.split(".")
        table = setup.files[self.settings]
        for head in heads:
            table = table.setdefault(head, {})
        table[last] = value

    def shell(self):
        """Variables that keep the program's run short."""
        return {}


class ClaudeCode(Kind):
    """Claude Code: variables in the env block of settings.json, which beat those of the shell."""

    id, wire, appends_v1 = "claude-code", "anthropic-messages", True
    base, key, model = "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL"
    settings = ".claude/settings.json"
    late_system = True
    proxies = ("http_proxy", "HTTP_PROXY")
    trust = "NODE_EXTRA_CA_CERTS"

    def sound(self, setup):
        env = {
            self.base: f"http://127.0.0.1:{setup.command.port}",
            self.key: setup.secret or "none",
            self.model: "local-model",
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": "local-model",
            "CLAUDE_CODE_MAX_CONTEXT_TOKENS": "65536",
            **QUIET,
        }
        setup.files = {self.settings: {"env": env}, ".claude.json": {"hasCompletedOnboarding": True}}

    def add(self, setup, name, value):
        setup.files[self.settings]["env"][name] = value

    def name_models(self, setup, name):
        setup.put(self.model, name)
        setup.put("ANTHROPIC_DEFAULT_HAIKU_MODEL", name)

    def reads(self, home, env):
        settings = _json(home / self.settings)
        seen = {**env, **settings.get("env", {})}
        state, login = _json(home / ".claude.json"), _json(home / ".claude" / ".credentials.json")
        base = seen.get(self.base, "").strip()
        if not base.startswith(("http://", "https://")):
            raise NoRequest("API Error: Unable to connect to API (ERR_INVALID_URL)")
        headers = {}
        if seen.get("ANTHROPIC_AUTH_TOKEN", "").strip():
            headers["Authorization"] = f"Bearer {seen['ANTHROPIC_AUTH_TOKEN'].strip()}"
        key = seen.get("ANTHROPIC_API_KEY", "").strip()
        rejected = state.get("customApiKeyResponses", {}).get("rejected", [])
        if key and key[-20:] not in rejected:
            headers["x-api-key"] = key
        if not headers and login:
            headers["Authorization"] = f"Bearer {login['claudeAiOauth']['accessToken']}"
        if not headers:
            raise NoRequest("Not logged in · Please run /login")
        headers["anthropic-version"] = "2023-06-01"
        late = "-mid_conv_system" not in seen.get("CLAUDE_CODE_MODEL_CAPABILITIES", "")
        return Sent(f"{base.rstrip('/')}/v1/messages?beta=true", headers, seen.get(self.model, "claude-opus-5-5")), late

    def command(self):
        found = program("claude")
        return [found, "-p", PROMPT] if found else None

    def shell(self):
        return {"CLAUDE_CODE_MAX_RETRIES": "1"}


class Codex(Kind):
    """Codex: a provider table in config.toml, the key in a variable that it names."""

    id, wire, appends_v1 = "codex", "openai-responses", False
    base, key, model = "model_providers.local.base_url", "LOCAL_KEY", "model"
    settings = ".codex/config.toml"
    late_system = True
    proxies = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
    trust = "SSL_CERT_FILE"

    def sound(self, setup):
        provider = {
            "name": "local",
            "base_url": f"http://127.0.0.1:{setup.command.port}/v1",
            "env_key": "LOCAL_KEY",
            "wire_api": "responses",
            "request_max_retries": 0,
            "stream_max_retries": 0,
        }
        setup.files = {
            self.settings: {
                "model": "local-model",
                "model_provider": "local",
                "model_context_window": 65536,
                "model_providers": {"local": provider},
            }
        }
        setup.env["LOCAL_KEY"] = setup.secret or "none"

    def reads(self, home, env):
        settings = _toml(home / self.settings)
        table = settings.get("model_providers", {}).get(settings.get("model_provider"))
        if table is None:
            raise NoRequest(f"Error loading config.toml: Model provider `{settings.get('model_provider')}` not found")
        if table.get("wire_api") == "chat":
            raise NoRequest('Error loading config.toml: `wire_api = "chat"` is no longer supported.')
        key = env.get(table["env_key"], "").strip() if "env_key" in table else None
        if key == "":
            raise NoRequest(f"ERROR: Missing environment variable: `{table['env_key']}`.")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return Sent(f"{table['base_url'].rstrip('/')}/responses", headers, settings.get("model", "")), True

    def command(self):
        found = program("codex")
        return [found, "exec", "--skip-git-repo-check", PROMPT] if found else None


class OpenCode(Kind):
    """OpenCode: a provider in opencode.json."""

    id, wire, appends_v1 = "opencode", "openai-chat", False
    base, key, model = "provider.local.options.baseURL", "provider.local.options.apiKey", "model"
    settings = ".config/opencode/opencode.json"
    late_system = False
    proxies = ("http_proxy", "HTTP_PROXY")
    trust = "NODE_EXTRA_CA_CERTS"

    def sound(self, setup):
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "llama.cpp",
            "options": {
                "baseURL": f"http://127.0.0.1:{setup.command.port}/v1",
                "apiKey": setup.secret or "none",
            },
            "models": {"local-model": {"name": "Local", "limit": {"context": 65536, "output": 8192}}},
        }
        setup.files = {
            self.settings: {
                "autoupdate": False,
                "share": "disabled",
                "model": "local/local-model",
                "small_model": "local/local-model",
                "provider": {"local": provider},
            }
        }

    def name_models(self, setup, name):
        settings = setup.files[self.settings]
        settings["model"] = settings["small_model"] = f"local/{name}"
        models = settings["provider"]["local"]["models"]
        models[name] = models.pop(next(iter(models)))

    def reads(self, home, env):
        settings = _json(home / self.settings)
        provider, _, model = settings["model"].partition("/")
        table = settings["provider"].get(provider, {})
        if model not in table.get("models", {}):
            raise NoRequest(f"Error: Model not found: {provider}/{model}.")
        sent = table["models"][model].get("id", model)
        key = table["options"].get("apiKey", "").strip()
        if key.startswith("{env:"):
            key = env.get(key[5:-1], "").strip()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return Sent(f"{table['options']['baseURL'].rstrip('/')}/chat/completions", headers, sent), False

    def command(self):
        found = program("opencode")
        return [found, "run", PROMPT] if found else None

    def shell(self):
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


class QwenCode(Kind):
    """Qwen Code: address, key and model in variables."""

    id, wire, appends_v1 = "qwen-code", "openai-chat", False
    base, key, model = "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"
    late_system = False
    proxies = ("http_proxy", "HTTP_PROXY")
    trust = "NODE_EXTRA_CA_CERTS"

    def sound(self, setup):
        setup.files = {
            ".qwen/settings.json": {
                "security": {"auth": {"selectedType": "openai"}},
                "privacy": {"usageStatisticsEnabled": False},
                "general": {"enableAutoUpdate": False},
                "model": {"generationConfig": {"maxRetries": 0, "contextWindowSize": 65536}},
            }
        }
        setup.env |= {
            self.base: f"http://127.0.0.1:{setup.command.port}/v1",
            self.key: setup.secret or "none",
            self.model: "local-model",
        }

    def reads(self, home, env):
        settings = _json(home / ".qwen" / "settings.json")
        auth = settings.get("security", {}).get("auth", {})
        key = env.get(self.key, "").strip() or auth.get("apiKey", "").strip()
        if not key:
            raise NoRequest("Missing API key for OpenAI-compatible auth. Set OPENAI_API_KEY.")
        headers = {"Authorization": f"Bearer {key}"}
        model = settings.get("model", {}).get("name") or env.get(self.model, "")
        base = env.get(self.base) or auth["baseUrl"]
        return Sent(f"{base.rstrip('/')}/chat/completions", headers, model), False

    def command(self):
        found, node = program("qwen"), program("node")
        return [node, str(Path(found).resolve()), "-p", PROMPT] if found and node else None


class Cline(Kind):
    """Cline CLI: providers.json."""

    id, wire, appends_v1 = "cline", "openai-chat", False
    base = "providers.openai-compatible.settings.baseUrl"
    key = "providers.openai-compatible.settings.apiKey"
    model = "providers.openai-compatible.settings.model"
    settings = ".cline/data/settings/providers.json"
    late_system = False
    proxies = ("http_proxy", "HTTP_PROXY")
    trust = "NODE_EXTRA_CA_CERTS"

    def sound(self, setup):
        provider = {
            "provider": "openai-compatible",
            "model": "local-model",
            "baseUrl": f"http://127.0.0.1:{setup.command.port}/v1",
            "apiKey": setup.secret or "none",
        }
        entry = {"settings": provider, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
        setup.files = {
            self.settings: {
                "version": 1,
                "lastUsedProvider": "openai-compatible",
                "modes": {},
                "providers": {"openai-compatible": entry},
            }
        }

    def reads(self, home, _):
        table = _json(home / self.settings)["providers"]["openai-compatible"]["settings"]
        key = table.get("apiKey", "").strip()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return Sent(f"{table['baseUrl'].rstrip('/')}/chat/completions", headers, table["model"]), False

    def command(self):
        found = program("cline")
        return [found, "--retries", "1", "-t", "40", PROMPT] if found else None


class OpenAISdk(Kind):
    """A program with OpenAI's own library and nothing but variables."""

    id, wire, appends_v1 = "openai-sdk", "openai-chat", False
    base, key, model = "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"
    late_system = False
    proxies = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
    trust = "SSL_CERT_FILE"

    def sound(self, setup):
        setup.env |= {
            self.base: f"http://127.0.0.1:{setup.command.port}/v1",
            self.key: setup.secret or "none",
            self.model: "local-model",
        }

    def reads(self, _, env):
        key = env.get(self.key, "").strip()
        if not key:
            raise NoRequest("openai.OpenAIError: The api_key client option must be set")
        headers = {"Authorization": f"Bearer {key}"}
        return Sent(f"{env[self.base].rstrip('/')}/chat/completions", headers, env.get(self.model, "")), False

    def command(self):
        python = os.environ.get(SDK)
        return [python, str(Path(__file__).with_name("sdk_program.py")), PROMPT] if python else None


CLIENTS = {kind.id: kind for kind in (ClaudeCode(), Codex(), OpenCode(), QwenCode(), Cline(), OpenAISdk())}
ANTHROPIC = ("claude-code",)
OPENAI = ("codex", "opencode", "qwen-code", "cline", "openai-sdk")
ALL = (*ANTHROPIC, *OPENAI)


def sound(client, home, command):
    """A set-up without a fault."""
    setup = Setup(CLIENTS[client], home, command, secret=command.value("--api-key") or "")
    setup.client.sound(setup)
    return setup


def _json(path):
    try:
        return json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise NoRequest(f"SyntaxError: {path}: {error}") from None


def _toml(path):
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise NoRequest(f"Error loading config.toml: {error}") from None
