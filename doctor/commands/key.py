"""The key a user names: in a variable or in a file, never on the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.exits import UsageError
from doctor.outside import OutsideError

if TYPE_CHECKING:
    import argparse

    from doctor.outside import Outside
    from doctor.secrets import Vault

_FILE_LIMIT = 64 << 10
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


def given_key(options: argparse.Namespace, outside: Outside, vault: Vault) -> str | None:
    """The key of --key-env or --key-file, known to the vault; None when neither is given. Raises UsageError.

    What stands behind --key-env is not repeated: it may be the key itself, given by mistake.
    """
    if options.key_env is not None and options.key_file is not None:
        raise UsageError("--key-env and --key-file cannot be used together")
    if options.key_env is not None:
        key = outside.environ.get(options.key_env, "").strip()
        if not key:
            raise UsageError(_no_variable(options.key_env, outside.platform))
    elif options.key_file is not None:
        key = _first_line(outside, options.key_file)
    else:
        return None
    vault.put(key)
    return key


def _no_variable(name: str, platform: str) -> str:
    if _NAME.fullmatch(name) and "_" in name:
        said, name = "no variable of that name is set", name
    else:
        said, name = (
            "wants the name of a variable that holds the key, not the key (`ps` shows it to everybody)",
            "MY_KEY",
        )
    how = f"$env:{name} = Read-Host" if platform == "win32" else f"read -rs {name}; export {name}"
    return f"--key-env: {said}; set it with: {how}"


def _first_line(outside: Outside, path: str) -> str:
    try:
        lines = outside.read_text(path, _FILE_LIMIT).splitlines()
    except OutsideError as error:
        raise UsageError(f"--key-file: {error}") from None
    key = next((line.strip() for line in lines if line.strip()), "")
    if not key:
        raise UsageError(f"--key-file: {path} is empty")
    return key
