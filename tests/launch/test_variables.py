import pytest

from doctor.facts.launch.record import LaunchOption
from doctor.launch.table import load_table
from doctor.launch.variables import kept, read_variables
from doctor.outside import Outside
from doctor.secrets import Vault

TABLE = load_table(Outside())


@pytest.mark.parametrize(
    ("build", "name", "value", "option"),
    [
        (11434, "LLAMA_ARG_CTX_SIZE", "4096", ("--ctx-size", "4096", False)),
        (3000, "LLAMA_ARG_CTX_SIZE", "4096", None),
        (11434, "LLAMA_API_KEY", "<key-1>", ("--api-key", "<key-1>", False)),
        (7000, "LLAMA_ARG_NO_MMAP", "0", None),
        (7000, "LLAMA_ARG_NO_MMAP", "1", ("--mmap", "1", True)),
        (8000, "LLAMA_ARG_NO_MMAP", "0", ("--mmap", "0", True)),
        (8000, "LLAMA_ARG_MMAP", "off", ("--mmap", "off", True)),
        (8000, "LLAMA_ARG_MMAP", "1", ("--mmap", "1", False)),
        (7000, "LLAMA_ARG_CONT_BATCHING", "on", None),
        (8000, "LLAMA_ARG_CONT_BATCHING", "on", ("--cont-batching", "on", False)),
        (11434, "LLAMA_ARG_MLOCK", "1", None),
        (11434, "PATH", "/bin", None),
    ],
)
def test_what_a_build_reads(build, name, value, option):
    found = read_variables({name: value}, TABLE, build, ()).options
    assert [(item.name, item.value, item.negated) for item in found] == ([option] if option else [])
    assert all(item.spelling == name for item in found)


@pytest.mark.parametrize(
    ("name", "value", "given", "told"),
    [
        ("LLAMA_ARG_CTX_SIZE", "4096", LaunchOption("--ctx-size", "-c", "8192", 1), "-c 8192 on the command line wins"),
        ("LLAMA_ARG_CTX_SIZE", "8192", LaunchOption("--ctx-size", "-c", "8192", 1), None),  # both say the same
        ("LLAMA_API_KEY", "sk-other", LaunchOption("--api-key", "--api-key", "<key-1>", 1), "--api-key on the command line wins"),
        ("LLAMA_ARG_NO_JINJA", "1", LaunchOption("--jinja", "--jinja", None, 1), "--jinja on the command line wins"),
    ],
)  # fmt: skip
def test_the_command_line_wins(name, value, given, told):
    found = read_variables({name: value}, TABLE, 11434, (given,))
    assert found.options == ()
    assert [(problem.kind, problem.message) for problem in found.problems] == ([("overruled", told)] if told else [])
    assert "sk-other" not in repr(found)


@pytest.mark.parametrize(
    ("build", "name", "value", "kind", "replacement", "fatal"),
    [
        (11434, "LLAMA_ARG_CTX_SIZE", "lots", "bad-value", None, True),
        (11434, "LLAMA_ARG_CTX_SIZE", "64K", "misread", "LLAMA_ARG_CTX_SIZE=65536", False),
        (11434, "LLAMA_ARG_FLASH_ATTN", "yes", "bad-value", "LLAMA_ARG_FLASH_ATTN=on", True),
        (11434, "LLAMA_ARG_JINJA", "maybe", "bad-value", None, True),
        (11434, "LLAMA_ARG_DRAFT_MAX", "8", "removed", "LLAMA_ARG_SPEC_DRAFT_N_MAX=8", True),
        (11434, "LLAMA_ARG_MLOCK", "1", "ignored", "LLAMA_ARG_LOAD_MODE=mlock", False),
        (11434, "LLAMA_ARG_NO_MMAP", "1", "ignored", "LLAMA_ARG_LOAD_MODE=none", False),
        (11434, "LLAMA_ARG_API_KEY", "k", "ignored", "LLAMA_API_KEY", False),
        (11434, "LLAMA_ARG_NGL", "99", "ignored", "LLAMA_ARG_N_GPU_LAYERS=99", False),
        (11434, "LLAMA_LOG_FILE", "x", "ignored", "LLAMA_ARG_LOG_FILE=x", False),
        (11434, "LLAMA_ARG_MODEL_DRAFT", "d.gguf", "ignored", "LLAMA_ARG_SPEC_DRAFT_MODEL=d.gguf", False),
        (3000, "LLAMA_ARG_CTX_SIZE", "1", "too-new", "--ctx-size 1", False),
        (11434, "LLAMA_ARG_NO_SUCH_THING", "1", "ignored", None, False),
    ],
)
def test_problems(build, name, value, kind, replacement, fatal):
    (problem,) = read_variables({name: value}, TABLE, build, ()).problems
    assert (problem.kind, problem.replacement, problem.fatal) == (kind, replacement, fatal)


@pytest.mark.parametrize(("name", "value"), [("LLAMA_ARG_CTX_SIZE", "$CTX"), ("LLAMA_CACHE", "/x"), ("HF_HOME", "/x")])
def test_nothing_wrong(name, value):
    assert read_variables({name: value}, TABLE, 11434, ()).problems == ()


def test_what_is_kept_of_an_environment():
    vault = Vault()
    environment = {
        "PATH": "/bin",
        "CUDA_VISIBLE_DEVICES": "0",
        "HF_TOKEN": "hf_abc",
        "AWS_SECRET_KEY": "no",
        "GGML_CUDA_GRAPH_OPT": "1",
    }
    assert kept(environment, vault) == {"CUDA_VISIBLE_DEVICES": "0", "HF_TOKEN": "<key-1>", "GGML_CUDA_GRAPH_OPT": "1"}
    assert vault.secrets() == ("hf_abc",)
