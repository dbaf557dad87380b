"""`check --fix` and `--for-build`: the command as a build wants it."""

import json

import pytest

from doctor.cli import main
from doctor.launch.command import parse_command
from doctor.launch.fields import Origin, launch_record
from doctor.launch.table import load_table
from doctor.outside import Outside
from doctor.secrets import Vault

TABLE = load_table(Outside())


def fixed(text, build):
    return launch_record(parse_command(text), TABLE, Vault(), build, Origin("option", "/home/me"))


@pytest.mark.parametrize(
    ("build", "text", "expected"),
    [
        (11434, "sudo llama-server -m 'a b.gguf' -c 64K --no-mmap -fa --jinja", "sudo llama-server -m 'a b.gguf' -c 65536 --load-mode none -fa on --jinja"),
        (11434, "llama-server --draft-max 8 --foo 3 --spec-type mtp -ctk=q8_0", "llama-server --spec-draft-n-max 8 --spec-type draft-mtp -ctk q8_0"),
        (6000, "llama-server -fa on -ngl auto --load-mode none --jinja", "llama-server -fa -ngl 999 --no-mmap --jinja"),
        (11434, "llama-server a.gguf --defrag-thold 0.1 -c 1", "llama-server -m a.gguf -c 1"),
        (11434, "llama-server -m a -c $CTX --no-mmap", "llama-server -m a -c $CTX --load-mode none"),
        (11434, "A=1 llama-server -m a --api-key=sk-local-test", "A=1 llama-server -m a --api-key <key-1>"),
        (11434, "llama-server -m a -c 4096", None),
    ],
)  # fmt: skip
def test_fixed_command(build, text, expected):
    assert fixed(text, build).fixed_command == expected
    if expected:
        assert [problem for problem in fixed(expected, build).problems if problem.fatal] == []


def answer(capsys, *words):
    main(
        ["check", "--only", "launch,build", "--fix", "--format", "json", *words],
        Outside({"PATH": "", "HOME": "/nowhere"}),
    )
    return json.loads(capsys.readouterr().out)["corrections"]


def test_for_another_build(capsys, tmp_path):
    script = tmp_path / "run.sh"
    script.write_text("export LLAMA_ARG_NO_MMAP=1\nllama-server -m a.gguf \\\n  --no-mmap -ctk q3\n")
    new, together = answer(capsys, "--launch", str(script), "--for-build", "b11434")
    assert (new["together"], together["together"]) == (False, True)
    assert together["command"] == "llama-server -m a.gguf --load-mode none -ctk q8_0 --cache-type-v q8_0"
    assert new["build"] == 11434 and new["command"] == "llama-server -m a.gguf --load-mode none -ctk q3"
    assert [
        (change["place"].rpartition(":")[2], change["words"], change["replacement"]) for change in new["changes"]
    ] == [
        ("3", "--no-mmap", "--load-mode none"),
        ("3", "-ctk q3", None),
        ("1", "LLAMA_ARG_NO_MMAP", "LLAMA_ARG_LOAD_MODE=none"),
    ]
    (old,) = answer(capsys, "--launch", str(script), "--for-build", "6000")
    assert [change["words"] for change in old["changes"]] == ["-ctk q3"] and old["command"] is None


def test_text_in_both_languages(capsys):
    for lang, words in (("en", "The launch command for b11434"), ("zh", "启动命令（b11434）")):
        main(
            [
                "check",
                "--only",
                "launch,build",
                "--fix",
                "--for-build",
                "11434",
                "--lang",
                lang,
                "--launch",
                "llama-server -m a --no-mmap",
            ],
            Outside({"PATH": "", "HOME": "/nowhere"}),
        )
        shown = capsys.readouterr().out
        assert words in shown and "    llama-server -m a --load-mode none" in shown


@pytest.mark.parametrize("wrong", ["x", "b", "0x10", "12345678"])
def test_a_wrong_build_number(wrong):
    with pytest.raises(SystemExit) as end:
        main(["check", "--for-build", wrong])
    assert end.value.code == 2
