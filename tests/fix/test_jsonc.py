"""JSON with comments: the value is what it should be, and every byte that is not part of the change stays."""

import json
import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.facts.clients.json_file import without_comments
from doctor.fix.formats import FormatError, changed, lookup

KEYS = st.text(string.ascii_letters + '/~ ."\\é', min_size=1, max_size=5)
SCALARS = st.one_of(st.text(max_size=8), st.integers(-99, 99), st.booleans(), st.none())
BLANKS = st.sampled_from(["", " ", "\n", "\n  ", "\t", " // note\n", "/* a\nb */", ' // "x": {\n    ', "\r\n  "])


@st.composite
def documents(draw):
    """(JSONC text, its data): comments and blanks anywhere, trailing commas now and then."""

    def value(depth):
        kind = draw(st.integers(0, 5 if depth < 3 else 3))
        if kind < 4:
            item = draw(SCALARS)
            return json.dumps(item, ensure_ascii=draw(st.booleans())), item
        return block(depth, as_list=kind == 5)

    def block(depth, as_list):
        parts, data = [], [] if as_list else {}
        keys = [None] * draw(st.integers(0, 3)) if as_list else draw(st.lists(KEYS, max_size=4, unique=True))
        for key in keys:
            text, item = value(depth + 1)
            head = "" if as_list else json.dumps(key) + draw(BLANKS) + ":" + draw(BLANKS)
            parts.append(draw(BLANKS) + head + text + draw(BLANKS))
            data.append(item) if as_list else data.update({key: item})
        last = "," if parts and draw(st.booleans()) else ""
        opening, closing = "[]" if as_list else "{}"
        return opening + ",".join(parts) + last + draw(BLANKS) + closing, data

    text, data = block(0, as_list=False)
    return draw(BLANKS) + text + draw(BLANKS), data


def paths(data, above=()):
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, item in pairs:
        yield (*above, str(key))
        yield from paths(item, (*above, str(key)))


def parsed(text):
    return json.loads(without_comments(text))


@settings(max_examples=300, deadline=None)
@given(documents(), st.data())
def test_a_value_is_set_and_nothing_else_is_touched(document, data):
    text, before = document
    there = list(paths(before))
    path = data.draw(st.sampled_from(there)) if there else ("new",)
    after = changed("jsonc", text, path, "NEW")
    assert lookup(parsed(after), path) == "NEW"
    if there:
        assert any(replaces(text, before, path, after, found.start()) for found in re.finditer('"NEW"', after))


def replaces(text, before, path, after, at):
    """Whether `after` is `text` with the one value in front of and behind which all bytes are the same."""
    head, tail = after[:at], after[at + len('"NEW"') :]
    if not (text.startswith(head) and text.endswith(tail) and len(head) + len(tail) < len(text)):
        return False
    old = text[len(head) : len(text) - len(tail)]
    try:
        return json.loads(without_comments(f"[{old}]")) == [lookup(before, path)] and old == old.strip()
    except ValueError:
        return False


def comments(text):
    plain = without_comments(text)
    return [char for char, kept in zip(text, plain, strict=True) if char != kept and char not in ",\r"]


@settings(max_examples=300, deadline=None)
@given(documents(), KEYS, st.sampled_from([(), ("deep",), ("deep", "er")]))
def test_a_new_key_takes_nothing_away(document, key, more):
    text, before = document
    if key in before:
        return
    after = changed("jsonc", text, (key, *more), 5)
    assert lookup(parsed(after), (key, *more)) == 5
    rest = iter(after)
    assert all(char in rest for char in text), "something of the old text is gone"
    assert comments(after) == comments(text)


@settings(max_examples=300, deadline=None)
@given(documents(), st.data())
def test_a_key_is_taken_out_and_its_neighbours_stay(document, data):
    text, before = document
    there = list(paths(before))
    if not there:
        return
    path = data.draw(st.sampled_from(there))
    after = changed("jsonc", text, path, None, remove=True)
    assert len(after) < len(text)
    left = json.loads(json.dumps(before))
    place = lookup(left, path[:-1])
    place.pop(int(path[-1]) if isinstance(place, list) else path[-1])
    assert parsed(after) == left


MANY = (
    '{\n  // top\n  "env": {\n    "A": "1", // one\n    "B": "2" // two\n  },\n  "x": {},\n  "l": ["a", {"q": 1}]\n}\n'
)


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (("env", "B"), "9", '"B": "2" // two', '"B": "9" // two'),
        (("env", "C"), "9", '"B": "2" // two\n', '"B": "2", // two\n    "C": "9"\n'),
        (("x", "y", "z"), 5, '"x": {}', '"x": {\n    "y": {\n      "z": 5\n    }\n  }'),
        (("l", "1", "r"), True, '{"q": 1}', '{"q": 1, "r": true}'),
        (("new",), "n", '{"q": 1}]\n', '{"q": 1}],\n  "new": "n"\n'),
    ],
)
def test_it_looks_as_a_person_would_write_it(path, value, old, new):
    assert changed("jsonc", MANY, path, value) == MANY.replace(old, new)
    windows = MANY.replace("\n", "\r\n")
    assert changed("jsonc", windows, path, value) == windows.replace(
        old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    )
    assert changed("jsonc", "\ufeff" + MANY, path, value) == "\ufeff" + MANY.replace(old, new)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (("env", "A"), '    "A": "1", // one\n', ""),
        (("env", "B"), '"1", // one\n    "B": "2" // two\n', '"1" // one\n'),
        (("l", "0"), '["a", {', "[{"),
        (("l",), '{},\n  "l": ["a", {"q": 1}]\n', "{}\n"),
    ],
)
def test_what_is_taken_out_leaves_no_gap(path, old, new):
    assert changed("jsonc", MANY, path, None, remove=True) == MANY.replace(old, new)


def test_of_two_keys_the_one_that_counts_is_changed_and_both_are_removed():
    assert changed("jsonc", '{"a": 1, "a": 2}', ("a",), 3) == '{"a": 1, "a": 3}'
    assert parsed(changed("jsonc", '{"a": 1, "b": 0, "a": 2}', ("a",), None, remove=True)) == {"b": 0}


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1', "{'a': 1}", '{"a": }', "nonsense", '{"a": 1}}', "[" * 5000])
def test_what_is_no_json_object_is_refused(text):
    with pytest.raises(FormatError):
        changed("jsonc", text, ("a",), 1)


def test_a_way_through_a_text_is_refused():
    with pytest.raises(FormatError):
        changed("jsonc", '{"env": "x"}', ("env", "A"), 1)


def test_a_megabyte_takes_seconds_at_most():
    import time

    text = json.dumps({"history": [{"n": n, "t": "x" * 80} for n in range(10_000)], "a": 1}, indent=2)
    started = time.process_time()
    assert parsed(changed("jsonc", text, ("a",), 2))["a"] == 2
    assert time.process_time() - started < 15
