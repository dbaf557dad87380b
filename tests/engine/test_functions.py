"""Launch commands are changed in place: what was written stays, what stands in front stays."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from doctor.engine.functions import FUNCTIONS, _quoted
from doctor.facts.clients.record import Setting
from doctor.facts.launch.record import Launch
from doctor.facts.pasted import paste_facts
from doctor.facts.record import Unknown, not_collected
from doctor.logs.paste import Paste
from doctor.outside import Outside
from doctor.secrets import Vault


def launch_of(text):
    paste = Paste([text.encode()])
    list(paste)
    return paste_facts(paste, Outside(environ={}), Vault()).launch


@pytest.mark.parametrize(
    ("command", "changes", "expected"),
    [
        ("llama-server -m x.gguf -c 4096", ("--ctx-size", 8192), "llama-server -m x.gguf -c 8192"),
        ("llama-server -m x.gguf", ("--ctx-size", 8192), "llama-server -m x.gguf --ctx-size 8192"),
        ("llama-server -m x.gguf -c 1 -c 2", ("--ctx-size", 9), "llama-server -m x.gguf -c 9"),
        ("sudo llama-server -m x.gguf -c 1", ("--ctx-size", 9), "sudo llama-server -m x.gguf -c 9"),
        ("FOO=1 ./llama-server -m 'a b.gguf' -c 1", ("--ctx-size", 9), "FOO=1 ./llama-server -m 'a b.gguf' -c 9"),
        ("docker run --gpus all ghcr.io/ggml-org/llama.cpp:server-cuda -m /x.gguf -c 1", ("--ctx-size", 9),
         "docker run --gpus all ghcr.io/ggml-org/llama.cpp:server-cuda -m /x.gguf -c 9"),
        ("llama-server -m x.gguf --no-mmap -ngl 9", ("--mmap", False), "llama-server -m x.gguf -ngl 9"),
        ("llama-server -m x.gguf", ("--jinja", True), "llama-server -m x.gguf --jinja"),
        ("llama-server -m x.gguf -ctk q4_0", ("--cache-type-k", "q8_0", "--cache-type-v", "q8_0"),
         "llama-server -m x.gguf -ctk q8_0 --cache-type-v q8_0"),
        ("llama-server -m ~/models/a.gguf -c 32k", ("--ctx-size", 32768), "llama-server -m ~/models/a.gguf -c 32768"),
        ("llama-server -m '~/my models/a.gguf' -c 1", ("--ctx-size", 2), "llama-server -m ~/'my models/a.gguf' -c 2"),
    ],
)  # fmt: skip
def test_with_option(command, changes, expected):
    assert FUNCTIONS["with_option"](launch_of(f"$ {command}\n"), *changes) == expected


def test_without_option():
    assert (
        FUNCTIONS["without_option"](launch_of("$ llama-server -m x -np 4 -c 9\n"), "--parallel")
        == "llama-server -m x -c 9"
    )


def test_a_key_is_never_in_the_command():
    changed = FUNCTIONS["with_option"](launch_of("$ llama-server -m x --api-key sk-local-test -c 1\n"), "--ctx-size", 2)
    assert "sk-local-test" not in changed and changed.endswith("-c 2")


def test_unknown_and_absent_stay():
    assert isinstance(FUNCTIONS["with_option"](Unknown("x"), "--a", 1), Unknown)
    assert isinstance(FUNCTIONS["with_option"](not_collected(Launch, "x"), "--a", 1), Unknown)
    assert FUNCTIONS["with_option"](None, "--a", 1) is None
    bare = replace(not_collected(Launch, "x"), command="llama-server", options=())
    assert FUNCTIONS["has_option"](bare, "--a") is False


def test_place():
    place = FUNCTIONS["place"]
    assert place(Setting("x", "y", "a.json", 4)) == "a.json:4"
    assert place(Setting("x", "y", "environment", None)) == "environment"
    assert place(Setting("x", "y", "environment", None, "~/.bashrc:2")) == "environment, ~/.bashrc:2"
    assert place(None) is None
    assert place(Unknown("why")) == Unknown("why")


LAUNCH = replace(not_collected(Launch, "x"), published_port=None, port=9000, host="0.0.0.0", api_prefix="/llm")


@pytest.mark.parametrize(
    ("places", "url", "port"),
    [
        ((), "http://HOST:PORT", "PORT"),
        ((None, Unknown("x")), "http://HOST:PORT", "PORT"),
        (("http://127.0.0.1:8081/v1",), "http://127.0.0.1:8081", "8081"),
        (("127.0.0.1:8081",), "http://127.0.0.1:8081", "8081"),
        ((Unknown("x"), "https://gw.example/api/v1/chat/completions"), "https://gw.example/api", "443"),
        (("http://", "http://h:1"), "http://h:1", "1"),
        ((LAUNCH,), "http://127.0.0.1:9000/llm", "9000"),
        ((replace(LAUNCH, port=None, api_prefix=None),), "http://127.0.0.1:8080", "8080"),
        ((replace(LAUNCH, port=Unknown("filled in by the shell")),), "http://HOST:PORT", "PORT"),
        ((replace(LAUNCH, host="192.0.2.7"), "http://127.0.0.1:1"), "http://192.0.2.7:9000/llm", "9000"),
    ],
)
def test_address_and_port(places, url, port):
    assert (FUNCTIONS["address"](*places), FUNCTIONS["port"](*places)) == (url, port)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"command": "llama-server -m x", "program": "llama-server"}, "llama-server -m x"),
        ({"command": "-m x", "file": "/a/my compose.yml", "file_kind": "compose", "name": "llama"},
         "docker compose -f '/a/my compose.yml' up -d llama"),
        ({"command": "llama-server -m x", "program": "llama-server", "file": "~/run.sh", "file_kind": "shell"}, "bash ~/run.sh"),
        ({"command": "x", "file": "/etc/systemd/system/llama.service", "file_kind": "systemd", "name": "llama.service"},
         "sudo systemctl start llama.service"),
        ({"command": "x", "file": "~/.config/systemd/user/llama.service", "file_kind": "systemd", "name": "llama.service"},
         "systemctl --user start llama.service"),
        ({"command": "-m x", "file": "/a/Dockerfile", "file_kind": "dockerfile"}, None),
        ({"command": "-m x"}, None),
    ],
)  # fmt: skip
def test_start(facts, expected):
    absent = dict.fromkeys(("command", "program", "file", "file_kind", "name"))
    assert FUNCTIONS["start"](SimpleNamespace(**{**absent, **facts})) == expected
    assert FUNCTIONS["start"](None) is None and isinstance(FUNCTIONS["start"](Unknown("x")), Unknown)


@pytest.mark.parametrize(
    ("word", "shown"),
    [("%MODEL%", '"%MODEL%"'), ("%DIR%\\q.gguf", '"%DIR%\\q.gguf"'), ("%EXTRA_ARGS%", "%EXTRA_ARGS%"), ("50%", "50%")],
)
def test_what_cmd_fills_in_stands_in_quotes(word, shown):
    assert _quoted(word) == shown
