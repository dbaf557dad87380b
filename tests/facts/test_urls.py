"""Addresses as people paste them."""

import pytest

from doctor.facts.urls import is_local, is_loopback, parse_address, same_server, spares


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/v1/v1", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/v1/chat/completions", "http://127.0.0.1:8080"),
        ("http://127.0.0.1:8080/v1/messages?beta=true", "http://127.0.0.1:8080"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("localhost:8080/v1", "http://localhost:8080"),
        ("//localhost:8080", "http://localhost:8080"),
        (' "http://localhost:8080" ', "http://localhost:8080"),
        ("http://localhost:8080/llm/v1/", "http://localhost:8080/llm"),
        ("http://localhost:8080/llm", "http://localhost:8080/llm"),
        ("https://models.example.org", "https://models.example.org"),
        ("https://models.example.org/api/v1#x", "https://models.example.org/api"),
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080"),
        ("http://[::]:8080", "http://[::1]:8080"),
        ("http://[fe80::1]:8080/v1", "http://[fe80::1]:8080"),
        ("http://me:sk-local-test@localhost:8080/v1", "http://localhost:8080"),
        ("HTTP://LOCALHOST:8080/v1", "http://localhost:8080"),
    ],
)
def test_the_root_is_what_paths_are_appended_to(text, root):
    address = parse_address(text)
    assert (address.root, address.problem) == (root, "")


def test_the_parts_of_an_address():
    address = parse_address("https://me:sk-local-test@models.example.org/llm/v1")
    assert address.userinfo == "me:sk-local-test"
    assert (address.scheme, address.host, address.port, address.prefix) == ("https", "models.example.org", 443, "/llm")
    assert parse_address("localhost").port == 80


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("http://127.0.0.1:99999", "port"),
        ("http://127.0.0.1:80a", "port"),
        ("127.0.0.1:-1", "port"),
        ("ftp://127.0.0.1", "ftp"),
        ("", "host"),
        ("http://", "host"),
        ("http://:8080", "host"),
        ("http://a b:80", "host"),
        ("http://[::1", "valid"),
    ],
)
def test_an_address_nothing_can_be_asked_at_has_a_problem(text, word):
    assert word in parse_address(text).problem


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "app.localhost", "::1", "[::1]", "0.0.0.0"]
)
def test_loopback(host):
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["192.168.1.2", "localhost.example.org", "10.0.0.1", "", "mylocalhost", "::2"])
def test_not_loopback(host):
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("no_proxy", "host", "spared"),
    [
        ("127.0.0.1,localhost", "127.0.0.1", True),
        ("127.0.0.1, localhost", "localhost", True),
        ("127.0.0.1 localhost", "localhost", True),
        ("*", "anything.example.org", True),
        ("localhost", "127.0.0.1", False),
        ("", "127.0.0.1", False),
        ("127.0.0.1:8080", "127.0.0.1", True),
        ("127.0.0.1:9999", "127.0.0.1", False),
        ("127.0.0.0/8", "127.0.0.1", True),
        ("10.0.0.0/8", "127.0.0.1", False),
        (".example.org", "a.example.org", True),
        ("example.org", "a.example.org", True),
        ("*.example.org", "a.example.org", True),
        ("example.org", "badexample.org", False),
        ("::1", "::1", True),
        ("LOCALHOST", "localhost", True),
        (",,", "localhost", False),
        ("nonsense/99", "localhost", False),
    ],
)
def test_no_proxy(no_proxy, host, spared):
    assert spares(no_proxy, host, 8080) is spared


@pytest.mark.parametrize(
    ("url", "base", "same"),
    [
        ("http://127.0.0.1:8080/v1/messages", "http://localhost:8080", True),
        ("http://[::1]:8080/v1", "http://127.0.0.1:8080", True),
        ("http://localhost:8080/v1", "http://0.0.0.0:8080", True),
        ("http://127.0.0.1:80801/v1", "http://127.0.0.1:8080", False),
        ("http://127.0.0.1:8081/v1", "http://127.0.0.1:8080", False),
        ("http://127.0.0.1/v1", "http://127.0.0.1:80", True),
        ("https://host/api/v1", "https://HOST/api", True),
        ("https://host/apix/v1", "https://host/api", False),
        ("https://host/v1", "https://host/api", False),
        ("nonsense://", "nonsense://", False),
        ("", "", False),
    ],
)
def test_same_server(url, base, same):
    assert same_server(url, base) is same


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://localhost", True),
        ("http://192.168.1.5:8080/v1", True),
        ("http://10.0.0.2", True),
        ("https://api.example.com", False),
        ("http://8.8.8.8", False),
        ("http://[", False),
    ],
)
def test_is_local(url, local):
    assert is_local(url) is local
