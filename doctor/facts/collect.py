"""Looks at everything there is to look at, in the order in which one collector needs another's findings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from doctor.facts.facts import Facts
from doctor.facts.record import Unknown, known
from doctor.facts.server_address import asked_for, is_loopback, key_token, port_of, server_url
from doctor.facts.side_by_side import side_by_side

if TYPE_CHECKING:
    from doctor.facts.launch.record import Launch
    from doctor.facts.side_by_side import Wishes
    from doctor.launch.help_text import HelpOption
    from doctor.outside import Outside
    from doctor.secrets import Vault

OTHERS_LIMIT = 16


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

    early = side_by_side(
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
    token = key_token(wishes.key_token, url, started, clients)
    late = side_by_side(
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
                Unknown(f"{model}: a path of Windows, which only that computer has")
                if model and not wishes.model and _of_windows(outside, started, model)
                else gguf.collect(outside, model, want_hash=wishes.want_hash, progress=wishes.progress)
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

    facts |= side_by_side(wishes, {"ladders": ways})
    facts["server"] = asked_for(facts["server"], url, source, started is not None and known(started.pid) is None)
    first = seen[0] if seen else None
    listed = own_help(outside, wishes, facts) if isinstance(first, launch.Seen) else None
    facts["launch"] = _linted(outside, vault, wishes, facts, first, listed)
    if others is not None and isinstance(first, launch.Seen):
        number = build_asked(wishes, facts)
        judged = (launch.judge(outside, vault, other, number, listed) for other in first.others[:OTHERS_LIMIT])
        others += [found for found in judged if isinstance(found, launch.Launch)]
    facts |= _budget(outside, wishes, facts)
    facts |= side_by_side(wishes._replace(subjects=("process",)), {"process": lambda: _process(outside, facts, url)})
    return Facts(**facts)


def _of_windows(outside: Outside, started: Launch | None, path: str) -> bool:
    """Whether a launch command for Windows names a file that this system could not have."""
    if outside.platform == "win32" or started is None or not re.match(r"[A-Za-z]:[\\/]|\\\\", path):
        return False
    return known(started.file_kind) in ("batch", "powershell") or (known(started.program) or "").lower().endswith(
        ".exe"
    )


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
    wish = side_by_side(wanted, {"budget": lambda: budget.wish_of(outside, model, started, number)})["budget"]
    if isinstance(wish, Unknown):
        return wish
    rooms = budget.rooms_here(outside, started, build, gpu)
    tasks = {
        "budget": lambda: budget.of_rooms(wish, rooms, machine),
        "speed": lambda: speed.of_wish(outside, wish, rooms.rooms, measure_ram=True, drafting=speed.drafting_of(wish)),
    }
    return side_by_side(wanted, tasks)


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
    return side_by_side(wishes, {"launch": lambda: judge(outside, vault, seen, number, listed)})["launch"]


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
