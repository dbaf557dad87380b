"""Chinese for what collectors say. They speak English, in facts that are saved and compared; what has no entry stays.

An entry is the English sentence, with {} for what varies ({w} a word, {n} a number, {a} addresses), and the Chinese one,
with {0}, {1} … for those. What varies may be such a sentence itself: the reason behind a file name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_HOLE = re.compile(r"\{([wna]?)\}")
_KINDS = {"": "(.*)", "w": r"(\S+)", "n": r"([\d.,]+)", "a": "([0-9a-f.:]+(?:, [0-9a-f.:]+)*)"}
DEPTH = 6
"""Sentences in sentences."""

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
    (r"^key (?=\S)", "密钥 "),
    (r": no server of its own is set", "：没有设置自己的服务地址"),
    (r": its settings are kept by VS Code, which is not read", "：配置保存在 VS Code 里，没有读取"),
    (r": it keeps its settings in config\.sqlite, which is not read", "：配置保存在 config.sqlite 里，没有读取"),
    (r"\b(\d+) tokens a slot\b", r"每个槽位 \1 token"),
    (r"\b(\d+) slots?\b", r"\1 个槽位"),
)
"""Words within the short summary of a subject."""


class Sentence(NamedTuple):
    """A sentence with holes: its longest piece of plain text, the whole as a regular expression, the Chinese."""

    anchor: str
    pattern: str
    chinese: str


@lru_cache(maxsize=1)
def _tables() -> tuple[dict[str, str], tuple[Sentence, ...]]:
    """(whole sentences, those with holes, the most plain text first)."""
    from doctor.report.chinese.asking import ASKING
    from doctor.report.chinese.complaints import COMPLAINTS
    from doctor.report.chinese.files import FILES
    from doctor.report.chinese.launching import LAUNCHING
    from doctor.report.chinese.looking import LOOKING
    from doctor.report.chinese.world import WORLD
    from doctor.report.fact_names import VALUES

    whole, holes = {}, []
    sentences = {**dict(VALUES.values()), **LOOKING, **ASKING, **WORLD, **COMPLAINTS, **FILES, **LAUNCHING}
    for english, chinese in sentences.items():
        if _HOLE.search(english):
            holes.append((len(_HOLE.sub("", english)), _sentence(english, chinese)))
        else:
            whole[english] = chinese
    holes.sort(key=lambda item: -item[0])
    return whole, tuple(sentence for _, sentence in holes)


def is_of_launch(text: str) -> bool:
    """Whether a text is what doctor says of an option, and not a line somebody else wrote."""
    return any(one.anchor in text and re.match(one.pattern, text, re.DOTALL) for one in _of_launch())


@lru_cache(maxsize=1)
def _of_launch() -> tuple[Sentence, ...]:
    from doctor.report.chinese.launching import LAUNCHING

    return tuple(_sentence(english, chinese) for english, chinese in LAUNCHING.items())


def _sentence(english: str, chinese: str) -> Sentence:
    pieces = _HOLE.split(english)
    plain, kinds = pieces[::2], pieces[1::2]
    pattern = re.escape(plain[0]) + "".join(
        _KINDS[kind] + re.escape(text) for kind, text in zip(kinds, plain[1:], strict=True)
    )
    return Sentence(max(plain, key=len), pattern, chinese)


def spoken(text: str, lang: str, depth: int = DEPTH) -> str:
    """A collector's words in the language of the answer."""
    if lang != "zh" or not depth or len(text) > 4000 or not any("a" <= letter <= "z" for letter in text):
        return text
    whole, holes = _tables()
    if text in whole:
        return whole[text]
    for sentence in holes:
        if sentence.anchor in text:
            found = re.fullmatch(sentence.pattern, text, re.DOTALL)
            if found:
                return sentence.chinese.format(*(spoken(part, lang, depth - 1) for part in found.groups()))
    if "; " in text:
        parts = text.split("; ")
        said = [spoken(part, lang, depth - 1) for part in parts]
        if said != parts:
            return "；".join(said)
    place, colon, rest = text.partition(": ")
    words = spoken(rest, lang, depth - 1) if colon and (" " not in place or place.startswith("-")) else rest
    return f"{place}：{words}" if words != rest else text


def summary(text: str, lang: str) -> str:
    """A subject's summary in the language of the answer."""
    if lang != "zh":
        return text
    translated = spoken(text, lang)
    for pattern, words in WORDS:
        translated = re.sub(pattern, words, translated)
    return translated
