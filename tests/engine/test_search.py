"""Words find causes: both languages, typos, fragments, mixed."""

import pytest

from doctor.engine.load import load
from doctor.engine.rules import rule_from_toml
from doctor.engine.search import build_index, search, terms_of
from doctor.outside import Outside

CONCEPTS = {"vram": ["vram", "显存", "gpu memory"], "oom": ["out of memory", "oom", "爆显存"]}


def rule(name, *phrases):
    return rule_from_toml(
        f"a/{name}",
        {
            "cause": name,
            "severity": "error",
            "title": {"en": name, "zh": name},
            "why": {"en": "w", "zh": "w"},
            "phrases": list(phrases),
            "remedy": [{"en": "do", "zh": "做"}],
        },
    )


INDEX = build_index(
    [
        rule("kv", "kv cache out of memory", "显存放不下缓存"),
        rule("key", "401 invalid api key", "密钥无效"),
        rule("proxy", "local proxy failed", "本地代理失败"),
        rule("choices", "cannot read properties of undefined (reading 'choices')", "choices 为空"),
    ],
    CONCEPTS,
)


@pytest.mark.parametrize(
    ("words", "best"),
    [
        ("kv cache oom", "a/kv"),
        ("爆显存 kv", "a/kv"),
        ("报 401", "a/key"),
        ("invlaid api kye", "a/key"),
        ("local proxy faild", "a/proxy"),
        ("代理失败了怎么办", "a/proxy"),
        ("reading choices", "a/choices"),
        ("reading 'choices' 为空", "a/choices"),
        ("TypeError: Cannot read properties of undefined", "a/choices"),
    ],
)
def test_finds(words, best):
    assert search(INDEX, words)[0][0] == best


@pytest.mark.parametrize("words", ["", "   ", "!!!", "😀", "the of to", "\x00\x01"])
def test_nothing_to_find(words):
    assert search(INDEX, words) == []


def test_a_concept_is_a_whole_word():
    assert "#oom" in terms_of("OOM!", CONCEPTS) and "#oom" not in terms_of("room", CONCEPTS)
    assert "#vram" in terms_of("我的显存不够", CONCEPTS)


def test_a_word_that_rules_know_is_not_searched_by_its_pieces():
    rules = [rule("stream", "stream closed early"), rule("upstream", "upstream timed out while reading")]
    index = build_index(rules, {})
    assert [name for name, _ in search(index, "stream")] == ["a/stream"]
    assert {name for name, _ in search(index, "streem")} == {"a/stream", "a/upstream"}


def test_long_query_is_bounded():
    assert search(INDEX, "kv cache " * 100_000)[0][0] == "a/kv"


def test_the_compiled_index_answers_like_a_fresh_one():
    knowledge = load(Outside())
    again = load(Outside())
    assert knowledge.words == again.words and knowledge.rules == again.rules


def test_a_complaint_looks_among_its_causes():
    """Words that both rules share: the one that the complaint can have to do with comes first."""
    rules = [rule("port", "server port of the model in use"), rule("swap", "server memory of the model in use")]
    plain = build_index(rules, {})
    index = build_index(rules, {}, {"slow": {"words": ["slow", "慢"], "causes": ["swap"]}})
    assert search(plain, "server port model slow")[0][0] == search(index, "server port model")[0][0] == "a/port"
    assert dict(search(index, "port slow"))["a/port"] < dict(search(plain, "port slow"))["a/port"]
    assert search(index, "the server's model in use", "slow")[0][0] == "a/swap"
