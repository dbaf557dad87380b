"""Commands as they can be pasted."""

import pytest

from doctor.engine.load import load
from doctor.outside import Outside
from doctor.report.typable import typable


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("llama-server -m '~/my models/a.gguf'", "llama-server -m ~/'my models/a.gguf'"),
        (r"llama-server -m 'C:\my models\a.gguf'", r'llama-server -m "C:\my models\a.gguf"'),
        (r"llama-server -m '\\nas\share\a b.gguf'", r'llama-server -m "\\nas\share\a b.gguf"'),
        (r"llama-server -m '~\my models\a.gguf'", r'llama-server -m "$HOME\my models\a.gguf"'),
        (r"llama-server -m '.\my models\a.gguf'", r'llama-server -m ".\my models\a.gguf"'),
        (
            r"""python3 -c "t.replace('x', '\'<|im_start|>'+n)" """,
            r"""python3 -c "t.replace('x', '\'<|im_start|>'+n)" """,
        ),
        (r"grep -c '\d\d tok' x.log", r"grep -c '\d\d tok' x.log"),
    ],
)
def test_paths_in_quotes(command, expected):
    assert typable(command) == expected


def test_a_batch_file_is_read_by_cmd():
    assert typable(r"x -m ~\a.gguf", "batch") == r'x -m "%USERPROFILE%\a.gguf"'


def test_what_rules_write_is_typed_as_it_stands():
    commands = [remedy.command for rule in load(Outside()).rules for remedy in rule.remedies if remedy.command]
    assert len(commands) > 100
    assert [command for command in commands if typable(command) != command] == []
