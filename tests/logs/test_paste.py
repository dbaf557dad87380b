"""Looking only at the lines that matter finds what looking at every line finds."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doctor.engine.load import load
from doctor.engine.match import Matcher
from doctor.logs import paste as paste_module
from doctor.logs import tail
from doctor.logs.paste import Paste
from doctor.outside import Outside

FIXTURES = Path(__file__).parents[2] / "fixtures"
RULES = load(Outside(environ={})).rules
LOGS = sorted((FIXTURES / "logs" / "good").glob("*")) + sorted((FIXTURES / "cases").glob("*.jsonl"))
WORDS = [text for rule in RULES for symptom in rule.symptoms for text in symptom.literals]
PLAIN = Matcher(RULES, scan=False)
FAST = Matcher(RULES)
SOME_PLAIN = Matcher(RULES[::10], scan=False)
SOME_FAST = Matcher(RULES[::10])


def every_line(data, size=1 << 20):
    paste = Paste(chunks(data, size))
    return PLAIN.scan(paste), paste.log, paste.commands, paste.count, paste.head


def sifted(matcher, data, size=1 << 20):
    paste = Paste(chunks(data, size))
    return matcher.sift(paste), paste.log, paste.commands, paste.count, paste.head


def scanned(data, size=1 << 20, matcher=FAST):
    """What is found when all but a little of a text is only scanned, as most of a long one is; the head is left out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paste_module, "SCAN_FROM", 0)
        patch.setattr(paste_module, "HEAD", 0)
        patch.setattr(paste_module, "PATIENCE", 5)
        patch.setattr(tail, "HELD", 3 * size)
        return sifted(matcher, data, size)[:-1]


def chunks(data, size):
    return [data[start : start + size] for start in range(0, len(data), size)]


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_fixtures(path):
    data = path.read_bytes()
    if path.suffix == ".jsonl":
        data = data.replace(b"\\n", b"\n")
    expected = every_line(data)
    assert sifted(PLAIN, data, 10_000) == expected
    assert sifted(FAST, data) == expected
    assert scanned(data, 10_000) == expected[:-1]


@pytest.mark.parametrize("name", ["b11434_success_colors.log", "b11434_success_lv4.log"])
@pytest.mark.parametrize("form", ["utf-16", "utf-16-le", "crlf", "coloured", "redrawn", "broken"])
def test_other_forms(name, form):
    data = (FIXTURES / "logs" / "good" / name).read_bytes()
    data += b"CUDA error: out of memory\n$ llama-server \\\n -m x.gguf\nerror: invalid argument: --foo\n"
    if form.startswith("utf"):
        data = data.decode("utf-8", "replace").encode(form)
    elif form == "crlf":
        data = data.replace(b"\n", b"\r\n")
    elif form == "coloured":
        data = data.replace(b"out of", b"out \x1b[31mof\x1b[0m").replace(b"-server", b"-\x1b[1mserver")
    elif form == "redrawn":
        data = data.replace(b"CUDA error", b"10 %\r 20 %\rCUDA error").replace(b"$ llama", b" 5 %\r$ llama")
    elif form == "broken":
        data = data.replace(b" ", b" \xff", 2000)
    expected = every_line(data)
    assert sifted(PLAIN, data) == expected
    assert sifted(FAST, data, 5_000) == expected
    assert scanned(data, 5_000) == expected[:-1]
    if form != "broken":
        assert any("out of memory" in hit.line.text for hits in expected[0].values() for hit in hits.first)
        assert [command.text.split()[:2] for command in expected[2]][-1] == ["$", "llama-server"]


PIECE = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS).map(str.upper),
    st.sampled_from(
        [
            "\x1b[31m",
            "\r",
            "127.0.0.1",
            " 1234567 ",
            "ſ",
            "K",
            "İ",
            "ı",
            "٣",
            "中",
            " --port 8",
            "llama-server -m x",
            "\\",
            "$ ls",
            "# ",
            "eval time = 1.0 ms / 9 tokens (0 ms per token, 5.5 tokens per second)",
            "n_ctx = 5",
            "?" * 40,
            "好" * 40,
            '"draft_n": 30',
            "  -c 4 \\",
        ]
    ),
    st.text(alphabet="abc 019:=._-\t", max_size=6),
)
LINE = st.lists(PIECE, max_size=5).map(lambda pieces: " ".join(pieces).encode())
BYTES = st.lists(st.one_of(LINE, st.binary(max_size=20)), max_size=25).map(b"\n".join)


@settings(max_examples=150, deadline=None)
@given(BYTES, st.integers(1, 400))
def test_any_lines(data, size):
    expected = every_line(data, 1 << 20)
    if size > 4:  # the form of a text is told by its first bytes
        assert sifted(PLAIN, data, max(size, 8)) == every_line(data, max(size, 8))
    assert sifted(PLAIN, data) == expected
    FAST._texts._build()
    assert sifted(FAST, data) == expected
    paste = Paste([data])
    expected = SOME_PLAIN.scan(paste), paste.log, paste.commands, paste.count
    assert scanned(data, matcher=SOME_FAST) == expected


def lines_of_fixtures():
    found = []
    for path in LOGS + sorted((FIXTURES / "logs" / "bad").glob("*")):
        found += path.read_bytes().replace(b"\\n", b"\n").splitlines()
    return found


FORMS = {
    "as they are": lambda line, chance: line + b"\n",
    "windows": lambda line, chance: line + b"\r\n",
    "container": lambda line, chance: b"llama-1  | " + line + b"\n",
    "journal": lambda line, chance: b"Nov 30 12:00:00 host llama-server[123]: " + line + b"\n",
    "coloured": lambda line, chance: line.replace(b" ", b"\x1b[3%dm " % chance.randint(1, 7), 1) + b"\x1b[0m\n",
    "redrawn": lambda line, chance: b"".join(b"%d %%\r" % part for part in (1, 2)) + line + b"\n",
    "broken": lambda line, chance: line[: chance.randint(0, 99)] + b"\xe4\xff" + line[chance.randint(0, 99) :] + b"\n",
    "long": lambda line, chance: line + b" x" * chance.choice((1, 300, 5000)) + line + b"\n",
    "spaced": lambda line, chance: line.replace(b" ", b" \t" * chance.choice((1, 30)), 2) + b"\n",
}


@pytest.mark.parametrize("form", [*FORMS, "all"])
def test_mixed_fixtures(form):
    """Lines of every fixture in any order, in the wrappings they are pasted in."""
    chance = random.Random(form)
    lines = chance.sample(EVERY_LINE, 500) + [line.encode() for line in timing(7, 7).splitlines()] * 600
    chance.shuffle(lines)
    forms = list(FORMS.values()) if form == "all" else [FORMS[form]]
    data = b"".join(chance.choice(forms)(line, chance) for line in lines)
    expected = every_line(data)
    assert sifted(PLAIN, data, 100_000) == expected
    assert sifted(FAST, data, 100_000) == expected
    assert scanned(data, 100_000) == expected[:-1]


def test_letters_that_count_as_others():
    for line in ("CUDA error: out of memory", "CUDA error: out of memory".replace("o", "O"), "ſegmentation fault"):
        assert sifted(FAST, line.encode())[0], line


def timing(number, speed):
    return (
        f"slot print_timing: id  0 | task {number} | prompt eval time = 5.52 ms / 11 tokens ( 5.52 ms per token, 181.06 tokens per second)\n"
        f"slot print_timing: id  0 | task {number} |        eval time = 642.99 ms / 125 tokens ( 5.14 ms per token, {speed} tokens per second)\n"
    )


@pytest.mark.parametrize("count", [10, 1000, 1001, 2000, 2001, 5000])
def test_first_and_last_timings_are_kept(count):
    data = "".join(timing(number, number + 1) for number in range(count)).encode()
    log = sifted(FAST, data, 50_000)[1]
    numbers = list(range(count)) if count <= 2000 else [*range(1000), *range(count - 1000, count)]
    assert [int(item.decoded_per_second) - 1 for item in log.timings] == numbers
    assert [item.line for item in log.timings] == [2 * number + 2 for number in numbers]
    assert log == every_line(data)[1]


EVERY_LINE = lines_of_fixtures()


@pytest.mark.parametrize(
    "end", ["load_model: loading model " + "/deep folder" * 1000, "load_model: loading model '" + "中" * 4090 + "'"]
)
def test_the_last_line_is_the_same_however_long_it_is(end):
    paste, slowly = Paste([b"a\n", end.encode()]), Paste([b"a\n", end.encode()])
    hits = FAST.sift(paste)
    assert hits == PLAIN.scan(slowly)
    assert paste.last is not None and paste.last.text.startswith("load_model: loading model ")
