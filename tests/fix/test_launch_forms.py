"""Each kind of launch file with each kind of fault: put right, read anew, nothing left, and nothing else changed."""

import pytest
import yaml

from tests.fix.launching import AGENT, changed_lines, put_right, wrong
from tests.fix.wrapped import FORMS, presets

FAULTS = {
    "size": (["-m", "m.gguf", "-c", "64K", "--metrics"], "-m m.gguf -c 65536 --metrics"),
    "renamed": (["-m", "m.gguf", "--draft-max", "8", "--metrics"], "-m m.gguf --spec-draft-n-max 8 --metrics"),
    "two words": (["-m", "m.gguf", "--no-mmap", "--metrics"], "-m m.gguf --load-mode none --metrics"),
    "unknown": (["-m", "m.gguf", "--no-such", "3", "-c", "4096"], "-m m.gguf -c 4096"),
    "unknown, the last": (["-m", "m.gguf", "-c", "4096", "--no-such", "3"], "-m m.gguf -c 4096"),
    "misspelt": (["-m", "m.gguf", "--ctx-szie", "4096"], "-m m.gguf --ctx-size 4096"),
    "not on the list": (["-m", "m.gguf", "--cache-type-k", "q8", "-c", "1"], "-m m.gguf --cache-type-k q8_0 -c 1"),
    "twice": (["-m", "m.gguf", "-c", "4096", "--metrics", "-c", "8192"], "-m m.gguf --metrics -c 8192"),
    "slots": (["-m", "m.gguf", "-c", "8192", "-np", "4"], "-m m.gguf -c 8192 -np 1"),
    "cache": (["-m", "m.gguf", "-ctv", "q8_0", "-fa", "off"], "-m m.gguf -ctv q8_0 -fa on"),
    "several": (
        ["-m", "m.gguf", "-c", "64K", "--no-mmap", "-np", "4", "-ctv", "q8", "-fa", "off", "--draft-max", "8"],
        "-m m.gguf -c 65536 --load-mode none -np 1 -ctv q8_0 -fa on --spec-draft-n-max 8",
    ),
}  # fmt: skip
CASES = [(form, fault) for form in FORMS for fault in FAULTS if form is not presets or fault != "twice"]
"""A key stands once in an INI file: of two the later one is the only one there is."""


@pytest.mark.parametrize(("form", "fault"), CASES)
def test_put_right(tmp_path, form, fault):
    words, wanted = FAULTS[fault]
    name, text = form(["llama-server", *words])
    fixed = put_right(tmp_path, name, text)
    assert fixed.arguments == [wanted] and fixed.reasons() == []
    assert wrong(fixed.launches[0]) == []
    after = fixed.texts[name]
    old, _ = changed_lines(text, after)
    for line in [line for line in text.splitlines() if "mine" in line or "# " in line or not line.strip()]:
        assert line in after.splitlines()  # remarks and empty lines stay
    assert all(any(word.lstrip("-") in line for word in words) for line in old)
    assert after.count("\r\n") == after.count("\n") * ("\r\n" in text) and after.endswith("\n")
    if name.endswith(".yml"):
        command = yaml.safe_load(after)["services"]["llama"]["command"]
        assert isinstance(command, str) or all(isinstance(item, str) for item in command)
    again = put_right(tmp_path, name, after)
    assert again.texts == {}  # nothing left to do


@pytest.mark.parametrize("form", FORMS)
def test_an_option_that_is_missing(tmp_path, form):
    """Before b7170 tools want --jinja."""
    name, text = form(["llama-server", "-m", "m.gguf", "-c", "65536"])
    fixed = put_right(tmp_path, name, text, build=7000, facts={"clients": (AGENT,)})
    assert fixed.arguments == ["-m m.gguf -c 65536 --jinja"]
    assert fixed.improved.rules == ("output/tools-need-jinja",)


@pytest.mark.parametrize("form", [form for form in FORMS if form is not presets])
def test_an_option_and_its_value_in_one_word(tmp_path, form):
    name, text = form(["llama-server", "-m", "m.gguf", "--ctx-size=4096", "--metrics"])
    assert put_right(tmp_path, name, text).arguments == ["-m m.gguf --ctx-size 4096 --metrics"]


@pytest.mark.parametrize("form", [form for form in FORMS if form is not presets])
def test_a_switch_that_wants_a_value_now(tmp_path, form):
    name, text = form(["llama-server", "-m", "m.gguf", "-fa", "--metrics"])
    assert put_right(tmp_path, name, text).arguments == ["-m m.gguf -fa on --metrics"]


@pytest.mark.parametrize("form", FORMS)
def test_a_key_stays_where_it_is_and_is_nowhere_else(tmp_path, form):
    key = "sk-local-test-0123456789abcdef"
    name, text = form(["llama-server", "-m", "m.gguf", "--api-key", key, "-c", "64K"])
    fixed = put_right(tmp_path, name, text)
    assert fixed.texts[name].count(key) == 1 and "-c 65536" in fixed.arguments[0]
    assert key not in repr(fixed.improved) and key not in repr(fixed.arguments)


@pytest.mark.parametrize("form", FORMS)
def test_marks_breaks_and_the_last_line_stay(tmp_path, form):
    name, text = form(["llama-server", "-m", "m.gguf", "-c", "64K", "--no-mmap"])
    data = b"\xef\xbb\xbf" + text.replace("\r\n", "\n").rstrip("\n").replace("\n", "\r\n").encode()
    fixed = put_right(tmp_path, name, data)
    after = fixed.data[name]
    assert fixed.arguments == ["-m m.gguf -c 65536 --load-mode none"]
    assert (
        after.startswith(b"\xef\xbb\xbf") and after.count(b"\n") == after.count(b"\r\n") and not after.endswith(b"\n")
    )
