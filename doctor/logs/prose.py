"""A launch command inside a sentence: "I run llama-server -m q.gguf -c 131,072 and it is slow"."""

from __future__ import annotations

import re

_CODE = re.compile(r"`{1,2}([^`]{3,2000})`{1,2}")
_PROGRAM = re.compile(r"(?<![\w`'\"/=-])(?:[~.\w/\\:-]{0,200}[/\\])?llama-server(?:\.exe)?(?=\s+-)")
# A first word that no sentence begins with: a prompt, a variable, or a program that starts another.
_NO_SENTENCE = re.compile(
    r"\s*(?:[$#>❯➜]|[\w.-]+@|PS |[A-Za-z]:\\|[A-Za-z_]\w*=|"
    r"(?:sudo|env|nohup|exec|docker|podman|numactl|nice|ExecStart\b|\S{0,80}:)\s)"
)
_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+")
_STOP = ",.;:)"
_NO_VALUES = frozenset("and but with then it is which for the a at to in my so because while when after".split())
"""Words behind a switch that go on with the sentence."""
LEAST_STRAY = 2
"""Words behind the options that no option takes, by which a line that begins with the program is a sentence."""


def command_in(text: str) -> str | None:
    """The command of a line of prose, as one would type it; None where the line is no prose or holds none.

    Thousands are set apart there as writers do (131,072), and commas and full stops behind a word belong to the sentence.
    """
    if "\n" in text or "llama-server" not in text:
        return None
    for code in _CODE.findall(text):
        if _PROGRAM.match(code.strip()):
            return _plain(code.strip().split())
    found = _PROGRAM.search(text)
    if found is None or _NO_SENTENCE.match(text[: found.start()] or "x"):
        return None
    words = text[found.start() :].split()
    taken = _taken(words)
    before = text[: found.start()].strip()
    if not before and (len(words) - taken < LEAST_STRAY or words[taken - 1][-1:] not in _STOP):
        return None
    return _plain(words[:taken])


def _taken(words: list[str]) -> int:
    """How many words belong to the command: the program, options, and one word behind each option."""
    at = 1
    while at < len(words) and words[at].startswith("-") and len(words[at]) > 1:
        ends = words[at][-1] in _STOP
        at += 1
        if not ends and at < len(words) and not words[at].startswith("-") and words[at] not in _NO_VALUES:
            at += 1
            ends = words[at - 1][-1] in _STOP
        if ends:
            break
    return at


def _plain(words: list[str]) -> str:
    """The words without the marks of the sentence."""
    bare = [word.rstrip(_STOP) if word.rstrip(_STOP) else word for word in words]
    return " ".join(word.replace(",", "") if _GROUPED.fullmatch(word) else word for word in bare)
