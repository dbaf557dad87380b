"""Which lines of a text speak of trouble, whatever program wrote them: what is left to go by when no rule knows a line."""

from __future__ import annotations

import re

MOST_LINES = 12
LONGEST = 400
_WORDS = re.compile(
    r"error|exception|traceback|fail(?:ed|ure|s|ing)?\b|fatal|panic|abort|crash|denied|refused|unauthori[sz]ed|forbidden"
    r"|invalid|unsupported|unrecogni[sz]ed|unexpected|unable|cannot|can't|can’t|could ?n[o']t|couldn’t|timed? ?out|timeout"
    r"|missing|undefined|killed|segfault|segmentation fault|illegal|no such|not (?:found|supported|available|allowed|valid)"
    r"|does not exist|doesn't exist|too (?:large|long|small|many)|exceed|unreachable|disconnected|corrupt|incompatible"
    r"|mismatch|incorrect|\bwrong\b|garbled|stuck|hangs?\b"
    r"|(?:HTTP\S{0,5}|status(?:[_ ]code)?)\W{0,4}[45]\d\d\b|(?-i:\b[45]\d\d [A-Z][a-z]+ )"
    r"|错误|失败|无法|异常|超时|拒绝|找不到|不存在|不支持|报错|崩溃|中断",
    re.IGNORECASE,
)
# Counters, options and settings that have such a word in their name and say that all is well.
_HARMLESS = re.compile(
    r"\b0 (?:errors?|failed|failures)|(?:errors?|failed|failures)\W{1,3}0\b|no errors?\b|without errors?\b|on[_-]error"
    r"|error[_-](?:rate|log|level)|fail[_-](?:fast|over)|--?\w*(?:timeout|error)|(?:timeout|max_retries)\w*\"?\s{0,3}[=:]"
    r"|read timeout = |errors?_count|kwarg: not supported|erased invalidated"
    # The program goes on without it (Codex says the last two at every start on a bare system).
    r"|\b(?:disabling|falling back|ignoring|skipping|defaulting|using default)\b"
    r"|could not find bubblewrap|could not create PATH aliases",
    re.IGNORECASE,
)
# What a program calls information or debugging is no trouble to it; what was typed is no program's word.
_CALM = re.compile(
    r"^\s*(?:\$|❯|➜|PS [A-Za-z]:[^>]{0,200}>)\s+\S"
    r"|^\s*\d+\.\d\d\.\d{3}\.\d{3} [ID] |\blevel\W{1,4}(?:info|debug|trace)\b|^\S{0,80}\s?\S{0,80}\s?\W?(?:INFO|DEBUG|TRACE)\b",
    re.IGNORECASE,
)


def trouble_lines(text: str) -> tuple[tuple[int, str], ...]:
    """(line number, line) of the lines that speak of trouble: the first ones, and the last one."""
    found = [
        (number, line.strip()[:LONGEST])
        for number, line in enumerate(text.splitlines(), 1)
        if _WORDS.search(line) and not _HARMLESS.search(line) and not _CALM.search(line)
    ]
    if len(found) > MOST_LINES:
        return (*found[: MOST_LINES - 1], found[-1])
    return tuple(found)
