"""The forms of a command, read back by doctor's own readers of compose files and unit files."""

import configparser
import shlex

import pytest

from doctor.launch.command import parse_command
from doctor.report.launch_forms import compose, preset, shell, systemd

WORDS = (
    "llama-server",
    "--model",
    "/data/my models/a $b.gguf",
    "--ctx-size",
    "65536",
    "--flash-attn",
    "on",
    "--no-mmproj-offload",
    "--temp",
    "-1",
)


def arguments(text):
    return [word.text for word in parse_command(text).arguments]


def test_shell_gives_the_same_words_back():
    assert shlex.split(shell(WORDS, "x", "cuda")) == list(WORDS)


def test_compose_mounts_the_folder_and_listens_where_it_is_published():
    text = compose(WORDS, "long context", "cuda")
    found = parse_command(text)
    assert found.image == "ghcr.io/ggml-org/llama.cpp:server-cuda"
    assert [port[:3] for port in found.ports] == [(8080, 8080, "127.0.0.1")]
    assert found.mounts == (("/data/my models", "/models"),)
    words = [word.text for word in found.arguments]
    assert words[0] == "--model" and words[1].startswith("/models/a ") and words[1].endswith("b.gguf")
    assert words[2:4] == ["--ctx-size", "65536"] and words[-2:] == ["--host", "0.0.0.0"]
    assert "capabilities: [gpu]" in text and "127.0.0.1:8080:8080" in text
    assert "capabilities" not in compose(WORDS, "x", "cpu")


def test_compose_keeps_a_port_that_was_given():
    assert '"127.0.0.1:9000:9000"' in compose((*WORDS, "--port", "9000"), "x", "cuda")


def test_systemd_unit_starts_the_server():
    text = systemd(WORDS, "speed", "cuda")
    line = next(line for line in text.splitlines() if line.startswith("ExecStart="))
    assert '"/data/my models/a $$b.gguf"' in line
    assert arguments(line)[2:4] == ["--ctx-size", "65536"]


def test_preset_is_an_ini_section_of_long_names():
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(preset(WORDS, "long context", "cuda"))
    section = parser["long-context"]
    assert section["ctx-size"] == "65536" and section["flash-attn"] == "on"
    assert section["mmproj-offload"] == "false" and section["temp"] == "-1"
    assert section["model"] == "/data/my models/a $b.gguf"


@pytest.mark.parametrize("form", [shell, compose, systemd, preset])
def test_a_container_command_keeps_only_the_servers_own_words(form):
    words = (
        "docker",
        "run",
        "-v",
        "/m:/models",
        "ghcr.io/ggml-org/llama.cpp:server",
        "llama-server",
        "-m",
        "/models/a.gguf",
    )
    assert "/models/a.gguf" in form(words, "x", "cuda") or form is compose
