"""TOML, YAML, .env files and shell profiles: one value changes, comments, order, line endings and BOM stay."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.fix.formats import FormatError, changed, format_of

TOML = """\
# top
model = "m" # note
model_provider = "l"

[model_providers.l]
name = 'x'   # n
base_url = "http://a/v1"
query = ["a",
  "b = 1"]

# tail
[projects."/a b"]
trust_level = "trusted"
note = \"\"\"
base_url = "no"
\"\"\"
"""
YAML = """\
# c
models:
  - name: a   # first
    provider: openai
    apiBase: "http://a/v1"
    model: 'it''s'
    prompt: |
      apiBase: no

    defaultCompletionOptions:
      contextLength: 8192  # tok

  # next
  - name: b
    model: q
other: {a: 1}
"""
ENV = """\
# c
A=1
export B="x y" # note
C='z'
A=2
"""
PROFILE = """\
# c
alias x='y'
export B="x y" # note
if true; then
  export C=z
fi
export D=1 E=2
"""


@pytest.mark.parametrize(
    ("module", "text", "path", "value", "old", "new"),
    [
        ("toml", TOML, "model", "q", '"m" # note', '"q" # note'),
        ("toml", TOML, "model_context_window", 8192, '= "l"\n', '= "l"\nmodel_context_window = 8192\n'),
        ("toml", TOML, "model_providers.l.base_url", "http://b/v1", "http://a/v1", "http://b/v1"),
        ("toml", TOML, "model_providers.l.name", "y", "'x'   # n", '"y"   # n'),
        ("toml", TOML, "model_providers.l.wire_api", "responses", 'a/v1"\n', 'a/v1"\nwire_api = "responses"\n'),
        ("toml", TOML, "new.a b.c", True, 'no"\n"""\n', 'no"\n"""\n\n[new."a b"]\nc = true\n'),
        ("yaml", YAML, "models.0.apiBase", "http://b/v1", "http://a/v1", "http://b/v1"),
        ("yaml", YAML, "models.0.model", "it's", "'it''s'", "'it''s'"),
        ("yaml", YAML, "models.0.provider", "a: b", "provider: openai", 'provider: "a: b"'),
        ("yaml", YAML, "models.1.model", "123", "model: q", 'model: "123"'),
        ("yaml", YAML, "models.1.model", "yes", "model: q", 'model: "yes"'),
        ("yaml", YAML, "models.0.defaultCompletionOptions.contextLength", 4096, "8192  #", "4096  #"),
        ("yaml", YAML, "models.0.apiKey", "k", "# tok\n", "# tok\n    apiKey: k\n"),
        ("yaml", YAML, "models.1.d.c", 5, "model: q\n", "model: q\n    d:\n      c: 5\n"),
        ("yaml", YAML, "other.b.c", 1, "{a: 1}", "{a: 1, b: {c: 1}}"),
        ("env", ENV, "A", "3", "A=2", "A=3"),
        ("env", ENV, "B", "q", '"x y" # note', '"q" # note'),
        ("env", ENV, "D", "a b", "A=2\n", "A=2\nD='a b'\n"),
        ("shell", PROFILE, "B", "u", '"x y" # note', '"u" # note'),
        ("shell", PROFILE, "C", "u", "export C=z", "export C=u"),
        ("shell", PROFILE, "N", "127.0.0.1,localhost", "E=2\n", "E=2\nexport N=127.0.0.1,localhost\n"),
    ],
)
def test_one_value_changes(module, text, path, value, old, new):
    keys = tuple(path.split("."))
    assert changed(module, text, keys, value) == text.replace(old, new)
    windows = text.replace("\n", "\r\n")
    wanted = windows.replace(old.replace("\n", "\r\n"), new.replace("\n", "\r\n"))
    assert changed(module, windows, keys, value) == wanted
    assert changed(module, "\ufeff" + text, keys, value) == "\ufeff" + text.replace(old, new)


@pytest.mark.parametrize(
    ("module", "text", "path", "old"),
    [
        ("toml", TOML, "model_provider", 'model_provider = "l"\n'),
        ("toml", TOML, "model_providers.l.name", "name = 'x'   # n\n"),
        ("yaml", YAML, "models.0.provider", "    provider: openai\n"),
        (
            "yaml",
            YAML,
            "models.0.defaultCompletionOptions",
            "    defaultCompletionOptions:\n      contextLength: 8192  # tok\n",
        ),
        ("env", ENV, "B", 'export B="x y" # note\n'),
        ("shell", PROFILE, "B", 'export B="x y" # note\n'),
    ],
)
def test_one_value_is_taken_out(module, text, path, old):
    keys = tuple(path.split("."))
    assert changed(module, text, keys, None, remove=True) == text.replace(old, "")


@pytest.mark.parametrize(
    ("module", "text", "path"),
    [
        ("toml", TOML, "model_providers.l.query"),  # a list of several lines
        ("toml", TOML, "model.x"),  # a text is no table
        ("toml", 'a = { b = "x" }\n', "a.b"),  # a table within a line
        ("toml", "not toml", "a"),
        ("yaml", YAML, "models.0.prompt"),  # a text of several lines
        ("yaml", YAML, "models.7.model"),
        ("yaml", "a: &x 1\nb: *x\n", "b"),  # a repeated value would change elsewhere too
        ("yaml", "a: [", "a"),
        ("yaml", "- a\n", "a"),
        ("shell", PROFILE, "D"),  # a line that sets two
        ("env", 'A="x" "y"\n', "A"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(module, text, path):
    with pytest.raises(FormatError):
        changed(module, text, tuple(path.split(".")), "new")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("set -gx A 1\n", "set -gx N v\n"),
        ('$env:A = "1"\n', "$env:N = 'v'\n"),
        ("", "export N=v\n"),
        ("x=1", "\nexport N=v\n"),
    ],
)
def test_a_new_line_is_in_the_language_of_the_profile(text, line):
    assert changed("shell", text, ("N",), "v") == text + line


VALUES = st.one_of(st.text(max_size=12), st.integers(0, 10**9), st.booleans())


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([("toml", TOML, "model"), ("yaml", YAML, "models.1.model"), ("yaml", YAML, "models.0.apiBase")]),
    VALUES,
)
def test_any_value_is_written_so_that_it_is_read_again(where, value):
    module, text, path = where
    try:
        after = changed(module, text, tuple(path.split(".")), value)
    except FormatError:
        assert isinstance(value, str) and not value.isprintable()
        return
    assert after.split("\n")[0] == text.split("\n")[0]


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["env", "shell"]), st.sampled_from(["A", "B", "C", "Z"]), st.text(max_size=12))
def test_any_text_for_a_variable_is_read_again_or_refused(module, name, value):
    text = ENV.replace("A=", "export A=") if module == "shell" else ENV
    try:
        after = changed(module, text, (name,), value)
    except FormatError:
        return
    assert after.count("# c") >= 1 and after.startswith("# c\n")


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("/h/.claude.json", "jsonc"),
        ("/h/opencode.jsonc", "jsonc"),
        ("C:\\U\\me\\.codex\\config.toml", "toml"),
        ("/h/.aider.conf.yml", "yaml"),
        ("/w/.env", "env"),
        ("/h/.bashrc", "shell"),
        ("/h/.config/fish/config.fish", "shell"),
        ("/h/crushrc", None),
        ("environment", None),
    ],
)
def test_the_format_goes_by_the_name(name, module):
    assert format_of(name) == module
