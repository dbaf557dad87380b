"""The expected speed in one line, in both languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from doctor.facts.record import known

if TYPE_CHECKING:
    from doctor.facts.speed import Speed

_WORDS = {
    "en": {
        "decode": "about {low} to {high} tokens/s to expect",
        "deep": "{low} to {high} with {tokens} tokens of context",
        "prefill": "prompts {low} to {high} tokens/s",
        "draft": "drafting ×{low} to ×{high}",
        "basis": "{gb:.2f} GB read a token",
        "ram": "{share:.0%} of it from RAM ({low} to {high} GB/s{measured})",
        "measured": ", measured",
    },
    "zh": {
        "decode": "预计约 {low} 至 {high} token/s",
        "deep": "上下文 {tokens} token 时 {low} 至 {high}",
        "prefill": "处理提示词 {low} 至 {high} token/s",
        "draft": "推测解码 ×{low} 至 ×{high}",
        "basis": "每个 token 读取 {gb:.2f} GB",
        "ram": "其中 {share:.0%} 在内存里（{low} 至 {high} GB/s{measured}）",
        "measured": "，实测",
    },
}


def expected_line(speed: Speed, lang: str) -> str:
    """What to expect of this model, command and card, and from what it is computed."""
    words = _WORDS["zh" if lang == "zh" else "en"]
    parts = [words["decode"].format(low=_plain(known(speed.decode_low)), high=_plain(known(speed.decode_high)))]
    deep = known(speed.deep_low)
    if deep is not None and deep < (known(speed.decode_low) or 0) * 0.97:
        tokens = known(speed.deep_tokens)
        parts.append(words["deep"].format(low=_plain(deep), high=_plain(known(speed.deep_high)), tokens=tokens))
    if known(speed.draft_low) is not None:
        parts.append(words["draft"].format(low=_plain(known(speed.draft_low)), high=_plain(known(speed.draft_high))))
    if known(speed.prefill_low) is not None:
        parts.append(
            words["prefill"].format(low=_plain(known(speed.prefill_low)), high=_plain(known(speed.prefill_high)))
        )
    parts.append(words["basis"].format(gb=(known(speed.bytes_per_token) or 0) / 1e9))
    if share := known(speed.ram_share):
        measured = words["measured"] if known(speed.ram_measured) else ""
        low, high = (_plain(known(value)) for value in (speed.ram_gb_per_second_low, speed.ram_gb_per_second_high))
        parts.append(words["ram"].format(share=share, low=low, high=high, measured=measured))
    return ("；" if lang == "zh" else "; ").join(parts)


def _plain(value: Any) -> str:
    """A number of three figures as people write it."""
    return f"{value:.0f}" if value is not None and value >= 10 else f"{value:.2g}" if value is not None else "?"
