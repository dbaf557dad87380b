"""What a fault is, and the list of them all."""

import dataclasses
from collections.abc import Callable

from tests.real.conftest import KEY
from tests.real.matrix import fronts
from tests.real.matrix.clients import ALL
from tests.real.matrix.servers import SOUND

STALE = "sk-local-stale"
KEYED = (*SOUND, "--api-key", KEY)
CHECK, VERIFY, DEEP, ORIGIN, LOG = "check", "verify", "verify --deep", "verify --origin", "log"
"""Commands of doctor, as `Cell.look` runs them."""


@dataclasses.dataclass(frozen=True)
class Fault:
    """`break_it(setup, stack)` breaks a sound set-up; what it enters into `stack` ends with the cell.

    `words` start the server; `own`: it is not shared with other cells. `seen` are the commands that must say it first.
    `causes`: any of them is right. `fails`: the client's request fails until it is cured (else doctor only warns).
    `harm(setup, ask)` tells in words what is bad about a request that is answered all the same, "" when nothing is; `ask`
    is the client. `full`: the request has the size of a real one. `launch`: the command is given to doctor. `model` is
    the one that is served. `names` are host names that have to lead to the other machine (see world.py).
    """

    id: str
    causes: tuple[str, ...]
    clients: tuple[str, ...]
    break_it: Callable
    words: tuple[str, ...] = SOUND
    own: bool = False
    seen: tuple[str, ...] = (CHECK, VERIFY)
    fails: bool = True
    harm: Callable | None = None
    full: bool = False
    launch: bool = True
    model: str = "model"
    names: tuple[str, ...] = ()


FAULTS: list[Fault] = []
HARMLESS: list[Fault] = []


def fault(causes, clients=ALL, **more):
    """Register a function as the fault of its name."""

    def take(function):
        name = function.__name__.replace("_", "-")
        FAULTS.append(Fault(name, (causes,) if isinstance(causes, str) else causes, clients, function, **more))
        return function

    return take


def harmless(clients=ALL, **more):
    """Register a function as something that is no fault: nothing may be warned of."""

    def take(function):
        HARMLESS.append(Fault(function.__name__.replace("_", "-"), (), clients, function, **more))
        return function

    return take


def base_of(setup):
    """The base URL as it stands."""
    return setup.get(setup.client.base)


def at_port(setup, port):
    """The base URL with another port."""
    return base_of(setup).replace(f":{setup.command.port}", f":{port}")


def through(setup, stack, **more):
    """Put a relay between: the client asks it, it asks the server."""
    port = stack.enter_context(fronts.front(setup.command.port, **more))
    setup.point(at_port(setup, port))
    return port
