"""Facts as evidence: "launch.ctx_size = 131072" in the words of those who typed `-c 131072`, with units, in both languages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from doctor.report.fact_names import EVENTS, FIELDS, OF_FIELD, OPTIONS, RATES_IN_BYTES, UNITS, VALUES
from doctor.report.rungs import NAMES
from doctor.report.spoken import is_of_launch, spoken
from doctor.report.subjects import name_of
from doctor.report.words import colon

if TYPE_CHECKING:
    from collections.abc import Iterable

    from doctor.engine.finding import Evidence, NotChecked

_PATH = r"([a-z]+)(?:\[\d+\])?\.((?:[a-z_0-9]+(?:\[-?\d+\])?\.)*[a-z_0-9]+)((?:\[[^\]]*\])?)"
_FACT = re.compile(_PATH + " = (.*)", re.DOTALL)
_PLACE = re.compile(r"\[(-?\d+)\]")
_FROM_THE_END = re.compile(r"\[(-\d+)\]")
_PLACES = {
    "0": ("first", "第一个"),
    "-1": ("last", "最后一个"),
    "-2": ("last but one", "倒数第二个"),
    "-3": ("last but two", "倒数第三个"),
}
_STEP = re.compile(rf"(?:^|; )({'|'.join(NAMES['en'])}): ")
GIB = 1 << 30


def evidence_words(item: Evidence, lang: str) -> str:
    """A line of a text as it stands there, anything else in words; what is said of an option has a line and is ours."""
    if item.line is None:
        return fact_words(item.text, lang)
    spelling, colon_mark, said = item.text.partition(": ")
    if lang == "zh" and colon_mark and is_of_launch(said):
        return f"{spelling}：{spoken(said, lang)}"
    return item.text


def telling(evidence: tuple[Evidence, ...]) -> list[Evidence]:
    """The evidence that tells something: not the user's own words again, no item of a list that stands there as a whole, and
    what is not there only where all is that.
    """
    lists = {item.text.partition(" = ")[0] for item in evidence}
    shown = [item for item in evidence if item.source != "words" and not _is_part_of(item.text, lists)]
    return [item for item in shown if not item.text.endswith(" = absent")] or shown


def _is_part_of(text: str, lists: set[str]) -> bool:
    path = text.partition(" = ")[0]
    return path.endswith("]") and path.rpartition("[")[0] in lists


def value_words(value: str, lang: str) -> str:
    """A value that is a word of the facts, such as "no-library"."""
    return VALUES[value][lang == "zh"] if value in VALUES else value


def fact_words(text: str, lang: str) -> str:
    """A piece of evidence in the language of the answer: a fact in words, any other text as collectors say it."""
    found = _FACT.fullmatch(text)
    if not found:
        return _way(text, lang)
    subject, field, index, value = found.groups()
    return _named(subject, field, index, lang) + colon(lang) + _value(field, value, lang)


def fact_name(path: str, lang: str) -> str:
    """The name of a fact, or of a whole subject."""
    found = re.fullmatch(_PATH, path)
    if not found:
        return name_of(path, lang)
    subject, field, index = found.groups()
    return _named(subject, field, index, lang)


def not_checked_rows(items: Iterable[NotChecked], lang: str) -> list[tuple[str, str]]:
    """(what was not checked, why) in words: all that one reason is about in one row."""
    by_reason: dict[str, list[str]] = {}
    for item in items:
        by_reason.setdefault(spoken(item.reason, lang), []).append(item.check)
    return [(_names(checks, lang), reason) for reason, checks in by_reason.items()]


def _names(checks: list[str], lang: str) -> str:
    """Names of facts, the name of their subject once."""
    names, before = [], ""
    for check in checks:
        name = fact_name(check, lang)
        subject = check.partition(".")[0]
        names.append(name.partition("，" if lang == "zh" else ", ")[2] or name if subject == before else name)
        before = subject
    return ("、" if lang == "zh" else ", ").join(dict.fromkeys(names))


def _named(subject: str, field: str, index: str, lang: str) -> str:
    name = name_of({"client": "clients", "ladder": "ladders"}.get(subject, subject), lang)
    place = _FROM_THE_END.search(field) or _PLACE.fullmatch(index)
    if place:
        said = _PLACES.get(place[1], (place[1], place[1]))[lang == "zh"]
        label = _label(subject, field, lang) + (f"（{said}）" if lang == "zh" else f" ({said})")
    else:
        label = _label(subject, field, lang) + index.replace("[", " ").replace("]", "").replace("'", "")
    return name + ("，" if lang == "zh" else ", ") + label


def _way(text: str, lang: str) -> str:
    """The words of a way: who asks where, and what its steps said."""
    who, dash, steps = text.partition(" — ")
    parts = _STEP.split(steps)
    if not dash or parts[0]:
        return spoken(text, lang)
    said = [f"{NAMES[lang][name]}: {spoken(words, lang)}" for name, words in zip(parts[1::2], parts[2::2], strict=True)]
    return f"{who} — {'; '.join(said)}"


def _label(subject: str, field: str, lang: str) -> str:
    if subject == "launch" and field in OPTIONS:
        return OPTIONS[field]
    last = _PLACE.sub("", field).rpartition(".")[2]
    known = FIELDS.get(field) or FIELDS.get(last)
    return known[lang == "zh"] if known else last.replace("_", " ")


def _value(field: str, value: str, lang: str) -> str:
    if (words := OF_FIELD.get(field, {}).get(value)) is not None:
        return words[lang == "zh"]
    if value in VALUES:
        return value_words(value, lang)
    if field == "regressed":  # names of other fields
        return ("、" if lang == "zh" else ", ").join(_label("bench", name, lang) for name in value.split(", "))
    if re.fullmatch(r"-?\d+", value) and field.endswith("_bytes"):
        number = int(value)
        return f"{number / GIB:.1f} GiB" if abs(number) >= GIB else f"{number / (GIB >> 10):.1f} MiB"
    if re.fullmatch(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", value):
        return _with_unit(field, value, lang)
    return spoken(value, lang)


def _with_unit(field: str, value: str, lang: str) -> str:
    if field.endswith("_share") or field in ("of_expected", "cache_hit", "draft_acceptance"):
        return f"{float(value):.0%}"
    if field in RATES_IN_BYTES:
        return f"{float(value) / 1e6:.0f} MB/s"
    if field in EVENTS:
        return f"{float(value):.0f}/s"
    unit = next((unit for ending, unit in UNITS.items() if field.endswith(ending)), "")
    if field.endswith("_days"):
        unit = "天" if lang == "zh" else "days"
    shown = value if re.fullmatch(r"-?\d+", value) else f"{float(value):.4g}"
    return f"{shown} {unit}".strip()
