"""Chinese for help."""

from __future__ import annotations


def translated(words: str, lang: str) -> str:
    """Words of help in the language of the answer."""
    if lang != "zh":
        return words
    from doctor.report.chinese.help import HELP

    return HELP.get(words, words)
