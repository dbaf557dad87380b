"""What the options of `doctor check` ask for, refused in one line where it cannot be."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from doctor.commands.answer import must_exist
from doctor.commands.key import given_key
from doctor.exits import UsageError
from doctor.facts.launch.record import find
from doctor.facts.record import Unknown
from doctor.facts.side_by_side import LOOKED_AT, Wishes
from doctor.report.subjects import CHOICES, SHOWN_CHOICES
from doctor.secrets import Vault

if TYPE_CHECKING:
    import argparse

    from doctor.outside import Outside

LOOKING = ("model", "launch", "server", "binary", "key_env", "key_file", "only", "skip", "for_build", "build_dir")
"""Options that say what to look at: with saved facts nothing is looked at."""


def must_look_nowhere(options: argparse.Namespace) -> None:
    """Raises UsageError where saved facts are given together with something to look at."""
    for name in LOOKING:
        if getattr(options, name):
            raise UsageError(f"--from takes saved facts as they are: leave out --{name.replace('_', '-')}")


def wishes_of(options: argparse.Namespace, outside: Outside, vault: Vault) -> Wishes:
    """What the options ask for. Raises UsageError for what cannot be."""
    names = LOOKED_AT
    wanted = set(names)
    for option, value in (("--only", options.only), ("--skip", options.skip)):
        typed = [name.strip().lower() for name in (value or "").split(",") if name.strip()]
        wrong = [name for name in typed if name not in CHOICES]
        if wrong:
            raise UsageError(f"{option}: no subject {wrong[0]!r}; subjects are {', '.join(SHOWN_CHOICES)}")
        if value is not None and not typed:
            raise UsageError(f"{option} names no subject; subjects are {', '.join(SHOWN_CHOICES)}")
        listed = [CHOICES[name] for name in typed]
        if listed:
            wanted = set(listed) if option == "--only" else wanted - set(listed)
    key = given_key(options, outside, vault)
    _check_places(options, outside)
    return Wishes(
        model=options.model,
        launch=options.launch,
        server=options.server,
        binary=options.binary,
        key_token=vault.put(key) if key else None,
        want_hash=options.hash,
        subjects=tuple(name for name in names if name in wanted),
        build_number=options.for_build,
        build_dir=options.build_dir,
        progress=_progress if options.hash and outside.redraws() else None,
    )


def _check_places(options: argparse.Namespace, outside: Outside) -> None:
    """Raises UsageError when what the user named is not there or cannot be what it should be."""
    from doctor.facts.urls import parse_address

    if options.server is not None and (problem := parse_address(options.server).problem):
        raise UsageError(f"--server: {options.server.rpartition('@')[2]!r}: {problem}")
    if options.launch is not None:
        found = find(outside, Vault(), text=options.launch)
        if isinstance(found, Unknown):
            raise UsageError(f"--launch: {found.reason}")
    if options.model is not None:
        must_exist(outside, "--model", options.model)
    if options.build_dir is not None:
        from doctor.facts.build.folder import has_cache

        must_exist(outside, "--build-dir", options.build_dir)
        if not has_cache(outside, outside.real_path(options.build_dir)):
            raise UsageError(f"--build-dir: {options.build_dir}: no CMakeCache.txt here: configure with cmake -B first")
    if options.binary is not None and outside.which(options.binary) is None:
        must_exist(outside, "--binary", options.binary)


def _progress(done: int, total: int) -> None:
    percent = 100 * done // total if total else 100
    sys.stderr.write(f"\rsha256: {percent:3d} %" + ("\n" if done >= total else ""))
    sys.stderr.flush()
