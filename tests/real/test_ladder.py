"""The ladder against real servers: each fault ends at its rung, its finding names the cause, and the cure cures it."""

import json

import pytest

from doctor.cli import main
from tests.models import CHAT_TEMPLATE, TOOL_TEMPLATE, tiny_llama
from tests.real.conftest import KEY, free_port

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def roomy(tmp_path_factory):
    """A model whose context an agent fits in, with a template that takes tools."""
    return tiny_llama(
        tmp_path_factory.mktemp("roomy") / "roomy.gguf", ctx_train=65536, chat_template=TOOL_TEMPLATE, embedding=32
    )


@pytest.fixture
def roomy_server(start_server, roomy):
    return lambda **options: start_server(model_path=roomy, **{"n_ctx": 32768, **options})


def verify(capsys, *argv):
    """(exit status, first ladder, findings) of a run."""
    status = main(["verify", *argv, "--format", "json"])
    answer = json.loads(capsys.readouterr().out)
    return status, answer["facts"]["ladders"][0], answer["findings"]


def failure(ladder):
    """(rung, reason) of the first that does not hold; every rung above it is untried, every one below it is not red."""
    names = [rung["name"] for rung in ladder["rungs"]]
    states = [rung["state"] for rung in ladder["rungs"]]
    if ladder["failed"] is None:
        assert "failed" not in states
        return None
    at = names.index(ladder["failed"])
    assert states[at] == "failed" and set(states[at + 1 :]) <= {"not-tried"} and "failed" not in states[:at]
    return ladder["failed"], ladder["reason"]


def settings(home, **env):
    (home / ".claude").mkdir(exist_ok=True)
    (home / ".claude" / "settings.json").write_text(json.dumps({"env": env}, indent=2))
    (home / ".claude.json").write_text('{"hasCompletedOnboarding": true}')


def first_remedy(findings):
    return findings[0]["remedies"][0]["text"]


def test_a_sound_server_to_the_top(capsys, start_server, roomy):
    with start_server(model_path=roomy, n_ctx=32768) as server:
        status, ladder, findings = verify(capsys, f"{server.url}/v1", "--deep")
    assert failure(ladder) is None and status == 0
    # A model of random weights calls no tool: the one rung that cannot hold here.
    assert [rung["name"] for rung in ladder["rungs"] if rung["state"] != "passed"] == ["tools"]
    assert ladder["cached_tokens"] > 0.9 * ladder["prompt_tokens"] - 200
    assert ladder["prefill"] > 0 and ladder["decode"] > 0
    assert findings[0]["rule"] == "output/agent-without-tool-use" and findings[0]["severity"] == "warning"


@pytest.mark.parametrize("ending", ["/v1/messages", "/v1/responses", "/v1/chat/completions"])
def test_all_three_protocols_to_the_top(capsys, start_server, roomy, ending):
    with start_server(model_path=roomy, n_ctx=32768) as server:
        status, ladder, _ = verify(capsys, server.url + ending, "--deep")
    assert failure(ladder) is None and status == 0
    assert [rung["name"] for rung in ladder["rungs"] if rung["state"] != "passed"] == ["tools"]


def test_without_deep_the_model_does_no_work(capsys, start_server):
    with start_server(endpoint_metrics=True) as server:
        _, ladder, _ = verify(capsys, server.url)
        log = server.log()
    assert failure(ladder) is None
    assert [r["name"] for r in ladder["rungs"] if r["state"] == "not-tried"] == [
        "reply",
        "stream",
        "tools",
        "cache",
        "speed",
    ]
    assert "launch_slot_" not in log and "prompt eval" not in log


def test_the_server_is_down(capsys):
    status, ladder, findings = verify(capsys, f"http://127.0.0.1:{free_port()}")
    assert status == 1 and failure(ladder) == ("port", "refused")
    assert findings[0]["cause"] == "server-not-running-or-wrong-port"


def test_a_loading_server_says_nothing_about_the_key(capsys, start_server, slow_model):
    with start_server(model_path=slow_model, until=503, api_keys=[KEY]) as server:
        status, ladder, findings = verify(capsys, server.url)
    assert status == 1 and failure(ladder) == ("ready", "loading")
    assert findings[0]["cause"] == "model-still-loading"


def test_the_key_is_missing_then_wrong_then_right(capsys, start_server, monkeypatch):
    with start_server(api_keys=[KEY]) as server:
        status, ladder, findings = verify(capsys, server.url)
        assert status == 1 and failure(ladder) == ("key", "key-missing") and findings[0]["cause"] == "auth-key-missing"
        monkeypatch.setenv("MY_KEY", "sk-local-wrong")
        status, ladder, findings = verify(capsys, server.url, "--key-env", "MY_KEY")
        assert status == 1 and failure(ladder) == ("key", "key-refused") and findings[0]["cause"] == "auth-key-missing"
        monkeypatch.setenv("MY_KEY", KEY)
        assert verify(capsys, server.url, "--key-env", "MY_KEY")[0] == 0


def test_claude_code_with_a_stale_token_beside_the_right_key(capsys, roomy_server, clean_environment):
    with roomy_server(api_keys=[KEY]) as server:
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_MODEL": "m"}
        settings(clean_environment, **env, ANTHROPIC_AUTH_TOKEN="sk-local-stale")
        status, ladder, findings = verify(capsys, "--client", "claude-code")
        assert status == 1 and failure(ladder) == ("key", "key-shadowed")
        assert findings[0]["cause"] == "auth-conflict-two-credentials"
        assert "ANTHROPIC_AUTH_TOKEN" in first_remedy(findings) and "sk-local-" not in json.dumps(findings)
        settings(clean_environment, **env)
        assert verify(capsys, "--client", "claude-code")[0] == 0


def test_bearer_typed_into_the_key(capsys, roomy_server, clean_environment):
    with roomy_server(api_keys=[KEY]) as server:
        settings(clean_environment, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_AUTH_TOKEN=f"Bearer {KEY}")
        _, ladder, findings = verify(capsys, "--client", "claude-code")
    assert failure(ladder) == ("key", "key-malformed") and findings[0]["cause"] == "auth-key-malformed"


def test_v1_twice_for_claude_code(capsys, roomy_server, clean_environment):
    with roomy_server() as server:
        settings(clean_environment, ANTHROPIC_BASE_URL=f"{server.url}/v1", ANTHROPIC_AUTH_TOKEN="x")
        status, ladder, findings = verify(capsys, "--client", "claude-code")
        assert status == 1 and failure(ladder) == ("path", "v1-doubled") and findings[0]["cause"] == "url-doubled-v1"
        assert ladder["right_url"] == server.url and server.url in first_remedy(findings)
        settings(clean_environment, ANTHROPIC_BASE_URL=ladder["right_url"], ANTHROPIC_AUTH_TOKEN="x")
        assert verify(capsys, "--client", "claude-code")[0] == 0


@pytest.mark.parametrize(
    ("base", "reason", "cause"),
    [
        ("/v1/v1", "v1-doubled", "url-doubled-v1"),
        ("/openai/v1", "path-other", "url-wrong-path"),
    ],
)
def test_other_wrong_paths(capsys, start_server, base, reason, cause):
    with start_server() as server:
        status, ladder, findings = verify(capsys, server.url + base)
        assert status == 1 and failure(ladder) == ("path", reason) and findings[0]["cause"] == cause
        assert verify(capsys, ladder["right_url"])[0] == 0


def test_a_whole_endpoint_as_base(capsys, roomy_server, clean_environment):
    with roomy_server() as server:
        settings(clean_environment, ANTHROPIC_BASE_URL=f"{server.url}/v1/messages", ANTHROPIC_AUTH_TOKEN="x")
        _, ladder, findings = verify(capsys, "--client", "claude-code")
    assert failure(ladder) == ("path", "endpoint-as-base") and findings[0]["cause"] == "url-wrong-path"
    assert ladder["right_url"] == server.url


def test_a_trailing_slash_is_harmless(capsys, roomy_server, clean_environment):
    with roomy_server() as server:
        assert verify(capsys, f"{server.url}/v1/")[0] == 0
        settings(clean_environment, ANTHROPIC_BASE_URL=f"{server.url}/", ANTHROPIC_AUTH_TOKEN="x")
        assert verify(capsys, "--client", "claude-code")[0] == 0


def test_a_prefix_that_is_missing(capsys, start_server):
    with start_server(api_prefix="/api") as server:
        bare = server.url.removesuffix("/api")
        status, ladder, findings = verify(capsys, f"{bare}/v1")
        assert status == 1 and failure(ladder) == ("path", "path-other")
        assert findings[0]["cause"] == "url-wrong-path" and ladder["right_url"] == f"{bare}/api/v1"
        assert verify(capsys, ladder["right_url"])[0] == 0


def test_https_in_front_of_http(capsys, start_server):
    with start_server() as server:
        _, ladder, findings = verify(capsys, server.url.replace("http:", "https:"))
    assert failure(ladder) == ("http", "tls") and findings[0]["cause"] == "tls-problem"


def test_a_context_too_small_for_the_first_request(capsys, start_server, roomy, clean_environment):
    with start_server(model_path=roomy, n_ctx=4096) as server:
        settings(clean_environment, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_AUTH_TOKEN="x")
        status, ladder, findings = verify(capsys, "--client", "claude-code")
    assert status == 1 and failure(ladder) == ("context", "context-too-small")
    assert findings[0]["cause"] == "context-exceeded"


def test_slots_that_divide_the_context(capsys, start_server, roomy, clean_environment):
    with start_server(model_path=roomy, n_ctx=32768, n_parallel=4) as server:
        settings(clean_environment, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_AUTH_TOKEN="x")
        _, ladder, findings = verify(capsys, "--client", "claude-code")
    assert failure(ladder) == ("context", "slots-divide-context") and "-np 1" in first_remedy(findings)


def test_a_template_that_refuses_a_late_system_message(capsys, start_server, roomy, clean_environment):
    strict = TOOL_TEMPLATE.replace(
        "{% for message in messages %}",
        "{% for message in messages %}{% if message.role == 'system' and not loop.first %}"
        "{{ raise_exception('System message must be at the beginning.') }}{% endif %}",
    )
    with start_server(model_path=roomy, n_ctx=32768, chat_template=strict) as server:
        settings(clean_environment, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_AUTH_TOKEN="x", ANTHROPIC_MODEL="m")
        status, ladder, findings = verify(capsys, "--client", "claude-code")
        assert status == 1 and failure(ladder) == ("template", "late-system-refused")
        assert findings[0]["cause"] == "chat-template-roles"
        settings(
            clean_environment,
            ANTHROPIC_BASE_URL=server.url,
            ANTHROPIC_AUTH_TOKEN="x",
            ANTHROPIC_MODEL="m",
            CLAUDE_CODE_MODEL_CAPABILITIES="-mid_conv_system",
        )
        assert failure(verify(capsys, "--client", "claude-code")[1]) is None
        bare = verify(capsys, server.url)
        assert failure(bare[1]) is None and bare[1]["reasons"] == ["late-system-refused"] and bare[0] == 0


def test_a_template_that_leaves_tools_out(capsys, start_server, roomy, clean_environment):
    with start_server(model_path=roomy, n_ctx=32768, chat_template=CHAT_TEMPLATE) as server:
        settings(clean_environment, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_AUTH_TOKEN="x")
        status, ladder, findings = verify(capsys, "--client", "claude-code")
    assert status == 1 and failure(ladder) == ("template", "tools-dropped")
    assert findings[0]["cause"] == "tool-parse-error"


def test_tools_without_jinja(capsys, start_server):
    with start_server(use_jinja=False) as server:
        status, ladder, findings = verify(capsys, server.url)
    assert status == 1 and failure(ladder) in (("template", "tools-refused"), ("template", "template-error"))
    assert findings[0]["cause"] in ("tools-not-enabled", "chat-template-roles")


def test_a_server_that_keeps_no_cache(capsys, start_server, roomy):
    with start_server(model_path=roomy, n_ctx=32768, cache_prompt=False) as server:
        status, ladder, findings = verify(capsys, server.url, "--deep")
    assert status == 1 and failure(ladder) == ("cache", "cache-missed"), ladder["rungs"]
    assert findings[0]["cause"] == "prompt-cache-full-reprocess" and ladder["cached_tokens"] == 0


def test_a_browser_page_of_another_origin(capsys, start_server):
    with start_server() as server:
        status, ladder, _ = verify(capsys, server.url, "--origin", "http://localhost:3000")
    assert status == 0 and [r["state"] for r in ladder["rungs"] if r["name"] == "cors"] == ["passed"]


def test_a_dead_proxy_in_front_of_loopback(capsys, roomy_server, clean_environment):
    with roomy_server() as server:
        proxy = f"http://user:sk-local-secret@127.0.0.1:{free_port()}"
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_AUTH_TOKEN": "x", "ANTHROPIC_MODEL": "m"}
        settings(clean_environment, **env, HTTP_PROXY=proxy)
        status, ladder, findings = verify(capsys, "--client", "claude-code")
        assert status == 1 and failure(ladder) == ("proxy", "proxy-dead")
        assert findings[0]["cause"] == "local-proxy-not-running" and "sk-local-secret" not in json.dumps(
            [ladder, findings]
        )
        settings(clean_environment, **env, HTTP_PROXY=proxy, NO_PROXY="127.0.0.1,localhost")
        assert verify(capsys, "--client", "claude-code")[0] == 0


def test_a_proxy_variable_beside_a_bare_address_is_a_warning(capsys, start_server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    with start_server(chat_template=TOOL_TEMPLATE) as server:
        status, ladder, findings = verify(capsys, server.url)
    assert status == 0 and ladder["reasons"] == ["proxy-dead"] and findings[0]["severity"] == "warning"


def test_router_mode_serves_its_own_names_only(capsys, start_llama_server, model):
    with start_llama_server("--models-dir", str(model.parent), "--no-models-autoload", with_model=False) as server:
        status, ladder, findings = verify(capsys, server.url, "--model", "claude-sonnet")
        assert status == 1 and failure(ladder) == ("model", "model-not-served")
        assert findings[0]["cause"] == "model-id-mismatch" and ladder["models_served"][0] in first_remedy(findings)
        assert verify(capsys, server.url, "--model", ladder["models_served"][0])[0] == 0


def test_check_climbs_for_the_clients_it_finds(capsys, roomy_server, clean_environment):
    with roomy_server(api_keys=[KEY]) as server:
        settings(
            clean_environment, ANTHROPIC_BASE_URL=f"{server.url}/v1", ANTHROPIC_AUTH_TOKEN=KEY, ANTHROPIC_MODEL="m"
        )
        status = main(["check", "--server", server.url, "--only", "server,clients,ladders", "--format", "json"])
        answer = json.loads(capsys.readouterr().out)
        assert status == 1 and answer["findings"][0]["cause"] == "url-doubled-v1"
        assert [f["cause"] for f in answer["findings"]].count("url-doubled-v1") == 1
        settings(clean_environment, ANTHROPIC_BASE_URL=server.url, ANTHROPIC_AUTH_TOKEN=KEY, ANTHROPIC_MODEL="m")
        assert main(["check", "--server", server.url, "--only", "server,clients,ladders"]) == 0
    out = capsys.readouterr().out
    assert "connection" in out and "no step fails" in out
