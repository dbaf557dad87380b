"""Words of a command line and the text they are printed as, there and back."""

from __future__ import annotations

import re
import shlex

_OF_CMD = re.compile(r"[^\s\"'`]{0,200}%\w{1,60}%[^\s\"'`]{0,200}")
_SEVERAL = re.compile(r"%\w{0,60}(?:arg|opt|flag|param|extra|cmd|command)\w{0,60}%", re.IGNORECASE)


def split_command(text: str) -> list[str]:
    """The words of a command that doctor printed: quotes as a shell reads them, backslashes as they stand.

    Nothing doctor prints is escaped by a backslash, and a path of Windows has many of its own. A quote without a partner
    is a letter.
    """
    reader = shlex.shlex(text, posix=True, punctuation_chars=False)
    reader.whitespace_split = True
    reader.commenters = reader.escape = ""
    try:
        return list(reader)
    except ValueError:
        return text.split()


def for_cmd(word: str) -> str | None:
    """A word with a %NAME% that cmd fills in, in quotes: a path may hold blanks. None for any other word, and where the
    name says that it stands for several.
    """
    return f'"{word}"' if _OF_CMD.fullmatch(word) and not _SEVERAL.search(word) else None
