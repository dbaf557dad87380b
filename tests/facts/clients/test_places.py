"""Which value wins, which lose, and that no key is ever in a record."""

import json
import re

import pytest

from doctor.facts.clients.env_file import read_env
from doctor.facts.clients.json_file import read_json
from doctor.facts.clients.places import Places, as_number, at
from doctor.facts.clients.record import Setting
from doctor.facts.record import to_json
from doctor.secrets import Vault

from .homes import Home

KEY = "sk-local-test"


def places(tmp_path, files, environ=None, env=(), **more):
    world = Home(tmp_path, {f"home/{name}": text for name, text in files.items()}, environ)
    at_home = str(tmp_path / "home")
    found = [read_json(world, f"{at_home}/{name}") for name in files if name.endswith(".json")]
    return Places(world, Vault(), found, [read_env(world, f"{at_home}/{name}") for name in env], **more)


def test_the_first_file_wins_and_the_others_lose_with_their_lines(tmp_path):
    place = places(tmp_path, {"a.json": {"x": "1"}, "b.json": {"y": 0, "x": "2"}, "c.json": {"x": "1"}})
    winner = place.setting(place.key("x"))
    assert (winner.value, winner.source, winner.line) == ("1", str(tmp_path / "home/a.json"), 2)
    assert [(lost.value, lost.source, lost.line) for lost in place.overridden()] == [
        ("2", str(tmp_path / "home/b.json"), 3)
    ]


def test_a_blank_value_does_not_win(tmp_path):
    place = places(tmp_path, {"a.json": {"x": " "}, "b.json": {"x": "2"}})
    assert place.setting(place.key("x")).value == "2"


def test_only_single_values_count(tmp_path):
    place = places(tmp_path, {"a.json": {"x": ["1"], "y": True, "z": 5, "n": None}})
    assert [place.setting(place.key(name)) for name in "xn"] == [None, None]
    assert [place.setting(place.key(name)).value for name in "yz"] == ["true", "5"]


@pytest.mark.parametrize(("win", "value"), [(False, "shell"), (True, "file")])
def test_env_files_and_the_environment(win, value, tmp_path):
    place = places(tmp_path, {".env": "A=file\n"}, {"A": "shell"}, [".env"], env_win=win)
    assert place.setting(place.variable("A")).value == value
    assert len(place.overridden()) == 1


def test_a_block_masks_the_environment_even_when_it_is_blank(tmp_path):
    place = places(tmp_path, {"a.json": {"env": {"A": ""}}}, {"A": "shell"}, block="env")
    assert place.setting(place.variable("A")) is None
    assert [(lost.name, lost.value, lost.source) for lost in place.overridden()] == [("A", "shell", "environment")]


def test_a_variable_that_a_file_names(tmp_path):
    pattern = re.compile(r"\$(\w+)")
    place = places(tmp_path, {"a.json": {"key": "$SET", "gone": "$NOT_SET", "plain": KEY}}, {"SET": KEY})
    made = [place.credential("authorization", place.resolved(place.key(name), pattern))[0] for name in ("key", "plain")]
    assert [(key.name, key.source, place.vault.get(key.token)) for key in made] == [
        ("SET", "environment", KEY),
        ("plain", str(tmp_path / "home/a.json"), KEY),
    ]
    gone = place.credential("authorization", place.resolved(place.key("gone"), pattern))[0]
    assert (gone.name, gone.token, gone.problems, gone.line) == ("NOT_SET", "", ("unset",), 3)


def test_keys_are_tokens_also_where_they_lose(tmp_path):
    place = places(tmp_path, {"a.json": {"key": f"{KEY}-a"}, "b.json": {"key": f"{KEY}-b"}})
    made = (*place.credential("authorization", place.key("key")), *place.overridden())
    assert KEY not in json.dumps(to_json(made))
    assert set(place.vault.secrets()) == {f"{KEY}-a", f"{KEY}-b"}


def test_a_password_in_a_url_is_a_token(tmp_path):
    place = places(tmp_path, {"a.json": {"url": f"http://me:{KEY}@127.0.0.1:8080"}})
    assert place.setting(place.key("url")).value == "http://<key-1>@127.0.0.1:8080"
    assert place.vault.secrets() == (f"me:{KEY}",)


def test_the_profile_that_fills_a_variable_and_the_one_nobody_has_read(tmp_path):
    profile = "export A=old\nexport A=now\nexport B=later\n"
    place = places(tmp_path, {".bashrc": profile}, {"A": "now", "B": "before", "SHELL": "/bin/bash"})
    assert [place.setting(place.variable(name)).value for name in "AB"] == ["now", "before"]
    bashrc = str(tmp_path / "home/.bashrc")
    assert place.profile_of("A", "environment") == f"{bashrc}:2"
    assert place.profile_of("B", "environment") is None
    assert place.profile_of("A", "a file") is None
    assert [(lost.name, lost.value, lost.source, lost.line) for lost in place.overridden()] == [
        ("A", "old", bashrc, 1),
        ("B", "later", bashrc, 3),
    ]


def test_shown_says_where_the_shell_has_it_from():
    setting = Setting("A", "x", "environment", None, "~/.bashrc:2")
    assert setting.shown() == "A = x (set in ~/.bashrc:2)"


@pytest.mark.parametrize(
    ("text", "number"),
    [("32768", 32768), ("32_768", 32768), (" 5 ", 5), ("0", None), ("-1", None), ("32k", None), ("9" * 13, None)],
)
def test_numbers(text, number):
    assert as_number(Setting("x", text, "y", None)) == number
    assert as_number(None) is None


def test_a_value_of_one_file(tmp_path):
    file = read_json(Home(tmp_path, {"home/a.json": {"a": {"b": "c"}}}), str(tmp_path / "home/a.json"))
    assert [(found.name, found.value, found.line) for found in at(file, "a", "b")] == [("a.b", "c", 3)]
    assert at(file, "a") == []
