"""A diff shows the change and little around it, and never a key."""

import json

import pytest

from doctor.fix.diff import LONGEST, diff
from doctor.fix.formats import changed
from doctor.fix.plan import Plan
from doctor.redact import Redactor
from doctor.secrets import Vault

KEY = "q8Zr3vLm0Xy7TkPw"


def shown(before, after, *known):
    vault = Vault()
    for key in known:
        vault.put(key)
    plan = Plan("f", "f", None if before is None else before.encode(), after.encode(), ())
    return diff(plan, Redactor(home="/home/me", vault=vault))


def test_a_change_with_three_lines_around_it():
    before = "".join(f"line {n}\n" for n in range(1, 21))
    assert shown(before, before.replace("line 9\n", "line nine\n")) == (
        "@@ -6,7 +6,7 @@",
        " line 6",
        " line 7",
        " line 8",
        "-line 9",
        "+line nine",
        " line 10",
        " line 11",
        " line 12",
    )


def test_a_new_file():
    assert shown(None, "a\nb\n") == ("@@ -1,0 +1,2 @@", "+a", "+b")


@pytest.mark.parametrize(
    "line",
    [
        '"apiKey": "{}",', 'api_key = "{}"', "OPENAI_API_KEY={}", '"Authorization": "Bearer {}",', "apiKey: {}",
        "export ANTHROPIC_AUTH_TOKEN='{}'", '"url": "http://me:{}@host/v1",', "experimental_bearer_token = '{}'",
        '"headers": {{"x-api-key": "{}"}},', "# old key: {}", '"args": ["--api-key", "{}"],', "sk-{}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["around", "removed", "added", "changed"])
def test_keys_near_a_change_are_hidden(line, where):
    secret, base = line.format(KEY), "one\ntwo\n{}\nthree\n"
    before = base.format("x" if where == "added" else secret)
    after = base.format({"around": secret, "removed": "x", "added": secret, "changed": line.format(KEY[::-1])}[where])
    after = after.replace("two", "2")
    lines = "\n".join(shown(before, after))
    assert KEY not in lines and KEY[::-1] not in lines and "+2" in lines


def test_a_key_that_is_known_is_hidden_without_any_name():
    assert KEY not in "\n".join(shown(f"a\n{KEY}\n", f"b\n{KEY}\n", KEY))


def test_a_name_far_above_its_key_still_hides_it():
    before = '{\n  "apiKey":\n' + "\n" * 40 + f'    "{KEY}",\n  "a": 1\n}}\n'
    assert KEY not in "\n".join(shown(before, before.replace('"a": 1', '"a": 2'), KEY))


def test_a_file_of_one_endless_line_shows_little():
    data = {"history": ["x" * 50] * 2000, "key": KEY, "url": "http://127.0.0.1:1", "more": ["y" * 50] * 2000}
    before = json.dumps(data)
    after = changed("jsonc", before, ("url",), "http://127.0.0.1:2")
    lines = shown(before, after, KEY)
    assert KEY not in "\n".join(lines) and len(lines) == 3
    assert all(len(line) < 4 * LONGEST for line in lines) and "127.0.0.1:2" in lines[2]


def test_a_huge_file_is_shown_in_time():
    import time

    before = json.dumps({"history": ["x" * 50] * 60_000, "a": 1, "z": ["x" * 50] * 1000}, indent=1)
    started = time.process_time()
    lines = shown(before, changed("jsonc", before, ("a",), 2))
    assert "+" + ' "a": 2,' in lines and time.process_time() - started < 20


def test_homes_and_control_characters_are_not_shown():
    text = "\n".join(shown("path = /home/me/x\na\n", "path = /home/me/x\nb\x1b[31m\u202e\n"))
    assert "/home/me" not in text and "\x1b" not in text and "\u202e" not in text
