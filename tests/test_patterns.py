"""No regular expression of the package takes quadratic time on a text made to provoke it: `re` holds Python's lock, so
that no time limit would end it."""

import importlib
import pkgutil
import re
import time
from pathlib import Path

import pytest

import doctor

SIZE = 1000
PIECES = [
    " ", "\t", "\n", "a", "0", "-", "_", ".", "/", "\\", '"', "'", "=", ":", ",", "[", "{", "(", "$", "${", "%", "<", "&", "#",
    "*", "@", "密", "!", "{{", "a.", "a-", "a ", "a=", "a:", "a,", "a/", "a\n", "0.", "--a ", '\\"', "\\\\", "`", "|", "/*", "//",
    "[[", "''", '"a"', 'a"', "export ", "A=x ", "- ", ": ", " #", "data:", "error ", "f" * 64, "K", "[1] ", "0:", "a@",
]  # fmt: skip
FRONTS = ["", "a=", '"']
# The text of these is short, or known to be well-formed; the quickest way to say so is here.
BOUNDED = {
    "doctor.engine.templates._SENTENCE": "a text of a rule",
    "doctor.facts.budget.fit_params_output._COMPLAINTS": "lines of at most 1000 characters, matched from their start",
    "doctor.facts.clients.json_file._TOKEN": "JSON that was parsed before: every string ends",
    "doctor.facts.clients.toml_file._NAME": "a key that matched before: every string ends",
    "doctor.fix.formats.jsonc._TOKEN": "JSON that was parsed before: every string ends",
}
SOURCES = {
    path: path.read_text(encoding="utf-8")
    for path in Path(doctor.__path__[0]).rglob("*.py")
    if "_compiled" not in path.name
}
USED = re.compile(r"\b(\w+)\.(match|fullmatch|search|sub|subn|finditer|findall|split)\b")


def patterns(value, depth=0):
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, (list, tuple, set, frozenset)) and depth < 4:
        for item in value:
            yield from patterns(item, depth + 1)
    elif isinstance(value, dict) and depth < 4:
        yield from patterns(list(value.values()), depth)


def used(module, name):
    """How the modules use a pattern: anchored at the start, or looked for anywhere."""
    own = importlib.import_module(module).__file__
    texts = [text for path, text in SOURCES.items() if not name.startswith("_") or str(path) == own]
    ways = {way for text in texts for at, way in USED.findall(text) if at == name}
    if ways == {"fullmatch"}:
        return "fullmatch"
    return "match" if ways and ways <= {"match", "fullmatch"} else "search"


def all_patterns():
    for module in pkgutil.walk_packages(doctor.__path__, "doctor."):
        if module.name.endswith(("__main__", "_compiled_rules", "hatch_build")):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            for number, pattern in enumerate(patterns(value)):
                yield f"{module.name}.{name}", number, pattern, used(module.name, name)


SEEN = {(pattern.pattern, pattern.flags, how): (name, pattern, how) for name, _, pattern, how in all_patterns()}


def seconds(pattern, how, text):
    started = time.process_time()
    if how == "search":
        for _ in pattern.finditer(text):
            pass
    else:
        getattr(pattern, how)(text)
    return time.process_time() - started


def is_slow(pattern, how, front, piece):
    def text(size):
        return front + piece * (size // len(piece)) + "\0"

    if seconds(pattern, how, text(SIZE)) < 0.001:
        return False
    small, large = (min(seconds(pattern, how, text(size)) for _ in range(3)) for size in (SIZE, 8 * SIZE))
    return small > 0.0007 and large > 24 * small


@pytest.mark.parametrize("part", range(2))
def test_no_pattern_takes_quadratic_time(part):
    slow = [
        (name, front, piece)
        for name, pattern, how in list(SEEN.values())[part::2]
        if name not in BOUNDED
        for front in FRONTS
        for piece in PIECES
        if is_slow(pattern, how, front, piece)
    ]
    assert slow == []


def test_the_patterns_are_seen():
    names = {name for name, _, _ in SEEN.values()}
    assert len(names) > 200 and set(BOUNDED) <= names
