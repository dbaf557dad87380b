"""Ranks rules by words: what a user types, in English or Chinese, with typos and fragments, against what rules say.

The measure is BM25 over words, pieces of words (three letters) and pairs of Chinese characters, taken twice: over everything
a rule says, and over its best single phrase. A table of concepts makes "显存", "VRAM" and "GPU memory" the same word.
"""

from __future__ import annotations

import math
import re
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from doctor.engine.rules import Rule

_WORD = re.compile(r"[a-z0-9_]+(?:[.'+-][a-z0-9_]+)*|[\u3400-\u9fff]+")
_EXPRESSION = re.compile(r"\{[^{}]*\}|\[\[|\]\]")
_PIECE = re.compile(r"[a-z0-9]+")
_STOP = frozenset(
    "a an the is are was were be been it its this that these those i my me we you your he she they of to in on at for from with "
    "by as and or but if so then than do does did done have has had can could will would should may might not no yes when while "
    "what why how who which there here just only very much any some all one get gets got getting am im after before into out up "
    "using use used uses say says said please help since now even though make makes made hello hi test thanks thank".split()
)
_FILLER = frozenset("的了吗呢啊是在我你他她它就都也和与或但不没有这那")
_K1 = 1.2
_B = 0.4
OUTSIDE_COMPLAINT = 0.8
"""What is left of the score of a rule that the complaint in a question cannot have to do with."""


def build_index(
    rules: Iterable[Rule], concepts: dict[str, Any], complaints: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The index of a set of rules: plain data, made once and stored with the compiled rules.

    `complaints`: the words of a complaint and the causes it can have, by name.
    """
    rules = tuple(rules)
    table = {str(name): [str(word).lower() for word in words] for name, words in concepts.items()}
    documents = []
    for rule in rules:
        broad: dict[str, float] = {}
        for text, weight in _texts(rule):
            # Pieces of words help with typos in what rules are searched for, not in their explanations.
            for term in terms_of(text, table, pieces_too=weight >= 0.5):
                broad[term] = broad.get(term, 0.0) + weight
        documents.append((rule.id, {term: round(value, 2) for term, value in broad.items()}))
    frequency: dict[str, int] = {}
    for _, terms in documents:
        for term in terms:
            frequency[term] = frequency.get(term, 0) + 1
    postings: dict[str, list[int]] = {}
    lengths = []
    for number, (_, terms) in enumerate(documents):
        lengths.append(round(sum(terms.values()), 1))
        for term, value in terms.items():
            postings.setdefault(term, []).extend((number, round(100 * value)))
    phrases = [
        (number, " ".join(sorted(set(terms_of(phrase, table)))))
        for number, rule in enumerate(rules)
        for phrase in (*rule.phrases, *(_EXPRESSION.sub(" ", title) for title in rule.title))
    ]
    complained = {
        str(name): (
            [str(word).lower() for word in item["words"]],
            [at for at, rule in enumerate(rules) if rule.cause in item["causes"]],
        )
        for name, item in (complaints or {}).items()
    }
    return {
        "concepts": table,
        "complaints": complained,
        "ids": [rule_id for rule_id, _ in documents],
        "lengths": lengths,
        # Numbers as bytes, terms as one text: a hundred thousand objects would cost more to load than the search itself.
        "postings": {term: struct.pack(f"<{len(numbers)}I", *numbers) for term, numbers in postings.items()},
        "phrases": phrases,
    }


def search(index: dict[str, Any], query: str, complaint: str = "") -> list[tuple[str, float]]:
    """(rule id, score) of the rules that fit the words, best first. Scores compare within one query only.

    `complaint`: what the words are known to complain of, whether they say it or not.
    """
    terms = list(dict.fromkeys(terms_of(query[:2000], index["concepts"], index["postings"])))
    if not terms or not index["ids"]:
        return []
    postings, lengths = index["postings"], index["lengths"]
    count = len(lengths)
    average = sum(lengths) / count or 1.0
    weights = {}
    scores = [0.0] * count
    for term in terms:
        found = list(struct.iter_unpack("<II", postings.get(term, b"")))
        weight = math.log(1 + (count - len(found) + 0.5) / (len(found) + 0.5)) * _kind_weight(term)
        weights[term] = weight
        for number, hundredths in found:
            value = hundredths / 100
            scores[number] += weight * value * (_K1 + 1) / (value + _K1 * (1 - _B + _B * lengths[number] / average))
    total = sum(weights.values()) or 1.0
    best_phrase = [0.0] * count
    wanted = set(terms)
    for number, text in index["phrases"]:
        if not any(term in text for term in terms):
            continue
        phrase = text.split(" ")
        shared = sum(weights[term] for term in phrase if term in wanted)
        if shared:
            own = sum(weights.get(term, 0.0) or _kind_weight(term) * 3.0 for term in phrase) or 1.0
            # How much of the question the phrase covers, and how much of the phrase the question covers.
            best_phrase[number] = max(best_phrase[number], 0.6 * shared / total + 0.4 * shared / own)
    top = max(scores) or 1.0
    meant = _complained_of(index["complaints"], query[:2000], complaint)
    ranked = [
        (
            index["ids"][number],
            (0.6 * scores[number] / top + best_phrase[number])
            * (OUTSIDE_COMPLAINT if meant and number not in meant else 1.0),
        )
        for number in range(count)
        if scores[number]
    ]
    ranked.sort(key=lambda item: (-item[1], item[0]))
    return ranked


def _complained_of(complaints: dict[str, tuple[list[str], list[int]]], query: str, known: str) -> set[int]:
    """The rules that the complaints in a question can have to do with; empty when it complains of nothing."""
    lowered = query.lower()
    pieces = set(_PIECE.findall(lowered))
    return {
        at
        for name, (words, rules) in complaints.items()
        if name == known or any(_has_word(lowered, pieces, word) for word in words)
        for at in rules
    }


def _texts(rule: Rule) -> list[tuple[str, float]]:
    """What a rule says, each text with how much it counts. Names of facts inside texts are no words of a user."""
    texts = [(phrase, 1.0) for phrase in rule.phrases]
    texts += [(_EXPRESSION.sub(" ", title), 1.0) for title in rule.title]
    texts += [(rule.cause.replace("-", " "), 0.8)]
    texts += [(_EXPRESSION.sub(" ", rule.why.en), 0.25), (_EXPRESSION.sub(" ", rule.why.zh), 0.25)]
    texts += [(example.text, 0.1) for example in rule.examples if example.match and len(example.text) < 2000]
    return texts


def terms_of(
    text: str, concepts: dict[str, list[str]], known: Container[str] = (), *, pieces_too: bool = True
) -> list[str]:
    """The terms of a text: words, `~` pieces of words, pairs of Chinese characters and `#` concepts.

    A `known` word goes without its pieces: they are there for typos and endings, and would pull in every rule that
    shares a syllable.
    """
    lowered = text.lower()
    pieces = set(_PIECE.findall(lowered))
    terms = [f"#{name}" for name, words in concepts.items() if any(_has_word(lowered, pieces, word) for word in words)]
    for word in _WORD.findall(lowered):
        if word[0] > "\u3000":
            terms += [word[i : i + 2] for i in range(len(word) - 1)] if len(word) > 1 else [word]
            continue
        if word in _STOP:
            continue
        terms.append(_stem(word))
        if len(word) > 4 and pieces_too and terms[-1] not in known:
            terms += [f"~{word[i : i + 3]}" for i in range(len(word) - 2)]
    return [term for term in terms if term not in _FILLER]


def _has_word(text: str, pieces: set[str], word: str) -> bool:
    """Whether a concept's word stands in a text: Chinese anywhere, Latin letters only as whole words.

    `pieces` are the runs of letters and digits in the text: without its own first run a word cannot be there.
    """
    if word[0] > "\u3000":
        return word in text
    first = _PIECE.match(word)
    if first and first[0] not in pieces:
        return False
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if not (
            (start and text[start - 1].isascii() and text[start - 1].isalnum())
            or (end < len(text) and text[end].isascii() and text[end].isalnum())
        ):
            return True
        start = text.find(word, start + 1)
    return False


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _kind_weight(term: str) -> float:
    """Pieces of words help with typos and must not outweigh the word itself; concepts weigh most."""
    return {"~": 0.3, "#": 1.6}.get(term[0], 1.0)
