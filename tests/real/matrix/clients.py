"""The clients: how each is set up by hand, what it sends (read from the very files it reads), and its program.

What a stand-in sends is held against recordings of the real programs by test_stand_ins.py.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

from tests.real.matrix.setup import Setup, flat, variables

PROMPT = "Reply with the single word PONG"
QUIET = {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
PLACES, SDK = "DOCTOR_CLIENTS", "DOCTOR_CLIENTS_PYTHON"
"""Variables: folders with installed programs, separated as PATH is (PATH itself is looked at as well); a Python with the
packages openai and anthropic."""


class NoRequest(Exception):
    """The client sends nothing; the text is what it says."""


class Sent(NamedTuple):
    """A request as the client makes it.

    `limit` is the most tokens of the answer, 0 where it names none; `patience` the seconds it waits for the answer to
    begin, 0 for its own; `late`: a system message comes behind the first place; `billing`: a line in front names the
    release and something of the first question; `tools`: it brings some.
    """

    url: str
    headers: dict
    model: str
    wire: str
    limit: int = 0
    patience: float = 0.0
    late: bool = False
    billing: bool = False
    tools: bool = True


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

    def answered(self, status, out):
        """Whether a run that ended with this status and printed this has brought the whole answer."""
        return status == 0 and "PONG" in out.replace(PROMPT, "").upper()


class ClaudeCode(Kind):
    """Claude Code: variables in the env block of settings.json, which beat those of the shell."""

    id, wire, appends_v1 = "claude-code", "anthropic-messages", True
    base, key, model = "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL"
    settings = ".claude/settings.json"
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
        return Sent(
            f"{base.rstrip('/')}/v1/messages?beta=true",
            headers,
            seen.get(self.model, "claude-opus-5-5"),
            self.wire,
            limit=int(seen.get("CLAUDE_CODE_MAX_OUTPUT_TOKENS", 32000)),
            patience=int(seen.get("API_TIMEOUT_MS", 0)) / 1000,
            late=late,
            billing=seen.get("CLAUDE_CODE_ATTRIBUTION_HEADER") != "0",
        )

    def command(self, question=PROMPT):
        found = program("claude")
        return [found, "-p", question] if found else None

    def shell(self):
        return {"CLAUDE_CODE_MAX_RETRIES": "1"}


class Codex(Kind):
    """Codex: a provider table in config.toml, the key in a variable that it names."""

    id, wire, appends_v1 = "codex", "openai-responses", False
    base, key, model = "model_providers.local.base_url", "LOCAL_KEY", "model"
    settings = ".codex/config.toml"
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
        if "openai" in settings.get("model_providers", {}):
            raise NoRequest(
                "Error loading config.toml: model_providers contains reserved built-in provider IDs: `openai`."
            )
        if "profile" in settings:
            raise NoRequest('Error loading config.toml: legacy `profile = "..."` config is no longer supported.')
        if table is None:
            raise NoRequest(f"Error loading config.toml: Model provider `{settings.get('model_provider')}` not found")
        if table.get("wire_api") == "chat":
            raise NoRequest('Error loading config.toml: `wire_api = "chat"` is no longer supported.')
        key = env.get(table["env_key"], "").strip() if "env_key" in table else None
        if key == "":
            raise NoRequest(f"ERROR: Missing environment variable: `{table['env_key']}`.")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        url = f"{table['base_url'].rstrip('/')}/responses"
        return Sent(url, headers, settings.get("model", ""), self.wire, late=True)

    def command(self, question=PROMPT):
        found = program("codex")
        return [found, "exec", "--skip-git-repo-check", question] if found else None


PACKAGES = {
    "@ai-sdk/openai-compatible": ("openai-chat", "/chat/completions", "Authorization"),
    "@ai-sdk/anthropic": ("anthropic-messages", "/messages", "x-api-key"),
}
"""What the provider packages of OpenCode make of a base URL."""


class OpenCode(Kind):
    """OpenCode: a provider in opencode.json."""

    id, wire, appends_v1 = "opencode", "openai-chat", False
    base, key, model = "provider.local.options.baseURL", "provider.local.options.apiKey", "model"
    settings = ".config/opencode/opencode.json"
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
        wire, end, header = PACKAGES[table["npm"]]
        headers = {header: f"Bearer {key}" if header == "Authorization" else key} if key else {}
        limit = table["models"][model].get("limit", {}).get("output", 32000)
        patience = table["options"].get("timeout", 0) / 1000
        return Sent(f"{table['options']['baseURL'].rstrip('/')}{end}", headers, sent, wire, limit, patience)

    def command(self, question=PROMPT):
        found = program("opencode")
        return [found, "run", question] if found else None

    def shell(self):
        return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


class QwenCode(Kind):
    """Qwen Code: address, key and model in variables."""

    id, wire, appends_v1 = "qwen-code", "openai-chat", False
    base, key, model = "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"
    settings = ".qwen/settings.json"
    proxies = ("http_proxy", "HTTP_PROXY")
    trust = "NODE_EXTRA_CA_CERTS"

    def sound(self, setup):
        setup.files = {
            self.settings: {
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
        config = settings.get("model", {}).get("generationConfig", {})
        limit, patience = config.get("samplingParams", {}).get("max_tokens", 32000), config.get("timeout", 0) / 1000
        return Sent(f"{base.rstrip('/')}/chat/completions", headers, model, self.wire, limit, patience)

    def command(self, question=PROMPT):
        found, node = program("qwen"), program("node")
        return [node, str(Path(found).resolve()), "-p", question] if found and node else None


class Cline(Kind):
    """Cline CLI: providers.json."""

    id, wire, appends_v1 = "cline", "openai-chat", False
    base = "providers.openai-compatible.settings.baseUrl"
    key = "providers.openai-compatible.settings.apiKey"
    model = "providers.openai-compatible.settings.model"
    settings = ".cline/data/settings/providers.json"
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
        providers = _json(home / self.settings)["providers"]
        if "openai-compatible" not in providers:
            raise NoRequest("")
        table = providers["openai-compatible"]["settings"]
        key = table.get("apiKey", "").strip()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return Sent(f"{table['baseUrl'].rstrip('/')}/chat/completions", headers, table["model"], self.wire)

    def auth(self, setup, words):
        """What `cline auth` writes, where it is not installed."""
        options = dict(zip(words[2::2], words[3::2], strict=True))
        self.sound(setup)
        for name, option in ((self.base, "-b"), (self.model, "-m"), (self.key, "-k")):
            setup.put(name, options[option])

    def command(self, question=PROMPT):
        found = program("cline")
        return [found, "--retries", "1", "-t", "40", question] if found else None


class OpenAISdk(Kind):
    """A program with OpenAI's own library and nothing but variables."""

    id, wire, appends_v1 = "openai-sdk", "openai-chat", False
    base, key, model = "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"
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
        return Sent(f"{env[self.base].rstrip('/')}/chat/completions", headers, env.get(self.model, ""), self.wire)

    def command(self, question=PROMPT):
        python = os.environ.get(SDK)
        return [python, str(Path(__file__).with_name("sdk_program.py")), "openai", question] if python else None


class AnthropicSdk(Kind):
    """A program with Anthropic's own library that reads a .env file, as many do: the shell's variables are Claude Code's."""

    id, wire, appends_v1 = "anthropic-sdk", "anthropic-messages", True
    base, key, model = "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL"
    proxies = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
    trust = "SSL_CERT_FILE"
    settings = "project/.env"

    def sound(self, setup):
        setup.files = {
            self.settings: {
                self.base: f"http://127.0.0.1:{setup.command.port}",
                self.key: setup.secret or "none",
                self.model: "local-model",
            }
        }

    def add(self, setup, name, value):
        setup.files[self.settings][name] = value

    def reads(self, home, env):
        env = {**variables((home / self.settings).read_text("utf-8")), **env}
        key = env.get(self.key, "").strip() or env.get("ANTHROPIC_AUTH_TOKEN", "").strip()
        if not key:
            raise NoRequest("TypeError: Could not resolve authentication method.")
        headers = {"Authorization": f"Bearer {key}", "anthropic-version": "2023-06-01"}
        return Sent(f"{env[self.base].rstrip('/')}/v1/messages", headers, env.get(self.model, ""), self.wire, 200)

    def command(self, question=PROMPT):
        python = os.environ.get(SDK)
        return [python, str(Path(__file__).with_name("sdk_program.py")), "anthropic", question] if python else None


class Aider(Kind):
    """aider: .aider.conf.yml, and the windows of models it does not know in a file of their own."""

    id, wire, appends_v1 = "aider", "openai-chat", False
    base, key, model = "openai-api-base", "openai-api-key", "model"
    settings, windows = ".aider.conf.yml", ".aider.model.metadata.json"
    proxies = ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY")
    trust = "SSL_CERT_FILE"

    def sound(self, setup):
        entry = {"max_input_tokens": 65536, "max_output_tokens": 8192, "litellm_provider": "openai", "mode": "chat"}
        setup.files = {
            self.settings: {
                self.model: "openai/local-model",
                self.base: f"http://127.0.0.1:{setup.command.port}/v1",
                self.key: setup.secret or "none",
                "check-update": False,
                "analytics": False,
                "show-release-notes": False,
                "show-model-warnings": False,
            },
            self.windows: {"openai/local-model": {**entry, "input_cost_per_token": 0, "output_cost_per_token": 0}},
        }

    def add(self, setup, name, value):
        setup.files[self.settings][name] = value

    def name_models(self, setup, name):
        settings, windows = setup.files[self.settings], setup.files[self.windows]
        windows[f"openai/{name}"] = windows.pop(settings[self.model], {})
        settings[self.model] = f"openai/{name}"

    def reads(self, home, env):
        settings = _flat(home / self.settings)
        prefix, slash, model = str(settings[self.model]).partition("/")
        if not slash or prefix != "openai":
            raise NoRequest("litellm.BadRequestError: LLM Provider NOT provided.")
        key = str(settings.get(self.key, "")).strip()
        if not key:
            raise NoRequest("litellm.AuthenticationError: The api_key client option must be set")
        headers = {"Authorization": f"Bearer {key}"}
        url, patience = f"{settings[self.base].rstrip('/')}/chat/completions", float(settings.get("timeout", 0))
        return Sent(url, headers, model, self.wire, patience=patience, tools=False)

    def command(self, question=PROMPT):
        found = program("aider")
        words = ["--no-git", "--yes-always", "--no-pretty", "--no-auto-commits", "--message"]
        return [found, *words, question] if found else None


class Browser(Kind):
    """A web page of another origin that asks the server, in a browser."""

    id, wire, appends_v1 = "browser", "openai-chat", False
    base, key, model = "PAGE_BASE_URL", "PAGE_KEY", "PAGE_MODEL"
    proxies: tuple[str, ...] = ()
    trust = ""

    def sound(self, setup):
        setup.env |= {
            self.base: f"http://127.0.0.1:{setup.command.port}/v1",
            self.key: setup.secret or "none",
            self.model: "local-model",
        }

    def reads(self, _, env):
        headers = {"Authorization": f"Bearer {env[self.key]}"}
        return Sent(f"{env[self.base].rstrip('/')}/chat/completions", headers, env[self.model], self.wire)

    def command(self, question=PROMPT):
        found = program("chromium", "google-chrome", "chrome")
        return [sys.executable, str(Path(__file__).with_name("page.py")), found, question] if found else None


CLIENTS = {
    kind.id: kind
    for kind in (
        ClaudeCode(),
        Codex(),
        OpenCode(),
        QwenCode(),
        Cline(),
        Aider(),
        OpenAISdk(),
        AnthropicSdk(),
        Browser(),
    )
}
ANTHROPIC = ("claude-code", "anthropic-sdk")
OPENAI = ("codex", "opencode", "qwen-code", "cline", "aider", "openai-sdk")
ALL = (*ANTHROPIC, *OPENAI)
CLAUDE = ("claude-code",)


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


def _flat(path):
    return flat(path.read_text("utf-8"))


def _toml(path):
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise NoRequest(f"Error loading config.toml: {error}") from None
