"""The config.ini files llama.cpp reads by itself, before the environment and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.record import known
from doctor.launch.definition import FILE_LIMIT, DefinitionError
from doctor.outside import OutsideError

if TYPE_CHECKING:
    from doctor.launch.command import Command
    from doctor.launch.fields import Origin
    from doctor.launch.table import OptionTable
    from doctor.launch.words import Word
    from doctor.outside import Outside

CONFIG_SINCE = 10398
"""First build that reads them (common/arg.cpp, common_params_apply_system_config)."""


def with_config(outside: Outside, command: Command, origin: Origin, table: OptionTable, build: int | None) -> Origin:
    """The origin with the options of this machine's config.ini files, where this launch will read them."""
    from doctor.launch.ini import read_config
    from doctor.launch.other_servers import OTHER_SERVERS

    elsewhere = (
        origin.source in ("paste", "log") or command.image is not None or isinstance(known(origin.container), str)
    )
    if elsewhere or command.program in OTHER_SERVERS or (build is not None and build < CONFIG_SINCE):
        return origin
    if origin.kind == "config":
        return origin
    words: list[Word] = []
    files: list[str] = []
    for path in config_paths(outside, user=not known(origin.other_user)):
        try:
            found, _ = read_config(outside.read_text(path, FILE_LIMIT), table, path)
        except (OutsideError, DefinitionError):
            continue
        replaced = {word.text for word in found if word.text.startswith("-")}
        words = [*_without(words, replaced), *found]
        files.append(path)
    return origin._replace(config=tuple(words), config_files=tuple(files))


def config_paths(outside: Outside, *, user: bool) -> list[str]:
    """Where the files are looked for, the later one wins."""
    if outside.platform == "win32":
        roots = [outside.environ.get("PROGRAMDATA", ""), outside.environ.get("APPDATA", "") if user else ""]
        return [rf"{root}\llama.cpp\config.ini" for root in roots if root]
    home = outside.environ.get("XDG_CONFIG_HOME") or f"{outside.home()}/.config"
    return ["/etc/llama.cpp/config.ini", *([f"{home}/llama.cpp/config.ini"] if user else [])]


def _without(words: list[Word], spellings: set[str]) -> list[Word]:
    """Words without the options a later file sets again."""
    kept: list[Word] = []
    dropping = False
    for word in words:
        if word.text.startswith("--") or (word.text.startswith("-") and word.text[1:2].isalpha()):
            dropping = word.text in spellings
        if not dropping:
            kept.append(word)
    return kept
