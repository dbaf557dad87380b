"""The lowest rungs: addresses, proxies, other places the port may be open."""

import json

import pytest

from doctor.facts.clients.record import Setting
from doctor.facts.ladder import places
from doctor.facts.ladder.climb import climb_ladder
from doctor.facts.ladder.collect import same_place, server_of
from doctor.facts.ladder.record import RUNGS, Ladder
from doctor.facts.ladder.target import of_url
from doctor.facts.record import from_json, to_json
from doctor.outside import Outside
from doctor.secrets import Vault
from tests.facts.ladder.serving import serving, vllm


class World(Outside):
    """This machine with some answers of its own."""

    def __init__(self, environ=None, names=None, files=None, kernel="6.1"):
        super().__init__(environ or {}, "linux")
        self.names, self.files, self.kernel = names or {}, files or {}, kernel

    def resolve(self, host, timeout=2.0):
        return self.names[host] if host in self.names else super().resolve(host, timeout)

    def exists(self, path):
        return path in self.files

    def read_text(self, path, limit=1 << 20):
        return self.files[path]

    def uname(self):
        return "Linux", self.kernel, "x86_64"


def climb(url, outside=None, **changes):
    outside = outside or World()
    target = of_url(url, model=None, key=None, source="option")._replace(**changes)
    ladder = climb_ladder(outside, target, server_of(outside, Vault(), target))
    assert from_json(Ladder, json.loads(json.dumps(to_json(ladder)))) == ladder
    return ladder


def rung(ladder, name):
    return next(each for each in ladder.rungs if each.name == name)


def test_a_name_without_address():
    ladder = climb("http://no-such-host.invalid:8080", World(names={"no-such-host.invalid": ()}))
    assert (ladder.failed, ladder.reason) == ("name", "name-unknown")
    assert {each.state for each in ladder.rungs[1:]} == {"not-tried"}
    assert [each.name for each in ladder.rungs] == [name for name in RUNGS if name != "cors"]


def test_the_server_listens_on_the_other_loopback():
    try:
        server = serving(vllm(), family="::1")
        url, _ = server.__enter__()
    except OSError:
        pytest.skip("no IPv6 here")
    try:
        port = url.rpartition(":")[2]
        ladder = climb(f"http://127.0.0.1:{port}/v1")
        assert (ladder.failed, ladder.reason) == ("port", "other-address")
        assert ladder.other_address == f"http://[::1]:{port}/v1"
        assert climb(ladder.other_address).failed is None
    finally:
        server.__exit__(None, None, None)


def test_localhost_that_is_ipv6_first():
    with serving(vllm()) as (url, _):
        local = url.replace("127.0.0.1", "localhost")
        ladder = climb(f"{local}/v1", World(names={"localhost": ("::1", "127.0.0.1")}))
    assert ladder.failed is None and ladder.reasons == ("localhost-ipv6",)
    assert ladder.other_address == f"{url}/v1"


def test_an_address_to_listen_on():
    with serving(vllm()) as (url, _):
        ladder = climb(url.replace("127.0.0.1", "0.0.0.0") + "/v1")
    assert ladder.failed is None and ladder.reasons == ("wildcard-address",)
    assert ladder.other_address == url + "/v1"


ROUTE = "Iface\tDestination\tGateway\nlo\t0000007F\t00000000\neth0\t00000000\t010011AC\n"


@pytest.mark.parametrize(
    ("files", "kernel", "found"),
    [
        ({}, "6.1", ""),
        ({"/proc/net/route": ROUTE}, "6.1", ""),
        ({"/proc/net/route": ROUTE}, "5.15-microsoft-standard-WSL2", "172.17.0.1"),
        ({"/proc/net/route": ROUTE, "/.dockerenv": ""}, "6.1", "172.17.0.1"),
    ],
)
def test_where_else_to_look_from_a_container_or_wsl(files, kernel, found):
    class Host(World):
        def port_open(self, host, port, timeout=1.0):
            return host == "172.17.0.1"

    from doctor.facts.urls import parse_address

    outside = Host(names={"host.docker.internal": ()}, files=files, kernel=kernel)
    assert places.elsewhere(outside, parse_address("http://127.0.0.1:8080")) == found


# --- proxies -----------------------------------------------------------------------------------------------------------

DEAD = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("environ", "state", "reason"),
    [
        ({}, "passed", ""),
        ({"HTTP_PROXY": DEAD}, "warned", "proxy-dead"),
        ({"http_proxy": "127.0.0.1:9"}, "warned", "proxy-dead"),
        ({"ALL_PROXY": "socks5://127.0.0.1:9"}, "warned", "proxy-dead"),
        ({"HTTPS_PROXY": DEAD}, "passed", ""),
        ({"HTTP_PROXY": DEAD, "NO_PROXY": "localhost,127.0.0.1"}, "passed", ""),
        ({"HTTP_PROXY": DEAD, "no_proxy": "127.0.0.0/8"}, "passed", ""),
        ({"HTTP_PROXY": DEAD, "NO_PROXY": "localhost"}, "warned", "proxy-dead"),
        ({"HTTP_PROXY": "http://proxy.corp.example:3128"}, "warned", "proxy-takes-loopback"),
        ({"HTTP_PROXY": "http://["}, "warned", "proxy-takes-loopback"),
    ],
)
def test_proxy_variables_beside_a_bare_address(environ, state, reason):
    with serving(vllm()) as (url, asked):
        ladder = climb(url, World(environ))
        assert (rung(ladder, "proxy").state, rung(ladder, "proxy").reason) == (state, reason)
        # doctor itself asks straight: the server was reached whatever the variables say
        assert ladder.failed is None and asked


def test_a_living_proxy_on_this_machine_and_a_login_in_its_url():
    with serving(vllm()) as (proxy, through), serving(vllm()) as (url, _):
        value = proxy.replace("http://", "http://user:sk-local-test@")
        ladder = climb(f"{url}/v1", World({"HTTP_PROXY": value}))
    assert ladder.reasons == ("proxy-takes-loopback",) and ladder.proxy_value == proxy
    assert through == [] and "sk-local-test" not in json.dumps(to_json(ladder))


def test_a_proxy_the_client_obeys_ends_the_climb():
    with serving(vllm()) as (url, _):
        setting = Setting("HTTP_PROXY", DEAD, "~/.claude/settings.json", 3)
        ladder = climb(url, client="claude-code", proxy=setting)
    assert (ladder.failed, ladder.reason, ladder.proxy_source) == ("proxy", "proxy-dead", "~/.claude/settings.json")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://localhost:8080/v1", "http://127.0.0.1:8080", True),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8081", False),
        ("http://127.0.0.1:8080", "https://127.0.0.1:8080", False),
        ("http://127.0.0.1:8080/llm/v1", "http://127.0.0.1:8080", False),
    ],
)
def test_the_same_place(one, other, same):
    assert same_place(one, other) is same
