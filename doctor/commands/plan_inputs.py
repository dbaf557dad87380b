"""What `doctor plan` is given: the launch command, the build, the files, the RAM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.exits import UsageError
from doctor.facts.record import Unknown, known
from doctor.outside import OutsideError

if TYPE_CHECKING:
    import argparse

    from doctor.facts.facts import Facts
    from doctor.facts.gguf.model_file import ModelFile
    from doctor.facts.launch.record import Launch
    from doctor.memory.model import Model
    from doctor.outside import Outside
    from doctor.secrets import Vault


def look(options: argparse.Namespace, outside: Outside, vault: Vault) -> Facts | None:
    """Facts of this machine that the options do not give; None when they give all."""
    here = options.gpu is None and options.vram is None and options.device is None
    wanted = [
        name
        for name, needed in (
            ("launch", options.launch is not None),
            ("build", options.for_build is None or options.verify),
            ("gpu", here),
            ("machine", here and options.ram is None),
        )
        if needed
    ]
    if not wanted:
        return None
    from doctor.facts.collect import collect
    from doctor.facts.side_by_side import Wishes

    if options.launch is not None:
        from doctor.launch.command import parse_command

        if parse_command(options.launch) is None:
            raise UsageError('--launch wants a command that starts llama-server, such as "llama-server -m model.gguf"')
    return collect(outside, vault, Wishes(launch=options.launch, subjects=tuple(wanted)))


def launch_of(options: argparse.Namespace, facts: Facts | None) -> Launch | None:
    """The command that was given, None without one. Raises UsageError."""
    if options.launch is None or facts is None:
        return None
    if isinstance(facts.launch, Unknown):
        raise UsageError(f"--launch: {facts.launch.reason}")
    return facts.launch


def build_of(options: argparse.Namespace, facts: Facts | None, newest: int) -> tuple[int, str]:
    """(number of the build, where it is known from)."""
    if options.for_build is not None:
        return int(options.for_build), "given"
    found = known(facts.build) if facts is not None else None
    number = known(found.number) if found is not None else None
    if found is not None and number is not None:
        return number, known(found.path) or "newest"
    return newest, "newest"


def open_model(outside: Outside, path: str, option: str, vault: Vault) -> ModelFile:
    """The model the user named: a file, or one on the network of which the header is read. Raises UsageError."""
    from doctor.facts.gguf.model_file import load_model, load_remote
    from doctor.gguf.addresses import looks_remote

    if looks_remote(path) and ("://" in path or not outside.exists(path)):
        remote = load_remote(outside, path, vault)
        if isinstance(remote, str):
            raise UsageError(f"{option}: {remote}")
        return remote
    try:
        found = load_model(outside, outside.real_path(path))
    except OutsideError as error:
        raise UsageError(f"{option}: {error}") from None
    if isinstance(found, str):
        raise UsageError(f"{option}: {found}")
    return found._replace(path=path)


def beside(outside: Outside, path: str | None, option: str, notes: list[str]) -> Model | None:
    """The model of another file of the command; what cannot be read is not counted, and said."""
    from doctor.facts.gguf.model_file import load_model, load_projector

    load = load_projector if option == "--mmproj" else load_model

    if path is None:
        return None
    try:
        found = load(outside, outside.real_path(path))
    except OutsideError as error:
        notes.append(f"{option}: {error}: not counted")
        return None
    if isinstance(found, str):
        notes.append(f"{option}: {found}: not counted")
        return None
    return found.model


def ram_here(facts: Facts | None) -> int | None:
    """Bytes of RAM that are available on this machine, within the limit of a container."""
    machine = known(facts.machine) if facts is not None else None
    if machine is None:
        return None
    free = known(machine.ram_available_bytes)
    limit, used = known(machine.cgroup_memory_limit_bytes), known(machine.cgroup_memory_used_bytes)
    if free is not None and limit is not None:
        free = min(free, max(0, limit - (used or 0)))
    return free
