"""Looks at everything: the collectors side by side, each with a deadline, none able to take the others down."""

from __future__ import annotations

import threading
import urllib.parse
from typing import TYPE_CHECKING, Any, NamedTuple

from doctor.facts.facts import DERIVED, SUBJECTS, Facts
from doctor.facts.record import Unknown, known
from doctor.facts.urls import listening_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from doctor.facts.launch.record import Launch
    from doctor.launch.help_text import HelpOption
    from doctor.outside import Outside
    from doctor.secrets import Vault

DEFAULT_URL = "http://127.0.0.1:8080"
GIVEN, FROM_LAUNCH, DEFAULT = "the address given", "the launch command", "the default address"
"""Where the address of a server is known from, where that is no client's settings."""
DEADLINES = {
    "machine": 5.0,
    "gpu": 8.0,
    "cuda": 6.0,
    "build": 20.0,
    "gguf": 20.0,
    "launch": 5.0,
    "server": 8.0,
    "clients": 4.0,
    "ladders": 20.0,
    "budget": 10.0,
    "speed": 5.0,
    "process": 5.0,
}
"""Seconds a collector may take. Starting a CUDA program can take long on a machine with several cards."""
OTHERS_LIMIT = 16
HASH_DEADLINE = 24 * 3600.0
LEFT_OUT = "left out by --only or --skip"
CRASHED = "the check crashed: "
_ANY_HOST = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "[::]": "[::1]", "": "127.0.0.1"}


LOOKED_AT = tuple(name for name in SUBJECTS if name not in DERIVED)


class Wishes(NamedTuple):
    """What the user named. None: find it out.

    `client`: its way is looked at wherever it leads; `far`: so is everybody's.
    """

    model: str | None = None
    launch: str | None = None
    server: str | None = None
    binary: str | None = None
    key_token: str | None = None
    want_hash: bool = False
    subjects: tuple[str, ...] = LOOKED_AT
    progress: Callable[[int, int], None] | None = None
    build_number: int | None = None
    build_dir: str | None = None
    client: str | None = None
    far: bool = False


def collect(outside: Outside, vault: Vault, wishes: Wishes, others: list[Launch] | None = None) -> Facts:
    """Facts about this machine. A collector that fails or is late leaves its subject unknown with the reason.

    `others` is given the further servers of a launch file, judged like the first.
    """
    from doctor.facts.build import folder as build_folder
    from doctor.facts.build import record as build
    from doctor.facts.clients import collect_all, names_of
    from doctor.facts.cuda import record as cuda
    from doctor.facts.gguf import record as gguf
    from doctor.facts.gpu import record as gpu
    from doctor.facts.launch import record as launch
    from doctor.facts.machine import record as machine
    from doctor.facts.server import record as server

    seen: list[Any] = []  # the command as found, to be judged again once the build is known

    def found_launch() -> Any:
        seen.append(launch.find(outside, vault, text=wishes.launch, port=port_of(wishes.server)))
        return launch.judge(outside, vault, seen[0], None) if isinstance(seen[0], launch.Seen) else seen[0]

    early = _side_by_side(
        wishes,
        {
            "launch": found_launch,
            "gpu": lambda: gpu.collect(outside),
            "cuda": lambda: cuda.collect(outside),
            "clients": lambda: collect_all(outside, vault, wishes.client),
        },
    )
    started: Launch | None = known(early["launch"])
    clients = known(early["clients"]) or ()
    model = wishes.model or (known(started.model) if started else None)
    url, source = server_url(wishes.server, started, clients)
    token = _key_token(wishes, url, started, clients)
    late = _side_by_side(
        wishes,
        {
            "machine": lambda: machine.collect(outside, model),
            "build": lambda: (
                build.from_number(outside, wishes.build_number, source="option")
                if wishes.build_number is not None
                else build_folder.collect(outside, wishes.build_dir)
                if wishes.build_dir is not None
                else build.collect(outside, option=wishes.binary, launch=started)
            ),
            "gguf": lambda: (
                gguf.collect(outside, model, want_hash=wishes.want_hash, progress=wishes.progress)
                if model
                else Unknown("no model file is known: name it with --model FILE")
            ),
            "server": lambda: server.collect(outside, vault, url=url, url_source=source, key_token=token),
        },
    )
    facts: dict[str, Any] = {**early, **late, "budget": None, "log": None}
    from doctor.facts.ladder.collect import local_ladders

    asked = known(facts["server"])
    named = names_of(clients, wishes.client) if wishes.client else set()

    def ways() -> Any:
        return local_ladders(outside, vault, clients, asked, named=named, far=wishes.far)

    facts |= _side_by_side(wishes, {"ladders": ways})
    facts["server"] = _asked_for(facts["server"], url, source, started is not None and known(started.pid) is None)
    first = seen[0] if seen else None
    listed = own_help(outside, wishes, facts) if isinstance(first, launch.Seen) else None
    facts["launch"] = _linted(outside, vault, wishes, facts, first, listed)
    if others is not None and isinstance(first, launch.Seen):
        number = build_asked(wishes, facts)
        judged = (launch.judge(outside, vault, other, number, listed) for other in first.others[:OTHERS_LIMIT])
        others += [found for found in judged if isinstance(found, launch.Launch)]
    facts |= _budget(outside, wishes, facts)
    facts |= _side_by_side(wishes._replace(subjects=("process",)), {"process": lambda: _process(outside, facts, url)})
    return Facts(**facts)


def _process(outside: Outside, facts: dict[str, Any], url: str) -> Any:
    """The server's process where it runs here: the one whose command was found, else the one that answers at `url`."""
    from doctor.facts.process import record as process

    started, server, port = known(facts["launch"]), known(facts["server"]), port_of(url) or 80
    ports = [known(started.published_port), known(started.port) or 8080] if started is not None else []
    pid = known(started.pid) if started is not None and port in ports else None
    if (
        pid is None
        and server is not None
        and is_loopback(url)
        and known(server.state) in ("ok", "loading", "unauthorised")
    ):
        pid = process.pid_of_port(outside, port)
    return process.collect(outside, pid) if pid is not None else None


def _budget(outside: Outside, wishes: Wishes, facts: dict[str, Any]) -> dict[str, Any]:
    """What the launch command needs and how fast it may be; unknown where the command or the model is."""
    found = _needs(outside, wishes, facts)
    return found if isinstance(found, dict) else {"budget": found, "speed": found}


def again(outside: Outside, wishes: Wishes, facts: Facts, launch: Launch) -> Facts:
    """The same facts with another launch command, and what that one needs."""
    from dataclasses import replace

    changed = replace(facts, launch=launch)
    if isinstance(facts.budget, Unknown):
        return changed
    found = _needs(outside, wishes, vars(changed), ("budget",))
    return replace(changed, budget=found if isinstance(found, Unknown) else found["budget"])


def _needs(
    outside: Outside, wishes: Wishes, facts: dict[str, Any], parts: tuple[str, ...] = ("budget", "speed")
) -> dict[str, Any] | Unknown:
    from doctor.facts import speed
    from doctor.facts.budget import record as budget

    started, build, server = known(facts["launch"]), known(facts["build"]), known(facts["server"])
    model = wishes.model or (known(started.model) if started else None)
    if started is None:
        reason = facts["launch"].reason if isinstance(facts["launch"], Unknown) else "no launch command is known"
        return Unknown(reason)
    if model is None or isinstance(facts["gguf"], Unknown):
        return Unknown(facts["gguf"].reason if isinstance(facts["gguf"], Unknown) else "no model file is known")
    if known(started.other_user):
        return Unknown("the server is another user's: its files are not read")
    number = (known(build.number) if build else None) or (known(server.build_number) if server else None)
    gpu, machine = known(facts["gpu"]), known(facts["machine"])
    wanted = wishes._replace(subjects=("budget", *parts))
    wish = _side_by_side(wanted, {"budget": lambda: budget.wish_of(outside, model, started, number)})["budget"]
    if isinstance(wish, Unknown):
        return wish
    rooms = budget.rooms_here(outside, started, build, gpu)
    tasks = {
        "budget": lambda: budget.of_rooms(wish, rooms, machine),
        "speed": lambda: speed.of_wish(outside, wish, rooms.rooms, measure_ram=True, drafting=speed.drafting_of(wish)),
    }
    return _side_by_side(wanted, tasks)


def server_url(option: str | None, started: Launch | None, clients: tuple[Any, ...]) -> tuple[str, str]:
    """(address of the server, where that address comes from)."""
    if option:
        return option, GIVEN
    if started is not None and not (known(started.source) == "folder" and not _on_this_machine(started)):
        port = known(started.published_port) or known(started.port) or 8080
        return listening_url(known(started.host) or "", port, known(started.api_prefix) or ""), FROM_LAUNCH
    local = [client for client in clients if (base := known(client.base_url)) and is_loopback(base.value)]
    # A client whose server answers says more than one whose server may be long gone.
    for client in sorted(local, key=lambda client: known(client.port_open) is not True):
        return client.base_url.value, f"the settings of {client.name}"
    return DEFAULT_URL, DEFAULT


def _on_this_machine(started: Launch) -> bool:
    host = known(started.host) or ""
    return host in _ANY_HOST or is_loopback(f"http://{host}")


def is_loopback(url: str) -> bool:
    """Whether an address is this very machine, by its name alone: only `localhost` and loopback numbers are."""
    import ipaddress

    try:
        host = urllib.parse.urlsplit(url if "://" in url else f"http://{url}").hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _key_token(wishes: Wishes, url: str, started: Launch | None, clients: tuple[Any, ...]) -> str | None:
    """The key to try: the one named, else the launch command's (on this machine only), else the client's for this very address."""
    if wishes.key_token:
        return wishes.key_token
    if started is not None and is_loopback(url):
        token = known(started.api_key_token)
        if token:
            return token
    for client in clients:
        base = known(client.base_url)
        credentials = known(client.credentials)
        if base is not None and credentials and credentials[0].token and _origin(base.value) == _origin(url):
            return str(credentials[0].token)
    return None


def port_of(url: str | None) -> int | None:
    """The port of an address the user named."""
    try:
        return urllib.parse.urlsplit(url if "://" in url else f"http://{url}").port if url else None
    except ValueError:
        return None


def _origin(url: str) -> tuple[str, str]:
    try:
        parts = urllib.parse.urlsplit(url if "://" in url else f"http://{url}")
        return parts.scheme, parts.netloc.replace("localhost", "127.0.0.1")
    except ValueError:
        return "", url


def _asked_for(server: Any, url: str, source: str, only_planned: bool) -> Any:
    """A server nobody asked about, or whose launch command is only being looked at, need not be there."""
    if isinstance(server, Unknown):
        return server
    if source == DEFAULT and known(server.state) not in ("ok", "loading", "unauthorised"):
        return Unknown(f"no llama-server is running, and none answers at {url}: name its address with --server URL")
    if source == FROM_LAUNCH and only_planned and known(server.state) == "refused":
        return Unknown(f"nothing answers at {url}: the launch command given is not running")
    return server


def _linted(
    outside: Outside,
    vault: Vault,
    wishes: Wishes,
    facts: dict[str, Any],
    seen: Any,
    listed: dict[str, HelpOption] | None,
) -> Any:
    """The launch command again, its options held against the build that was found meanwhile."""
    from doctor.facts.launch.record import Seen, judge

    number = build_asked(wishes, facts)
    if not isinstance(seen, Seen) or (number is None and listed is None):
        return facts["launch"]
    return _side_by_side(wishes, {"launch": lambda: judge(outside, vault, seen, number, listed)})["launch"]


def own_help(outside: Outside, wishes: Wishes, facts: dict[str, Any]) -> dict[str, HelpOption] | None:
    """The options of the program itself, where one was asked and no other build was asked about."""
    from doctor.facts.build.record import own_options

    build = known(facts["build"])
    path = known(build.path) if build is not None and known(build.version_text) is not None else None
    return own_options(outside, path) if path is not None and wishes.build_number is None else None


def build_asked(wishes: Wishes, facts: dict[str, Any]) -> int | None:
    """The build that options are held against: the one asked about, the program's, the server's."""
    build = known(facts["build"])
    server = known(facts["server"])
    return (
        wishes.build_number
        or (known(build.number) if build else None)
        or (known(server.build_number) if server else None)
    )


def _side_by_side(wishes: Wishes, tasks: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """Run every wanted task in a thread of its own; what is not done by its deadline is unknown."""
    results: dict[str, Any] = {}

    def run(name: str, task: Callable[[], Any]) -> None:
        try:
            results.setdefault(name, task())
        except Exception as error:
            results.setdefault(name, Unknown(f"{CRASHED}{type(error).__name__}: {error}"))

    threads = {}
    for name, task in tasks.items():
        if name not in wishes.subjects:
            results[name] = Unknown(LEFT_OUT)
            continue
        threads[name] = threading.Thread(target=run, args=(name, task), daemon=True)
        threads[name].start()
    for name, thread in threads.items():
        deadline = HASH_DEADLINE if name == "gguf" and wishes.want_hash else DEADLINES[name]
        thread.join(deadline)
        results.setdefault(name, Unknown(f"no result within {deadline:g} s"))
    return {name: results[name] for name in tasks}
