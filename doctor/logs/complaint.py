"""Which lines of a text a person wrote about how slow it is: no program says so, and no rule may know the words."""

from __future__ import annotations

import re

MOST_LINES = 8
FEWEST_WORDS = 9
"""Fewer ("why so slow?") name no kind of fault, and any cause would be a guess out of nothing."""
LONGEST = 400
FEWEST_COMPARED = 4
"""The same where speeds are held against each other: what differs between them is a word or two."""
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
    r"|\b(?:everything|whole|entire|full)\b.{0,40}\bre-?(?:process|evaluat|comput)"
    r"|\bre-?process(?:es|ed|ing)?\b.{0,40}\b(?:every|each|from|whole|entire|full|on)\b"
    r"|\bhow can I .{0,20}(?:speed|use (?:the |my )?GPU)"
    r"|\b(?:takes?|waits?|needs?) .{0,20}\d+ ?(?:to \d+ )?(?:seconds|minutes|min|s)\b"
    r"|\b(?:processed|read|evaluated|computed|loaded) (?:again|anew|from scratch)\b|\bre-?(?:loads|loading|reads|computes?)\b"
    r"|\bcache (?:is |gets |was )?(?:broken|lost|useless|invalidated)\b|\b(?:1|one) (?:by|after|at a) (?:1|one|another|the|time)\b"
    r"|\bregression\b|\btimes? (?:faster|longer)\b"
    r"|\b(?:in|de)creas\w{1,3} in (?:speed|performance)|\bthe same speed\b|\bno faster\b"
    r"|\b(?:can't|can not|cannot|never|don't|doesn't) (?:get|go|goes|exceed|reach|running)\b.{0,60}\d ?(?:tok|t/s|tps)"
    r"|(?:CPU|processor) backend\b|\b(?:runs?|running|works?|falls? back) on (?:the )?CPU\b|\bsilently\b.{0,60}\bCPU\b"
    r"|很慢|太慢|变慢|好慢|慢得|非常慢|特别慢|越来越慢|慢[了很]|速度.{0,8}(?:低|慢|不到|只有|远)"
    r"|利用率.{0,8}(?:低|只有|仅|%)|卡顿"
    r"|(?:秒|分钟|半天)才?.{0,4}(?:一个|出|回答|回复)|没(?:有)?(?:回答|响应|反应)|要等",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z][a-z']+")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_FIGURE = re.compile(
    r"\d ?(?:tok(?:en)?s?/s(?:ec)?|t/s|tps|tokens? (?:per|a) (?:second|sec|minute)|ms/tok|(?:MB|MiB|GB|GiB)/s)"
    r"|\d ?(?:ms|s|sec|seconds?|minutes?) ?(?:per|/|a) ?(?:token|word)",
    re.IGNORECASE,
)
# Two speeds that are held against each other.
_COMPARED = re.compile(
    r"\b(?:with|without|on|off|none|only|before|after|old|new|normal|expected|instead of|vs|versus|compared)\b"
    r"|--no-|->|→|之前|之后|原来|现在",
    re.IGNORECASE,
)
# Somebody who is content complains of nothing.
_CONTENT = re.compile(
    r"\bthank(?:s| you)\b|\b(?:works|runs|working|is) (?:very |really |just )?"
    r"(?:well|fine|great|perfectly|as (?:it should|expected))\b"
    r"|\b(?:great|nice|good) (?:work|speed-?up|improvement|job|result)|\ball good\b|\bhappy with\b|满意|很好|谢谢",
    re.IGNORECASE,
)
_TABLE = re.compile(r"^\|.*\|$")
_BENCH = re.compile(r"±|-{3}|\bparams\b.{0,40}\bbackend\b|\bMiB\b")
# What programs print about speed: timings, settings, statistics; and what was typed.
_PRINTED = re.compile(
    r"\btime\s*=\s*[\d.]+ ms|\blevel=|\bmsg=|^\d{1,4}\.\d\d\.\d{3}\.\d{3} [A-Z] |^[a-z0-9]+(?:_[a-z0-9]+)+\s*:|^\s*[\[{|]"
    r"|^\s*(?:\$|❯|➜|PS [A-Za-z]:)|\bn_(?:ctx|tokens|past|batch)\b|^\d{4}[-/]\d\d[-/]\d\d|^[A-Z][a-z]{2} +\d{1,2} \d\d:"
    r"|^\s*(?:HTTP|GET|POST|srv|slot|que|init|main|load|llama|ggml|clip)\b"
)


def complaint_lines(text: str, *, only_words: bool = False) -> tuple[tuple[int, str], ...]:
    """(line number, line) of the lines in a person's words, when one of them is about speed; else none.

    The others of them say what the computer is and what was tried, and are wanted with it. Two lines or more that hold
    speeds against each other are a complaint too. `only_words`: the text holds no facts: where it is words for the most
    part, they are a complaint whatever they are about.
    """
    lines = [(number, line.strip()[:LONGEST]) for number, line in enumerate(text.splitlines(), 1)]
    said = [(number, line) for number, line in lines if _is_prose(line)]
    spoken = only_words and len(said) > 2 * sum(1 for _, line in lines if line) / 3
    speeds = [(number, line) for number, line in lines if _is_speed(line)]
    compared = len(speeds) > 1 and any(_COMPARED.search(line) for _, line in speeds)
    if not any(_SLOW.search(line) for _, line in said) and (
        not (spoken or compared) or any(_CONTENT.search(line) for _, line in lines)
    ):
        return ()
    said = sorted({*said, *speeds})
    fewest = FEWEST_COMPARED if compared else FEWEST_WORDS
    if sum(len(_WORD.findall(line)) + len(_CHINESE.findall(line)) // 2 for _, line in said) < fewest:
        return ()
    about = [item for item in said if _SLOW.search(item[1])]
    rest = [item for item in said if item not in about]
    return tuple(sorted((*about, *rest)[:MOST_LINES]))


def _is_prose(line: str) -> bool:
    if _PRINTED.search(line):
        return False
    words = len(_WORD.findall(line))
    return words >= 4 or len(_CHINESE.findall(line)) >= 4 or (words > 0 and bool(_SLOW.search(line)))


def _is_speed(line: str) -> bool:
    """Whether a line is a speed that somebody has noted: "with mmap: 730 MB/s", a row of their table."""
    if _TABLE.match(line):
        return not _BENCH.search(line) and bool(re.search(r"\d", line))
    return not _PRINTED.search(line) and bool(_FIGURE.search(line))
