import time

import pytest

from doctor.launch.words import split


def texts(text):
    return [[word.text for word in words] for words in split(text)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("$ llama-server -m 'a b.gguf' \\\n  -c 4096 \\\n  --jinja > log 2>&1",
         "llama-server|-m|a b.gguf|-c|4096|--jinja"),
        ("llama-server -m a\\ b.gguf --alias \"x y\"", "llama-server|-m|a b.gguf|--alias|x y"),
        ("me@box:~/llama$ ./llama-server -c 1", "./llama-server|-c|1"),
        ("llama-server -c 4096 2>err.log -ngl 99 >> out", "llama-server|-c|4096|-ngl|99"),
        ("llama-server -ot 'blk\\.(1|2)\\.ffn=CPU'", "llama-server|-ot|blk\\.(1|2)\\.ffn=CPU"),
        ("llama-server -ot ffn_(up|down)=CPU -c 1", "llama-server|-ot|ffn_(up|down)=CPU|-c|1"),
        ("llama-server --chat-template-kwargs '{\"a\": false}'", 'llama-server|--chat-template-kwargs|{"a": false}'),
        ("llama-server -t $(nproc --all) -c 1", "llama-server|-t|$(nproc --all)|-c|1"),
        ("llama-server --alias it's -c 1", "llama-server|--alias|it's|-c|1"),
        ("llama-server -c 1 # for one user", "llama-server|-c|1"),
    ],
)  # fmt: skip
def test_sh(text, words):
    assert "|".join(texts(text)[0]) == words


def test_powershell_with_backticks_and_call_operator():
    text = 'PS C:\\llama> & "C:\\Program Files\\llama\\llama-server.exe" `\n  -m D:\\models\\q.gguf `\n  -c 4096'
    assert texts(text) == [["C:\\Program Files\\llama\\llama-server.exe", "-m", "D:\\models\\q.gguf", "-c", "4096"]]


def test_cmd_with_carets_and_escaped_quotes():
    text = 'llama-server.exe -m D:\\m\\q.gguf ^\r\n --chat-template-kwargs "{\\"enable_thinking\\":false}"'
    assert texts(text) == [
        ["llama-server.exe", "-m", "D:\\m\\q.gguf", "--chat-template-kwargs", '{"enable_thinking":false}']
    ]


def test_operators_end_a_command():
    assert texts("cd x && ./llama-server -c 1 | tee log; echo done &") == [
        ["cd", "x"], ["./llama-server", "-c", "1"], ["tee", "log"], ["echo", "done"],
    ]  # fmt: skip


def test_every_word_knows_its_line():
    words = split("export A=1\nllama-server \\\n  -m x \\\n  # a remark\n  -c 4096", line=10)
    assert [(word.text, word.line) for command in words for word in command] == [
        ("export", 10), ("A=1", 10), ("llama-server", 11), ("-m", 12), ("x", 12), ("-c", 14), ("4096", 14),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "word", ["$MODEL", "${MODEL}", '"$MODEL"', "$(nproc)", "<model.gguf>", "…", "...", "{{ctx}}", "`nproc`", "<on|off>"]
)
def test_words_that_are_filled_in_later_are_open(word):
    assert [found.open for found in split(f"llama-server -m {word}")[0]] == [False, False, True]


@pytest.mark.parametrize("word", ["'$MODEL'", "price$", "100%", "plain"])
def test_words_that_stand_as_they_are(word):
    assert not split(f"llama-server -m {word}")[0][2].open


@pytest.mark.parametrize("piece", ["'", '"', "\\", "`", "$(", "<", '\\"', "a@", "^\n", "\"'", "'\n" * 3, "|", "2>"])
def test_hostile_text_ends_quickly(piece):
    started = time.process_time()
    for head in ("llama-server ", "x.exe C:\\ ", "`\n"):
        split(head + piece * (70_000 // len(piece)))
    assert time.process_time() - started < 1.5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x --api-key sk-local\\\n-test", ["x", "--api-key", "sk-local", "-test"]),
        ("x --api-key sk-lo\\\ncal-test -c 1", ["x", "--api-key", "sk-local-test", "-c", "1"]),
        ("x -m /models/\\\nm.gguf", ["x", "-m", "/models/m.gguf"]),
        ("x -m m.gguf\\\n  -c 1", ["x", "-m", "m.gguf", "-c", "1"]),
        ("x --model\\\nm.gguf", ["x", "--model", "m.gguf"]),
    ],
)
def test_a_word_broken_over_two_lines(text, words):
    assert [[word.text for word in command] for command in split(text)] == [words]
