"""The tiny models are real: llama.cpp loads them and answers."""

import json
import urllib.error
import urllib.request

import pytest

from tests.models import STRICT_TEMPLATE, TOOL_TEMPLATE, tiny_llama

xllamacpp = pytest.importorskip("xllamacpp")
pytestmark = pytest.mark.real


def ask(path, messages, **options):
    """One chat turn with a server of our own, over HTTP. Status and body."""
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = 1024
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.warmup = False
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.use_jinja = True
    server = xllamacpp.Server(params)
    body = json.dumps({"messages": messages, "max_tokens": 12, "temperature": 0, **options}).encode()
    request = urllib.request.Request(f"{server.listening_address}/v1/chat/completions", body)
    request.add_header("Content-Type", "application/json")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=20) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


HELLO = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize("arch", ["llama", "qwen2", "qwen3", "mistral3"])
def test_llama_cpp_answers_with_letters(tmp_path, arch):
    status, body = ask(tiny_llama(tmp_path / "m.gguf", arch=arch), HELLO)
    assert status == 200
    content = body["choices"][0]["message"]["content"]
    assert set(content) <= set(" abcdefghijklmnopqrstuvwxyz")
    assert body["usage"]["completion_tokens"] > 0


def test_a_split_model_loads(tmp_path):
    first = tiny_llama(tmp_path / "m.gguf", split_tensors=7)
    assert first.name == "m-00001-of-00003.gguf"
    assert ask(first, HELLO)[0] == 200


def test_the_same_seed_gives_the_same_file(tmp_path):
    one, two = tiny_llama(tmp_path / "1.gguf"), tiny_llama(tmp_path / "2.gguf")
    other = tiny_llama(tmp_path / "3.gguf", seed=2)
    assert one.read_bytes() == two.read_bytes() != other.read_bytes()


def test_the_strict_template_refuses_a_late_system_message(tmp_path):
    path = tiny_llama(tmp_path / "m.gguf", chat_template=STRICT_TEMPLATE)
    late = [*HELLO, {"role": "system", "content": "be brief"}]
    assert ask(path, late[::-1])[0] == 200
    status, body = ask(path, late)
    assert status >= 400
    assert "System message must be at the beginning" in json.dumps(body)


def test_the_tool_template_takes_tools(tmp_path):
    path = tiny_llama(tmp_path / "m.gguf", chat_template=TOOL_TEMPLATE)
    tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
    assert ask(path, HELLO, tools=[tool], tool_choice="none")[0] == 200
