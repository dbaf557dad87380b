"""The scripts that complete: asked in the shells themselves, where they are installed."""

import shutil
import subprocess

import pytest

from doctor.cli import main

BASH = """
source /dev/stdin
COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); _doctor; echo "${{COMPREPLY[@]}}"
"""


def script(capsys, shell):
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("doctor ch", {"check"}),
        ("doctor check --mod", {"--model"}),
        ("doctor check --format ''", {"text", "json", "markdown", "sarif"}),
        ("doctor plan --format ''", {"text", "json"}),
        ("doctor --lang zh ver", {"verify"}),
        ("doctor verify --client cod", {"codex"}),
        ("doctor rules ''", {"list", "show", "check"}),
        ("doctor check --model q", set()),
    ],
)
def test_bash(capsys, words, offered):
    text = script(capsys, "bash")
    done = subprocess.run(
        ["bash", "-c", BASH.format(words=words)], input=text, capture_output=True, text=True, timeout=20, check=True
    )
    assert set(done.stdout.split()) == offered and done.stderr == ""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh")
def test_zsh_takes_it(capsys, tmp_path):
    path = tmp_path / "c.zsh"
    path.write_text(script(capsys, "zsh"))
    words = f"autoload -U compinit; compinit -u -d {tmp_path}/dump; source {path}; print -r -- ${{_comps[doctor]}}"
    done = subprocess.run(["zsh", "-fc", words], capture_output=True, text=True, timeout=20, check=True)
    assert "_doctor" in done.stdout and done.stderr == ""


@pytest.mark.skipif(shutil.which("fish") is None, reason="there is no fish")
def test_fish(capsys, tmp_path):
    path = tmp_path / "c.fish"
    path.write_text(script(capsys, "fish"))
    asked = {"doctor ch": "check", "doctor check --form": "--format", "doctor verify --client cod": "codex"}
    for line, offered in asked.items():
        done = subprocess.run(
            ["fish", "-c", f"source {path}; complete -C '{line}'"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        assert done.stdout.split("\t")[0] == offered and done.stderr == ""
