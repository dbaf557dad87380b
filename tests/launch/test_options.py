import pytest

from doctor.launch.command import parse_command
from doctor.launch.options import read_arguments
from doctor.launch.table import load_table
from doctor.outside import Outside
from doctor.secrets import Vault

TABLE = load_table(Outside())


def read(text, build=11434, vault=None):
    return read_arguments(parse_command(text).arguments, TABLE, build, vault or Vault())


def only_problem(text, build=11434):
    reading = read(f"llama-server {text}", build)
    assert len(reading.problems) == 1, reading.problems
    return reading.problems[0]


@pytest.mark.parametrize(
    ("build", "text", "kind", "replacement"),
    [
        # gone and renamed
        (11434, "--no-mmap", "renamed", "--load-mode none"),
        (11434, "--mlock", "renamed", "--load-mode mlock"),
        (11434, "-dio", "renamed", "--load-mode dio"),
        (11434, "--draft-max 8", "removed", "--spec-draft-n-max 8"),
        (11434, "--draft-min 2", "removed", "--spec-draft-n-min 2"),
        (11434, "--spec-ngram-size-n 3", "removed", None),
        (11434, "-cd 4096", "removed", None),
        (11434, "--tensor-read-lazy", "renamed", "--lazy-mode on"),
        (9500, "--checkpoint-every-n-tokens 256", "renamed", "--checkpoint-min-step 256"),
        (3200, "--slots-endpoint-disable", "renamed", "--no-slots"),
        (3690, "--n-gpu-layers 99", "renamed", "--gpu-layers 99"),
        (10200, "--mlock", "deprecated", "--load-mode mlock"),
        (11434, "--defrag-thold 0.1", "deprecated", None),
        # not there yet
        (6000, "--load-mode none", "too-new", "--no-mmap"),
        (6000, "--spec-draft-n-max 4", "too-new", "--draft-max 4"),
        (6000, "--reasoning off", "too-new", "--reasoning-budget 0"),
        (5000, "--n-cpu-moe 10", "too-new", None),
        # never there
        (11434, "--config server.json", "unknown", None),
        (583, "--config server.json", "unknown", None),
        (11434, "--mtp", "unknown", "--spec-type draft-mtp"),
        (9100, "--mtp", "unknown", None),
        (11434, "--foo bar", "unknown", None),
        (11434, "--flash-attention", "unknown", "--flash-attn on"),
        (6000, "--flash-attention", "unknown", "--flash-attn"),
        (11434, "--ngl 99", "slip", "-ngl 99"),
        (11434, "-ctx-size 4096", "slip", "--ctx-size 4096"),
        (11434, "—ctx-size 4096", "slip", "--ctx-size 4096"),
        (11434, "--ctx-szie 4096", "slip", "--ctx-size 4096"),
        (11434, "--kv-cache-type q8", "unknown", "--cache-type-k q8_0 --cache-type-v q8_0"),
        (2000, "--ctx-Size 4096", "slip", "--ctx-size 4096"),
        (2000, "--gpu_layers 4096", "slip", "--gpu-layers 4096"),
        (11434, "--color on", "removed", None),
        # values
        (11434, "-c 64K", "misread", "-c 65536"),
        (11434, "-c 131,072", "misread", "-c 131072"),
        (11434, "-c 1e5", "misread", "-c 100000"),
        (11434, "-c 0x1000", "misread", None),
        (11434, "-cram 8G", "misread", "-cram 8192"),
        (11434, "--temp 0,7", "misread", "--temp 0.7"),
        (11434, "-c many", "bad-value", None),
        (11434, "-c 99999999999", "bad-value", None),
        (11434, "-np 0", "bad-value", None),
        (11434, "--spec-type mtp", "bad-value", "--spec-type draft-mtp"),
        (9131, "--spec-type mtp", "bad-value", None),
        (9180, "--spec-type draft-mtp,mtp", "bad-value", None),
        (9108, "--spec-type ngram-mod,ngram-cache", "bad-value", None),
        (11434, "-fa yes", "bad-value", "-fa on"),
        (6357, "-fa 1", "bad-value", "-fa on"),
        (7552, "-ngl all", "bad-value", "-ngl 999"),
        (11434, "-ctk fp8", "bad-value", "-ctk q8_0"),
        (11434, "--reasoning-budget -2", "bad-value", None),
        (8286, "--reasoning-budget 2048", "bad-value", None),
        (11434, "--chat-template-kwargs {a:false}", "bad-value", "--chat-template-kwargs '{\"a\": false}'"),
        # shapes
        (11434, "-fa", "missing-value", "-fa on"),
        (11434, "-c", "missing-value", None),
        (11434, "--jinja=on", "equals", "--jinja"),
        (11434, "--jinja=off", "equals", "--no-jinja"),
        (11434, "--ctx-size=4096", "equals", "--ctx-size 4096"),
        (11434, "--ctx_size=4096", "equals", "--ctx_size 4096"),
        (6000, "-fa on", "stray-word", "-fa"),
        (11434, "--mmproj-auto false", "stray-word", "--no-mmproj-auto"),
        (11434, "--metrics off", "stray-word", None),
        (11434, "model.gguf", "stray-word", "-m model.gguf"),
        (11434, "-c 1024 -c 2048", "repeated", "-c 2048"),
        (11434, "-c 1024 --ctx-size 2048", "repeated", "--ctx-size 2048"),
        (9000, "--mmap --no-mmap", "repeated", "--no-mmap"),
    ],
)  # fmt: skip
def test_problems(build, text, kind, replacement):
    problem = only_problem(text, build)
    assert (problem.kind, problem.replacement) == (kind, replacement)
    assert problem.fatal == (kind not in ("deprecated", "misread", "repeated"))


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (11434, "-fa on --jinja -ngl all -c 131072 --ctx-checkpoints 8"),
        (11434, "--ctx_size 4096"),
        (11434, "-c ' 4096'"),
        (2000, "--ctx_size 4096 --n-gpu-layers 33"),
        (6000, "-fa --jinja -md d.gguf --draft-max 8 --no-mmap"),
        (11434, "--lora a --lora b --override-kv a=int:1 --override-kv b=bool:true"),
        (11434, "-m $MODEL -c $CTX -t $(nproc) -fa <on|off> …"),
        (11434, "--temp 1e-1 --seed -1 --min-p .05"),
        (11434, "--jinja --jinja"),
        (12000, "--an-option-of-tomorrow 3 --spec-type draft-of-tomorrow"),
    ],
)
def test_nothing_wrong(build, text):
    assert read(f"llama-server {text}", build).problems == ()


def test_a_doubtful_build_is_not_refused():
    assert only_problem("--no-mmap", 10870).kind == "deprecated"


def test_the_message_of_a_removed_option_is_the_programs_own():
    assert only_problem("--draft-max 8").message.startswith("the argument has been removed. use --spec-draft-n-max")


def test_an_unknown_option_does_not_derail_the_rest():
    reading = read("llama-server --foo 1 2 -c 4096 --bar --port 8081 -fa -ngl 99 --jinja")
    assert [(option.name, option.value) for option in reading.options] == [
        ("--foo", "1 2"), ("--ctx-size", "4096"), ("--bar", None), ("--port", "8081"), ("--flash-attn", None),
        ("--n-gpu-layers", "99"), ("--jinja", None),
    ]  # fmt: skip
    assert [problem.kind for problem in reading.problems] == ["unknown", "unknown", "missing-value"]


def test_a_forgotten_value_is_fatal_only_where_the_next_word_cannot_be_it():
    assert not only_problem("--alias --jinja").fatal
    assert only_problem("--alias --temp 0.1").fatal
    assert only_problem("-c --jinja").fatal


def test_lines_of_options_and_problems():
    reading = read("llama-server -m x.gguf \\\n  -c 64K \\\n  --no-mmap")
    assert [option.line for option in reading.options] == [1, 2, 3]
    assert [(problem.spelling, problem.line) for problem in reading.problems] == [("-c 64K", 2), ("--no-mmap", 3)]


def test_keys_never_stay():
    vault = Vault()
    reading = read(
        "llama-server --api-key sk-a,sk-b --api-key=sk-a --hf-token hf_x --token t-1 --api_key sk-a", vault=vault
    )
    assert "sk-" not in repr(reading) and "hf_x" not in repr(reading) and "t-1" not in repr(reading)
    assert vault.secrets() == ("sk-a", "sk-b", "hf_x", "t-1")
    assert reading.options[0].value == "<key-1>,<key-2>"
    assert reading.texts[:4] == ("--api-key", "<key-1>,<key-2>", "--api-key=<key-1>", "--hf-token")


def test_several_options_in_one_word_are_taken_apart():
    """An item of a list that holds the whole line: no option's value is the rest of it, and no key is shown."""
    vault = Vault()
    reading = read("llama-server '-m q.gguf --host 0.0.0.0 --api-key sk-local-test -c 8'", vault=vault)
    (problem,) = reading.problems
    assert (problem.kind, problem.fatal) == ("joined", True)
    assert problem.replacement == "-m q.gguf --host 0.0.0.0 --api-key <key-1> -c 8"
    assert [(option.name, option.value) for option in reading.options] == [("--model", "q.gguf")]
    assert "sk-local-test" not in repr(reading)


def test_several_options_in_quotes_behind_a_foreign_option_are_its_value():
    reading = read("llama-server -m q.gguf -draft '--model d.gguf -ot exps=CPU'")
    assert [problem.kind for problem in reading.problems] == ["unknown"]
    assert (reading.options[0].name, reading.options[0].value) == ("--model", "q.gguf")
    assert read('llama-server --chat-template-kwargs \'{"a": "b -c"}\'').problems == ()
