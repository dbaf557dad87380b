"""What is wrong with a call, in the language of the answer."""

from __future__ import annotations


def complaint(words: str, lang: str) -> str:
    """A complaint as it is shown."""
    if lang != "zh":
        return words
    from doctor.report.spoken import spoken

    return spoken(words, lang)
