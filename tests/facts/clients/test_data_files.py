"""Settings files of every format: data, lines, one line on what is wrong, and nothing that takes long."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.facts.clients.env_file import exported, parse_env, read_env
from doctor.facts.clients.json_file import key_line, parse_json, read_json, without_comments
from doctor.facts.clients.toml_file import parse_toml, read_toml, toml_line
from doctor.facts.clients.yaml_file import parse_yaml, read_yaml, yaml_line

from .homes import Home

JSONC = """{
  // "model": "commented out",
  "url": "http://127.0.0.1/*no comment*/", /* over
  two lines */
  "models": [
    {"id": "a"},
    {"id": "b",},
  ],
}
"""


def test_comments_and_trailing_commas_are_allowed_where_the_client_allows_them(tmp_path):
    world = Home(tmp_path, {"home/x.json": JSONC})
    file = read_json(world, str(tmp_path / "home/x.json"), comments=True)
    assert file.get("url") == "http://127.0.0.1/*no comment*/"
    assert file.get("models", 1, "id") == "b"
    assert (file.line("url"), file.line("models", 0, "id"), file.line("models", 1, "id")) == (3, 6, 7)
    assert file.line("model") is None
    strict = read_json(world, str(tmp_path / "home/x.json"))
    assert strict.data == {} and ":2: not valid JSON" in strict.problem


def test_a_path_that_leads_nowhere(tmp_path):
    file = read_json(Home(tmp_path, {"home/x.json": '{"a": [1]}'}), str(tmp_path / "home/x.json"))
    for path in (("a", "b"), ("a", 5), ("b", 0), ("a", -1), ("a", 0, "x")):
        assert file.get(*path) is None
    assert file.items("a") == []


@given(
    st.dictionaries(st.text(max_size=5), st.lists(st.text(max_size=5), max_size=3) | st.text(max_size=9), max_size=5)
)
def test_json_without_comments_stays_as_it_is(data):
    text = json.dumps(data, indent=1)
    assert json.loads(without_comments(text)) == data


TOML = """model = "m"  # a comment
[model_providers.local]
base_url = "http://x"
"env_key" = 'K'
http_headers = { "X-Api-Key" = "y" }
note = \"\"\"
[model_providers.other]
base_url = "no"
\"\"\"
[model_providers."a.b"]
base_url = "z"
[projects."/home/me"]
trust_level = "trusted"
"""


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("model",), 1),
        (("model_providers", "local", "base_url"), 3),
        (("model_providers", "local", "env_key"), 4),
        (("model_providers", "local", "http_headers", "X-Api-Key"), 5),
        (("model_providers", "a.b", "base_url"), 11),
        (("model_providers", "local"), 2),
        (("projects", "/home/me", "trust_level"), 13),
        (("nowhere",), None),
    ],
)
def test_lines_of_toml(keys, line):
    assert parse_toml(TOML)[1] == ""
    assert toml_line(TOML, keys) == line


YAML = """name: Local
models:
  - name: a
    apiBase: http://x   # comment
    apiKey: &key sk-local-test
  - {name: b, apiBase: http://y, apiKey: *key}
"""


def test_yaml():
    data, problem = parse_yaml(YAML)
    assert problem == "" and data["models"][1] == {"name": "b", "apiBase": "http://y", "apiKey": "sk-local-test"}
    assert yaml_line(YAML, ("models", 0, "apiBase")) == 4
    assert yaml_line(YAML, ("models", 1, "apiBase")) == 6
    assert yaml_line(YAML, ("models", 2)) is None


def test_yaml_obeys_no_tags():
    assert parse_yaml("x: !!python/object/apply:os.getcwd []")[0] == {"x": []}
    assert parse_yaml("x: !secret name")[0] == {"x": "name"}


def test_env():
    text = "# c\nexport A=1\nB = 'two words' # c\nC=\"q\" \nD=x # c\nE=a#b\nnothing\nA=2\n"
    assert parse_env(text)[0] == {"A": "2", "B": "two words", "C": "q", "D": "x", "E": "a#b"}


def test_lines_of_env(tmp_path):
    file = read_env(Home(tmp_path, {"home/.env": "A=1\nB=2\nA=3\n"}), str(tmp_path / "home/.env"))
    assert (file.line("A"), file.line("B"), file.line("C")) == (3, 2, None)


@pytest.mark.parametrize(
    ("read", "text", "problem"),
    [
        (read_toml, 'a = "sk-local-test', ":1: not valid TOML"),
        (read_toml, "a = 1\nb =\n", ":2: not valid TOML"),
        (read_toml, "a" + ".a" * 100 + " = 1", "not usable as TOML"),
        (read_yaml, "a: [\n", ":2: not valid YAML"),
        (read_yaml, "a: *sk-local-test", ":1: not valid YAML"),
        (read_yaml, "- a", ":1: the file is no YAML mapping"),
        (read_yaml, "[" * 20_000, "not usable as YAML"),
        (read_json, '{"a": "sk-local-test" x}', ":1: not valid JSON"),
    ],
)
def test_what_is_wrong_is_one_line_without_a_word_of_the_file(read, text, problem, tmp_path):
    file = read(Home(tmp_path, {"home/x": text}), str(tmp_path / "home/x"))
    assert file.found and file.data == {}
    assert file.problem.startswith(str(tmp_path / "home/x")) and problem in file.problem
    assert "sk-local" not in file.problem and "\n" not in file.problem
    assert file.line("a") is None


ALIASES = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{after}: &{after} [{', '.join(f'*{before}' for _ in range(9))}]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (lambda text: parse_json(without_comments(text)), "/*" * 300_000),
        (lambda text: parse_json(without_comments(text)), '\\"' * 300_000),
        (lambda text: parse_json(without_comments(text)), "," * 600_000),
        (parse_toml, "a." * 100_000),
        (parse_toml, '"' * 200_000),
        (parse_yaml, ALIASES),
        (parse_yaml, "- " * 30_000),
        (parse_env, 'A="' * 80_000),
    ],
)
def test_hostile_texts_are_put_away_soon(parse, text):
    started = time.process_time()
    parse(text)
    assert time.process_time() - started < 3


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from(list("ab\"'[]{}:=,-&*#\n\t .\\/$!|>%@")), max_size=60))
def test_no_text_breaks_a_parser(text):
    for parse in (parse_json, parse_toml, parse_yaml, parse_env):
        data, problem = parse(text)
        assert isinstance(data, dict) and "\n" not in problem
    parse_json(without_comments(text))
    toml_line(text, ("a", "b"))
    yaml_line(text, ("a", "b"))
    if parse_json(text)[0]:
        key_line(text, ("a", "b"))


@pytest.mark.parametrize(
    ("shell", "file", "text"),
    [
        ("/bin/bash", ".bashrc", "export ANTHROPIC_BASE_URL=http://x"),
        ("/bin/bash", ".profile", 'export ANTHROPIC_BASE_URL="http://x" # c'),
        ("/usr/bin/zsh", ".zshrc", "  export ANTHROPIC_BASE_URL='http://x'; echo"),
        ("/usr/bin/fish", ".config/fish/config.fish", "set -gx ANTHROPIC_BASE_URL http://x"),
        ("", ".config/powershell/Microsoft.PowerShell_profile.ps1", '$env:ANTHROPIC_BASE_URL = "http://x"'),
    ],
)
def test_where_a_profile_sets_a_variable(shell, file, text, tmp_path):
    world = Home(tmp_path, {f"home/{file}": f"# a profile\n{text}\n"}, {"SHELL": shell})
    found = exported(world, {"ANTHROPIC_BASE_URL"})
    assert [(item.value, item.path, item.line) for item in found] == [("http://x", str(tmp_path / "home" / file), 2)]
    assert exported(world, {"OTHER"}) == []


def test_the_profile_of_another_shell_is_not_read(tmp_path):
    world = Home(tmp_path, {"home/.zshrc": "export A=1"}, {"SHELL": "/bin/bash"})
    assert exported(world, {"A"}) == []


def test_a_value_that_the_shell_works_out_is_not_known(tmp_path):
    world = Home(tmp_path, {"home/.bashrc": "export KEY=$(cat key)"}, {"SHELL": "/bin/bash"})
    assert [item.value for item in exported(world, {"KEY"})] == [None]
