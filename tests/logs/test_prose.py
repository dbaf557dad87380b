"""A launch command inside a sentence, as people write it."""

import pytest

from doctor.logs.prose import command_in

PLAIN = "llama-server -m qwen.gguf -c 131072 -ngl 99"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("I run llama-server -m qwen.gguf -c 131,072 -ngl 99 on a 3090 and it is slow.", PLAIN),
        ("I run llama-server -m qwen.gguf -c 131,072 -ngl 99, on a 3090", PLAIN),
        ("My command is `llama-server -m qwen.gguf -c 131,072 -ngl 99`.", PLAIN),
        ("llama-server -m qwen.gguf -c 131,072 -ngl 99, then CUDA out of memory", PLAIN),
        ("用 ./build/bin/llama-server -m q.gguf -c 131,072 启动后报错", "./build/bin/llama-server -m q.gguf -c 131072"),
        ("we use llama-server --mlock -c 4096 --jinja but", "llama-server --mlock -c 4096 --jinja"),
        # A line that is a command stays what it is: llama-server reads 131 there.
        ("llama-server -m qwen.gguf -c 131,072 -ngl 99", None),
        ("$ llama-server -m qwen.gguf -c 131,072", None),
        ("llama-server -m a.gguf stray", None),
        ("CUDA_VISIBLE_DEVICES=1 llama-server -m a.gguf -c 1", None),
        ("sudo nohup llama-server -m a.gguf -c 1 > log 2>&1 &", None),
        ("docker run --gpus all ghcr.io/ggml-org/llama.cpp:server -m a.gguf", None),
        ("ExecStart=/usr/bin/llama-server -m a.gguf -c 1", None),
        ("main: llama-server -m a.gguf", None),
        ("llama-server is slow", None),
        ("", None),
    ],
)
def test_command_of_a_sentence(text, command):
    assert command_in(text) == command


@pytest.mark.parametrize(
    "text", ["I run llama-server " + "-c 1 " * 5000, "`" * 9000, "`llama-server -" * 3000, "1,111" * 9000]
)
def test_ends_soon(text):
    command_in(text)
