"""Launch files made to hang, to fill memory or to break a reader end soon, with one clear line or with what was read."""

import time

import pytest

from doctor.launch.definition import DefinitionError, NoSiblings
from doctor.launch.kinds import read_definitions
from doctor.launch.table import load_table
from doctor.outside import Outside

NAMES = [
    "run.sh",
    "run.bat",
    "run.ps1",
    "compose.yml",
    "llama-swap.yaml",
    "Dockerfile",
    "a.service",
    "models.ini",
    "Modelfile",
]
PIECES = [
    "$(",
    "${A:-",
    '"',
    "'",
    "`",
    "a=(",
    "A=$A$A\n",
    "if x\n",
    "x && ",
    "<<E\n",
    '@"\n',
    "<# ",
    "%A%",
    "set A=%A%%A%\n",
    "- ",
    "[",
    "\\\n",
]
TABLE = load_table(Outside())


@pytest.mark.parametrize("name", NAMES)
def test_the_same_piece_over_and_over(name):
    for piece in PIECES:
        started = time.process_time()
        try:
            read_definitions(name, piece * (20_000 // len(piece)), NoSiblings(), TABLE)
        except DefinitionError as error:
            assert "\n" not in str(error)
        assert time.process_time() - started < 3, piece


def bomb(levels):
    rows = ["x0: &x0 {command: llama-server}"]
    for level in range(1, levels):
        rows.append(f"x{level}: &x{level} {{<<: [{', '.join([f'*x{level - 1}'] * 9)}]}}")
    return "\n".join([*rows, "services:", "  a:", f"    <<: *x{levels - 1}"])


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("compose.yml", bomb(12), "expand without end"),
        ("compose.yml", "services:\n  a: [1, 2\n", "line 3: not valid YAML"),
        ("compose.yml", "services:\n\ta: 1\n", "line 2: not valid YAML"),
        ("compose.yml", "services: &a\n  a: *a\n", "line 2: *a refers to itself"),
        ("compose.yml", "services:\n  a: *nobody\n", "line 2: the alias *nobody has no anchor"),
        ("compose.yml", "a: " + "[" * 100, "nested more than 64 deep"),
        ("compose.yml", "services:\n  a:\n    image: llama\n    command: [-m, [a, b]]\n", "line 4: a list inside `command`"),
        ("other.yaml", "a: 1\n", "neither a compose file"),
        ("models.ini", "[a]\n  c = 1\n", "line 2: neither [section] nor key = value"),
        ("run.sh", "A=x\n" + "A=$A$A$A$A\n" * 20, "the value of A grows beyond"),
        ("run.sh", "if x; then\n" * 100, "more than 64 blocks"),
        ("run.bat", "set A=x\n" + "set A=%A%%A%%A%%A%\n" * 20, "grows beyond"),
        ("run.ps1", '$a = "xxxxxxxx"\n' + '$a = "$a$a$a$a"\n' * 20, "grows beyond"),
        ("llama-swap.yaml", "macros:\n  m0: xxxxxxxxxx\n" + "".join(f"  m{n}: {('${m' + str(n - 1) + '} ') * 9}\n" for n in range(1, 9)) + "models:\n  a: {cmd: '${m8}'}\n", "macros grow beyond"),
        ("run.sh", "llama-server \\\n  -m 'a.gguf\n  -c 1\n", "line 2: the quote ' is opened here and never closed"),
        ("run.sh", 'A="it\'s"\nllama-server -m "$A\n', 'line 2: the quote " is opened here and never closed'),
        ("run.sh", "A=$'it\\'s\nllama-server\n", "line 1: the quote $' is opened here and never closed"),
        ("run.sh", "\0ELF", "not a text"),
        ("run.sh", "#" * 300_000, "larger than 256 KiB"),
    ],
)  # fmt: skip
def test_refused_in_one_line(name, text, words):
    with pytest.raises(DefinitionError) as error:
        read_definitions(name, text, NoSiblings(), TABLE)
    assert words in str(error.value) and "\n" not in str(error.value)


class Dotenv(NoSiblings):
    def text(self, path):
        return "A=$B\nB=$A\nC=xx\n" + "C=$C$C$C$C\n" * self.times if path == ".env" else None


@pytest.mark.parametrize("times", [0, 30])
def test_a_ring_of_variables(times):
    files = Dotenv()
    files.times = times
    text = "services:\n  a:\n    image: ghcr.io/ggml-org/llama.cpp:server\n    command: -c ${A}\n"
    if times:
        with pytest.raises(DefinitionError, match=r"^\.env: line \d+: .*grows beyond"):
            read_definitions("compose.yml", text, files, TABLE)
        return
    (found,) = read_definitions("compose.yml", text, files, TABLE).definitions
    assert found.command.arguments[1].open  # what A is, nobody can tell
