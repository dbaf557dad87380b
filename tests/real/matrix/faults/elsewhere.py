"""Addresses between machines: containers, WSL2, the local network, the address to listen on."""

from tests.real.matrix import world
from tests.real.matrix.faults.registry import VERIFY, base_of, fault
from tests.real.matrix.servers import SOUND

CONTAINER = "container-or-wsl-localhost"
MANY = ("claude-code", "codex", "opencode", "aider", "openai-sdk", "anthropic-sdk")
OTHER = {"words": (*SOUND, "--host", world.OTHER), "own": True, "launch": False, "names": (world.DOCKER_HOST,)}
"""A server on the other machine, of whose command nothing is known here."""


@fault(CONTAINER, MANY, **OTHER)
def localhost_in_a_container(setup, stack):
    world.in_container(stack)
    world.names(stack, {world.DOCKER_HOST: world.OTHER})


@fault(CONTAINER, ("claude-code", "codex", "openai-sdk"), words=(*SOUND, "--host", world.OWN), own=True, launch=False)
def localhost_in_wsl(setup, stack):
    world.in_wsl(stack, world.own_address())


@fault(CONTAINER, MANY, seen=(VERIFY,))
def docker_name_outside_of_containers(setup, stack):
    world.names(stack, {world.DOCKER_HOST: None})
    setup.point(base_of(setup).replace("127.0.0.1", world.DOCKER_HOST))


@fault((CONTAINER, "server-not-running-or-wrong-port"), MANY, seen=(VERIFY,))
def compose_name_outside_of_compose(setup, stack):
    world.names(stack, {"llama": None})
    setup.point(base_of(setup).replace("127.0.0.1", "llama"))


@fault(
    "server-not-running-or-wrong-port", MANY, fails=False
)  # Linux takes it for loopback, Windows and browsers do not
def address_to_listen_on(setup, _):
    setup.point(base_of(setup).replace("127.0.0.1", "0.0.0.0"))


@fault("server-not-reachable-on-lan", MANY, seen=(VERIFY,), own=True)
def server_on_loopback_only(setup, _):
    setup.point(base_of(setup).replace("127.0.0.1", world.own_address()))
