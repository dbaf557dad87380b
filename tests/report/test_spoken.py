"""What collectors and complaints say in English has an entry in Chinese: read out of the program's own source."""

import ast
import re
from pathlib import Path

import pytest

import doctor
from doctor.report.spoken import spoken, summary

PACKAGE = Path(doctor.__file__).parent
SPEAK = {"Unknown", "not_collected", "passed", "failed", "warned", "not_tried", "Refusal", "OutsideError", "UsageError"}
SPEAK |= {
    "ArgumentTypeError",
    "HeaderError",
    "CutOff",
    "Trouble",
    "Identity",
    "Verdict",
    "Fault",
    "OptionProblem",
    "BuildPlan",
}
"""Calls whose texts are shown to people."""
FIELDS = {"problem", "detail", "words", "message"}
"""Arguments of any call that are shown to people."""
LISTS = {"skipped", "notes", "remarks"}
"""Lists of such texts."""
LEFT_OUT = ("engine/", "_compiled_rules", "outside/world.py")
"""Faults of rules are for their authors."""


def sentence(node):
    """A text with "7" for what is filled in; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "7" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (sentence(node.left) or "7") + (sentence(node.right) or "7")
    return None


def said():
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if any(part in name for part in LEFT_OUT):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "id", getattr(node.func, "attr", ""))
            added = called == "append" and getattr(getattr(node.func, "value", None), "id", "") in LISTS
            told = list(node.args) if called in SPEAK or added else []
            told += [one.value for one in node.keywords if one.arg in FIELDS]
            told = [item for one in told for item in (one.elts if isinstance(one, (ast.Tuple, ast.List)) else (one,))]
            for argument in told:
                for one in (argument.body, argument.orelse) if isinstance(argument, ast.IfExp) else (argument,):
                    words = sentence(one)
                    if (
                        words
                        and " " in words
                        and not words.startswith("cmake ")
                        and len(re.findall(r"[A-Za-z']{2,}", words)) > 2
                    ):
                        yield pytest.param(words, id=f"{name}:{node.lineno}:{words[:40]}")


SAID = list(said())


def test_there_is_much_to_say():
    assert len(SAID) > 250


@pytest.mark.parametrize("words", SAID)
def test_every_sentence_of_a_collector_is_there_in_chinese(words):
    chinese = spoken(words, "zh")
    assert re.search("[\u4e00-\u9fff]", chinese), f"an entry for {words!r} is missing in doctor/report/chinese"
    assert spoken(words, "en") == words


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("no model file is known: name it with --model FILE", "不知道模型文件：请用 --model FILE 指定"),
        ("no result within 5 s", "5 秒内没有结果"),
        ("the check crashed: ValueError: x", "这项检查自身出错：ValueError: x"),
        ("not on the command line, and no launch command is known", "命令行里没有，而且不知道启动命令"),
        ("~/x.json: no such file", "~/x.json：没有这个文件"),
        ("HTTP 404 to /responses: Not Found; http://127.0.0.1:1/v1 works", None),
        ("something nobody has translated", "something nobody has translated"),
    ],
)
def test_reason(text, chinese):
    chinese = chinese or "/responses 返回 HTTP 404：Not Found；http://127.0.0.1:1/v1 可用"
    assert spoken(text, "zh") == chinese
    assert spoken(text, "en") == text


def test_holes_of_both_languages_are_the_same():
    from doctor.report import chinese

    for module in ("asking", "looking", "world", "complaints", "help"):
        __import__(f"{chinese.__name__}.{module}")
        for english, words in getattr(getattr(chinese, module), module.upper()).items():
            wanted = len(re.findall(r"\{[wna]?\}", english))
            assert {int(n) for n in re.findall(r"\{(\d)\}", words)} <= set(range(wanted)), english
            assert wanted == len(set(re.findall(r"\{(\d)\}", words))) or "node" in english, english


def test_summary():
    text = "Debian, 2 cores, 23.5 GiB RAM (23.0 GiB free), in docker"
    assert summary(text, "zh") == "Debian, 2 核, 内存 23.5 GiB（空闲 23.0 GiB）, 在 docker 容器中"
    assert (
        summary("toolkit 13.0 in /usr/local/cuda-13.0, libcudart", "zh")
        == "工具包 13.0（/usr/local/cuda-13.0）, libcudart"
    )
    assert summary(text, "en") == text
