"""Which lines of a text a person wrote about how slow it is: no program says so, and no rule may know the words."""

from __future__ import annotations

import re

MOST_LINES = 8
FEWEST_WORDS = 9
"""Fewer ("why so slow?") name no kind of fault, and any cause would be a guess out of nothing."""
LONGEST = 400
_SLOW = re.compile(
    r"\bslow(?:ly|er|est|ness|down|s)?\b|\bsluggish|\bcrawl|\bunusabl[ey]|\bis (?:this|that|it) normal\b|misconfigured"
    r"|\btakes? (?:forever|ages|too long|a long time|over|more than|several)"
    r"|\b(?:only|just) (?:around |about |doing |does |getting |got |get |reached |achieves? ){0,2}"
    r"\d{1,4}(?:\.\d+)?(?:-\d+)? ?(?:tok|t/s|tps|ms)"
    r"|\b(?:drop(?:s|ped)?|falls?|fell|collaps\w{0,3}|decreas\w{1,3}|goes down|went down|halved|degrad\w{1,4})\b"
    r".{0,60}(?:\d|speed|performance)"
    r"|\b(?:speed|performance|throughput|prefill|decode|tokens?)\b.{0,60}"
    r"\b(?:drop(?:s|ped)?|falls?|fell|collaps|decreas|poor|bad|low(?:er)?|half|affected|worse|below)"
    r"|\b(?:poor|bad|low|terrible|worse) (?:speed|performance|throughput|prefill|GPU (?:usage|util))"
    r"|\b(?:almost )?no GPU (?:usage|resources)"
    r"|\bGPU (?:usage |utili[sz]ation )?(?:is |stays |at )?(?:low|idle|not used|nearly)"
    r"|\bre-?process(?:es|ed|ing)?\b.{0,40}\b(?:every|each|from|whole|entire|full|on)\b"
    r"|\bhow can I .{0,20}(?:speed|use (?:the |my )?GPU)"
    r"|\b(?:takes?|waits?|needs?) .{0,20}\d+ ?(?:to \d+ )?(?:seconds|minutes|min|s)\b"
    r"|很慢|太慢|变慢|好慢|慢得|越来越慢|速度.{0,8}(?:低|慢|不到|只有|远)|利用率.{0,8}(?:低|只有|仅|%)|卡顿",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z][a-z']+")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
# What programs print about speed: timings, settings, statistics; and what was typed.
_PRINTED = re.compile(
    r"\btime\s*=\s*[\d.]+ ms|\blevel=|\bmsg=|^\d{1,4}\.\d\d\.\d{3}\.\d{3} [A-Z] |^[a-z0-9]+(?:_[a-z0-9]+)+\s*:|^\s*[\[{|]"
    r"|^\s*(?:\$|❯|➜|PS [A-Za-z]:)|\bn_(?:ctx|tokens|past|batch)\b|^\d{4}[-/]\d\d[-/]\d\d|^[A-Z][a-z]{2} +\d{1,2} \d\d:"
    r"|^\s*(?:HTTP|GET|POST|srv|slot|que|init|main|load|llama|ggml|clip)\b"
)


def complaint_lines(text: str, *, only_words: bool = False) -> tuple[tuple[int, str], ...]:
    """(line number, line) of the lines in a person's words, when one of them is about speed; else none.

    The others of them say what the computer is and what was tried, and are wanted with it. `only_words`: the text holds
    no facts: where it is words for the most part, they are a complaint whatever they are about.
    """
    lines = [(number, line.strip()[:LONGEST]) for number, line in enumerate(text.splitlines(), 1)]
    said = [(number, line) for number, line in lines if _is_prose(line)]
    spoken = only_words and len(said) > 2 * sum(1 for _, line in lines if line) / 3
    if not spoken and not any(_SLOW.search(line) for _, line in said):
        return ()
    if sum(len(_WORD.findall(line)) + len(_CHINESE.findall(line)) // 2 for _, line in said) < FEWEST_WORDS:
        return ()
    about = [item for item in said if _SLOW.search(item[1])]
    rest = [item for item in said if item not in about]
    return tuple(sorted((*about, *rest)[:MOST_LINES]))


def _is_prose(line: str) -> bool:
    if _PRINTED.search(line):
        return False
    return len(_WORD.findall(line)) >= 4 or len(_CHINESE.findall(line)) >= 4
