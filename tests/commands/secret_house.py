"""A machine on which a different secret stands in every place that doctor reads, and the search for any of them in what
doctor says.
"""

import base64
import json
import os
import random
import stat
import sys
from pathlib import Path
from urllib.parse import quote

from tests.facts.clients.test_triplets import BASE, KEY, ROOMS

WINDOW = 6
"""So many characters of a secret, one after the other, are too many."""


class Secrets:
    """Texts that occur nowhere else, each with the place it was made for."""

    def __init__(self):
        self._random = random.Random(4711)
        self.places = {}

    def word(self, place):
        """Small letters only: a key for nobody who does not know its place."""
        return self._new(place, "bcdfghjkmpqrstvwxz", 18)

    def key(self, place):
        """Letters of both kinds and digits, as generated."""
        return self._new(place, "bcdfghjkmpqrstvwxzBCDFGHJKMPQRSTVWXZ23456789", 20)

    def odd(self, place):
        """With characters that shells, JSON and URLs write in other ways."""
        return self._new(place, "bcdfghjkmpqrBCDFGHJKMPQR23456789", 9) + "+/&%=" + self.key(f"{place}, second half")[:9]

    def _new(self, place, letters, size):
        made = "".join(self._random.choice(letters) for _ in range(size))
        self.places[made] = place
        return made

    def pieces(self):
        """Piece -> place: every part of a secret that is too long to be seen, and what it is when it is encoded."""
        found = {}
        for secret, place in self.places.items():
            coded = (
                secret,
                quote(secret, safe=""),
                json.dumps(secret)[1:-1],
                base64.b64encode(secret.encode()).decode(),
            )
            for text in coded:
                for at in range(len(text) - WINDOW + 1):
                    found[text[at : at + WINDOW]] = place
        return found

    def seen_in(self, text, pieces):
        """The places of the secrets of which a text shows more than it may."""
        return sorted(
            {pieces[text[at : at + WINDOW]] for at in range(len(text) - WINDOW + 1) if text[at : at + WINDOW] in pieces}
        )


class House:
    """A home, a project folder, variables, launch files, a log and a llama-server that runs; all below `root`."""

    def __init__(self, root, url):
        self.root, self.url, self.secrets = Path(root), url, Secrets()
        self.home, self.work, self.launch = (self.root / name for name in ("home", "work", "launch"))
        self.out = self.root / "out"
        for folder in (self.home, self.work, self.launch, self.out):
            folder.mkdir()
        self.environ = {}
        self._clients()
        self._profile_and_variables()
        self._launch_files()
        self._log()

    def put(self, path, content):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8")
        return path

    def _clients(self):
        word, key, odd, url = self.secrets.word, self.secrets.key, self.secrets.odd, self.url
        servers = {
            "docs": {
                "command": "x",
                "env": {"DOCS_API_KEY": key("claude mcp")},
                "headers": {"Authorization": f"Bearer {key('claude mcp header')}"},
            }
        }
        self.put(self.home / ".claude/settings.json", {
            "env": {"ANTHROPIC_BASE_URL": f"{url}/v1", "ANTHROPIC_AUTH_TOKEN": word("claude token"), "ANTHROPIC_API_KEY": odd("claude key"),
                    "ANTHROPIC_CUSTOM_HEADERS": f"X-Api-Key: {key('claude custom header')}", "OTHER_SERVICE_TOKEN": key("claude env")},
            "apiKeyHelper": f"echo {key('claude helper')}", "model": "qwen3", "mcpServers": servers,
        })  # fmt: skip
        self.put(
            self.home / ".claude/settings.local.json", {"env": {"ANTHROPIC_AUTH_TOKEN": key("claude local settings")}}
        )
        self.put(self.work / ".claude/settings.json", {"env": {"ANTHROPIC_AUTH_TOKEN": odd("claude project")}})
        login = {"accessToken": word("claude login"), "refreshToken": key("claude refresh")}
        self.put(self.home / ".claude/.credentials.json", {"claudeAiOauth": login})
        self.put(self.home / ".claude.json", {"customApiKeyResponses": {"rejected": [word("claude rejected")], "approved": [word("claude approved")]},
                                              "mcpServers": servers, "oauthAccount": {"accessToken": key("claude state")}})  # fmt: skip
        self.put(self.home / ".codex/config.toml", (
            f'model = "m"\nmodel_provider = "l"\n[model_providers.l]\nname = "l"\nbase_url = "{url}/v1"\nenv_key = "CODEX_KEY"\n'
            f"experimental_bearer_token = {json.dumps(odd('codex token'))}\n"
            f'http_headers = {{ "X-Api-Key" = "{key("codex header")}" }}\nquery_params = {{ api_key = "{key("codex query")}" }}\n'
            f'[mcp_servers.a.env]\nA_API_KEY = "{key("codex mcp")}"\n'
        ))  # fmt: skip
        self.put(
            self.home / ".codex/auth.json",
            {
                "OPENAI_API_KEY": word("codex login"),
                "tokens": {"access_token": key("codex access"), "refresh_token": key("codex refresh")},
            },
        )
        self.environ["CODEX_KEY"] = word("codex variable")
        options = {
            "baseURL": f"http://me:{word('opencode password')}@{url[7:]}/v1",
            "apiKey": "{file:./key.txt}",
            "headers": {"x-api-key": key("opencode header")},
        }
        self.put(
            self.home / ".config/opencode/opencode.json",
            {
                "model": "l/m",
                "provider": {"l": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}},
            },
        )
        self.put(self.home / ".config/opencode/key.txt", odd("opencode key file") + "\n")
        self.put(self.home / ".local/share/opencode/auth.json", {"l": {"type": "api", "key": word("opencode login")}})
        self.put(
            self.home / ".qwen/settings.json",
            {"model": {"name": "m"}, "security": {"auth": {"baseUrl": f"{url}/v1", "apiKey": word("qwen key")}}},
        )
        self.put(
            self.home / ".qwen/.env",
            f"OPENAI_API_KEY='{odd('qwen env file')}'\nDASHSCOPE_API_KEY={key('qwen other key')}\n",
        )
        self.put(
            self.home / ".qwen/oauth_creds.json",
            {"access_token": word("qwen login"), "refresh_token": key("qwen refresh")},
        )
        self.put(
            self.home / ".cline/data/settings/providers.json",
            {
                "lastUsedProvider": "openai-compatible",
                "providers": {
                    "openai-compatible": {
                        "settings": {"model": "m", "baseUrl": f"{url}/v1", "apiKey": word("cline key")}
                    }
                },
            },
        )
        self.put(
            self.home / ".cline/data/globalState.json",
            {"actModeApiProvider": "openai", "openAiBaseUrl": f"{url}/v1", "actModeOpenAiModelId": "m"},
        )
        self.put(
            self.home / ".cline/data/secrets.json",
            {"openAiApiKey": word("cline secret"), "openRouterApiKey": key("cline other secret")},
        )
        self.put(
            self.home / ".continue/config.yaml",
            f'models:\n  - name: a\n    provider: openai\n    model: m\n    apiBase: {url}/v1\n    apiKey: "{odd("continue key")}"\n    requestOptions: {{headers: {{Authorization: Bearer {key("continue header")}}}}}\n',
        )
        self.put(self.home / ".continue/.env", f"MISTRAL_API_KEY={key('continue env file')}\n")
        self.put(
            self.work / ".aider.conf.yml",
            f"model: openai/m\nopenai-api-base: {url}/v1\nopenai-api-key: {word('aider key')}\napi-key:\n  - deepseek={key('aider list')}\n",
        )
        self.put(
            self.home / ".gemini/.env",
            f"GOOGLE_GEMINI_BASE_URL={url}\nGEMINI_API_KEY={word('gemini key')}\nGEMINI_MODEL=m\n",
        )
        for module, (platform, home, work), files, environ, _ in ROOMS:
            if platform != "linux":
                continue
            for path, content in files.items():
                for folder, real in ((home, self.home), (work, self.work)):
                    place = real / path.removeprefix(f"{folder}/")
                    if path.startswith(f"{folder}/") and not place.exists():
                        text = content if isinstance(content, str) else json.dumps(content)
                        text = text.replace(f'"{home}/', f'"{self.home}/')
                        self.put(place, text.replace(KEY, word(f"{module}, {place.name}")).replace(BASE, url))
            for name, value in environ.items():
                if KEY in value and name not in self.environ:
                    self.environ[name] = value.replace(KEY, word(f"{module}, ${name}"))

    def _profile_and_variables(self):
        word, key, odd = self.secrets.word, self.secrets.key, self.secrets.odd
        self.put(self.home / ".bashrc", (
            f"export OPENAI_API_KEY={word('profile')}\nexport ANTHROPIC_AUTH_TOKEN='{odd('profile, quoted')}'\n"
            f"export OPENAI_BASE_URL=http://me:{word('profile, URL')}@127.0.0.1:9/v1\nexport HTTPS_PROXY=me:{key('profile, proxy')}@proxy:3128\n"
            f"alias c='OPENAI_API_KEY={key('profile, alias')} codex'\n"
        ))  # fmt: skip
        self.environ |= {
            "OPENAI_API_KEY": word("$OPENAI_API_KEY"), "ANTHROPIC_API_KEY": odd("$ANTHROPIC_API_KEY"), "HF_TOKEN": word("$HF_TOKEN"),
            "OPENAI_BASE_URL": f"http://me:{word('$OPENAI_BASE_URL')}@{self.url[7:]}/v1?api_key={key('$OPENAI_BASE_URL, query')}",
            "HTTP_PROXY": f"http://me:{word('$HTTP_PROXY')}@127.0.0.1:9", "ALL_PROXY": f"me:{key('$ALL_PROXY')}@127.0.0.1:9",
            "https_proxy": f"socks5://me:{key('$https_proxy')}@127.0.0.1:9", "AWS_SECRET_ACCESS_KEY": key("$AWS_SECRET_ACCESS_KEY"),
            "MY_KEY": word("the variable of --key-env"), "LLAMA_ARG_API_KEY": word("$LLAMA_ARG_API_KEY"), "LLAMA_API_KEY": word("$LLAMA_API_KEY"),
        }  # fmt: skip

    def _launch_files(self):
        word, key, odd = self.secrets.word, self.secrets.key, self.secrets.odd

        def line(place, quoted=False):
            mark = '"' if quoted else ""
            return (
                f"llama-server -hf a/b --hf-token {word(f'{place}, --hf-token')} --api-key {mark}{key(f'{place}, --api-key')},{word(f'{place}, second key')}{mark} "
                f"--model-url http://me:{word(f'{place}, URL')}@127.0.0.1:9/m.gguf?token={key(f'{place}, query')} --bogus-key {key(f'{place}, unknown option')} --no-such 1 -c 64K"
            )

        self.put(
            self.launch / "run.sh",
            f"#!/bin/sh\n# once: --api-key {key('sh, remark')}\nexport HF_TOKEN={word('sh, HF_TOKEN')}\nexport LLAMA_API_KEY='{odd('sh, variable')}'\nK={word('sh, K')}\nexport HTTP_PROXY=http://me:{word('sh, proxy')}@proxy:1\n{line('sh')} --api-key $K\n",
        )
        self.put(
            self.launch / "glued.sh",
            f"llama-server -m x.gguf --api-key{key('sh, glued')} --hf-token={key('sh, equals')} --api_key {word('sh, underscore')} --port 8080\n",
        )
        self.put(self.launch / "file.sh", "llama-server -m x.gguf --api-key-file keys.txt\n")
        self.put(self.launch / "keys.txt", f"# ours\n{word('key file')}\n{odd('key file, second')}\n")
        self.put(
            self.launch / "run.ps1",
            f"$env:LLAMA_API_KEY = \"{word('ps1, variable')}\"\n$key = '{word('ps1, key')}'\n{line('ps1', quoted=True)} --api-key $key\n",
        )
        self.put(
            self.launch / "run.bat",
            f'@echo off\nset HF_TOKEN={word("bat, variable")}\nset "KEY={word("bat, key")}"\n{line("bat")} --api-key %KEY%\n',
        )
        self.put(self.launch / "compose.yml", (
            f"services:\n  llama:\n    image: ghcr.io/ggml-org/llama.cpp:server\n    environment:\n      - LLAMA_API_KEY={word('compose, variable')}\n"
            f"      - HF_TOKEN=${{HF:-{key('compose, default')}}}\n      - LLAMA_ARG_HF_TOKEN=$FROM_DOTENV\n    command:\n      - --api-key\n      - {word('compose, list')}\n      - --model\n      - /m/x.gguf\n      - --no-such\n"
        ))  # fmt: skip
        self.put(
            self.launch / ".env",
            f"FROM_DOTENV={word('.env of compose')}\nOTHER_SECRET={key('.env of compose, other')}\n",
        )
        self.put(
            self.launch / "Dockerfile",
            f'FROM ghcr.io/ggml-org/llama.cpp:server\nARG TOKEN={word("docker, ARG")}\nENV HF_TOKEN={word("docker, ENV")}\nENV LLAMA_API_KEY {word("docker, old ENV")}\nCMD ["--api-key", "{key("docker, CMD")}", "-m", "/m/x.gguf", "--no-such"]\n',
        )
        self.put(
            self.launch / "llama.service",
            f'[Service]\nEnvironment=HF_TOKEN={word("unit, variable")}\nEnvironment="LLAMA_API_KEY={odd("unit, quoted").replace("%", "%%")}"\nEnvironmentFile={self.launch}/unit.env\nExecStart=/usr/bin/{line("unit")}\n',
        )
        self.put(self.launch / "unit.env", f"LLAMA_ARG_API_KEY={word('EnvironmentFile')}\n")
        self.put(
            self.launch / "llama-swap.yaml",
            f'apiKeys: ["{word("swap, apiKeys")}"]\nmacros:\n  k: {word("swap, macro")}\nmodels:\n  a:\n    env: ["HF_TOKEN={word("swap, env")}"]\n    cmd: llama-server -m x.gguf --api-key ${{k}} --hf-token {key("swap, cmd")} --no-such 1\n',
        )
        self.put(
            self.launch / "models.ini",
            f"[a]\nmodel = /m/x.gguf\napi-key = {word('ini')}\nhf-token = {word('ini, token')}\nLLAMA_API_KEY = {word('ini, variable')}\nno-such = 1\n",
        )
        self.put(
            self.launch / "Modelfile",
            f"FROM http://me:{word('Modelfile')}@127.0.0.1:9/x.gguf?token={key('Modelfile, query')}\nPARAMETER num_ctx 4096\nSYSTEM the key is {key('Modelfile, SYSTEM')}\n",
        )
        self.command_line = line("command line")

    def _log(self):
        word, key = self.secrets.word, self.secrets.key
        one = key("a spelling of fixtures/secrets")
        text = (Path(__file__).parents[2] / "fixtures/secrets/spellings.txt").read_text(encoding="utf-8")
        spelt = [
            line.replace("§", one)
            for line in text.splitlines()
            if "§" in line and "⏎" not in line and not line.startswith("# ")
        ]
        lines = [f"error: unknown argument: {line}" for line in spelt]
        lines += [
            f"$ {self.command_line}", f"error: invalid argument: --api-key{key('log, glued')}",
            f"> Authorization: Bearer {word('log, header')}", f"> x-api-key: {word('log, x-api-key')}", f"Set-Cookie: session={word('log, cookie')}; Path=/",
            f'{{"error":{{"message":"Incorrect API key provided: {key("log, answer")}.","code":401}}}}',
            f"srv  operator(): unauthorized: Invalid API Key (api key {key('log, refused')})", f"GET /v1/models?key={word('log, query')} 401",
            f"APIConnectionError: http://me:{word('log, URL')}@127.0.0.1:9/v1 connection refused", f"ProxyError: Cannot connect to proxy me:{word('log, proxy')}@127.0.0.1:3128",
            f'"ANTHROPIC_AUTH_TOKEN": "{word("log, settings")}",', f"export OPENAI_API_KEY={word('log, export')}", f"--api-key {word('log, option')} --port 8080",
            "HTTP 401 invalid api key", "Error: 401 Unauthorized",
        ]  # fmt: skip
        self.log = self.put(self.work / "server.log", "\n".join(lines) + "\n")

    def start_server(self):
        """What looks like a llama-server: (program, arguments, variables). It sleeps until it is ended."""
        program = self.put(self.root / "bin/llama-server", f"#!{sys.executable}\nimport sys\nsys.stdin.read()\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        key, word = self.secrets.key, self.secrets.word
        argv = [str(program), "-m", str(self.work / "x.gguf"), "--port", self.url.rpartition(":")[2], "--api-key", f"{word('process, --api-key')},{key('process, second key')}",
                "--hf-token", word("process, --hf-token"), f"--api-key{key('process, glued')}", "--no-such", "1"]  # fmt: skip
        environ = {
            "PATH": os.environ["PATH"],
            "HF_TOKEN": word("process, HF_TOKEN"),
            "LLAMA_API_KEY": word("process, LLAMA_API_KEY"),
            "LLAMA_ARG_CTX_SIZE": "4096",
        }
        return argv, environ


def answers(secrets):
    """The answers of a server that repeats whatever it is sent, and tells secrets of its own."""
    word, key = secrets.word, secrets.key
    own = {
        name: key(f"answer, {name}")
        for name in ("message", "header", "path", "build", "template", "model", "query", "login", "metric")
    }
    spoken = word("answer, api_key")

    def answer(method, path, headers, body):
        sent = " ".join(
            headers.get(name, "") for name in ("authorization", "x-api-key", "x-goog-api-key", "proxy-authorization")
        )
        shown = {"Content-Type": "application/json", "Server": "llama.cpp", "X-Debug": f"api_key={own['header']}",
                 "Location": f"http://me:{own['login']}@127.0.0.1:9/?token={own['query']}"}  # fmt: skip
        message = f"Incorrect API key provided: {sent} (api_key={spoken}, Authorization: Bearer {own['message']})"
        if path.startswith("/health"):
            return 200, shown, b'{"status":"ok"}'
        if not sent.strip():
            return (
                401,
                shown,
                json.dumps({"error": {"message": message, "type": "authentication_error", "code": 401}}).encode(),
            )
        if method == "GET" and path.startswith("/v1/models"):
            return (
                200,
                shown,
                json.dumps(
                    {"data": [{"id": f"sk-{own['model']}", "owned_by": "llamacpp", "meta": {"n_ctx_train": 4096}}]}
                ).encode(),
            )
        if method == "GET" and path.startswith("/props"):
            told = {"default_generation_settings": {"n_ctx": 4096}, "total_slots": 1, "model_path": f"/m/x.gguf?token={own['path']}",
                    "build_info": f"b11434-abc api_key={own['build']}", "chat_template": f"{{# api_key = {own['template']} #}}", "api_keys": [sent]}  # fmt: skip
            return 200, shown, json.dumps(told).encode()
        if method == "GET" and path.startswith("/slots"):
            return 200, shown, json.dumps([{"id": 0, "n_ctx": 4096, "is_processing": True, "prompt": message}]).encode()
        if method == "GET" and path.startswith("/metrics"):
            return 200, shown, f"# api_key={own['metric']} {sent}\nllamacpp:requests_processing 1\n".encode()
        return (
            400 if not body else 500,
            shown,
            json.dumps({"error": {"message": message, "type": "server_error", "code": 500}}).encode(),
        )

    return answer
