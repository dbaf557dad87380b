import time

import pytest

from doctor.launch.command import parse_command
from doctor.launch.fields import Origin, launch_record
from doctor.launch.table import load_table
from doctor.outside import Outside
from doctor.secrets import Vault

FILE = """services:
  webui:
    image: ghcr.io/open-webui/open-webui:main
    command: ["bash", "start.sh"]
  llama:
    image: "ghcr.io/ggml-org/llama.cpp:server-cuda"
    environment:
      GGML_CUDA_GRAPH_OPT: "1"   # faster?
      LLAMA_API_KEY: sk-local-test
    ports:
      - "11434:8080"
    volumes:
      - /srv/models:/models:ro
    {command}
    restart: unless-stopped
"""
BLOCK_LIST = """command:
      - -m
      - /models/q.gguf
      - --ctx-size
      - "65536"
      - --no-mmap"""
FLAT_LIST = BLOCK_LIST.replace("      -", "    -")
FOLDED = """command: >
      -m /models/q.gguf
      --ctx-size 65536
      --no-mmap"""
FLOW = """command: ["-m", "/models/q.gguf",
              '--ctx-size', 65536, --no-mmap]"""
PLAIN = "command: -m /models/q.gguf --ctx-size 65536 --no-mmap"


@pytest.mark.parametrize("command", [BLOCK_LIST, FLAT_LIST, FOLDED, FLOW, PLAIN])
def test_every_way_to_write_a_command(command):
    found = parse_command(FILE.replace("{command}", command))
    assert [word.text for word in found.arguments] == ["-m", "/models/q.gguf", "--ctx-size", "65536", "--no-mmap"]
    assert found.image == "ghcr.io/ggml-org/llama.cpp:server-cuda"
    assert found.variables == {"GGML_CUDA_GRAPH_OPT": "1", "LLAMA_API_KEY": "sk-local-test"}
    assert ([port[:3] for port in found.ports], found.mounts) == (
        [(11434, 8080, "0.0.0.0")],
        (("/srv/models", "/models"),),
    )


def test_facts_and_lines():
    command = parse_command(FILE.replace("{command}", BLOCK_LIST))
    launch = launch_record(command, load_table(Outside()), Vault(), 11434, Origin("option", "/home/me"))
    assert (launch.model, launch.published_port, launch.ctx_size) == ("/srv/models/q.gguf", 11434, 65536)
    assert "sk-local-test" not in repr(launch)
    (problem,) = launch.problems
    assert FILE.replace("{command}", BLOCK_LIST).splitlines()[problem.line - 1].strip() == "- --no-mmap"


def test_two_words_in_one_item():
    text = FILE.replace("{command}", 'command:\n      - "-c 65536"\n      - --api-key sk-local-test')
    launch = launch_record(parse_command(text), load_table(Outside()), Vault(), 11434, Origin("option", "/home/me"))
    assert [(problem.kind, problem.replacement) for problem in launch.problems] == [
        ("joined", "-c 65536"), ("joined", "--api-key <key-1>"),
    ]  # fmt: skip
    assert launch.ctx_size == 65536
    assert "sk-local-test" not in repr(launch)


@pytest.mark.parametrize(
    "text",
    [
        "command: npm start\nimage: node:22",
        "services:\n  db:\n    image: postgres\n    command: postgres -c max_connections=10",
        "command:\n",
        "command: [",
    ],
)
def test_other_services_are_no_launch(text):
    assert parse_command(text) is None


def test_an_entry_point_of_its_own():
    text = "x:\n  image: my/gpu:1\n  entrypoint: /app/llama-server\n  command: -c 4096\n"
    found = parse_command(text)
    assert (found.program, [word.text for word in found.arguments]) == ("/app/llama-server", ["-c", "4096"])


@pytest.mark.parametrize(
    "text",
    ["command:\n" * 6500, "image: [a,\n" * 5900 + "command: [", "image: x" + " " * 60_000 + "y\ncommand: [a]\n",
     "command:\n  - a" + " " * 60_000 + "b\n"],
)  # fmt: skip
def test_hostile_files_end_soon(text):
    """A file of nothing but `command:` took 85 seconds."""
    started = time.process_time()
    parse_command(text)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "rows",
    [
        ["image: ghcr.io/ggml-org/llama.cpp:server", "environment:", "  LLAMA_ARG_CTX_SIZE: 4096"],
        ["environment:", "  - LLAMA_ARG_CTX_SIZE=4096", "image: ghcr.io/ggml-org/llama.cpp:server"],
        ["image: mine", "entrypoint: [/app/llama-server]", "environment: {}", "command: []"],
        ["image: mine", 'entrypoint: ["/app/llama-server", "-c", "4096"]'],
    ],
)
def test_a_service_without_a_command(rows):
    text = "services:\n  llm:\n" + "".join(f"    {row}\n" for row in rows)
    assert parse_command(text) is not None


def test_variables_of_other_programs_make_no_server():
    text = "services:\n  web:\n    image: llama-web\n    environment:\n      MODEL: x\n"
    assert parse_command(text) is None
