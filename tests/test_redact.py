"""No secret, name or control character leaves; what is not secret stays readable."""

import pytest

from doctor.redact import Redactor, sanitize
from doctor.secrets import Vault

SECRET = "q8Zr3vLm0Xy7TkPw"
PLACES = [
    f"ANTHROPIC_AUTH_TOKEN={SECRET}",
    f"export OPENAI_API_KEY='{SECRET}'",
    f'$env:ANTHROPIC_API_KEY = "{SECRET}"',
    f"set OPENAI_API_KEY={SECRET}",
    f"llama-server -m x.gguf --api-key {SECRET} --port 8080",
    f"--api-key={SECRET}",
    f'--api-key "{SECRET}"',
    f"llama-server -hf a/b --hf-token {SECRET}",
    f"llama-server -hft {SECRET}",
    f"Authorization: Bearer {SECRET}",
    f"authorization: bearer {SECRET}",
    f"curl -H 'Authorization: Bearer {SECRET}' http://127.0.0.1",
    f'curl -H "x-api-key: {SECRET}"',
    f'{{"apiKey": "{SECRET}"}}',
    f'{{"api_key":"{SECRET}"}}',
    f'"ANTHROPIC_AUTH_TOKEN": "{SECRET}",',
    f"apiKey: {SECRET}",
    f"api_key = '{SECRET}'",
    f"    - LLAMA_API_KEY={SECRET}",
    f"LLAMA_API_KEY: {SECRET}",
    f"https://user:{SECRET}@host.example/v1",
    f"http://127.0.0.1:8080/v1/models?api_key={SECRET}",
    f"GET /v1beta/models?key={SECRET}&alt=sse",
    f"password: {SECRET}",
    f"HF_TOKEN={SECRET}",
    f"x-goog-api-key: {SECRET}",
    f"Proxy-Authorization: Basic {SECRET}",
    f"access_token={SECRET}",
    f'"refreshToken": "{SECRET}"',
    f"client_secret={SECRET}",
    f"Cookie: session={SECRET}",
    f"openai.api_key = '{SECRET}'",
    f"Incorrect API key provided: {SECRET}",
    f"api-key {SECRET}" if False else f"--api-key\t{SECRET}",
]
SHAPES = [
    "sk-local-test",
    "sk-ant-api03-AbCdEf_0123456789",
    "sk-proj-abcdefghij0123456789",
    "hf_abcdefGHIJKLmnop",
    "ghp_0123456789abcdefghijABCDEFGHIJ",
    "AIzaSyA0123456789abcdefghijklmnop",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc123",
    "nvapi-0123456789abcdef",
]


@pytest.mark.parametrize("text", PLACES)
def test_a_key_in_its_place(text):
    assert SECRET not in Redactor().text(text)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("around", ["{}", "it says {} here", "'{}'", "({})", "key={}", "错误：{}。"])
def test_a_key_by_its_shape(shape, around):
    assert shape not in Redactor().text(around.format(shape))


def test_the_same_key_gets_the_same_token():
    clean = Redactor()
    first = clean.text("ANTHROPIC_AUTH_TOKEN=sk-local-test")
    second = clean.text("x-api-key: sk-local-test")
    other = clean.text("x-api-key: sk-local-other")
    assert first.endswith("<key-1>") and second.endswith("<key-1>") and other.endswith("<key-2>")


def test_a_key_known_to_the_vault_goes_wherever_it_stands():
    vault = Vault()
    token = vault.put("plain word")
    assert Redactor(vault=vault).text("the server said plain word is wrong") == f"the server said {token} is wrong"


@pytest.mark.parametrize(
    "text",
    [
        "prompt eval time = 23790.85 ms / 724 tokens (32.86 ms per token, 30.43 tokens per second)",
        "request (1524 tokens) exceeds the available context size (512 tokens)",
        "srv  operator(): unauthorized: Invalid API Key",
        "error: 401 invalid api key",
        "print_info: EOS token = 151645 '<|im_end|>'",
        "set OPENAI_API_KEY to any text",
        "--api-key KEY" if False else "API key: missing",
        "token generation is slow, 15 tokens per second",
        "tokenizer.ggml.tokens arr[str,151936]",
        "max_tokens: 4096",
        "srv  init_listene: api_keys: ****0001",
        "ANTHROPIC_AUTH_TOKEN=$KEY",
        "slot 0: n_past = 724, cache key length 128",
        "key_length = 256",
        "https://github.com/ggml-org/llama.cpp/issues/1",
        "llama_kv_cache: size = 2304.00 MiB (131072 cells,  16 layers,  1/1 seqs), K (q4_0): 1152.00 MiB",
    ],
)
def test_what_is_no_secret_stays(text):
    assert Redactor().text(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/alice/models/x.gguf", "~/models/x.gguf"),
        ("/home/bob/x.gguf", "/home/<user>/x.gguf"),
        (r"C:\Users\Bob\x.gguf", r"C:\Users\<user>\x.gguf"),
        ("/Users/bob/x", "/Users/<user>/x"),
        ("/mnt/c/Users/bob/x", "/mnt/c/Users/<user>/x"),
        ("alice@workbox:~$ llama-server", "<name>@<name>:~$ llama-server"),
        ("Nov 30 workbox llama-server[12]: up", "Nov 30 <name> llama-server[12]: up"),
        ("malice is no name", "malice is no name"),
        ("mail bob@example.org", "mail <mail>"),
    ],
)
def test_names_and_places(text, expected):
    assert Redactor(names=("alice", "workbox"), home="/home/alice").text(text) == expected


def test_trees():
    clean = Redactor()
    assert clean.tree({"a": ["api_key=abcd1234", ("b", 1)], "x": None}) == {
        "a": ["api_key=<key-1>", ("b", 1)],
        "x": None,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;owned\x07title", "title"),
        ("\x1b]52;c;aGk=\x07", ""),
        ("bell\x07 back\x08space\x00", "bell backspace"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("zero\u200bwidth", "zerowidth"),
        ("\x9b31mcsi", "31mcsi"),
        ("tab\tand\nline stay", "tab\tand\nline stay"),
        ("中文 stays ✓", "中文 stays ✓"),
        ("over\rwrite", "overwrite"),
        ("lone \ud800 surrogate", "lone  surrogate"),
    ],
)
def test_control_characters(text, expected):
    assert sanitize(text) == expected
