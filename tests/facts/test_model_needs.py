"""Every architecture against older builds, and what real headers need."""

from dataclasses import replace

import pytest

from doctor.engine.diagnose import diagnose
from doctor.engine.load import load, read_table, rules_folder
from doctor.facts.build.record import from_number
from doctor.facts.facts import nothing_known
from doctor.facts.gguf.model_needs import needs_of
from doctor.facts.gguf.record import Gguf, TypeShare, collect
from doctor.facts.record import Unknown, not_collected
from doctor.outside import Outside
from tests.gguf.headers import model_file

OUTSIDE = Outside()
TABLE = read_table(OUTSIDE, rules_folder(OUTSIDE), "model_builds.json")
"""name -> [first build, last build]"""


def model(**facts):
    return replace(not_collected(Gguf, "not looked at"), path="m.gguf", kind="model", **facts)


@pytest.mark.parametrize("name", sorted(TABLE["architectures"]))
def test_every_architecture(name):
    first, last = TABLE["architectures"][name]
    found = needs_of(OUTSIDE, model(architecture=name))
    assert (found["needs_build"], found["last_build"]) == (first, last)
    assert found["needs_because"] == f"the architecture {name}"


def test_there_are_all_of_them():
    assert len(TABLE["architectures"]) == 158 and len(TABLE["pre_tokenizers"]) == 92


def test_the_newest_part_of_the_file_decides():
    facts = needs_of(OUTSIDE, model(architecture="llama", tokenizer_pre="gpt-2", types=(TypeShare("MXFP4", 1, 1),)))
    first = TABLE["tensor_types"]["mxfp4"][0]
    assert (facts["needs_build"], facts["needs_because"]) == (first, "the tensor type MXFP4")
    assert first > TABLE["architectures"]["llama"][0]


def test_what_is_not_known_is_unknown():
    assert isinstance(needs_of(OUTSIDE, model(architecture="gemma99"))["needs_build"], Unknown)
    assert isinstance(needs_of(OUTSIDE, model(architecture=None))["needs_build"], Unknown)


@pytest.mark.parametrize(("older", "rule"), [(1, True), (0, False)])
@pytest.mark.parametrize("name", ["qwen3", "gemma3", "gpt-oss", "qwen35", "deepseek2", "mamba2"])
def test_the_rule_says_so(name, older, rule):
    first = TABLE["architectures"][name][0]
    gguf = replace(model(architecture=name), **needs_of(OUTSIDE, model(architecture=name)))
    facts = replace(nothing_known("test"), gguf=gguf, build=from_number(OUTSIDE, first - older, source="option"))
    found = {item.rule: item.title for item in diagnose(load(OUTSIDE).rules, facts).findings}
    assert ("model/needs-newer-build" in found) == rule
    if rule:
        assert (
            found["model/needs-newer-build"]
            == f"This file needs a newer llama.cpp: b{first} or newer, yours is b{first - 1}"
        )


@pytest.mark.parametrize(
    ("name", "because"),
    [
        ("qwen3.6-27b-mtp-q4_k_m", "the architecture qwen35"),
        ("gpt-oss-20b-mxfp4", "the architecture gpt-oss"),
        ("llama-3.1-8b-q4_k_m", "the architecture llama"),
    ],
)
def test_real_headers(tmp_path, name, because):
    found = collect(OUTSIDE, str(model_file(tmp_path, name)))
    assert found.needs_because == because and found.last_build is None
    assert found.needs_build >= TABLE["architectures"][found.architecture][0]
