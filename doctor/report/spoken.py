"""Chinese for what collectors say. They speak English, in facts that are saved and compared; what has no entry stays."""

from __future__ import annotations

import re
from functools import lru_cache

from doctor.report.reasons import REASONS
from doctor.report.rungs import DETAILS

SOURCES: tuple[tuple[str, str], ...] = (
    (r"the address given", "命令行给出的地址"),
    (r"the launch command", "启动命令"),
    (r"the default address", "默认地址"),
    (r"the settings of (.+)", r"\1 的设置"),
    (r"an OpenAI client", "OpenAI 类客户端"),
    (r"a client of this API", "这种接口的客户端"),
    (r"environment", "环境变量"),
)

WORDS: tuple[tuple[str, str], ...] = (
    (r"\b(\d+) cores\b", r"\1 核"),
    (r"([\d.]+ GiB) RAM \(([\d.]+ GiB) free\)", r"内存 \1（空闲 \2）"),
    (r"\(([\d.]+ GiB) free\)", r"（空闲 \1）"),
    (r"\bin (docker|podman|lxc|kubernetes)\b", r"在 \1 容器中"),
    (r"\bdriver ([\d.]+)", r"驱动 \1"),
    (r"\btoolkit ([\d.?]+) in ([^\s,]+)", r"工具包 \1（\2）"),
    (r"\bbackends ", "后端 "),
    (r"\b(\w+) needs ([\d.]+ [GM]iB) of ([\d.]+ [GM]iB)", r"\1 需要 \2（空闲 \3）"),
    (r"\b(\w+) needs ([\d.]+ [GM]iB)", r"\1 需要 \2"),
    (r"\brefused: ", "会被拒绝："),
    (r"\b(\d+) days old\b", r"已有 \1 天"),
    (r"\btrained for (\d+) tokens\b", r"训练上下文 \1"),
    (r"\bsmall model (?=\S)", "小模型 "),
    (r"\bmodel (?=\S)", "模型 "),
    (r": no server of its own is set", "：没有设置自己的服务地址"),
    (r": its settings are kept by VS Code, which is not read", "：配置保存在 VS Code 里，没有读取"),
    (r": it keeps its settings in config\.sqlite, which is not read", "：配置保存在 config.sqlite 里，没有读取"),
    (r"\b(\d+) tokens a slot\b", r"每个槽位 \1 token"),
    (r"\b(\d+) slots\b", r"\1 个槽位"),
)
"""Words within the short summary of a subject."""


@lru_cache(maxsize=1)
def _table() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.DOTALL), words) for pattern, words in (*SOURCES, *REASONS, *DETAILS))


def spoken(text: str, lang: str) -> str:
    """A collector's words in the language of the answer."""
    if lang != "zh" or text.isspace() or not any("a" <= letter <= "z" for letter in text):
        return text
    for pattern, words in _table():
        found = pattern.fullmatch(text)
        if found:
            return found.expand(words)
    return text


def summary(text: str, lang: str) -> str:
    """A subject's summary in the language of the answer."""
    if lang != "zh":
        return text
    translated = spoken(text, lang)
    for pattern, words in WORDS:
        translated = re.sub(pattern, words, translated)
    return translated
