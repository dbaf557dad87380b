"""The words of llama-fit-params: its short table (-fitp), the memory breakdown of -v, and its last complaint."""

from __future__ import annotations

import re

MAX_ROWS = 64
# "CUDA0 15088 4501 740 ": device, model, context, compute in MiB; nothing else on standard output has this form.
_SHORT = re.compile(r"^(?P<name>[A-Za-z][\w.:-]{0,63}) (?P<model>\d{1,9}) (?P<context>\d{1,9}) (?P<compute>\d{1,9}) ?$")
_HEADING = re.compile(r"\| memory breakdown \[MiB\]\s*\|")
_LONG = re.compile(
    r"\|\s{1,8}- (?P<name>[A-Za-z][\w.:-]{0,63})(?: \([^|]{0,120}\))?\s{0,80}\|\s{0,40}(?:\d{1,9} =\s{1,20}-?\d{1,20} \+ \()?"
    r"\s{0,20}\d{1,9} =\s{1,20}(?P<model>\d{1,9}) \+\s{1,20}(?P<context>\d{1,9}) \+\s{1,20}(?P<compute>\d{1,9})"
)
# What went wrong, the surest sign first: an error in the log, the command line's, and what a crash says of itself.
_COMPLAINTS = (
    re.compile(r"\d[\d.]{3,30} E (?P<words>.*)"),
    re.compile(r"(?P<words>error: .*)"),
    re.compile(r"\s{0,4}what\(\):\s{1,4}(?P<words>.*)"),
    re.compile(r"(?P<words>.{0,200}\b(?:error|failed|invalid|unable|cannot)\b.*)", re.IGNORECASE),
)

Row = tuple[str, int, int, int]


def read_table(text: str) -> tuple[list[Row], bool]:
    """Rows (name; model, context, compute in MiB) and whether they are of the long table, which has every buffer type.

    The first table counts: the ones after it are of attempts with other options.
    """
    long = _first_breakdown(text)
    if long:
        return long, True
    short: list[Row] = []
    for line in text.splitlines():
        found = _SHORT.match(line)
        if found and len(short) < MAX_ROWS:
            short.append(_row(found))
            if found["name"] == "Host":
                return short, False  # the last row of every table
    return [], False


def complaint(text: str) -> str:
    """The first line that says what went wrong; "" when none does (a log loses its end in a hasty exit)."""
    lines = [line.rstrip()[:1000] for line in text.splitlines() if line.strip()]
    for pattern in _COMPLAINTS:
        for line in lines:
            found = pattern.match(line)
            if found:
                return _plain(found["words"])
    return ""


def _plain(words: str) -> str:
    return "".join(letter for letter in words[:300] if letter.isprintable())


def _first_breakdown(text: str) -> list[Row]:
    rows: list[Row] = []
    inside = whole = False
    for line in text.splitlines():
        if not inside:
            inside = _HEADING.search(line[:400]) is not None
            continue
        found = _LONG.search(line[:600])
        if found is None:
            whole = True  # a program that ends in a hurry loses the last lines of its log
            break
        if len(rows) < MAX_ROWS:
            rows.append(_row(found))
    return rows if whole else []


def _row(found: re.Match[str]) -> Row:
    return found["name"], int(found["model"]), int(found["context"]), int(found["compute"])
