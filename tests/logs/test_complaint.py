"""Which lines are a person's words about speed: none of a program's, and none where they say nothing to go by."""

import pytest

from doctor.logs.complaint import MOST_LINES, complaint_lines


@pytest.mark.parametrize(
    "line",
    [
        "It got much slower after the update, the CPU is busy all the time",
        "prompt processing takes 40 seconds before anything appears on my screen",
        "I only get around 11 tok/s on four cards with low GPU usage",
        "the second message waits 30 to 60 seconds while the card is busy",
        "performance drops from 600 ms/token down to 3 minutes/token here",
        "四张显卡一起跑，速度远低于预期，利用率只有 2%",
    ],
)
def test_words_of_a_person_about_speed(line):
    assert complaint_lines(f"load_tensors: offloaded 33/33 layers to GPU\n{line}") == ((2, line),)


@pytest.mark.parametrize(
    "text",
    [
        "Why so slow? 3 tok/s only",
        "decoded  673 tokens in   12.132 seconds, speed:   55.473 t/s and all of it was as good as before",
        "slot print_timing: id  0 | task 0 |        eval time =    9000.00 ms /   100 tokens (   90.00 ms per token)",
        'time=2026-01-01T00:00:00Z level=INFO msg="slow start of the runner, this can take a while on this machine"',
        "$ llama-server -m slow-model.gguf --alias slow -c 8192 -ngl 99 --host 127.0.0.1 --port 8080",
        "I put the model on another disk and everything works as well as it did before, thank you",
        "",
    ],
)
def test_no_complaint(text):
    assert complaint_lines(text) == ()


def test_what_else_was_said_comes_with_it():
    text = "My computer has two processors and much memory\n$ llama-cli -m a.gguf\nand generation is very slow there"
    assert [number for number, _ in complaint_lines(text)] == [1, 3]
    many = "\n".join(f"line {number} says that it is slow again" for number in range(1, 60))
    assert len(complaint_lines(many)) == MOST_LINES


@pytest.mark.parametrize(
    "text",
    [
        "Speeds of loading models here:\nwith mmap: ~730 MB/s\n--no-mmap: ~6.4 GB/s",
        "Qwen3.5 with llama-server, three prompts\n| placement | tok/s |\n| all GPU, MTP on | 344 |\n| all GPU, MTP off | 388 at 2 tok/s |",
        "--split-mode none    40 tokens/s with eight cards\n--split-mode row      27 tokens/s with eight cards",
    ],
)
def test_speeds_held_against_each_other_are_a_complaint(text):
    assert complaint_lines(text) != ()


@pytest.mark.parametrize(
    "text",
    [
        "before the update: 20 tok/s\nafter the update: 45 tok/s\nthanks, this is great work on the kernels",
        "with the new card 95 tok/s\nwithout it 30 tok/s\nit runs very well now",
        "更新之前 30 tok/s，现在 45 tok/s\n之后一直这样，非常满意",
    ],
)
def test_who_is_content_complains_of_nothing(text):
    assert complaint_lines(text, only_words=True) == ()
