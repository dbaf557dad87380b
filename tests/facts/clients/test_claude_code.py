"""Claude Code's configuration, held against what Claude Code really sent with the same files and variables."""

import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.facts.clients import CLIENTS, claude_code, collect_all, is_in_use
from doctor.facts.clients.record import Client
from doctor.facts.record import Unknown, from_json, to_json
from doctor.outside import Outside, OutsideError
from doctor.secrets import Vault

SENT = json.loads(
    (Path(__file__).resolve().parents[3] / "fixtures" / "clients" / "claude-code" / "sent.json").read_text("utf-8")
)["cases"]
BASE = "http://127.0.0.1:8080"
KEY = "sk-local-test"


class Home(Outside):
    """A Linux home and a project folder on disk, with variables of their own."""

    def __init__(self, tmp_path, environ=None):
        self.root = tmp_path
        (tmp_path / "home").mkdir()
        (tmp_path / "work").mkdir()
        super().__init__({"HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "bin"), **(environ or {})}, "linux")

    def folder(self):
        return str(self.root / "work")

    def put(self, path, content):
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content if isinstance(content, str) else json.dumps(content, indent=2), encoding="utf-8")
        return str(place)


@pytest.fixture
def home(tmp_path):
    """A function that makes the one home of a test."""

    def make(files=None, **environ):
        world = Home(tmp_path, environ)
        for path, content in (files or {}).items():
            world.put(path, content)
        return world

    return make


def collect(world, vault=None):
    client = claude_code.collect(world, Vault() if vault is None else vault)
    assert from_json(Client, json.loads(json.dumps(to_json(client)))) == client
    return client


USER, PROJECT, LOCAL = "home/.claude/settings.json", "work/.claude/settings.json", "work/.claude/settings.local.json"


# --- what Claude Code really sent ------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", SENT, ids=[case["case"] for case in SENT])
def test_the_request_is_the_one_that_was_really_made(case, home):
    files = {path.replace("{HOME}", "home").replace("{WORK}", "work"): text for path, text in case["files"].items()}
    vault = Vault()
    client = collect(home(files, **case["env"]), vault)
    keys = {}
    for credential in client.credentials:
        if credential.token:
            keys.setdefault(credential.header, vault.get(credential.token))
    helped = {credential.header for credential in client.credentials if credential.name == "apiKeyHelper"}
    sent = case["sent"]
    if sent is None:
        in_the_way = (
            client.request_url is None or client.proxy is not None or not keys or "https:" in client.request_url
        )
        assert in_the_way
        return
    assert client.request_url == sent["url"]
    assert client.proxy is None
    for header, prefix in (("authorization", "Bearer "), ("x-api-key", "")):
        if header in helped:
            assert header not in keys
        else:
            assert sent[header] == (prefix + keys[header] if header in keys else None)
    if client.model is None:
        assert sent["model"].startswith("claude-")
    else:
        assert sent["model"] == client.model.value


# --- precedence ------------------------------------------------------------------------------------------------------


def env(value):
    return {"env": {"ANTHROPIC_BASE_URL": value}}


@pytest.mark.parametrize(
    ("set_in", "winner"),
    [
        (("shell",), "shell"),
        (("user", "shell"), "user"),
        (("project", "user"), "project"),
        (("project", "shell"), "project"),
        (("local", "project"), "local"),
        (("local", "project", "user", "shell"), "local"),
        (("managed", "local", "project", "user", "shell"), "managed"),
        (("drop-in", "managed", "local"), "drop-in"),
    ],
)
def test_precedence(set_in, winner, home, monkeypatch, tmp_path):
    from doctor.facts.clients import claude_code_paths

    monkeypatch.setattr(claude_code_paths, "MANAGED_ELSEWHERE", str(tmp_path / "etc"))
    places = {
        "user": USER,
        "project": PROJECT,
        "local": LOCAL,
        "managed": "etc/managed-settings.json",
        "drop-in": "etc/managed-settings.d/20-b.json",
    }
    files = {places[name]: env(f"http://{name}") for name in set_in if name != "shell"}
    if "drop-in" in set_in:
        files["etc/managed-settings.d/10-a.json"] = env("http://earlier-drop-in")
    world = home(files, **({"ANTHROPIC_BASE_URL": "http://shell"} if "shell" in set_in else {}))
    client = collect(world)
    assert client.base_url.value == f"http://{winner}"
    assert client.base_url.source == ("environment" if winner == "shell" else str(tmp_path / places[winner]))
    assert client.base_url.line == (None if winner == "shell" else 3)
    losers = [setting.value for setting in client.overridden if setting.name == "ANTHROPIC_BASE_URL"]
    expected = [f"http://{name}" for name in set_in if name != winner]
    assert losers == (["http://earlier-drop-in"] if "drop-in" in set_in else []) + expected


def test_a_value_that_is_the_same_in_two_places_does_not_lose(home):
    client = collect(home({USER: env(BASE)}, ANTHROPIC_BASE_URL=BASE))
    assert client.overridden == ()


def test_a_key_that_loses_is_a_token(home):
    vault = Vault()
    client = collect(home({USER: {"env": {"ANTHROPIC_API_KEY": KEY}}}, ANTHROPIC_API_KEY="sk-local-test-2"), vault)
    assert [vault.get(setting.value) for setting in client.overridden] == ["sk-local-test-2"]
    assert "sk-local-test" not in json.dumps(to_json(client))


def test_the_model_variable_beats_the_model_key(home):
    world = home({USER: {"model": "by-key"}}, ANTHROPIC_MODEL="by-variable")
    client = collect(world)
    assert (client.model.name, client.model.value) == ("ANTHROPIC_MODEL", "by-variable")
    assert [(setting.name, setting.value, setting.line) for setting in client.overridden] == [("model", "by-key", 2)]


def test_an_alias_is_replaced_where_a_variable_maps_it(home):
    mapped = collect(home({USER: {"model": "sonnet"}}, ANTHROPIC_DEFAULT_SONNET_MODEL="local-model"))
    assert (mapped.model.name, mapped.model.value) == ("ANTHROPIC_DEFAULT_SONNET_MODEL", "local-model")


def test_the_small_model(home):
    assert collect(home(ANTHROPIC_DEFAULT_HAIKU_MODEL="small")).small_model.value == "small"


def test_the_config_folder_can_be_moved(home, tmp_path):
    files = {
        "elsewhere/settings.json": env(BASE),
        "elsewhere/.claude.json": {"hasCompletedOnboarding": True},
        USER: env("x"),
    }
    client = collect(home(files, CLAUDE_CONFIG_DIR=str(tmp_path / "elsewhere")))
    assert (client.base_url.value, client.onboarded) == (BASE, True)


def test_in_the_home_folder_the_file_is_read_once(home, monkeypatch):
    world = home({USER: env(BASE)}, ANTHROPIC_BASE_URL="http://shell")
    monkeypatch.setattr(world, "folder", world.home)
    assert len(collect(world).overridden) == 1


# --- keys ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "problems"),
    [
        (KEY, ()),
        ("none", ()),
        ("local", ()),
        (f" {KEY}", ("whitespace",)),
        (f"{KEY}\n", ("newline",)),
        (f"{KEY} \r\n", ("newline", "whitespace")),
        ("sk local test", ("whitespace",)),
        (f'"{KEY}"', ("quotes",)),
        (f"“{KEY}”", ("quotes", "non-ascii")),
        (f"Bearer {KEY}", ("bearer-prefix",)),
        (f"bearer {KEY}", ("bearer-prefix",)),
        (f'"Bearer {KEY}"', ("quotes", "bearer-prefix")),
        (f"{KEY}\u200b", ("non-ascii",)),
        ("", ("empty",)),
        ("  ", ("empty",)),
        ("your-api-key", ("placeholder",)),
        ("YOUR_API_KEY_HERE", ("placeholder",)),
        ("<your key>", ("whitespace", "placeholder")),
        ("sk-xxxxxxxx", ("placeholder",)),
        ("${MY_KEY}", ("placeholder",)),
        ("Bearer <token>", ("bearer-prefix", "placeholder")),
        ("你的密钥", ("placeholder",)),
        ("sk-my-local-server-key-1", ()),
    ],
)
def test_key_problems(raw, problems, home):
    credential = collect(home({USER: {"env": {"ANTHROPIC_AUTH_TOKEN": raw}}})).credentials[0]
    assert credential.problems == problems
    assert (credential.header, credential.line) == ("authorization", 3)
    assert bool(credential.token) is bool(raw.strip())


def test_blanks_around_a_key_are_not_sent(home):
    vault = Vault()
    credential = collect(home(ANTHROPIC_API_KEY=f"  {KEY}\n"), vault).credentials[0]
    assert vault.get(credential.token) == KEY


def test_a_key_behind_bearer_is_hidden_too(home):
    vault = Vault()
    collect(home(ANTHROPIC_AUTH_TOKEN=f"Bearer {KEY}"), vault)
    assert KEY in vault.secrets()


def test_the_header_a_server_looks_at_first_stands_first(home):
    client = collect(home(ANTHROPIC_API_KEY="sk-local-test-A", ANTHROPIC_AUTH_TOKEN="sk-local-test-B"))
    assert [credential.header for credential in client.credentials] == ["authorization", "x-api-key"]


def test_an_empty_key_stands_last(home):
    client = collect(home(ANTHROPIC_API_KEY=KEY, ANTHROPIC_AUTH_TOKEN=""))
    assert [credential.name for credential in client.credentials] == ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]


def test_a_helper_is_noted_and_not_run(home, tmp_path):
    witness = tmp_path / "ran"
    client = collect(home({USER: {"apiKeyHelper": f"touch {witness}"}}))
    assert not witness.exists()
    assert [(key.name, key.token, key.header) for key in client.credentials] == [
        ("apiKeyHelper", "", "authorization"),
        ("apiKeyHelper", "", "x-api-key"),
    ]
    assert [setting.name for setting in client.settings] == ["apiKeyHelper"]


def test_a_key_the_user_said_no_to(home):
    long_key = "sk-local-test-0123456789-abcdefghij"
    state = {"customApiKeyResponses": {"approved": [], "rejected": [long_key[-20:]]}}
    client = collect(home({"home/.claude.json": state}, ANTHROPIC_API_KEY=long_key))
    assert client.credentials[0].problems == ("rejected",)


def test_the_tokens_of_a_login_are_hidden(home):
    vault = Vault()
    account = {"claudeAiOauth": {"accessToken": "sk-local-test-oauth", "refreshToken": "sk-local-test-refresh"}}
    client = collect(home({"home/.claude/.credentials.json": account}, ANTHROPIC_API_KEY=KEY), vault)
    assert client.logged_in is True
    assert [key.name for key in client.credentials] == ["ANTHROPIC_API_KEY"]
    assert set(vault.secrets()) == {KEY, "sk-local-test-oauth", "sk-local-test-refresh"}


# --- the rest of the record ------------------------------------------------------------------------------------------


def test_no_files_at_all(home):
    client = collect(home())
    assert (client.installed, client.version, client.base_url) == (False, None, None)
    assert (client.model, client.credentials, client.settings, client.problems) == (None, (), (), ())
    assert (client.onboarded, client.logged_in, client.proxy) == (False, False, None)
    assert client.request_url == "https://api.anthropic.com/v1/messages?beta=true"
    assert isinstance(client.context_window, Unknown)
    assert not is_in_use(client)


def test_a_key_in_the_shell_alone_is_no_sign_of_claude_code(home):
    assert collect_all(home(ANTHROPIC_API_KEY=KEY), Vault()) == ()


@pytest.mark.parametrize(
    ("files", "environ"),
    [
        ({USER: {"env": {"ANTHROPIC_API_KEY": KEY}}}, {}),
        ({USER: {"model": "m"}}, {}),
        ({USER: "{"}, {}),
        ({}, {"ANTHROPIC_BASE_URL": BASE}),
    ],
)
def test_what_shows_that_it_is_used(files, environ, home):
    assert [client.id for client in collect_all(home(files, **environ), Vault())] == ["claude-code"]


def test_every_client_is_a_module_with_collect():
    assert "claude_code" in CLIENTS


@pytest.mark.parametrize(
    ("environ", "window"),
    [
        ({"ANTHROPIC_MODEL": "local-model"}, 1_000_000),
        ({"ANTHROPIC_MODEL": "local-model", "CLAUDE_CODE_MAX_CONTEXT_TOKENS": "32768"}, 32768),
        ({"ANTHROPIC_MODEL": "local-model", "CLAUDE_CODE_MAX_CONTEXT_TOKENS": "32k"}, 1_000_000),
        ({"ANTHROPIC_MODEL": "claude-opus-5-5", "CLAUDE_CODE_MAX_CONTEXT_TOKENS": "32768"}, None),
        ({"ANTHROPIC_MODEL": "sonnet"}, None),
        ({"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "32768"}, None),
    ],
)
def test_the_window_it_assumes(environ, window, home):
    got = collect(home(**environ)).context_window
    assert got == window if window else isinstance(got, Unknown)


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"HTTP_PROXY": "http://127.0.0.1:9"}, "HTTP_PROXY"),
        ({"http_proxy": "http://127.0.0.1:9"}, "http_proxy"),
        ({"HTTPS_PROXY": "http://127.0.0.1:9"}, None),
        ({"ALL_PROXY": "http://127.0.0.1:9"}, None),
        ({"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "localhost"}, "HTTP_PROXY"),
        ({"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost"}, None),
        ({"HTTP_PROXY": "http://127.0.0.1:9", "no_proxy": "*"}, None),
        ({"HTTP_PROXY": ""}, None),
    ],
)
def test_a_proxy_in_the_way(environ, name, home):
    proxy = collect(home(ANTHROPIC_BASE_URL=BASE, **environ)).proxy
    assert (proxy.name if proxy else None) == name


def test_a_proxy_set_in_a_file(home, tmp_path):
    files = {USER: {"env": {"ANTHROPIC_BASE_URL": BASE, "HTTP_PROXY": "http://me:sk-local-test@127.0.0.1:9"}}}
    vault = Vault()
    proxy = collect(home(files), vault).proxy
    assert (proxy.source, proxy.line) == (str(tmp_path / USER), 4)
    assert "me:sk-local-test" in vault.secrets()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{\n "env": {\n  "ANTHROPIC_MODEL": "x",\n }\n}', ":4: not valid JSON"),
        ('{\n // a comment\n "env": {}\n}', ":2: not valid JSON"),
        ("", ":1: not valid JSON"),
        ("[]", ":1: the file is no JSON object"),
        ("[" * 100_000, "not usable as JSON"),
        ('{"env": ' + "9" * 5000 + "}", "not usable as JSON"),
    ],
)
def test_a_broken_file_is_one_line_and_nothing_of_it_is_in_effect(text, problem, home, tmp_path):
    client = collect(home({USER: text}, ANTHROPIC_MODEL="from-the-shell"))
    if text.startswith('{"env": 9') and not client.problems:
        pytest.skip("this Python reads numbers of any length")
    assert len(client.problems) == 1
    assert client.problems[0].startswith(str(tmp_path / USER)) and problem in client.problems[0]
    assert "\n" not in client.problems[0]
    assert client.model.value == "from-the-shell"


def test_odd_values_are_passed_over(home):
    odd = {
        "env": {"ANTHROPIC_BASE_URL": ["x"], "ANTHROPIC_MODEL": None, "API_TIMEOUT_MS": 5, "DISABLE_AUTO_COMPACT": True}
    }
    client = collect(home({USER: {**odd, "model": 5, "apiKeyHelper": {}}, PROJECT: {"env": "x"}}))
    assert (client.base_url, client.model) == (None, None)
    assert {setting.name: setting.value for setting in client.settings} == {
        "API_TIMEOUT_MS": "5",
        "DISABLE_AUTO_COMPACT": "true",
    }


def test_a_folder_where_a_file_should_be(home, tmp_path):
    world = home({PROJECT: env(BASE)})
    (tmp_path / USER).mkdir(parents=True)
    client = collect(world)
    assert client.base_url.value == BASE
    assert len(client.problems) == 1 and str(tmp_path / USER) in client.problems[0]


def test_lines_of_keys_with_the_same_name_elsewhere(home):
    text = "\n".join(
        [
            '{"x": {"ANTHROPIC_BASE_URL": "no"},',
            ' "y": "\\"env\\": {", "ANTHROPIC_BASE_URL": "no",',
            ' "e\\u006ev": {',
            "",
            '  "ANTHROPIC_BASE_URL": "http://early", "list": [{"ANTHROPIC_BASE_URL": 1}],',
            '  "ANTHROPIC_BASE_URL": "http://late"',
            "}}",
        ]
    )
    base = collect(home({USER: text})).base_url
    assert (base.value, base.line) == ("http://late", 6)


def test_broken_state_and_login_leave_them_unknown(home):
    client = collect(home({"home/.claude.json": "{", "home/.claude/.credentials.json": "{"}))
    assert isinstance(client.onboarded, Unknown) and isinstance(client.logged_in, Unknown)
    assert len(client.problems) == 2


# --- installation ----------------------------------------------------------------------------------------------------


def program(world, path):
    place = Path(world.put(path, "#!/bin/sh\nexit 1\n"))
    place.chmod(0o755)
    return place


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_the_version_of_an_npm_installation(home, tmp_path):
    world = home()
    module = "lib/node_modules/@anthropic-ai/claude-code"
    target = program(world, f"{module}/bin/claude")
    world.put(f"{module}/package.json", {"name": "@anthropic-ai/claude-code", "version": "2.1.332"})
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to(target)
    client = collect(world)
    assert (client.installed, client.version) == (True, "2.1.332")


@pytest.mark.skipif(os.name == "nt", reason="links")
def test_the_version_of_a_native_installation(home, tmp_path):
    world = home(ANTHROPIC_MODEL="local-model")
    target = program(world, "home/.local/share/claude/versions/2.1.177")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to(target)
    client = collect(world)
    assert (client.installed, client.version, client.context_window) == (True, "2.1.177", 200_000)


def test_a_program_that_does_not_tell_its_version(home):
    world = home()
    program(world, "home/.claude/local/claude")
    world.put("home/.claude/package.json", {"name": "something-else", "version": "1.0.0"})
    client = collect(world)
    assert client.installed is True
    assert isinstance(client.version, Unknown)


# --- Windows and macOS -----------------------------------------------------------------------------------------------


class Elsewhere(Outside):
    """Another system, as far as paths go: files by their full path."""

    def __init__(self, platform, environ, files, folder):
        super().__init__(environ, platform)
        self.files = {
            path: text if isinstance(text, str) else json.dumps(text, indent=2) for path, text in files.items()
        }
        self.here = folder

    def open(self, path):
        if path not in self.files:
            raise OutsideError("missing", f"{path}: no such file")
        return io.BytesIO(self.files[path].encode())

    def exists(self, path):
        return path in self.files

    def folder(self):
        return self.here

    def real_path(self, path):
        return path

    def list_folder(self, path, limit=10_000):
        raise OutsideError("missing", f"{path}: no such file")

    def which(self, name):
        return self.environ.get("CLAUDE")


def test_windows():
    user = "C:\\Users\\me\\.claude\\settings.json"
    npm = "C:\\Users\\me\\AppData\\Roaming\\npm"
    world = Elsewhere(
        "win32",
        {"USERPROFILE": "C:\\Users\\me", "HOME": "/c/Users/me", "CLAUDE": f"{npm}\\claude.CMD"},
        {
            user: {"env": {"ANTHROPIC_BASE_URL": f"{BASE}/v1", "ANTHROPIC_AUTH_TOKEN": KEY}},
            "C:\\Program Files\\ClaudeCode\\managed-settings.json": {"model": "managed"},
            "D:\\code\\.claude\\settings.local.json": {"model": "mine"},
            "C:\\Users\\me\\.claude.json": {"hasCompletedOnboarding": True},
            f"{npm}\\node_modules\\@anthropic-ai/claude-code\\package.json": {
                "name": "@anthropic-ai/claude-code",
                "version": "2.1.332",
            },
        },
        "D:\\code",
    )
    client = collect(world)
    assert (client.base_url.source, client.base_url.line) == (user, 3)
    assert client.request_url == f"{BASE}/v1/v1/messages?beta=true"
    assert (client.model.value, client.onboarded, client.logged_in) == ("managed", True, False)
    assert (client.installed, client.version) == (True, "2.1.332")


_WORDS = st.sampled_from(["env", "model", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "HTTP_PROXY", "claudeAiOauth"])
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["http://[", "http://a:b@c:99999", "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS | st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(_WORDS, _VALUES, max_size=5), st.text(max_size=40))
def test_no_content_of_a_file_can_break_it(data, text):
    files = {"/h/.claude/settings.json": data, "/h/.claude.json": text, "/h/.claude/.credentials.json": data}
    assert collect(Elsewhere("linux", {"HOME": "/h", "ANTHROPIC_MODEL": text}, files, "/w")).id == "claude-code"


def test_macos_keeps_the_login_in_the_keychain():
    managed = {"/Library/Application Support/ClaudeCode/managed-settings.json": {"model": "managed"}}
    client = collect(Elsewhere("darwin", {"HOME": "/Users/me"}, managed, "/Users/me/code"))
    assert client.model.value == "managed"
    assert isinstance(client.logged_in, Unknown)
    state = {"/Users/me/.claude.json": {"oauthAccount": {"emailAddress": "x"}}}
    assert collect(Elsewhere("darwin", {"HOME": "/Users/me"}, state, "/Users/me/code")).logged_in is True


@pytest.mark.parametrize("command", ["echo {}", "printf '%s' '{}'", "curl -H 'X-Key: {}' http://127.0.0.1", "{}"])
def test_a_key_in_the_helper_is_hidden(home, command):
    vault = Vault()
    collect(home({USER: {"apiKeyHelper": command.format("q8Zr3vLm0Xy7TkPw")}}), vault)
    assert "q8Zr3vLm0Xy7TkPw" in vault.secrets()
