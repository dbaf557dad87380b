"""Words of a command line and the text they are printed as, there and back."""

from __future__ import annotations

import shlex


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
