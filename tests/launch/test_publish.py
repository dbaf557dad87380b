"""Ports that lead out of a container, and services that look for its server at the wrong address."""

import pytest

from doctor.cli import main
from doctor.launch.command import parse_command
from doctor.launch.publish import Published, published
from doctor.launch.words import Word
from doctor.outside import Outside


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("8080:8080", (8080, 8080, "0.0.0.0")),
        ("11434:8080/tcp", (11434, 8080, "0.0.0.0")),
        ("127.0.0.1:8080:8080", (8080, 8080, "127.0.0.1")),
        ("[::1]:8080:8080", (8080, 8080, "::1")),
        ("192.168.1.5:80:8080", (80, 8080, "192.168.1.5")),
        ("8080", None),  # a port of this machine that nobody knows before
        ("127.0.0.1::8080", None),
        ("8000-8010:8000-8010", None),
        ("8080:8080/udp", None),
        ("x" * 5000, None),
    ],
)
def test_mappings(text, found):
    port = published(Word(text, 3, False))
    assert (port[:3] if port else None) == found


@pytest.mark.parametrize(
    ("options", "port"),
    [
        ("-p 127.0.0.1:9000:8080", Published(9000, 8080, "127.0.0.1", 1)),
        ("--publish=9000:8080", Published(9000, 8080, "0.0.0.0", 1)),
        ("--network host", Published(8080, 8080, "host")),
        ("--net=host -p 1:2", Published(8080, 8080, "host")),
    ],
)
def test_docker_run(options, port):
    command = parse_command(f"docker run {options} ghcr.io/ggml-org/llama.cpp:server -m /m.gguf")
    assert command.ports == (port,)


COMPOSE = """services:
  llama:
    image: ghcr.io/ggml-org/llama.cpp:server
    command: -m /m.gguf --host 0.0.0.0{key}
    {ports}
  webui:
    image: ghcr.io/open-webui/open-webui:main
    {mode}
    environment:
      OPENAI_API_BASE_URL: {url}
      WEBUI_URL: http://localhost:8080
      NEXT_PUBLIC_OPENAI_BASE_URL: http://localhost:8080
"""


def check(folder, capsys, *, ports="ports: ['8080:8080']", key="", url="http://llama:8080/v1", mode="restart: always"):
    (folder / "compose.yml").write_text(COMPOSE.format(ports=ports, key=key, url=url, mode=mode))
    home = folder / "home"
    home.mkdir()
    main(
        ["check", "--launch", str(folder / "compose.yml"), "--only", "launch"], Outside({"PATH": "", "HOME": str(home)})
    )
    return capsys.readouterr().out


OPEN = "can be reached from the network"


@pytest.mark.parametrize(
    ("ports", "key", "told"),
    [
        ("ports: ['8080:8080']", "", True),
        ("ports: ['127.0.0.1:8080:8080']", "", False),
        ("ports: [{host_ip: 127.0.0.1, published: '8080', target: 8080}]", "", False),
        ("ports: [{published: '8080', target: 8080}]", "", True),
        ("ports: ['8080:8080']", " --api-key sk-local-test", False),
        ("expose: ['8080']", "", False),  # for the other services only
        ("network_mode: host", "", True),
    ],
)
def test_open_to_the_network(tmp_path, capsys, ports, key, told):
    shown = check(tmp_path, capsys, ports=ports, key=key)
    assert (OPEN in shown) is told
    if told and "8080:8080" in ports:
        assert "compose.yml:5" in shown and "write 127.0.0.1:8080:8080 as the port mapping" in shown


@pytest.mark.parametrize(
    ("url", "mode", "right"),
    [
        ("http://localhost:8080/v1", "restart: always", "http://llama:8080/v1"),
        ("http://127.0.0.1:11434/v1", "restart: always", "http://llama:8080/v1"),  # the published port
        ("http://127.0.0.1:9999/v1", "restart: always", None),  # another server's
        ("http://llama:8080/v1", "restart: always", None),
        ("http://localhost:8080/v1", "network_mode: host", None),
        ("http://localhost:8080/v1", "network_mode: service:llama", None),
    ],
)
def test_a_neighbour_that_looks_at_itself(tmp_path, capsys, url, mode, right):
    shown = check(tmp_path, capsys, ports="ports: ['127.0.0.1:11434:8080']", url=url, mode=mode)
    if right is None:
        assert "in its own container" not in shown
    else:
        assert f"OPENAI_API_BASE_URL={right}" in shown and "compose.yml:10" in shown
        assert "WEBUI_URL" not in shown


def test_a_server_with_the_network_of_the_machine(tmp_path, capsys):
    shown = check(
        tmp_path, capsys, ports="network_mode: host", key=" --api-key sk-local-test", url="http://localhost:8080/v1"
    )
    assert "OPENAI_API_BASE_URL=http://host.docker.internal:8080/v1" in shown
