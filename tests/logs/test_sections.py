"""Commands, settings, remarks and logs are told apart, and commands put together whole."""

import pytest

from doctor.logs.paste import Paste


def places(text):
    return [line.place for line in Paste([text.encode()])]


def commands(text):
    paste = Paste([text.encode()])
    list(paste)
    return [(command.text, command.line) for command in paste.commands]


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("$ llama-server -m x.gguf -c 4096", "command"),
        ("llama-server -m x.gguf -ngl 99", "command"),
        ("./build/bin/llama-server --model x.gguf", "command"),
        ("PS C:\\llama> .\\llama-server.exe -m x.gguf", "command"),
        ("C:\\llama>llama-server.exe -m x.gguf", "command"),
        ("user@box:~/llama$ ls -la", "command"),
        ("CUDA_VISIBLE_DEVICES=0 llama-server -m x.gguf", "command"),
        ("docker run --gpus all ghcr.io/ggml-org/llama.cpp:server-cuda -m /m.gguf", "command"),
        ("export ANTHROPIC_BASE_URL=http://127.0.0.1:8080", "config"),
        ('  "apiBase": "http://127.0.0.1:8080/v1",', "config"),
        ("base_url = \"http://127.0.0.1:8080/v1\"", "config"),
        ("$env:OPENAI_BASE_URL = 'x'", "config"),
        ("# RTX 3090, 24 GB", "comment"),
        ("0.00.203.701 E srv    load_model: failed to load model, 'x.gguf'", "log"),
        ("llama_model_load: error loading model: x", "log"),
        ("load_tensors: offloaded 33/33 layers to GPU", "log"),
        ("main: error: unable to load model", "log"),
        ("Error: 401 Invalid API Key", "log"),
        ("CUDA error: out of memory", "log"),
        (" ", "log"),
    ],
)  # fmt: skip
def test_place(line, place):
    assert places(line) == [place]


def test_continued_command_is_one():
    text = "log line: x\n$ llama-server -m x.gguf \\\n    -c 131072 \\\n    -ngl 99\nmain: error: boom\n"
    assert commands(text) == [("$ llama-server -m x.gguf \\\n    -c 131072 \\\n    -ngl 99", 2)]
    assert places(text) == ["log", "command", "command", "command", "log"]


def test_two_commands_in_a_row_stay_two():
    assert [line for _, line in commands("$ llama-server -m a.gguf\n$ llama-server -m b.gguf\n")] == [1, 2]
