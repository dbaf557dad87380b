"""One bad rule file takes none of the others away; a compiled form that is not whole is made again."""

import os
import shutil
import sys
from types import SimpleNamespace

import pytest

from doctor.engine import load as loading
from doctor.engine.load import load, read_rules
from doctor.engine.reader import RuleError
from doctor.outside import Outside

GOOD = """
cause = "gpu-oom-kv-cache"
severity = "error"
title.en = "t"
title.zh = "t"
why.en = "w"
why.zh = "w"
phrases = ["some words"]
[[symptom]]
pattern = "failed to allocate"
[[remedy]]
en = "do"
zh = "do"
"""
BAD = {
    "not-toml": "x = [",
    "deep": "a=" + "[" * 100_000,
    "bytes": "\udcff\udcfe",
    "no-cause": 'severity = "error"',
    "condition": GOOD + '[[when]]\nexpr = "1 +"\n',
    "if": GOOD.replace("pattern", 'if = "foo("\npattern'),
    "title": GOOD.replace('title.en = "t"', 'title.en = "{foo(}"'),
    "command": GOOD + 'command = "{1 +}"\n',
    "builds": GOOD.replace("pattern", 'builds = "bx..y"\npattern'),
    "regex": GOOD.replace("failed to allocate", "(failed"),
    "long": GOOD.replace('why.en = "w"', f'why.en = "{"." * 60_000}"'),
    "long-remedy": GOOD.replace('en = "do"', f'en = "{"." * 60_000}"'),
    "dotted": ".".join("a" * 50_000) + " = 1",
    "large": GOOD + "#" * (1 << 20),
}


def folder_with(tmp_path, **files):
    folder = tmp_path / "rules"
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "good.toml").write_text(GOOD)
    for name, text in files.items():
        (folder / "memory" / f"{name}.toml").write_text(text, errors="surrogateescape")
    return folder


@pytest.mark.parametrize("name", BAD)
def test_a_bad_rule_is_left_out_with_one_line(tmp_path, name):
    folder = folder_with(tmp_path, **{name: BAD[name]})
    left_out = []
    assert [rule.id for rule in read_rules(Outside(), str(folder), left_out)] == ["memory/good"]
    assert len(left_out) == 1 and name in left_out[0]
    with pytest.raises(RuleError):
        read_rules(Outside(), str(folder))


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
def test_what_is_no_file_is_left_out(tmp_path):
    folder = folder_with(tmp_path)
    (folder / "memory" / "link.toml").symlink_to("nowhere")
    (folder / "memory" / "folder.toml").mkdir()
    os.mkfifo(folder / "memory" / "pipe.toml")
    (folder / "nowhere").symlink_to("nowhere else")
    (folder / "README").write_text("")
    left_out = []
    assert [rule.id for rule in read_rules(Outside(), str(folder), left_out)] == ["memory/good"]
    assert len(left_out) == 3
    assert loading._stamp(Outside(), str(folder))


@pytest.mark.parametrize(
    "parts", [{}, {"FORMAT": 0}, {"FORMAT": loading.FORMAT}, {"FORMAT": loading.FORMAT, "STAMP": "wheel"}]
)
def test_a_compiled_form_that_is_not_whole_is_made_again(tmp_path, monkeypatch, parts):
    folder = folder_with(tmp_path)
    shutil.copytree(os.path.join(loading.rules_folder(Outside()), "tables"), folder / "tables")
    monkeypatch.setattr(loading, "rules_folder", lambda outside: str(folder))
    monkeypatch.setitem(sys.modules, f"doctor.{loading._MODULE}", SimpleNamespace(**parts))
    assert [rule.id for rule in load(Outside()).rules] == ["memory/good"]
