"""Addresses given to clients that no reader knows: every file format and language comes down to a name and a URL."""

import pytest

from doctor.logs.endpoints import endpoints_in
from doctor.logs.requests import asked_in

# As such settings stand in public repositories, each in the way of its language.
FORMS = {
    "env": "LLM_BASE_URL=http://localhost:8080/v1",
    "env-quoted": 'export VLLM_API_BASE="http://localhost:8080/v1"',
    "compose": "      - OPENAI_API_BASE_URL=http://localhost:8080/v1",
    "compose-default": "      LLM_BASE_URL: ${LLM_BASE_URL:-http://localhost:8080/v1}",
    "yaml": "  api_base: http://localhost:8080/v1",
    "json": '    "baseUrl": "http://localhost:8080/v1",',
    "json-dotted": '  "agent.llm.baseUrl": "http://localhost:8080/v1"',
    "toml": "base_url = 'http://localhost:8080/v1'",
    "ini": "base-url=http://localhost:8080/v1",
    "python": 'client = OpenAI(base_url="http://localhost:8080/v1", api_key="none")',
    "python-dict": "config = {'base_url': 'http://localhost:8080/v1', 'model': 'qwen'}",
    "python-environ": 'os.environ["OPENAI_API_BASE"] = "http://localhost:8080/v1"',
    "python-getenv": 'base = os.getenv("LLM_BASE_URL", "http://localhost:8080/v1")',
    "javascript": "const ai = createOpenAI({ baseURL: 'http://localhost:8080/v1' })",
    "java": '    .baseUrl("http://localhost:8080/v1")',
    "csharp": 'options.BaseUri = new Uri("http://localhost:8080/v1");',
    "go": 'config.BaseURL = "http://localhost:8080/v1"',
    "go-short": 'baseURL := "http://localhost:8080/v1"',
    "rust": '.with_api_base("http://localhost:8080/v1")',
    "ruby": 'uri_base: "x", base_url => "http://localhost:8080/v1"',
    "lua": '        base_url = "http://localhost:8080/v1",',
    "php": "'base_url' => 'http://localhost:8080/v1',",
    "option": "mytool --api-base http://localhost:8080/v1 --model qwen",
    "option-equals": "mytool --openai-api-base=http://localhost:8080/v1",
    "powershell": '$env:OPENAI_BASE_URL = "http://localhost:8080/v1"',
    "form": "API Base: http://localhost:8080/v1",
    "form-url": "Base URL: `http://localhost:8080/v1`",
    "sentence": "my base url is http://localhost:8080/v1",
    "chinese": "base_url 填 http://localhost:8080/v1",
}


@pytest.mark.parametrize("line", FORMS.values(), ids=FORMS)
def test_an_address_is_found_in_whatever_form(line):
    [found] = endpoints_in([line])
    assert (found.role, found.url, found.port, found.path, found.local) == (
        "base", "http://localhost:8080/v1", 8080, "/v1", True,
    )  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "main: server is listening on http://127.0.0.1:8080 - starting the main loop",
        'HTTP Request: POST http://127.0.0.1:8080/v1/chat/completions "HTTP/1.1 200 OK"',
        "see https://docs.example.com/base_url for help",
        "HTTP_PROXY=http://127.0.0.1:7890",
        "REDIS_URL=redis://localhost:6379",
        'EMBEDDING_BASE_URL="http://localhost:8081/v1"',
        "webhook_url: http://localhost:5678/hook",
        "ref: https://github.com/ggml-org/llama.cpp/pull/22907",
        "http://localhost:3000",
        "12:34:56 localhost time",
    ],
)
def test_no_setting_of_a_model_server(line):
    assert endpoints_in([line]) == ()


@pytest.mark.parametrize(
    ("lines", "role", "dialect"),
    [
        (['OLLAMA_HOST="http://localhost:11434"'], "host", "ollama"),
        (["OPENAI_HOST: http://localhost:8080"], "host", "openai"),
        (["ANTHROPIC_BASE_URL=http://localhost:8080"], "base", "anthropic"),
        (['  endpoint = "http://localhost:8080",', '  provider = "openai",'], "either", "openai"),
        (["(gptel-make-ollama", ' :host "localhost:11434"'], "host", "ollama"),
        (['llm = ChatOllama(base_url="http://localhost:11434")'], "base", "ollama"),
        (["spring:", "  ai:", "    openai:", "      base-url: http://localhost:8080"], "host", "openai"),
        (["type: openai-compatible", "api_base: http://localhost:8080/v1"], "base", "openai"),
        (["- url: http://localhost:8080"], "either", "unknown"),
        (['"api_base_url": "http://localhost:8080/v1/chat/completions"'], "either", "unknown"),
    ],
)
def test_what_a_client_makes_of_an_address(lines, role, dialect):
    [found] = endpoints_in(lines)
    assert (found.role, found.dialect) == (role, dialect)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("api_key: sk-local-test", "given"),
        ('"apiKey": "YOUR_API_KEY"', "placeholder"),
        ("api_key = '<your key>'", "placeholder"),
        ("API_KEY=sk-xxxxxxxx", "placeholder"),
        ("api_key: ${OPENAI_API_KEY}", "variable"),
        ("apiKey: process.env.KEY", "variable"),
        ('api_key: ""', "empty"),
        ('api_key="None"', "empty"),
        ("timeout: 30", None),
    ],
)
def test_what_stands_there_as_the_key(line, kind):
    [found] = endpoints_in(["base_url: http://localhost:8080/v1", line])
    assert found.key == kind
    assert "sk-local-test" not in str(found)


@pytest.mark.parametrize(
    "line", ['model: "qwen3:8b"', '"model": "qwen3:8b",', "MODEL_NAME=qwen3:8b", "--model qwen3:8b", 'model="qwen3:8b"']
)
def test_the_model_beside_an_address(line):
    [found] = endpoints_in(["base_url: http://localhost:8080/v1", line])
    assert found.model == "qwen3:8b"


# One failure in the words of each library.
REFUSALS = {
    "httpx": 'HTTP Request: POST http://localhost:8080/chat/completions "HTTP/1.1 404 Not Found"',
    "requests": "404 Client Error: Not Found for url: http://localhost:8080/chat/completions",
    "httpx-error": "Client error '404 Not Found' for url 'http://localhost:8080/chat/completions'",
    "aiohttp": "404, message='Not Found', url='http://localhost:8080/chat/completions'",
    "reqwest": "HTTP status client error (404 Not Found) for url (http://localhost:8080/chat/completions)",
    "spring": "404 Not Found from POST http://localhost:8080/chat/completions",
    "guzzle": "Client error: `POST http://localhost:8080/chat/completions` resulted in a `404 Not Found` response",
    "go-openai": 'POST "http://localhost:8080/chat/completions": 404 Not Found {"error":"x"}',
    "codex": "unexpected status 404 Not Found: Not Found, url: http://localhost:8080/chat/completions",
    "next-line": "request to http://localhost:8080/chat/completions\nTranslation failed: HTTP Error: Status 404: not found",
    "curl": "$ curl http://localhost:8080/chat/completions -d '{}'\nHTTP/1.1 404 Not Found",
}


@pytest.mark.parametrize("text", REFUSALS.values(), ids=REFUSALS)
def test_a_request_and_its_answer_in_whatever_words(text):
    [found] = asked_in(text).requests
    assert (found.path, found.port, found.status, found.answered) == ("/chat/completions", 8080, 404, False)


@pytest.mark.parametrize(
    ("text", "failure"),
    [
        ("Error: connect ECONNREFUSED 127.0.0.1:8080", "refused"),
        ("curl http://127.0.0.1:8080/health\ncurl: (7) Failed to connect to 127.0.0.1", "refused"),
        ("curl http://127.0.0.1:8080/health\ncurl: (56) Recv failure: Connection reset by peer", "reset"),
        ("curl http://127.0.0.1:8080/health\n--> timeout", "timeout"),
        ("curl http://127.0.0.1:8080/health\n{\"status\":\"ok\"}", None),
    ],
)  # fmt: skip
def test_how_a_request_failed(text, failure):
    found = asked_in(text).requests[0]
    assert found.failure == failure
    assert found.answered == (failure is None)


def test_requests_made_inside_a_container():
    text = "host> curl http://localhost:8080\nok works\nroot@633fd8c28278:/app# curl http://localhost:8080\nConnection refused"
    assert [found.inside for found in asked_in(text).requests] == [False, True]


def test_what_a_server_of_the_text_says_of_itself():
    text = (
        "main: server is listening on http://127.0.0.1:8081 - starting the main loop\n"
        '{"data":[{"id":"a/b:q4","object":"model"},{"id":"c","aliases":[],"object":"model"}]}'
    )
    found = asked_in(text)
    assert (found.listens, found.serves) == ((8081,), ("a/b:q4", "c"))


def test_a_model_that_is_missing_is_no_wrong_path():
    assert asked_in('base_url: http://localhost:1/v1\nHTTP 404 {"error":"model \'x\' not found"}').statuses == ()


def test_a_hostile_text_is_read_in_bounded_time():
    text = "\n".join(["base_url=http://localhost:8080/v1 " * 500] * 4000)
    found = asked_in(text)
    assert len(found.endpoints) <= 20
