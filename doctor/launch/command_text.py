"""A command line as text: quoted for sh, its keys replaced; and as a build wants it."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from doctor.launch.other_servers import OTHER_SERVERS
from doctor.launch.quoting import for_cmd, split_command
from doctor.launch.spelling import hide, is_secret

if TYPE_CHECKING:
    from collections.abc import Sequence

    from doctor.launch.command import Command
    from doctor.launch.options import Reading
    from doctor.launch.words import Word
    from doctor.secrets import Vault


def command_text(command: Command, reading: Reading, vault: Vault) -> str:
    """The whole command line, quoted for sh, keys replaced."""
    texts = [*hidden(command.words[: command.first], vault), *reading.texts]
    stay = kept(command.words)
    shown = zip(command.words, texts, strict=False)
    return " ".join(_shown(word, text) for at, (word, text) in enumerate(shown) if at in stay)


def fixed_text(command: Command, reading: Reading, vault: Vault) -> str | None:
    """The command line as this build wants it, None when nothing is to be written otherwise."""
    if not reading.edits or command.program in OTHER_SERVERS:
        return None
    texts = [_shown(word, text) for word, text in zip(command.words, hidden(command.words, vault), strict=True)]
    front, rest = texts[: command.first], []
    at = 0
    arguments = command.arguments
    stay = kept(arguments)
    for edit in sorted(reading.edits):
        if edit.first < at:
            continue
        rest += [_shown(arguments[n], reading.texts[n]) for n in range(at, edit.first) if n in stay]
        if edit.words and edit.first in stay:
            rest.append(_rewritten(edit.words, arguments[edit.first : edit.end]))
        at = edit.end
    rest += [_shown(arguments[n], reading.texts[n]) for n in range(at, len(reading.texts)) if n in stay]
    return " ".join([*front, *rest])


def _rewritten(text: str, before: Sequence[Word]) -> str:
    """The words of an edit; those that a shell is still to fill in stay as they were."""
    left_open = {word.text: word for word in before if word.open}
    left_open |= {word.text.partition("=")[2]: word for word in before if word.open and word.text.startswith("-")}
    parts = split_command(text) if left_open else []
    if not any(part in left_open for part in parts):
        return text
    return " ".join(_shown(left_open[part], part) if part in left_open else shlex.quote(part) for part in parts)


def kept(words: Sequence[Word]) -> set[int]:
    """The places of words that can stand on one command line: of the arms of an `if` the last one."""
    arms: dict[int, int] = {}
    for word in words:
        if isinstance(word.maybe, tuple):
            arms[word.maybe[0]] = max(arms.get(word.maybe[0], 0), word.maybe[1])
    return {
        at for at, word in enumerate(words) if not isinstance(word.maybe, tuple) or arms[word.maybe[0]] == word.maybe[1]
    }


def hidden(words: Sequence[Word], vault: Vault) -> list[str]:
    """Words without the keys in them, by name alone: NAME=KEY, and the word after --api-key."""
    texts = []
    for at, word in enumerate(words):
        name, equals, value = word.text.partition("=")
        if equals and is_secret(name):
            texts.append(f"{name}={hide(vault, value)}")
        elif at and is_secret(words[at - 1].text):
            texts.append(hide(vault, word.text))
        else:
            texts.append(word.text)
    return texts


def _shown(word: Word, text: str) -> str:
    """A word quoted for sh, `~/` in front left to the shell; one that a shell is still to fill in stays as it was."""
    if text.startswith("~/"):
        return "~/" + (shlex.quote(text[2:]) if text[2:] else "")
    if word.open and not re.search(r"\s|['\"]", text):
        return for_cmd(text) or text
    return shlex.quote(text)
