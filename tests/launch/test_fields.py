import pytest

from doctor.facts.record import Unknown
from doctor.launch.command import parse_command
from doctor.launch.fields import Origin, launch_record
from doctor.launch.table import load_table
from doctor.outside import Outside
from doctor.secrets import Vault

TABLE = load_table(Outside())


def record(text, build=11434, vault=None, **origin):
    return launch_record(parse_command(text), TABLE, vault or Vault(), build, Origin("option", "/home/me", **origin))


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("-c 4096", "ctx_size", 4096),
        ("-c 64K", "ctx_size", 64),
        ("-c 1 -c 2", "ctx_size", 2),
        ("", "ctx_size", None),
        ("-ngl all", "n_gpu_layers", "all"),
        ("-fa on", "flash_attn", "on"),
        ("-fa 1", "flash_attn", "on"),
        ("-fa disabled", "flash_attn", "off"),
        ("-fa -1", "flash_attn", "auto"),
        ("--no-kv-offload", "no_kv_offload", True),
        ("-kvo", "no_kv_offload", False),
        ("-kvu", "kv_unified", True),
        ("--no-kv-unified", "kv_unified", False),
        ("-lm mmap+mlock", "mlock", True),
        ("-lm none", "mlock", False),
        ("--mlock", "mlock", True),
        ("--no-jinja", "jinja", False),
        ("--reasoning off", "reasoning", "off"),
        ("--reasoning-budget 0", "reasoning", "off"),
        ("--reasoning-budget 100", "reasoning", None),
        ("--chat-template-kwargs '{\"enable_thinking\": false}'", "reasoning", "off"),
        ("--rerank", "embeddings", True),
        ("--embedding", "embeddings", True),
        ("-hf user/model:Q4_K_M", "hf_repo", "user/model:Q4_K_M"),
        ("-m ~/m/q.gguf", "model", "/home/me/m/q.gguf"),
        ('-m "$HOME/m/q.gguf"', "model", "/home/me/m/q.gguf"),
        ("-m models/q.gguf", "model", "models/q.gguf"),
        ("-md d.gguf", "draft_model", "d.gguf"),
        ("--host 0.0.0.0", "host", "0.0.0.0"),
        ("--api-key k", "api_key", True),
        ("--api-key ''", "api_key", False),
        ("", "api_key", False),
        ("--api-key sk-local-test", "api_key_token", "<key-1>"),
        ("", "api_key_token", None),
    ],
)
def test_fields(text, field, value):
    assert getattr(record(f"llama-server {text}"), field) == value


def test_the_switch_of_older_builds():
    assert record("llama-server -fa", 6000).flash_attn == "on"
    assert record("llama-server --no-mmap", 6000).problems == ()


@pytest.mark.parametrize("text", ["-c $CTX", "-m <model.gguf>", "-m $DIR/x.gguf", "--api-key $KEY"])
def test_what_a_shell_fills_in_is_unknown(text):
    launch = record(f"llama-server {text}")
    values = (launch.ctx_size, launch.model, launch.api_key_token)
    assert sum(isinstance(value, Unknown) for value in values) == 1
    assert launch.problems == ()


def test_variables_count_where_the_command_line_is_silent():
    launch = record("LLAMA_ARG_CTX_SIZE=4096 LLAMA_ARG_N_PARALLEL=2 LLAMA_API_KEY=sk-local-test llama-server -c 8192")
    assert (launch.ctx_size, launch.parallel, launch.api_key, launch.api_key_token) == (8192, 2, True, "<key-1>")
    assert [option.spelling for option in launch.options] == ["-c", "LLAMA_ARG_N_PARALLEL", "LLAMA_API_KEY"]
    assert launch.environment["LLAMA_API_KEY"] == "<key-1>"


def test_an_environment_that_cannot_be_read_leaves_unknown_what_it_may_say():
    launch = record("llama-server -c 8192", environment=Unknown("not ours"))
    assert launch.ctx_size == 8192
    assert launch.parallel == Unknown("not on the command line, and not ours")
    assert isinstance(launch.api_key, Unknown)


def test_a_container():
    launch = record(
        "docker run -p 11434:8080 -v ~/models:/models -e LLAMA_API_KEY=sk-local-test "
        "ghcr.io/ggml-org/llama.cpp:server-cuda -m /models/q.gguf"
    )
    assert (launch.container, launch.published_port) == ("ghcr.io/ggml-org/llama.cpp:server-cuda", 11434)
    assert launch.model == "/home/me/models/q.gguf"
    assert launch.host == "0.0.0.0"
    assert "sk-local-test" not in launch.command and "LLAMA_API_KEY=<key-1>" in launch.command


def test_the_command_can_be_typed_again():
    text = "CUDA_VISIBLE_DEVICES=0 nice -n 5 ./llama-server -m 'a b.gguf' -t $(nproc) --api-key sk-local-test"
    command = record(text).command
    assert command == text.replace("sk-local-test", "'<key-1>'")
    assert record(command).options == record(text).options


def test_another_server_is_not_judged():
    launch = record("python -m llama_cpp.server --model x.gguf --n_ctx 4096 --api_key sk-local-test")
    assert launch.problems == () and launch.fixed_command is None
    assert (launch.ctx_size, launch.api_key) == (4096, True)
    assert isinstance(launch.n_gpu_layers, Unknown)  # not llama-server's default
    assert "sk-local-test" not in launch.command


def test_folder_of_a_process():
    assert record("./llama-server -m m/q.gguf", folder="/srv").model == "/srv/m/q.gguf"
    assert record("llama-server.exe -m m\\q.gguf", folder="C:\\srv").model == "C:\\srv\\m\\q.gguf"
