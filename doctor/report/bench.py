"""A measurement as a few lines of text: what was read and written how fast, the cache, two at once, before and now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.facts.record import known
from doctor.report.pace import expected_line
from doctor.report.rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from doctor.facts.bench import Bench, Change, Measurement
    from doctor.facts.record import Fact
    from doctor.facts.speed import Speed

_WORDS = {
    "en": {
        "head": "Measured at {url}: {count} requests in {seconds:g} s",
        "read": "reading  {tokens:>6} tokens: {speed} tokens/s",
        "write": "writing at a depth of {depth:>6}: {speed} tokens/s",
        "server": "  (the server says {speed})",
        "cache": "second turn: {share:.0%} of the first found in the cache",
        "together": "two at once: {speed} tokens/s together, {gain} times one alone",
        "queued": "two at once: the second waits for the first",
        "first": "first token after {ms:.0f} ms",
        "then": "{name}: {now}, before {before} ({change:+.0%})",
        "then_other": "{name}: {now} with {tokens_now} tokens, before {before} with {tokens_before}",
        "not_compared": ": cannot be compared",
        "prefill_per_second": "reading",
        "decode_per_second": "writing",
        "deep_decode_per_second": "writing deeper in",
        "together_per_second": "two at once",
        "cache_hit": "second turn from the cache",
        "expected": "expected: ",
        "unknown": "not measured",
    },
    "zh": {
        "head": "测量 {url}：{count} 个请求，共 {seconds:g} 秒",
        "read": "处理提示词 {tokens:>6} token：{speed} token/s",
        "write": "上下文 {depth:>6} 时生成：{speed} token/s",
        "server": "  （服务器自报 {speed}）",
        "cache": "第二轮：第一轮的 {share:.0%} 命中缓存",
        "together": "两个请求同时：合计 {speed} token/s，是单个的 {gain} 倍",
        "queued": "两个请求同时：第二个要等第一个",
        "first": "首个 token 在 {ms:.0f} 毫秒后",
        "then": "{name}：{now}，之前 {before}（{change:+.0%}）",
        "then_other": "{name}：{tokens_now} 个 token 时 {now}，之前 {tokens_before} 个 token 时 {before}",
        "not_compared": "：无法比较",
        "prefill_per_second": "处理提示词",
        "decode_per_second": "生成",
        "deep_decode_per_second": "较深处生成",
        "together_per_second": "两个同时",
        "cache_hit": "第二轮命中缓存",
        "expected": "预期：",
        "unknown": "没有测到",
    },
}


def bench_rows(found: Bench, speed: Speed | None, lang: str, *, unicode: bool) -> Iterator[Row]:
    """The lines; none where nothing was measured."""
    words = _WORDS["zh" if lang == "zh" else "en"]
    measured = known(found.measurements) or ()
    if not measured:
        return
    head = words["head"].format(url=found.url, count=len(measured), seconds=known(found.seconds) or 0)
    yield Row((("title", head),))
    for item in measured:
        yield from _measurement(item, words)
    if known(found.first_token_ms) is not None:
        yield Row((("", words["first"].format(ms=known(found.first_token_ms))),), 2)
    if known(found.cache_hit) is not None:
        yield Row((("", words["cache"].format(share=known(found.cache_hit))),), 2)
    if known(found.queued):
        yield Row((("", words["queued"]),), 2)
    elif known(found.together_per_second) is not None:
        gain = known(found.together_gain)
        yield Row((("", words["together"].format(speed=_figure(found.together_per_second, words), gain=gain)),), 2)
    for change in known(found.changes) or ():
        worse = change.name in (known(found.regressed) or ())
        yield Row((("error" if worse else "", _change(change, words, worse=worse)),), 2)
    if speed is not None:
        yield Row((("quiet", words["expected"] + expected_line(speed, lang)),), 2)
    yield Row(())


def _measurement(item: Measurement, words: dict[str, str]) -> Iterator[Row]:
    if item.name != "second-turn":
        text = words["read"].format(tokens=item.prompt_tokens, speed=_figure(item.prefill_per_second, words))
        yield Row((("", text), ("quiet", _server(item.server_prefill_per_second, words))), 2)
        text = words["write"].format(depth=item.depth, speed=_figure(item.decode_per_second, words))
        yield Row((("", text), ("quiet", _server(item.server_decode_per_second, words))), 2)


def _change(change: Change, words: dict[str, str], *, worse: bool) -> str:
    share = change.name == "cache_hit"
    now, before = (f"{value:.0%}" if share else _figure(value, words) for value in (change.now, change.before))
    name = words.get(change.name, change.name)  # a saved run may hold names of another version
    tokens_now, tokens_before = known(change.tokens_now), known(change.tokens_before)
    if tokens_now is None or tokens_before is None:
        return words["then"].format(name=name, now=now, before=before, change=change.change)
    text = words["then_other"].format(
        name=name, now=now, before=before, tokens_now=tokens_now, tokens_before=tokens_before
    )
    return text if worse else text + words["not_compared"]


def _figure(value: Fact[float], words: dict[str, str]) -> str:
    number = known(value)
    return words["unknown"] if number is None else f"{number:.0f}" if number >= 100 else f"{number:.1f}"


def _server(value: Fact[float], words: dict[str, str]) -> str:
    return words["server"].format(speed=_figure(value, words)) if known(value) is not None else ""
